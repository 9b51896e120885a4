"""``surrogate-arena init``: an arena folder to begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surrogate.cli.data.imports import LanguageOption, ReplaceOption, import_and_print
from surrogate.cli.options import FILE

QUESTIONS = 4
SYSTEMS = 3
LANGUAGE = "en"


def init(
    folder: Annotated[Path, typer.Argument(help="Arena folder to write.")],
    table: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Table of your own answers, as 'import csv' reads it, in the place of a template.",
            **FILE,
        ),
    ] = None,
    language: LanguageOption = None,
    replace_there: ReplaceOption = False,
) -> None:
    """Write a small arena folder to put your own questions, answers and judgments into."""
    if table is None:
        from arena.data.errors import UsageError

        if language is not None:
            raise UsageError("--language is for rows of a table (--from); leave it out")
        _write_template(folder, replace_there)
    else:
        name = folder.resolve().name
        import_and_print(
            "csv", [table], folder, replace_there=replace_there, name=name, language=language
        )
    print(f"Next:  surrogate-arena check {folder}")


def _write_template(folder: Path, is_replaced: bool) -> None:
    """Write a few questions, answers and judgments of the simulated sample arena."""
    from arena.adapters import check_import_folder
    from arena.data.arena import Arena
    from arena.data.files import replaced_folder
    from arena.data.folder import write_arena
    from arena.data.schema import ArenaInfo
    from arena.simulation import sample_arena

    check_import_folder(folder, is_replaced)
    whole = sample_arena()
    asked = whole.queries[whole.queries["language"] == LANGUAGE].head(QUESTIONS)
    systems = whole.info.systems[:SYSTEMS]
    about = [
        table[(table["language"] == LANGUAGE) & table["query_id"].isin(asked["query_id"])]
        for table in (whole.answers, whole.judgments)
    ]
    answers, judgments = about
    info = ArenaInfo(
        name=folder.resolve().name,
        languages=(LANGUAGE,),
        systems=systems,
        note="A template: its questions, systems, answers and judgments are made up; put your own "
        "in their place.",
    )
    both = judgments["system_a"].isin(systems) & judgments["system_b"].isin(systems)
    arena = Arena(info, asked, answers[answers["system"].isin(systems)], judgments[both])
    with replaced_folder(folder) as writing:
        write_arena(arena, writing, ".jsonl")
    print(f"Template written to {folder}: arena.json, queries, answers and judgments (.jsonl)")
