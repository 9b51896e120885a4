"""``surrogate-arena judge``: verdicts of LLMs on pairs of an arena's answers."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.data.errors import UsageError
from arena.data.wording import count_of
from arena.judging.settings import JudgingSettings
from surrogate.cli import printing
from surrogate.cli.options import (
    FOLDER,
    MODEL_HELP,
    NO_BODY,
    BodyOption,
    DryRunOption,
    FeatureTableOption,
    JsonOption,
    PricesOption,
    given_features,
    request_fields,
    with_settings,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from arena.data.arena import Arena
    from arena.judging import (
        AdaptiveJudging,
        ChosenPairs,
        FolderJudging,
        JudgingSummary,
        LlmJudge,
        Panel,
    )
    from arena.llm import Price

STORE_FILE = "judging.sqlite"
NO_COST = "not known; give each model's price (--prices FILE)"
INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""


@with_settings(JudgingSettings, leave_out=("model", "body"))
def judge(
    arena: Annotated[
        Path, typer.Argument(help="Arena folder; its judgments file grows.", **FOLDER)
    ],
    model: Annotated[str, typer.Option("--model", help=MODEL_HELP.format(verb="judges"))],
    settings: JudgingSettings,
    dry_run: DryRunOption = False,
    batch: Annotated[
        bool,
        typer.Option(
            "--batch",
            help="Send all calls together to the server's batch endpoint, which is cheaper and "
            "takes hours; the same command again fetches what came.",
        ),
    ] = False,
    body: BodyOption = NO_BODY,
    prices: PricesOption = None,
    feature_table: FeatureTableOption = None,
    as_json: JsonOption = False,
) -> None:
    """Judge answers by one LLM or a panel, and add verdicts on pairs to the arena folder."""
    from arena.data.folder import read_arena
    from arena.judging import judge_adaptively, judge_folder
    from arena.llm import open_store, read_prices

    settings = settings.model_copy(update={"model": model, "body": request_fields(body)})
    judges = settings.llm_judges()
    known_prices = None if prices is None else read_prices(prices)
    read = read_arena(arena)
    if settings.pairs == "adaptive":
        if dry_run or batch:
            raise UsageError(
                "adaptive pairs are chosen as verdicts come; leave --dry-run and --batch out"
            )
        prior = settings.prior
        expected = None if prior is None else _expected(Path(prior), read, feature_table)
        plan = settings.adaptive_plan(expected)
        where = str(arena / STORE_FILE) if settings.store is None else settings.store
        with kept_replies(where), open_store(where) as store, printing.progress_bar() as progress:
            adaptive = judge_adaptively(
                arena,
                read,
                judges,
                plan,
                store,
                aggregate=settings.aggregate,
                prices=known_prices,
                progress=progress,
            )
        _print_adaptive(adaptive, expected, as_json)
        _end_where_all_failed(adaptive.judging)
        return
    chosen = settings.choose_pairs(read)
    where = str(arena / STORE_FILE) if settings.store is None else settings.store
    if dry_run:
        print_dry_runs(read, judges, chosen, where, known_prices, as_json)
        return
    if batch and not _batches_done(read, judges, chosen, where, settings.max_calls, as_json):
        return
    with kept_replies(where), open_store(where) as store, printing.progress_bar() as progress:
        judging = judge_folder(
            arena,
            read,
            judges,
            chosen,
            store,
            aggregate=settings.aggregate,
            max_calls=0 if batch else settings.max_calls,
            prices=known_prices,
            progress=progress,
        )
    if as_json:
        print_judging_json(judging, chosen)
    else:
        print_judging(judging, chosen)
    _end_where_all_failed(judging)


def _end_where_all_failed(judging: FolderJudging) -> None:
    """End with a status other than 0 where every pair that was asked failed."""
    usages = [summary.usage for summary in judging.summaries]
    if any(usage.asked for usage in usages) and not any(usage.answered for usage in usages):
        reasons = Counter[str]()
        for usage in usages:
            reasons.update(usage.failures)
        raise UsageError(f"no pair that was asked got a verdict: {_counts(reasons)}")


@contextmanager
def kept_replies(store: str) -> Iterator[None]:
    """Say on Ctrl-C what is kept and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        print(
            f"Interrupted. Replies that came are kept in {store}; verdicts of batches and judges "
            "that were done are in the arena folder. The same command goes on from there and asks "
            "nothing twice.",
            file=sys.stderr,
        )
        raise SystemExit(INTERRUPTED) from None


