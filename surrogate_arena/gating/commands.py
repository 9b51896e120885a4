"""``gate``: is a new version broken, better, the same, or worse?"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from arena.data.errors import UsageError, checked_choice
from arena.data.wording import count_of
from arena.judging.judging_settings import JudgingSettings
from arena.llm.llm_settings import fields_by_use
from surrogate_arena.cli import options as opt
from surrogate_arena.cli.model_calls import STORE, kept_replies
from surrogate_arena.cli.options import check_target, given_answers, given_board, given_features
from surrogate_arena.cli.printing import command, plain, print_notes, progress_lines, show
from surrogate_arena.cli.setting_options import takes_settings

if TYPE_CHECKING:
    import pandas as pd

    from arena.data.arena import Arena
    from arena.judging.llm_judge import LlmJudge
    from surrogate.board.board import Board
    from surrogate_arena.gating.gate import GateJudging
    from surrogate_arena.gating.gate_result import Gate


@takes_settings(
    JudgingSettings,
    "model",
    "base_url",
    # The gate plans the pairs itself, and asks an LLM.
    leave_out={*fields_by_use(JudgingSettings, plans_pairs=True), "plug_in"},
)
def gate_command(
    *,
    arena: opt.GateArena = None,
    candidate: Annotated[
        str | None,
        Option(
            metavar="FILE|SYSTEM",
            help="Answers by the new version, or its name in the arena. Default: the "
            "arena's latest",
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        Option(help="System to compare with. Default: the board's best, or the arena's latest"),
    ] = None,
    board: opt.GateBoard = None,
    allow: Annotated[
        list[str] | None,
        Option(
            metavar="CHECK=N",
            help="How many answers may have a fault that the baseline's lack: a "
            "number or all, such as other-language=2; repeatable. Default: 0 of "
            "a certain fault, all of a likely one",
        ),
    ] = None,
    limits: Annotated[
        Path | None,
        Option(metavar="FILE", help="TOML file of limits: checks and numbers, as for --allow."),
    ] = None,
    reports: Annotated[
        list[Path] | None,
        Option(
            "--report",
            help="File for the result: JUnit (.xml) for CI servers, Markdown (.md) "
            "for a comment; repeatable.",
        ),
    ] = None,
    cheaper: Annotated[
        bool,
        Option("--cheaper", help="Pass if it costs less and is worse by at most the margin."),
    ] = False,
    margin: Annotated[float, Option(help="Difference of a win rate from 0.5 that matters.")] = 0.05,
    once: Annotated[
        bool,
        Option("--once", help="Look at the arena's verdicts only once; fewer are then needed."),
    ] = False,
    settings: JudgingSettings,
    budget: Annotated[int | None, Option(min=2, help="Maximum number of verdicts.")] = None,
    columns: opt.Columns = None,
    features: opt.OtherFeatures = None,
    feature_table: opt.FeatureTable = None,
    as_json: opt.Json = False,
) -> None:
    """Decide whether a new version is broken, better than a baseline, the same, or worse.

    Faults in answers are checked first, question by question. If nothing is broken, the surrogate
    of a --board decides if it can. Otherwise, --model judges pairs; without --model, the arena's
    verdicts on the two versions count. The status is 0 for better or the same, 3 for broken or
    worse, and 4 if the gate cannot say. With --cheaper, it is 0 for cheaper, and 3 for not cheaper
    or worse by more than the margin.
    """
    from arena.data.folder import read_arena
    from arena.data.writing import write_text
    from arena.judging.judging_result import require_verdicts
    from surrogate_arena.gating.arena_verdicts import read_failures
    from surrogate_arena.gating.contenders import contenders, has_unjudged_pairs
    from surrogate_arena.gating.fault_comparison import given_limits
    from surrogate_arena.gating.gate import compare_contenders
    from surrogate_arena.gating.gate_report import gate_junit, gate_markdown
    from surrogate_arena.gating.rating_difference import GateRates

    writers = {".xml": gate_junit, ".md": gate_markdown}
    for report in reports or ():
        checked_choice(report.suffix, writers, "ending of --report")
        check_target(report, is_folder=False)
    judge = _gate_judge(settings, budget)
    published = None if board is None else given_board(board, features)
    folder = _arena_folder(published, arena)
    read = read_arena(folder)
    answers = candidate_answers(candidate, read, columns)
    failures = read_failures(folder)
    pair = contenders(read, published, answers, baseline, settings.languages, failures)
    allowed = given_limits(allow or (), limits)
    rates = GateRates(margin=margin, cheaper=cheaper, once=once, allow=allowed)
    store_path = Path(settings.store or folder / STORE)
    with _opened_judging(judge, store_path, budget, settings.seed) as judging:
        decision = compare_contenders(
            pair,
            published,
            judging=judging,
            rates=rates,
            feature_table=_features_of(feature_table, answers),
        )
    if as_json:
        result = {
            "verdict": decision.verdict,
            "status": decision.status,
            "win_rate": decision.win_rate,
            "sentences": decision.sentences,
            "reasons": decision.reasons,
        }
        show(result | plain(decision), as_json)
    else:
        print_gate(decision)
    is_in_arena = pair.judged_as in read.info.systems
    is_undecided = decision.verdict == "cannot say" and judge is None
    can_people_tell = bool(decision.judge_doubt) or has_unjudged_pairs(pair)
    if is_undecided and is_in_arena and can_people_tell and not as_json:
        print(command("vote", folder, *_ballot(decision, pair.judged_as), "--out", "vote.html"))
    if decision.verdicts is not None:
        require_verdicts(decision.verdicts.usage)
    for report in reports or ():
        write_text(writers[report.suffix](decision), report)
    # For CI: 1 and 2 are errors, so that a worse system differs from them.
    raise SystemExit(decision.status)


def print_gate(decision: Gate) -> None:
    """Print the verdict, and the five things that matter most.

    These are answers to look at, after the evidence if nothing is broken.
    """
    verdict, *further = decision.sentences
    print_notes([verdict], "")
    most = 5
    most_evidence = 0 if decision.verdict == "broken" else 3
    evidence = further[:most_evidence]
    examples = decision.examples[: min(3, most - len(evidence))]
    shown = [*evidence, *(f"  {line}" for line in examples)]
    shown += further[most_evidence:][: most - len(shown)]
    print_notes(shown, "", most)
    n_faults_shown = len(set(examples) & set(decision.faults.examples))
    left = {
        "fault": len(decision.faults.faults) - n_faults_shown,
        "remark": len(further) - (len(shown) - len(examples)),
    }
    counts = [count_of(number, f"more {name}") for name, number in left.items() if number]
    if counts:
        print(f"… and {' and '.join(counts)}; --report gate.md lists all")


def _ballot(decision: Gate, candidate: str) -> tuple[object, ...]:
    """Return the options of a ballot with every question of the two systems."""
    n_questions = decision.faults.candidate.answers["language"].value_counts().max()
    versions = f"{decision.baseline},{candidate}"
    return ("--systems", versions, "--questions", n_questions, "--most", decision.questions)


def _gate_judge(settings: JudgingSettings, budget: int | None) -> LlmJudge | None:
    from arena.judging.llm_judge import llm_judges

    if settings.batch:
        raise UsageError(
            "a gate asks for verdicts until it can decide, and each batch may take a day; leave "
            "batch out of --config"
        )
    if settings.model:
        return llm_judges(settings)[0]  # a gate has no panel
    judging_options = settings.model_fields_set - {"model", "languages", "seed"}
    if judging_options or budget is not None:
        raise UsageError("judging options need --model")
    return None


def _arena_folder(board: Board | None, arena: Path | None) -> Path:
    folder = arena
    if folder is None and board is not None:
        # The board knows its arena's path from its own folder; commands are shown it from here.
        folder = Path(os.path.relpath(board.arena_folder().resolve()))
    if folder is None:
        raise UsageError(
            "name a board (--board) or an arena (--arena); to make one of files of answers: import "
            "csv OLD.csv NEW.csv --out ARENA"
        )
    return folder


def candidate_answers(
    candidate: str | None, arena: Arena, columns: Sequence[str] | None
) -> pd.DataFrame | str | None:
    """Return the answers of a candidate's file, or the name of a system of the arena."""
    if candidate is None:
        return None
    if Path(candidate).is_file():
        return given_answers(Path(candidate), arena.queries, columns)
    return checked_choice(candidate, arena.info.systems, "file or system of the arena")


def _features_of(path: Path | None, answers: pd.DataFrame | str | None) -> pd.DataFrame | None:
    if path is None:
        return None
    if answers is None or isinstance(answers, str):
        raise UsageError("--feature-table is of the answers in a file; name it with --candidate")
    return given_features(path, answers)


@contextmanager
def _opened_judging(
    judge: LlmJudge | None, store_path: Path, budget: int | None, seed: int
) -> Iterator[GateJudging | None]:
    from arena.llm import open_store
    from surrogate_arena.gating.gate import GateJudging

    if judge is None:
        yield None
        return
    with kept_replies(store_path), open_store(store_path) as store:
        yield GateJudging(judge, store, budget, seed, progress_lines())
