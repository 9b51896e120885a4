"""``surrogate-arena import``: what others published, or other tools wrote, as an arena folder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.data.wording import count_of
from surrogate.cli.options import (
    ConfigOption,
    JsonOption,
    LanguagesOption,
    named_values,
    settings_file,
    split_names,
)
from surrogate.cli.targets import OUT_FOLDER

if TYPE_CHECKING:
    import pandas as pd

    from arena.adapters import ForeignArena

FIELD = "FIELD=NAME, such as question=prompt"
SHOWN_REASONS = 30
_PLURAL = re.compile(r"(\w+(?: rating)?)s\b")

OutOption = Annotated[
    Path, typer.Option("--out", help="Arena folder to write, whole or not.", **OUT_FOLDER)
]
ReplaceOption = Annotated[
    bool, typer.Option("--replace", help="Replace the arena folder that is there, with all in it.")
]
LanguageOption = Annotated[
    str | None,
    typer.Option(
        "--language", help="Language code, such as en, where folders and files do not tell."
    ),
]


def import_command(
    kind: Annotated[
        str,
        typer.Argument(
            help="mirage, miracl, memerag or lmarena (published data); csv (your own table: CSV, "
            "JSONL, Parquet, JSON); promptfoo, inspect, langfuse or langsmith (records of tools)."
        ),
    ],
    paths: Annotated[list[Path], typer.Argument(help="Clones, folders or files.", exists=True)],
    out: OutOption,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            metavar="FIELD=NAME",
            help="Column of a table, or path in a record, such as question=vars.topic or "
            "system=file (the file's name); repeatable. The guide lists the fields.",
        ),
    ] = None,
    judge: Annotated[
        str | None, typer.Option("--judge", help="Judge of rows that name none.")
    ] = None,
    scores: Annotated[
        str | None,
        typer.Option("--scores", help="Comma-separated scores of a tool; all by default."),
    ] = None,
    most_pairs: Annotated[
        int | None,
        typer.Option(
            "--most-pairs", min=1, help="Pairs of marked answers kept of each question; all."
        ),
    ] = None,
    reference_system: Annotated[
        str | None,
        typer.Option("--reference-system", help="System whose answers serve as reference."),
    ] = None,
    apart: Annotated[
        list[str] | None,
        typer.Option(
            "--apart",
            help="Systems, comma-separated or repeated, to keep out of the arena; their answers go "
            "to apart_answers.jsonl.gz in it, to be ranked as new ones.",
        ),
    ] = None,
    language: LanguageOption = None,
    languages: LanguagesOption = None,
    qrels: Annotated[
        list[Path] | None,
        typer.Option("--qrels", help="miracl: relevance files in TREC's form; repeatable."),
    ] = None,
    corpus: Annotated[
        list[Path] | None,
        typer.Option("--corpus", help="miracl: JSONL with docid, title, text; repeatable."),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Name of the arena; that of the kind by default.")
    ] = None,
    config: ConfigOption = None,
    replace_there: ReplaceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Read what others published, or other tools wrote, into an arena folder.

    Further settings of a kind's reader, such as the split of mirage, are keys of --config.
    """
    given: dict[str, object] = {
        "columns": named_values("--column", columns or [], FIELD),
        "judge": judge,
        "scores": split_names(scores),
        "most_pairs": most_pairs,
        "reference_system": reference_system,
        "language": language,
        "languages": split_names(languages),
        "qrels": qrels,
        "corpus": corpus,
        "name": name,
    }
    import_and_print(
        kind,
        paths,
        out,
        apart=split_names(",".join(apart or ())),
        config=config,
        replace_there=replace_there,
        as_json=as_json,
        **given,
    )


def import_and_print(
    kind: str,
    paths: Sequence[Path],
    out: Path,
    *,
    apart: Sequence[str] = (),
    config: Path | None = None,
    replace_there: bool = False,
    as_json: bool = False,
    **options: object,
) -> None:
    """Read a source, write the arena, and print what was read and left out.

    Args:
        kind: One of ``arena.adapters.READERS``.
        paths: Files and folders to read.
        out: Folder to write.
        apart: Systems to keep out of the arena.
        config: TOML file of further options of the reader.
        replace_there: Whether an arena that is there may be replaced.
        as_json: Print JSON instead.
        options: The reader's own; what is empty is left to it.
    """
    from arena.adapters import check_import_folder, import_arena, reader_options

    check_import_folder(out, replace_there)
    filed = {} if config is None else settings_file(config, reader_options(kind))
    stated = {key: value for key, value in options.items() if value not in (None, [], {})}
    read = import_arena(kind, paths, **{**filed, **stated})
    write_and_print(read, out, apart, replace_there, as_json)


def write_and_print(
    read: ForeignArena,
    out: Path,
    apart: Sequence[str],
    is_replaced: bool,
    as_json: bool,
    left_out: pd.DataFrame | None = None,
    notes: Sequence[str] = (),
) -> None:
    """Write an arena and print what was read and left out.

    Args:
        read: The arena, and what was left out on reading.
        out: Folder to write.
        apart: Systems to keep out of the arena.
        is_replaced: Whether an arena that is there may be replaced.
        as_json: Print JSON instead.
        left_out: What was left out on choosing: ``language, reason, count``.
        notes: Sentences to print.
    """
    from arena.adapters import write_import
    from surrogate.cli import printing

    written = write_import(read, out, apart, is_replaced=is_replaced)
    note, skipped = read.arena.info.note, read.skipped
    files = {
        name: None if path is None else str(path)
        for name, path in (("features", written.features), ("apart", written.apart))
    }
    if as_json:
        printing.print_json(
            {
                **{"arena": str(written.folder), "counts": written.counts, **files},
                **{"skipped": skipped, "questions_left_out": left_out},
                **{"note": note, "notes": list(notes)},
            }
        )
        return
    there = {name.replace("_", " "): count for name, count in written.counts.items() if count}
    counts = ", ".join(_counted(count, name) for name, count in there.items())
    print(f"Arena written to {written.folder}: {counts}")
    told = [note] if note else []
    if files["features"]:
        told.append(f"Published features: {files['features']}, for --feature-table")
    if files["apart"]:
        told.append(f"Answers kept apart: {files['apart']}, for rank")
    for sentence in (*told, *notes):
        print(f"  {sentence}")
    if left_out is not None:
        for reason, rows in left_out.groupby("reason", sort=False):
            of_each = zip(rows["language"], rows["count"], strict=True)
            by_language = ", ".join(f"{code} {count:,}" for code, count in of_each)
            print(f"  Left out: {_counted(rows['count'].sum(), str(reason))} ({by_language})")
    if len(skipped):
        printing.print_columns("Left out", skipped.head(SHOWN_REASONS), list(skipped.columns))
    if len(skipped) > SHOWN_REASONS:
        print(f"… and {count_of(len(skipped) - SHOWN_REASONS, 'more row')}; --json holds them all")


def _counted(number: int, words: str) -> str:
    """Put a number before words that begin with what is counted, in the plural."""
    noun = _PLURAL.match(words)
    if noun is None:
        return f"{number:,} {words}"
    return count_of(number, noun[1]) + words[noun.end() :]
