"""LLMs that judge and answer: ``judge``, ``generate``, ``prompts``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from arena.data.errors import UsageError
from arena.data.wording import count_of
from arena.judging.settings import JudgingSettings
from surrogate.cli.options import (
    FILE,
    ArenaArgument,
    ConfigOption,
    DryRunOption,
    JsonOption,
    setting,
    settings_of,
)
from surrogate.cli.printing import print_json, print_table, progress_bar

if TYPE_CHECKING:
    import pandas as pd

    from arena.data.arena import Arena
    from arena.judging import ChosenPairs, Judging, LlmJudge
    from arena.judging.run import JudgingSummary
    from arena.llm import Price
    from arena.text.prompts import ReplaceablePrompt

JUDGING_STORE = "judging.sqlite"
NO_COST = "not known; give each model's price (--prices FILE)"
INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""
DRY_RUN = ["prompts", "in_store", "calls", "tokens_in", "tokens_out_at_most"]
PROMPT_COLUMNS = ["command", "name", "asks", "variables", "reply"]


def judge(
    arena: ArenaArgument,
    model: Annotated[str | None, setting(JudgingSettings, "model")] = None,
    base_url: Annotated[str | None, setting(JudgingSettings, "base_url")] = None,
    api_key_env: Annotated[str | None, setting(JudgingSettings, "api_key_env")] = None,
    questions: Annotated[int | None, setting(JudgingSettings, "questions")] = None,
    pairs: Annotated[str | None, setting(JudgingSettings, "pairs")] = None,
    budget: Annotated[int | None, setting(JudgingSettings, "budget")] = None,
    prior: Annotated[str | None, setting(JudgingSettings, "prior")] = None,
    panel: Annotated[str | None, setting(JudgingSettings, "panel")] = None,
    both_orders: Annotated[
        bool | None, setting(JudgingSettings, "both_orders", "--both-orders/--no-both-orders")
    ] = None,
    template: Annotated[str | None, setting(JudgingSettings, "template")] = None,
    config: ConfigOption = None,
    dry_run: DryRunOption = False,
    prices: Annotated[
        Path | None,
        Option(
            "--prices",
            help='JSON of prices per million tokens: {"MODEL": {"tokens_in": 2.5, "tokens_out": '
            "10}}.",
            **FILE,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Judge pairs of answers with an LLM or a panel, and add the verdicts to the arena folder."""
    settings = settings_of(JudgingSettings, config, locals())
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
    limit = Budget(settings.max_calls)
    chooser = settings.pair_chooser(read, _prior(settings, read), lasting_failures(arena), limit)
    where = settings.store or str(arena / JUDGING_STORE)
    if dry_run:
        _print_dry_run(read, judges, chooser.chosen([]), where, known_prices, as_json)
        return
    with kept_replies(where), open_store(where) as store, progress_bar() as progress:
        judging = judge_pairs(
            read, judges, chooser, store, budget=limit, prices=known_prices, progress=progress
        )
    _print_judging(judging, *judging.write(arena), chooser if is_adaptive else None, as_json)
    if judging.failed:
        counts = counted(judging.failure_counts)
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


def _prior(settings: JudgingSettings, arena: Arena) -> pd.DataFrame | None:
    """Return what a board's surrogate expects of the arena's systems, if one is the prior."""
    if settings.prior is None:
        return None
    from surrogate.board.board import Board
    from surrogate.ranking.prior import expected_systems

    return expected_systems(Board.load(settings.prior), arena)


def opened_if_there(where: str) -> Any:  # noqa: ANN401 - a store, or nothing to look into
    """Open a store for a dry run, which makes none."""
    from arena.llm import open_store

    return open_store(where) if Path(where).is_file() else nullcontext()


def _print_dry_run(
    arena: Arena,
    judges: Sequence[LlmJudge],
    chosen: ChosenPairs,
    where: str,
    prices: Mapping[str, Price] | None,
    as_json: bool,
) -> None:
    """Print what each judge would be asked."""
    import pandas as pd

    from arena.judging import dry_run_judge

    with opened_if_there(where) as opened:
        runs = {
            member.judge: asdict(dry_run_judge(arena, member, chosen, opened, prices))
            for member in judges
        }
    if as_json:
        print_json({"pairs": _pairs_json(chosen), "judges": runs})
        return
    _print_pairs(chosen)
    table = pd.DataFrame([{"judge": name, **run} for name, run in runs.items()])
    columns = ["judge", *DRY_RUN, "cost_at_most"]
    print_table("Dry run: nothing was asked; tokens are estimates", table, columns)
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


