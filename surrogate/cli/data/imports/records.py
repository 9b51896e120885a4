"""``surrogate-arena import``: records of answers, from tables or from other tools' logs."""

from __future__ import annotations

from typing import Annotated

import typer

from surrogate.cli.data.imports.sources import (
    MostPairsOption,
    Options,
    ReferenceOption,
    source_command,
)
from surrogate.cli.options import named_values, split_names

FIELD = "FIELD=NAME, such as question=prompt"

PathOption = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        help="FIELD=PATH, such as question=vars.topic or system=file (the file's name); "
        "repeatable. Fields: question, system, answer, passages, reference, query_id, language.",
    ),
]
ScoresOption = Annotated[
    str | None,
    typer.Option("--scores", help="Comma-separated scores to read, each a judge; all by default."),
]


@source_command(
    "csv",
    "Tables of one schema: CSV, JSONL, Parquet, or a JSON array.",
)
def import_csv(
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            help="FIELD=NAME, such as question=prompt; repeatable. Fields: question, system, "
            "answer, verdict (a number, the higher the better); or question, system_a, answer_a, "
            "system_b, answer_b, winner; and query_id, language, passages, reference, judge.",
        ),
    ] = None,
    judge: Annotated[
        str | None, typer.Option("--judge", help="Judge of rows that name none.")
    ] = None,
    most_pairs: MostPairsOption = None,
    reference_system: ReferenceOption = None,
) -> Options:
    """Your own table: a row an answer, or a row a pair of answers."""
    return {
        "columns": named_values("--column", column or [], FIELD),
        "judge": judge,
        "most_pairs": most_pairs,
        "reference_system": reference_system,
    }


@source_command("promptfoo", "Results of 'promptfoo eval -o results.json' (or .jsonl).")
def import_promptfoo(
    column: PathOption = None,
    scores: ScoresOption = None,
    most_pairs: MostPairsOption = None,
    reference_system: ReferenceOption = None,
) -> Options:
    """Promptfoo's results: providers and prompts are systems, scores are judges."""
    return _options(column, scores, most_pairs, reference_system)


@source_command(
    "inspect", "Logs of Inspect as JSON ('inspect log convert --to json'), one or many."
)
def import_inspect(
    column: PathOption = None,
    scores: ScoresOption = None,
    most_pairs: MostPairsOption = None,
    reference_system: ReferenceOption = None,
) -> Options:
    """Inspect's logs: models are systems, scorers judges; the target is the reference."""
    return _options(column, scores, most_pairs, reference_system)


@source_command("langfuse", "Exports of traces: JSON, JSONL, CSV, or pages of the API.")
def import_langfuse(
    column: PathOption = None,
    scores: ScoresOption = None,
    most_pairs: MostPairsOption = None,
    reference_system: ReferenceOption = None,
) -> Options:
    """Langfuse's traces: metadata, release or version tell systems, scores are judges."""
    return _options(column, scores, most_pairs, reference_system)


@source_command(
    "langsmith",
    "Runs as JSON, JSONL or Parquet, or experiments' to_pandas() written as JSON lines.",
)
def import_langsmith(
    column: PathOption = None,
    scores: ScoresOption = None,
    most_pairs: MostPairsOption = None,
    reference_system: ReferenceOption = None,
) -> Options:
    """LangSmith's runs: experiments are systems, feedback keys judges."""
    return _options(column, scores, most_pairs, reference_system)


def _options(
    column: list[str] | None,
    scores: str | None,
    most_pairs: int | None,
    reference_system: str | None,
) -> Options:
    return {
        "columns": named_values("--column", column or [], FIELD),
        "scores": split_names(scores),
        "most_pairs": most_pairs,
        "reference_system": reference_system,
    }