def _batches_done(
    arena: Arena,
    judges: Sequence[LlmJudge],
    chosen: ChosenPairs,
    where: str,
    max_calls: int | None,
    as_json: bool,
) -> bool:
    """Fetch and send batches; say what is under way, or that nothing is."""
    from arena.judging.judge import judge_requests
    from arena.llm import open_store
    from arena.llm.batch import BatchRun, run_batches

    runs: dict[str, BatchRun] = {}
    with open_store(where) as store:
        for judge in judges:
            before = sum(run.submitted for run in runs.values())
            runs[judge.judge] = run_batches(
                judge_requests(arena, judge, chosen),
                judge.asked_settings,
                store,
                Path(f"{where}.batches.json"),
                None if max_calls is None else max_calls - before,
            )
    is_waiting = any(run.waiting for run in runs.values())
    if as_json and is_waiting:
        printing.print_json({"batches": {name: asdict(run) for name, run in runs.items()}})
    for name, run in runs.items() if not as_json else ():
        failed = f"; failed: {_counts(run.failed)}" if run.failed else ""
        states = ", ".join(f"{batch} ({state})" for batch, state in run.batches.items())
        under_way = f"; {run.waiting} wait in {states}" if run.waiting else ""
        came, sent = count_of(run.received, "answer"), count_of(run.submitted, "call")
        print(f"{name}: {came} came, {sent} sent{failed}{under_way}")
    if is_waiting and not as_json:
        print("Run the same command again to fetch what has come; nothing is sent twice.")
    return not is_waiting


def _expected(board: Path, arena: Arena, feature_table: Path | None) -> pd.DataFrame:
    """Return what a board's surrogate expects of the arena's systems."""
    from surrogate.board.board import Board
    from surrogate.ranking.prior import expected_systems

    return expected_systems(Board.load(board), arena, given_features(feature_table))


def _print_adaptive(
    adaptive: AdaptiveJudging, expected: pd.DataFrame | None, as_json: bool
) -> None:
    """Print what was asked, why no more, and what is known of the systems."""
    if as_json:
        print_judging_json(
            adaptive.judging,
            adaptive.chosen,
            {
                "batches": adaptive.batches,
                "stopped": adaptive.reason,
                "languages": adaptive.languages,
                "ratings": adaptive.ratings,
                "prior": [] if expected is None else expected,
            },
        )
        return
    print_judging(adaptive.judging, adaptive.chosen)
    columns = list(adaptive.languages.columns)
    printing.print_columns("Pairs of the questions drawn", adaptive.languages, columns)
    title = "Ratings by these verdicts" + ("" if expected is None else " and the prior")
    printing.print_columns(
        f"{title} (90% intervals)", adaptive.ratings, list(adaptive.ratings.columns)
    )
    if expected is not None:
        print(f"Prior: {expected['rating'].notna().sum()} of {len(expected)} systems expected")
    print(f"Stopped after {count_of(adaptive.batches, 'batch', 'batches')}: {adaptive.reason}")


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
            judge.judge: asdict(dry_run_judge(arena, judge, chosen, opened, prices))
            for judge in judges
        }
    if as_json:
        printing.print_json({"pairs": pairs_json(chosen), "judges": runs})
        return
    print_pairs(chosen)
    header = ["judge", "prompts", "in_store", "calls", "tokens_in", "tokens_out_at_most"]
    rows = [
        [name, *(run[column] for column in header[1:]), run["cost_at_most"]]
        for name, run in runs.items()
    ]
    names = [name.replace("_", " ") for name in [*header, "cost_at_most"]]
    printing.print_table("Dry run: nothing was asked; tokens are estimates", names, rows)
    if prices is None:
        print(f"Cost: {NO_COST}")


