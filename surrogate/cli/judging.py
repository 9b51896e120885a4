"""LLMs that judge: ``judge``, ``gate``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from arena.data.errors import UsageError
from arena.data.wording import split_names
from arena.judging.judging_settings import JudgingSettings
from arena.llm.llm_settings import fields_by_use
from surrogate.cli import options as opt
from surrogate.cli.options import OUT_FILE, given_board, given_features, named_columns
from surrogate.cli.printing import command, plain, print_notes, progress_lines, show
from surrogate.cli.setting_options import LLM_OPTIONS, takes_settings

if TYPE_CHECKING:
    import pandas as pd

    from arena.data.arena import Arena
    from arena.judging import ChosenPairs, EscalationForecast, Forecast, Judging
    from arena.judging.judging_summary import JudgingSummary
    from arena.llm import Price

STORE = "judging.sqlite"
PAIRS = "Pairs, each order counted"
DRY_RUN = "Dry run: nothing was asked; tokens are estimates"
RANDOM_DRY_RUN = (
    "Dry run of as many random pairs: nothing was asked; the same prompt takes one call; tokens "
    "are estimates"
)
NO_COST = "not known; give each model's price (--prices FILE)"
NO_BATCH_COST = "not known; give each model's price in batches (--prices FILE: batch_tokens_in, …)"


@takes_settings(
    JudgingSettings,
    "model",
    "plug_in",
    *LLM_OPTIONS,
    "batch",
    "questions",
    "pairs",
    "budget",
    "max_cost",
    "prior",
    "panel",
    "escalate",
    "both_orders",
    "template",
    "join",
    "config",
)
def judge_command(
    arena: opt.Arena,
    settings: JudgingSettings,
    dry_run: opt.DryRun = False,
    prices: opt.Prices = None,
    as_json: opt.Json = False,
) -> None:
    """Judge pairs of answers with an LLM or a panel, and add the verdicts to the arena folder."""
    settings.require_plan()

    from arena.data.folder import read_arena
    from arena.judging import forecast, forecast_escalated
    from arena.judging.choosing.plans import judging_budget
    from arena.judging.judging_result import lasting_failures, require_verdicts
    from arena.llm import read_prices
    from surrogate.board.metaevaluations import recorded_agreements
    from surrogate.ranking import judging_prior
    from surrogate.ranking.judging import judge

    price_of = {} if prices is None else read_prices(prices)
    judging_budget(settings, price_of)  # a model without a price is refused before anything is done
    read = read_arena(arena)
    store_path = Path(settings.store or arena / STORE)
    expected = judging_prior(read, settings)
    failed = lasting_failures(arena)
    likely: Forecast | EscalationForecast | None = None
    if settings.escalate is not None:
        likely = forecast_escalated(read, settings, expected)
    elif settings.is_adaptive:
        likely = forecast(read, settings, prior=expected, failed=failed)
    if dry_run:
        _dry_run(read, settings, store_path, price_of, likely, as_json)
        return
    if likely is not None:
        print(f"{likely}.", file=sys.stderr)
    with kept_replies(store_path):
        judging = judge(
            read,
            settings,
            store_path,
            prior=expected,
            failed=failed,
            prices=price_of,
            progress=progress_lines(),
            people=recorded_agreements(arena),
        )
    file, n_added = judging.write(arena)
    _show_judging(judging, file, n_added, as_json)
    if judging.error is not None:
        # The first judge's verdicts are in the arena by now, and a board can be built of them.
        print(command("board", arena, "--judge", settings.first_judge), file=sys.stderr)
        raise judging.error
    require_verdicts(judging.usage)
    if as_json:
        return
    judges = settings.judge
    asked = {summary.judge for summary in judging.summaries}
    if settings.escalate is not None and settings.escalate not in asked:
        judges = settings.first_judge
    # A board of an unreliable judge misleads: first show what is wrong with the verdicts.
    if any(summary.check.grade == "unreliable" for summary in judging.summaries):
        print(command("diagnose", arena, "--judge", judges))
    else:
        print(command("board", arena, "--judge", judges, "--out", "out/board"))


def _dry_run(
    arena: Arena,
    settings: JudgingSettings,
    store_path: Path,
    prices: Mapping[str, Price],
    likely: Forecast | EscalationForecast | None,
    as_json: bool,
) -> None:
    """Show what judging would ask and cost, without any call."""
    import pandas as pd

    from arena.judging import EscalationForecast, Forecast, dry_run_judge
    from arena.judging.choosing.plans import draw_pairs, sample_pairs
    from arena.judging.llm_judge import llm_judges
    from arena.llm import open_for_dry_run

    # Which pairs adaptive judging asks about depends on verdicts; as many others cost as much.
    if likely is None:
        pairs = draw_pairs(arena, settings)
    elif isinstance(likely, Forecast):
        pairs = sample_pairs(arena, settings, likely.verdicts)
    else:
        pairs = sample_pairs(arena, settings, likely.first_calls)
    planned = [(judge, pairs) for judge in llm_judges(settings)]
    if isinstance(likely, EscalationForecast):
        second = settings.model_copy(update={"model": likely.second_judge, "name": ""})
        of_second = sample_pairs(arena, second, likely.second.verdicts)
        planned.append((llm_judges(second)[0], of_second))
    rows = []
    with open_for_dry_run(store_path) as store:
        for judge, of_judge in planned:
            counts = dry_run_judge(arena, judge, of_judge, store, prices)
            rows.append({"judge": judge.judge, **vars(counts)})
    shown = _counts_of(pairs, as_json)
    shown["forecast"] = likely
    shown["judges"] = pd.DataFrame(rows)
    shown["cost"] = "" if prices else NO_COST
    title = DRY_RUN if likely is None else RANDOM_DRY_RUN
    show(shown, as_json, {"pairs": PAIRS, "judges": title})


def _show_judging(judging: Judging, file: Path, n_added: int, as_json: bool) -> None:
    if not as_json:
        for summary in judging.summaries:
            _print_summary(summary)
    shown = _counts_of(judging.pairs, as_json)
    shown["judges"] = [summary.as_json() for summary in judging.summaries]
    shown["panel"] = judging.panel and {
        "verdicts": len(judging.panel.judgments),
        "ties for want of a majority": judging.panel.split,
        "pairs with fewer than half of the judges": judging.panel.too_few,
    }
    shown["members"] = judging.panel and judging.panel.members
    shown["agreement"] = judging.agreement
    shown["failures"] = judging.usage.failures
    if judging.pairs.adaptive:
        shown["languages"] = judging.progress
        shown["ratings"] = judging.ratings
        shown["rounds"] = judging.rounds
        shown["stopped"] = judging.reason
    if n_added:
        shown["file"] = file
    shown["added"] = n_added
    shown["nuggets"] = judging.nuggets.counts() if judging.nuggets else None
    shown["renewed"] = judging.n_renewed or None
    titles = {
        "pairs": PAIRS,
        "judges": "",
        "members": "How far a verdict of each member separates the systems (1: their mean)",
        "agreement": "Agreement with other judges on the same pairs (Cohen's kappa)",
        "failures": "Without a verdict, listed in failed_judgments.jsonl",
        "languages": "Pairs of the questions drawn",
        "ratings": "Ratings by which the pairs were chosen (90% intervals)",
        "added": "Verdicts added",
        "nuggets": "New in nuggets.jsonl and nugget_marks.jsonl",
        "renewed": "Verdicts made again from nuggets and marks as they are now",
    }
    show(shown, as_json, titles)


@takes_settings(
    JudgingSettings,
    "model",
    *LLM_OPTIONS,
    "config",
    # The gate plans the pairs itself, and asks an LLM.
    leave_out={*fields_by_use(JudgingSettings, plans_pairs=True), "plug_in"},
)
def gate_command(
    settings: JudgingSettings,
    board: opt.GateBoard = None,
    candidate: Annotated[
        str | None,
        Option(
            metavar="FILE|SYSTEM",
            help="Answers of the new version, or its name in the arena. Default: its latest",
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        Option(help="System to compare with. Default: the board's best, or the arena's latest"),
    ] = None,
    accept: Annotated[
        str | None,
        Option(metavar="CHECKS", help="Comma-separated checks that may differ, such as cut."),
    ] = None,
    cheaper: Annotated[
        bool,
        Option("--cheaper", help="Pass if it costs less and is at most the margin worse."),
    ] = False,
    columns: opt.Columns = None,
    features: opt.OtherFeatures = None,
    feature_table: opt.FeatureTable = None,
    budget: Annotated[int | None, Option(min=2, help="Maximum number of verdicts.")] = None,
    error: Annotated[float, Option(help="Probability of a wrong decision.")] = 0.05,
    margin: Annotated[float, Option(help="Difference of a win rate from 0.5 that matters.")] = 0.05,
    arena: opt.MovedArena = None,
    junit: Annotated[
        Path | None, Option(help="JUnit file of the result, for CI servers.", **OUT_FILE)
    ] = None,
    markdown: Annotated[
        Path | None, Option(help="Markdown file of the result, for a comment.", **OUT_FILE)
    ] = None,
    as_json: opt.Json = False,
) -> None:
    """Decide whether a new version is broken, better than a baseline, the same, or worse.

    Answers are compared question by question first, which takes an arena alone: no board, no
    verdict. Where they do not decide, --model judges pairs. The status is 0 for better or the
    same, 3 for broken or worse, 4 where this cannot be said. With --cheaper it is 0 for cheaper, 3
    for not cheaper or worse by more than the margin.
    """
    from arena.data.files import write_text
    from arena.data.folder import read_arena
    from arena.judging.judging_result import require_verdicts
    from arena.judging.llm_judge import llm_judges
    from arena.llm import open_store
    from surrogate.ranking.gate import GateJudging, gate
    from surrogate.ranking.gate_report import FAILED, gate_junit, gate_markdown
    from surrogate.ranking.rating_difference import GateRates

    judging_options = settings.model_fields_set - {"model", "languages", "seed"}
    if settings.batch:
        raise UsageError(
            "a gate asks for verdicts until it can decide, and each batch may take a day; leave "
            "batch out of --config"
        )
    if not settings.model and (judging_options or budget is not None):
        raise UsageError("judging options need --model")
    judges = llm_judges(settings) if settings.model else []
    published = None if board is None else given_board(board, features)
    folder = arena if published is None or arena is not None else published.arena_folder()
    if folder is None:
        raise UsageError("name a board (--board) or an arena (--arena)")
    read = read_arena(folder)
    new = candidate_answers(candidate, read, columns)
    store_path = Path(settings.store or folder / STORE)
    judging = None
    with kept_replies(store_path), ExitStack() as opened:
        # One judge or, without a model, none: a gate has no panel.
        for judge in judges:
            store = opened.enter_context(open_store(store_path))
            judging = GateJudging(judge, store, budget, settings.seed, progress_lines())
        decision = gate(
            published,
            new,
            read,
            baseline,
            judging=judging,
            rates=GateRates(error, margin, accepted=tuple(split_names(accept)), cheaper=cheaper),
            languages=settings.languages,
            feature_table=_features_of(feature_table, new),
        )
    if as_json:
        shown = plain(decision)
        shown["sentences"] = decision.sentences
        shown["win_rate"] = decision.win_rate
        show(shown, as_json)
    else:
        print_notes(decision.sentences, "")
    if decision.verdicts is not None:
        require_verdicts(decision.verdicts.usage)
    for path, write in ((junit, gate_junit), (markdown, gate_markdown)):
        if path is not None:
            write_text(write(decision), path)
    # 1 and 2 are errors, so that a pipeline can tell a worse system from a broken command.
    status = 4 if decision.verdict == "cannot say" else 0
    raise SystemExit(3 if decision.verdict in FAILED else status)


def candidate_answers(
    candidate: str | None, arena: Arena, columns: Sequence[str] | None
) -> pd.DataFrame | str | None:
    """Return the answers of a candidate's file, or the name of a system of the arena."""
    from arena.adapters.new_answers import read_answers
    from arena.data.errors import checked_choice

    if candidate is None:
        return None
    if Path(candidate).is_file():
        return read_answers(candidate, arena.queries, named_columns(columns))
    return checked_choice(candidate, arena.info.systems, "file or system of the arena")


