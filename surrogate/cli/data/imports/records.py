"""``surrogate-arena import``: records of answers, from tables or from other tools' logs."""

from __future__ import annotations

from collections.abc import Callable
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


def _tool_command(kind: str, paths: str, help: str) -> Callable[..., None]:
    """Make a command that imports records of a tool.

    Args:
        kind: One of ``arena.adapters.READERS``.
        paths: What is to be given as paths.
        help: What the command's ``--help`` says first.
    """

    def own(
        column: PathOption = None,
        scores: ScoresOption = None,
        most_pairs: MostPairsOption = None,
        reference_system: ReferenceOption = None,
    ) -> Options:
        return {
            "columns": named_values("--column", column or [], FIELD),
            "scores": split_names(scores),
            "most_pairs": most_pairs,
            "reference_system": reference_system,
        }

    own.__name__, own.__doc__ = f"import_{kind}", help
    return source_command(kind, paths)(own)


import_promptfoo = _tool_command(
    "promptfoo",
    "Results of 'promptfoo eval -o results.json' (or .jsonl).",
    help="Promptfoo's results: providers and prompts are systems, scores are judges.",
)
import_inspect = _tool_command(
    "inspect",
    "Logs of Inspect as JSON ('inspect log convert --to json'), one or many.",
    help="Inspect's logs: models are systems, scorers judges; the target is the reference.",
)
import_langfuse = _tool_command(
    "langfuse",
    "Exports of traces: JSON, JSONL, CSV, or pages of the API.",
    help="Langfuse's traces: metadata, release or version tell systems, scores are judges.",
)
import_langsmith = _tool_command(
    "langsmith",
    "Runs as JSON, JSONL or Parquet, or experiments' to_pandas() written as JSON lines.",
    help="LangSmith's runs: experiments are systems, feedback keys judges.",
)