def _print_judging(
    judging: Judging,
    file: Path,
    added: int,
    adaptive: Any,  # noqa: ANN401 - the chooser of adaptive pairs
    as_json: bool,
) -> None:
    """Print each judge's counts, the panel's, and where everything is."""
    panel = judging.panel
    if as_json:
        shown = {
            "pairs": _pairs_json(judging.pairs),
            "judges": [summary.as_json() for summary in judging.summaries],
            "panel": panel
            and {"verdicts": len(panel.judgments), "split": panel.split, "too_few": panel.too_few},
            "agreement": judging.agreement,
            "file": str(file),
            "added": added,
            "failures": judging.failure_counts,
            "batches": judging.batches,
            "stopped": judging.reason,
        }
        if adaptive is not None:
            shown |= {"languages": adaptive.progress(), "ratings": adaptive.ratings()}
        print_json(shown)
        return
    _print_pairs(judging.pairs)
    for summary in judging.summaries:
        _print_summary(summary)
    if panel is not None:
        print(
            f"Panel: {count_of(len(panel.judgments), 'verdict')}, {panel.split} of them ties for "
            f"want of a majority; {count_of(panel.too_few, 'pair')} with verdicts of fewer than "
            "half of the judges"
        )
    if len(judging.agreement):
        title = "Agreement with other judges on the same pairs (Cohen's kappa)"
        print_table(title, judging.agreement)
    print(f"{count_of(added, 'verdict')} added to {file}")
    if len(judging.failures):
        print(f"{count_of(len(judging.failures), 'pair')} without a verdict are listed beside it")
    if adaptive is not None:
        print_table("Pairs of the questions drawn", adaptive.progress())
        title = "Ratings by these verdicts and the prior, if any (90% intervals)"
        print_table(title, adaptive.ratings())
        print(f"Stopped after {count_of(judging.batches, 'batch', 'batches')}: {judging.reason}")


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


def _print_summary(summary: JudgingSummary) -> None:
    print(f"\n{summary.judge} ({summary.prompt})")
    print(f"  verdicts: {counted(summary.verdicts)} ({summary.identical} of identical answers)")
    print(f"  {summary.usage}; {summary.already_judged} were judged before")
    print(f"  INVALID: {summary.invalid}")
    if summary.cost is not None or summary.usage.calls:
        print(f"  cost: {NO_COST if summary.cost is None else format(summary.cost, '.4f')}")
    if summary.flags:
        print(f"  flags: {counted(summary.flags)}")
    for warning in summary.warnings:
        print(f"  Warning: {warning}")
    check = summary.check
    print(f"  Verdict on {summary.judge}: {check.grade}")
    for fault in check.faults:
        print(f"    Warning: {fault}")
    for fact in check.facts:
        print(f"    {fact}")


def counted(counts: Mapping[str, int]) -> str:
    """Show counts by name."""
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "none"


def prompts(
    name: Annotated[str | None, Argument(help="Prompt to print. Default: list all of them")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the prompts that LLMs are sent, or print one; --template replaces them.

    Listed are where they are used, their variables (required ones with a star), and what replies
    must say.
    """
    import pandas as pd

    if name is not None:
        found = [each for known in all_prompts().values() for each in known if each.name == name]
        if not found:
            raise UsageError(f"there is no prompt {name!r}; 'prompts' shows which there are")
        for prompt in found:
            print(f"{{# {prompt.packaged_name}: {prompt.asks} #}}")
            print(prompt.packaged_text())
            for variable, each in prompt.variables.items():
                print(f"{{# {' or '.join((variable, *each.also))}: {each.meaning} #}}")
        return
    rows = [
        (command, prompt.name, prompt.asks, _variables(prompt), prompt.reply)
        for command, known in all_prompts().items()
        for prompt in known
    ]
    table = pd.DataFrame(rows, columns=PROMPT_COLUMNS)
    print_json(table) if as_json else print_table("Prompts that --template replaces", table)


def _variables(prompt: ReplaceablePrompt) -> str:
    return ", ".join(
        f"{' or '.join((name, *each.also))}{'*' if each.is_required else ''}"
        for name, each in prompt.variables.items()
    )


def all_prompts() -> dict[str, tuple[ReplaceablePrompt, ...]]:
    """Return every replaceable prompt by the command that sends it."""
    from arena.generation import ANSWER_PROMPTS, TIME_PROMPT
    from arena.judging.graded import GRADED_PROMPTS
    from arena.judging.prompt import PAIRWISE_PROMPTS
    from features.models import FEATURE_PROMPTS
    from surrogate.metaevaluation.grouse.prompts import GROUSE_PROMPTS, JOINT_PROMPT
    from surrogate.metaevaluation.memerag.memerag import MEMERAG_PROMPTS
    from surrogate.metaevaluation.memerag.sheets import HIGHLIGHT_PROMPT
    from surrogate.metaevaluation.wikieval.wikieval import WIKIEVAL_PROMPTS

    rated = {prompt.name for prompt in FEATURE_PROMPTS}
    return {
        "judge": (*PAIRWISE_PROMPTS.values(), *GRADED_PROMPTS.values()),
        "features, board, rank": FEATURE_PROMPTS,
        "generate": (*ANSWER_PROMPTS.values(), TIME_PROMPT),
        "metaeval memerag": (*MEMERAG_PROMPTS, HIGHLIGHT_PROMPT),
        "metaeval wikieval": tuple(each for each in WIKIEVAL_PROMPTS if each.name not in rated),
        "metaeval grouse": (*GROUSE_PROMPTS.values(), JOINT_PROMPT),
    }
