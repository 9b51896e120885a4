"""``surrogate-arena judge``: verdicts of LLMs on pairs of an arena's answers."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.data.errors import UsageError
from arena.data.wording import count_of
from arena.judging.settings import JudgingSettings
from surrogate.cli import printing
from surrogate.cli.options import FOLDER, DryRunOption, JsonOption, PricesOption, with_settings

if TYPE_CHECKING:
    from arena.data.arena import Arena
    from arena.judging import ChosenPairs, Judging, LlmJudge
    from arena.judging.choosing.adaptive import AdaptivePairs
    from arena.judging.summary import JudgingSummary
    from arena.llm import Price

SHOWN = (
    *("model", "base_url", "api_key_env", "questions", "pairs", "budget", "prior", "panel"),
    *("both_orders", "template"),
)
STORE_FILE = "judging.sqlite"
NO_COST = "not known; give each model's price (--prices FILE)"
INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""


@with_settings(JudgingSettings, shown=SHOWN)
def judge(
    arena: Annotated[
        Path, typer.Argument(help="Arena folder; its judgments file grows.", **FOLDER)
    ],
    settings: JudgingSettings,
    dry_run: DryRunOption = False,
    prices: PricesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Judge answers by one LLM or a panel, and add verdicts on pairs to the arena folder."""
    from arena.data.folder import read_arena
    from arena.judging.run import judge as judge_pairs
    from arena.judging.run import lasting_failures
    from arena.llm import Budget, open_store, read_prices

    is_adaptive = settings.pairs == "adaptive"
    if is_adaptive and dry_run:
        raise UsageError("adaptive pairs are chosen as verdicts come; leave --dry-run out")
    judges = settings.llm_judges()
    known_prices = None if prices is None else read_prices(prices)
    read = read_arena(arena)
    budget = Budget(settings.max_calls)
    prior = _expected(settings, read)
    pairs = settings.pair_chooser(read, prior, lasting_failures(arena), budget)
    where = str(arena / STORE_FILE) if settings.store is None else settings.store
    if dry_run:
        print_dry_runs(read, judges, pairs.chosen([]), where, known_prices, as_json)
        return
    with kept_replies(where), open_store(where) as store, printing.progress_bar() as progress:
        judging = judge_pairs(
            read, judges, pairs, store, budget=budget, prices=known_prices, progress=progress
        )
    file, added = judging.write(arena)
    adaptive: Any = pairs if is_adaptive else None
    if as_json:
        _print_json(judging, file, added, adaptive)
    else:
        print_judging(judging, file, added)
        if adaptive is not None:
            _print_adaptive(judging, adaptive)
    if judging.failed:
        counts = _counts(judging.failure_counts)
        raise UsageError(f"no pair that was asked got a verdict: {counts}")