def _features_of(path: Path | None, answers: pd.DataFrame | str | None) -> pd.DataFrame | None:
    """Read the feature table of a candidate's file, if there is one."""
    if path is None:
        return None
    if answers is None or isinstance(answers, str):
        raise UsageError("--feature-table is of the answers in a file; name it with --candidate")
    return given_features(path, answers)


@contextmanager
def kept_replies(store: Path | str) -> Iterator[None]:
    """On Ctrl-C, say where replies are kept and how to continue."""
    try:
        yield
    except KeyboardInterrupt:
        print(
            f"Interrupted. Replies that came are kept in {store}; run the same command again to "
            "continue: no call is repeated.",
            file=sys.stderr,
        )
        interrupted = 130  # the exit status after Ctrl-C, as shells have it
        raise SystemExit(interrupted) from None


def _counts_of(chosen: ChosenPairs, as_json: bool) -> dict[str, Any]:
    # An audit may ask some pairs in both orders all the same: a bare "False" would mislead.
    is_shown = as_json or chosen.both_orders
    return {
        "questions": chosen.counts,
        "pairs": len(chosen),
        "both_orders": chosen.both_orders if is_shown else None,
        "identical_answers": len(chosen.identical),
    }


def _print_summary(summary: JudgingSummary) -> None:
    verdicts = ", ".join(f"{count} {winner}" for winner, count in summary.verdicts.items())
    lines = [
        f"{summary.check.short} ({summary.prompt})",
        f"{verdicts} ({summary.identical} of identical answers); unparsable: {summary.invalid}",
        f"{summary.usage}; {summary.already_judged} were judged before",
    ]
    if summary.cost is not None:
        lines.append(f"Cost: {summary.cost:.4f}")
    elif summary.usage.collected > 0:
        lines.append(f"Cost: {NO_BATCH_COST}")
    elif summary.usage.calls > 0:
        lines.append(f"Cost: {NO_COST}")
    if summary.flags:
        flags = ", ".join(f"{count} {name}" for name, count in summary.flags.items())
        lines.append(f"Flags: {flags}")
    print_notes([*lines, *summary.warnings, *summary.check.faults], "")
    print_notes(summary.check.facts, "")