def pairs_json(chosen: ChosenPairs) -> dict[str, Any]:
    """Return the counts of chosen pairs for JSON."""
    return {
        "questions": chosen.questions,
        "pairs": len(chosen),
        "identical_answers": len(chosen.identical),
        "both_orders": chosen.both_orders,
        "questions_without_pair": chosen.without_pair,
        "absent_answers": chosen.absent_answers,
    }


def print_pairs(chosen: ChosenPairs) -> None:
    """Print how many pairs are to be judged, and what was skipped."""
    orders = ", in both orders" if chosen.both_orders else ""
    print(
        f"{count_of(len(chosen), 'comparison')} on "
        f"{count_of(sum(chosen.questions.values()), 'question')}{orders}; "
        f"{len(chosen.identical)} of identical answers, which are ties"
    )
    if chosen.without_pair or chosen.absent_answers:
        print(
            f"Skipped: {count_of(chosen.without_pair, 'question')} with fewer than two answers, "
            f"{count_of(chosen.absent_answers, 'absent answer')}"
        )


def print_judging_json(
    judging: FolderJudging, chosen: ChosenPairs, more: Mapping[str, Any] | None = None
) -> None:
    """Print everything that was counted as JSON."""
    panel = judging.panel
    printing.print_json(
        {
            "pairs": pairs_json(chosen),
            "judges": [summary.as_json() for summary in judging.summaries],
            "panel": None
            if panel is None
            else {
                "verdicts": len(panel.judgments),
                "split": panel.split,
                "too_few": panel.too_few,
                "judges": panel.judges,
            },
            "agreement": judging.agreement,
            "file": str(judging.file),
            "added": judging.added,
            "failures_file": None if judging.failures_file is None else str(judging.failures_file),
            "warnings": list(judging.warnings),
            **(more or {}),
        }
    )


def print_judging(judging: FolderJudging, chosen: ChosenPairs) -> None:
    """Print each judge's counts, the panel's, and where everything is."""
    print_pairs(chosen)
    for summary in judging.summaries:
        _print_summary(summary)
    if judging.panel is not None:
        _print_panel(judging.panel)
    if len(judging.agreement):
        title = "Agreement on the same pairs: of verdicts (kappa), of the systems' order (tau)"
        printing.print_columns(title, judging.agreement, list(judging.agreement.columns))
    for warning in judging.warnings:
        print(f"Warning: {warning}")
    print(f"{count_of(judging.added, 'verdict')} added to {judging.file}")
    if judging.failures_file is not None:
        print(f"Pairs without a verdict: {judging.failures_file}")


def _print_summary(summary: JudgingSummary) -> None:
    verdicts = ", ".join(f"{count} {winner}" for winner, count in summary.verdicts.items())
    print(f"\n{summary.judge} ({summary.prompt})")
    print(f"  verdicts: {verdicts} ({summary.identical} of identical answers)")
    print(f"  {summary.usage}; {summary.already_judged} were judged before")
    print(f"  INVALID: {summary.invalid}")
    if summary.flips.items:
        tied = count_of(summary.flips.tie_vs_win, "pair")
        print(f"  both orders: {tied} tied in one order alone")
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


def _print_panel(panel: Panel) -> None:
    printing.print_columns(
        "Judges against the panel of the others (Kendall tau of the systems)",
        panel.judges,
        list(panel.judges.columns),
    )
    print(
        f"Panel: {count_of(len(panel.judgments), 'verdict')}, {panel.split} of them ties for want "
        f"of a majority; {count_of(panel.too_few, 'pair')} with verdicts of fewer than half of the "
        "judges"
    )