@contextmanager
def kept_replies(store: str) -> Iterator[None]:
    """Say on Ctrl-C what is kept and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        print(
            f"Interrupted. Replies that came are kept in {store}; the same command goes on from "
            "there and asks nothing twice.",
            file=sys.stderr,
        )
        raise SystemExit(INTERRUPTED) from None


def _expected(settings: JudgingSettings, arena: Arena) -> Any:  # noqa: ANN401 - a table, or None
    """Return what a board's surrogate expects of the arena's systems, if one is the prior."""
    if settings.prior is None:
        return None
    from surrogate.board.board import Board
    from surrogate.ranking.prior import expected_systems

    return expected_systems(Board.load(settings.prior), arena)


def print_dry_runs(
    arena: Arena,
    judges: Sequence[LlmJudge],
    chosen: ChosenPairs,
    where: str,
    prices: Mapping[str, Price] | None,
    as_json: bool,
) -> None:
    """Print what each judge would be asked; a store is looked into, but none is made."""
    from arena.judging import dry_run_judge
    from arena.llm import open_store

    is_there = Path(where).is_file()
    with open_store(where) if is_there else nullcontext() as opened:
        runs = {
            member.judge: asdict(dry_run_judge(arena, member, chosen, opened, prices))
            for member in judges
        }
    if as_json:
        printing.print_json({"pairs": _pairs_json(chosen), "judges": runs})
        return
    _print_pairs(chosen)
    header = ["judge", "prompts", "in_store", "calls", "tokens_in", "tokens_out_at_most"]
    rows = [
        [name, *(run[column] for column in header[1:]), run["cost_at_most"]]
        for name, run in runs.items()
    ]
    names = [name.replace("_", " ") for name in [*header, "cost_at_most"]]
    printing.print_table("Dry run: nothing was asked; tokens are estimates", names, rows)
    if prices is None:
        print(f"Cost: {NO_COST}")


def _pairs_json(chosen: ChosenPairs) -> dict[str, Any]:
    return {
        "questions": chosen.drawn.counts,
        "pairs": len(chosen),
        "identical_answers": len(chosen.identical),
        "both_orders": chosen.both_orders,
        "questions_without_pair": chosen.drawn.without_pair,
        "absent_answers": chosen.drawn.absent_answers,
    }


def _print_json(judging: Judging, file: Path, added: int, adaptive: AdaptivePairs | None) -> None:
    """Print everything that was counted as JSON."""
    panel = judging.panel
    told = None
    if panel is not None:
        told = {"verdicts": len(panel.judgments), "split": panel.split, "too_few": panel.too_few}
    more = {}
    if adaptive is not None:
        more = {"languages": adaptive.progress(), "ratings": adaptive.ratings()}
    printing.print_json(
        {
            "pairs": _pairs_json(judging.pairs),
            "judges": [summary.as_json() for summary in judging.summaries],
            "panel": told,
            "agreement": judging.agreement,
            "file": str(file),
            "added": added,
            "failures": judging.failure_counts,
            "batches": judging.batches,
            "stopped": judging.reason,
            **more,
        }
    )


def print_judging(judging: Judging, file: Path, added: int) -> None:
    """Print each judge's counts, the panel's, and where everything is."""
    _print_pairs(judging.pairs)
    for summary in judging.summaries:
        _print_summary(summary)
    if judging.panel is not None:
        panel = judging.panel
        print(
            f"Panel: {count_of(len(panel.judgments), 'verdict')}, {panel.split} of them ties for "
            f"want of a majority; {count_of(panel.too_few, 'pair')} with verdicts of fewer than "
            "half of the judges"
        )
    if len(judging.agreement):
        title = "Agreement with other judges on the same pairs (Cohen's kappa)"
        printing.print_columns(title, judging.agreement, list(judging.agreement.columns))
    print(f"{count_of(added, 'verdict')} added to {file}")
    if len(judging.failures):
        print(f"{count_of(len(judging.failures), 'pair')} without a verdict are listed beside it")


def _print_pairs(chosen: ChosenPairs) -> None:
    """Print how many pairs are to be judged, and what was skipped."""
    orders = ", in both orders" if chosen.both_orders else ""
    drawn = chosen.drawn
    print(
        f"{count_of(len(chosen), 'comparison')} on {count_of(len(drawn.keys), 'question')}"
        f"{orders}; {len(chosen.identical)} of identical answers, which are ties"
    )
    if drawn.without_pair or drawn.absent_answers:
        print(
            f"Skipped: {count_of(drawn.without_pair, 'question')} with fewer than two answers, "
            f"{count_of(drawn.absent_answers, 'absent answer')}"
        )


def _print_adaptive(judging: Judging, pairs: AdaptivePairs) -> None:
    """Print what is known of the systems, and why no more was asked."""
    progress, ratings = pairs.progress(), pairs.ratings()
    printing.print_columns("Pairs of the questions drawn", progress, list(progress))
    title = "Ratings by these verdicts and the prior, if any (90% intervals)"
    printing.print_columns(title, ratings, list(ratings))
    print(f"Stopped after {count_of(judging.batches, 'batch', 'batches')}: {judging.reason}")


def _print_summary(summary: JudgingSummary) -> None:
    verdicts = ", ".join(f"{count} {winner}" for winner, count in summary.verdicts.items())
    print(f"\n{summary.judge} ({summary.prompt})")
    print(f"  verdicts: {verdicts} ({summary.identical} of identical answers)")
    print(f"  {summary.usage}; {summary.already_judged} were judged before")
    print(f"  INVALID: {summary.invalid}")
    if summary.cost is not None:
        print(f"  cost: {summary.cost:.4f}")
    elif summary.usage.calls:
        print(f"  cost: {NO_COST}")
    if summary.flags:
        print(f"  flags: {_counts(summary.flags)}")
    for warning in summary.warnings:
        print(f"  Warning: {warning}")
    check = summary.check
    print(f"  Verdict on {summary.judge}: {check.grade}")
    for fault in check.faults:
        print(f"    Warning: {fault}")
    for fact in check.facts:
        print(f"    {fact}")


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "none"
