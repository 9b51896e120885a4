"""``import``: arena folders of what others published, or other tools wrote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from arena.data.errors import UsageError
from arena.data.languages import UNDETERMINED
from arena.data.wording import count_of, split_names
from surrogate_arena.cli import options as opt
from surrogate_arena.cli.counts import contract_remarks, counts_line
from surrogate_arena.cli.folders import has_folder
from surrogate_arena.cli.options import named_columns
from surrogate_arena.cli.printing import command, show
from surrogate_arena.cli.setting_options import configured

if TYPE_CHECKING:
    import pandas as pd

    from surrogate_arena.importers import ForeignArena
    from surrogate_arena.importers.imports import Reader

OWN_TABLES = ("csv", "lmarena")
"""Kinds of source that are named for the arena's folder: their files hold anybody's data."""


PAPERS = {"memerag": "read_memerag_answers", "mirage": "read_mirage"}
"""Readers of ``surrogate_arena.papers`` by kind; by name, since that folder needs this one."""


def import_command(
    kind: Annotated[
        str,
        Argument(
            help="csv (your table: CSV, JSON, Excel, Parquet); deepeval, inspect, langfuse, "
            "langsmith, opentelemetry, phoenix, promptfoo, ragchecker "
            "(tools); lmarena, memerag, miracl, mirage, mtrag, trec-rag "
            "(published); or an importer from another installed package. With --map, the first "
            "file."
        ),
    ],
    out: opt.ArenaFolder,
    paths: Annotated[
        list[Path] | None, Argument(help="Clones, folders or files.", exists=True)
    ] = None,
    columns: Annotated[
        list[str] | None,
        Option(
            "--column",
            metavar="FIELD=NAME",
            help="Column in a table, or path in a record, such as question=vars.topic, "
            "question=input.args[0] or system=file (the file's name); repeatable. The guide lists "
            "the fields.",
        ),
    ] = None,
    verdicts: Annotated[
        Path | None,
        Option(
            help="Table of verdicts on these answers; name its columns by --column "
            "verdicts.FIELD=NAME.",
            **opt.FILE,
        ),
    ] = None,
    map_file: Annotated[
        Path | None,
        Option("--map", help="TOML file that maps another tool's records to fields."),
    ] = None,
    judge: Annotated[str | None, Option(help="Judge for rows or scores that name none.")] = None,
    scores: Annotated[
        list[str] | None,
        Option(help="Comma-separated columns or scores to use as judges, besides known metrics."),
    ] = None,
    lowest_wins: Annotated[
        list[str] | None,
        Option(
            metavar="NAME",
            help="Score, as in --scores, whose lowest value wins; NAME=no if its highest does. "
            "Repeatable.",
        ),
    ] = None,
    values: opt.Values = None,
    no_sides: opt.NoSides = False,
    reference_system: Annotated[
        str | None, Option(help="System whose answers are the reference.")
    ] = None,
    apart: Annotated[
        list[str] | None,
        Option(
            help="Comma-separated systems to keep out of the arena; their answers go to its "
            "apart_answers.jsonl.gz, to be ranked as new ones."
        ),
    ] = None,
    repeats: Annotated[
        str | None,
        Option(
            help="If a system answers a question again: first (keep the first answer) "
            "or each (make each repeat a question). Default: an error"
        ),
    ] = None,
    language: Annotated[str | None, Option(help="Language for rows that name none.")] = None,
    languages: opt.Languages = None,
    config: opt.Config = None,
    replace_there: opt.Replace = False,
    as_json: opt.Json = False,
) -> None:
    """Make an arena from your own table, a published data set or another tool's records.

    Pass a reader's further settings with --config, such as download=true for mirage, to read its
    data sets from the Hugging Face hub.
    """
    from surrogate_arena.cli.replaced_arenas import check_arena_target
    from surrogate_arena.importers import import_arena, reader_options

    if map_file is not None:
        paths = [Path(kind), *(paths or [])]
        kind = str(map_file)
    source = _reader_or_kind(kind)
    check_arena_target(out, replace_there)
    options: dict[str, object] = {
        "columns": named_columns(columns),
        "verdicts": verdicts,
        "judge": judge,
        "scores": split_names(",".join(scores or ())),
        "lowest_wins": list(lowest_wins or ()),
        "values": list(values or ()),
        "no_sides": no_sides or None,
        "languages": split_names(languages),
        "reference_system": reference_system,
        "language": language,
        "repeats": repeats,
    }
    # A reader refuses options that it does not have, so only those in use are passed on.
    used = {key: value for key, value in options.items() if value not in (None, [], {})}
    combined = {**configured(config, reader_options(source)), **used}
    if not paths and not combined.get("download"):
        raise UsageError("name the files, folders or clones to read")
    if kind in OWN_TABLES:
        combined.setdefault("name", out.resolve().name)
    read = import_arena(source, paths or (), **combined)
    _write_and_print(read, out, split_names(",".join(apart or ())), replace_there, as_json)


def _reader_or_kind(kind: str) -> str | Reader:
    from surrogate_arena.importers import READERS, check_kind
    from surrogate_arena.importers.tool_maps import MAP_ENDING

    if kind.endswith(MAP_ENDING):
        return kind
    papers = PAPERS if has_folder("papers") else {}
    check_kind(kind, [*READERS, *papers])
    if kind not in papers:
        return kind
    reader: Reader = getattr(import_module("surrogate_arena.papers"), papers[kind])
    return reader


def _write_and_print(
    read: ForeignArena,
    out: Path,
    apart: Sequence[str],
    is_replaced: bool,
    as_json: bool,
) -> None:
    from surrogate_arena.importers import write_import

    written = write_import(read, out, apart, is_replaced=is_replaced)
    counts: object = written.counts
    if not as_json:
        # Answers kept apart have a line that names their file.
        counts = counts_line({key: n for key, n in written.counts.items() if n and key != "apart"})
    content = {
        "shown": list(read.shown) if as_json else _as_table(read.shown),
        "arena": written.folder,
        "counts": counts,
        "features": written.features,
        "apart": written.apart,
        "skipped": read.skipped,
        "notes": list(_import_notes(read)),
    }
    titles = {
        "shown": "The first row, as it was understood",
        "arena": "Arena written to",
        "features": "Published features, for --feature-table",
        "apart": "Answers kept apart, for rank",
        "skipped": "Left out on reading",
    }
    show(content, as_json, titles)
    if not as_json:
        print(command("check", out))


def _as_table(shown: Sequence[str]) -> pd.DataFrame:
    import pandas as pd

    rows = [line.split(": ", maxsplit=1) for line in shown]
    return pd.DataFrame(rows, columns=["field", "value"])


def _import_notes(read: ForeignArena) -> Iterator[str]:
    outcomes = []
    for name, count in read.tally.items():
        if name != "records":
            outcomes.append(f"{count} {name}" if name == "left out" else f"{count} became {name}")
    if outcomes:
        yield f"{count_of(read.tally['records'], 'record')}: {', '.join(outcomes)}"
    if read.arena.info.note:
        yield read.arena.info.note
    yield from read.notes
    if UNDETERMINED in read.arena.info.languages:
        yield "some rows name no language: if it is English, import again with --language en"
    yield from map(str, contract_remarks(read.arena))
