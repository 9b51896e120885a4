"""``surrogate-arena gate``: is a new version better than a baseline, the same, or worse?"""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.judging.settings import JudgingSettings
from surrogate.cli.judging.judge import STORE_FILE, kept_replies
from surrogate.cli.options import (
    FILE,
    NO_BODY,
    BoardOption,
    BodyOption,
    FeatureTableOption,
    JobsOption,
    JsonOption,
    MovedArenaOption,
    checked_option,
    given_features,
    refuse_judging,
    request_fields,
    split_names,
    with_settings,
)
from surrogate.cli.targets import OUT_FILE

if TYPE_CHECKING:
    from surrogate.ranking.gate import Gate

STATUS = {"better": 0, "same": 0, "worse": 3, "cannot say": 4}
"""Exit status of each verdict; 1 and 2 are errors."""

OF_JUDGE_ALONE = (
    *("model", "body", "questions", "pairs", "budget", "until", "both_orders", "form"),
    *("max_calls", "prior", "panel", "aggregate"),
)


@with_settings(JudgingSettings, leave_out=OF_JUDGE_ALONE)
def gate_command(
    board: BoardOption,
    candidate: Annotated[
        Path,
        typer.Option(
            "--candidate", help="Answers of the new version (JSONL, CSV, Parquet).", **FILE
        ),
    ],
    settings: JudgingSettings,
    baseline: Annotated[
        str | None,
        typer.Option("--baseline", help="System of the board to hold it against; the best one."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", help="LLM that judges the two where the surrogate does not say it; nobody."
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option("--budget", min=2, help="Most verdicts to ask for; all questions', twice."),
    ] = None,
    error: Annotated[
        float, typer.Option("--error", help="Probability with which it may be wrong.")
    ] = 0.05,
    margin: Annotated[
        float, typer.Option("--margin", help="Difference of a win rate from 0.5 that matters.")
    ] = 0.05,
    power: Annotated[
        float, typer.Option("--power", help="Probability with which that is to be found.")
    ] = 0.8,
    allow: Annotated[
        str,
        typer.Option(
            "--allow",
            help="Comma-separated verdicts that end with status 0: better, same, worse, "
            "cannot-say. Else worse has 3, cannot-say 4, a better or same not allowed 5.",
        ),
    ] = "better,same",
    junit: Annotated[
        Path | None, typer.Option("--junit", help="JUnit XML file to write, for CI.", **OUT_FILE)
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option("--markdown", help="Markdown file to write, for pull requests.", **OUT_FILE),
    ] = None,
    verdicts: Annotated[
        Path | None,
        typer.Option(
            "--verdicts", help="File for the judge's verdicts, such as few.jsonl.", **OUT_FILE
        ),
    ] = None,
    arena: MovedArenaOption = None,
    body: BodyOption = NO_BODY,
    feature_table: FeatureTableOption = None,
    jobs: JobsOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Say whether a new version of a system is better than a baseline, the same, or worse."""
    from arena.data.folder import read_answers, read_arena
    from arena.data.rows import write_rows
    from arena.llm import open_store
    from surrogate.board.board import Board
    from surrogate.cli import printing
    from surrogate.ranking.gate import GATE_VERDICTS, GateRates, gate

    names = [verdict.replace(" ", "-") for verdict in GATE_VERDICTS]
    allowed = {checked_option("--allow", name, names) for name in split_names(allow)}
    rates = GateRates(error, margin, power)
    judge = None
    if model is None:
        given_too = {
            "body": body != NO_BODY,
            "budget": budget is not None,
            "verdicts": verdicts is not None,
        }
        refuse_judging(settings, given_too, used=("languages",))
    else:
        asked = {"model": model, "body": request_fields(body)}
        judge = settings.model_copy(update=asked).llm_judge()
    published = Board.load(board)
    folder = arena or published.arena_folder()
    read = read_arena(folder)
    where = str(folder / STORE_FILE) if settings.store is None else settings.store
    with (
        kept_replies(where),
        nullcontext() if judge is None else open_store(where) as store,
        printing.progress_bar() as progress,
    ):
        found = gate(
            published,
            read_answers(candidate, read.queries),
            read,
            baseline,
            judge,
            store,
            budget=budget,
            rates=rates,
            languages=settings.languages,
            n_jobs=jobs,
            feature_table=given_features(feature_table),
            seed=settings.seed,
            progress=progress,
        )
    passes = found.verdict.replace(" ", "-") in allowed
    _write_reports(found, passes, junit, markdown)
    if verdicts is not None and found.verdicts is not None:
        write_rows(found.verdicts.judgments, verdicts)
    if as_json:
        printing.print_json(_as_json(found, passes))
    else:
        print("\n".join(found.sentences))
    if not passes:
        raise SystemExit(STATUS[found.verdict] or NOT_ALLOWED)


NOT_ALLOWED = 5


def _write_reports(found: Gate, passes: bool, junit: Path | None, markdown: Path | None) -> None:
    from surrogate.publish.gate_report import gate_junit, gate_markdown

    if junit is not None:
        junit.write_text(gate_junit(found, passes), encoding="utf-8")
    if markdown is not None:
        markdown.write_text(gate_markdown(found), encoding="utf-8")


def _as_json(found: Gate, passes: bool) -> dict[str, Any]:
    ratings, verdicts = found.ratings, found.verdicts
    return {
        "verdict": found.verdict,
        "by": found.by,
        "passes": passes,
        "candidate": found.candidate,
        "baseline": found.baseline,
        "error": found.rates.error,
        "margin": found.rates.margin,
        "power": found.rates.power,
        "surrogate": {
            "difference": _finite(ratings.rating),
            "low": _finite(ratings.low),
            "high": _finite(ratings.high),
            "win_rate": _finite(ratings.win_rate),
            "error": ratings.error,
            "reason": ratings.reason,
            "languages": ratings.languages,
        },
        "verdicts": None
        if verdicts is None
        else {
            "win_rate": _finite(verdicts.win_rate),
            "low": verdicts.low,
            "high": verdicts.high,
            "verdicts": len(verdicts.judgments),
            "scored_questions": len(verdicts.scores),
            "failures": len(verdicts.failures),
            "reason": verdicts.reason,
            "usage": verdicts.usage.as_json(),
        },
        "questions": found.questions,
        "unanswered": found.unanswered,
        "verdicts_needed": found.verdicts_needed,
        "verdicts_expected": found.verdicts_expected,
        "difference_found": found.difference_found,
        "sentences": list(found.sentences),
    }


def _finite(value: float) -> float | None:
    import math

    return value if math.isfinite(value) else None
