"""Data sets of others as arenas: one reader per kind of source."""

from __future__ import annotations

import csv
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from arena.data.errors import ArenaError, DataError, UsageError, argument, checked_choice
from arena.data.files import parsed_json
from arena.data.folder import write_arena
from arena.data.plug_ins import find_plug_in, plug_ins
from arena.data.tables import write_rows
from arena.data.wording import count_of
from arena.data.writing import replaced_folder
from surrogate_arena.cli.replaced_arenas import (
    APART_FILE,
    FEATURES_FILE,
    check_arena_target,
)
from surrogate_arena.importers.answer_rows import SAME_AGAIN
from surrogate_arena.importers.answers import TABLE, read_answer_tables
from surrogate_arena.importers.clone_files import files_below
from surrogate_arena.importers.contract import value_at
from surrogate_arena.importers.foreign_arena import ForeignArena
from surrogate_arena.importers.lmarena import read_battles
from surrogate_arena.importers.miracl import read_miracl
from surrogate_arena.importers.opened import opened_value
from surrogate_arena.importers.repeated_votes import COPY, REPLACED
from surrogate_arena.importers.tables import (
    DELIMITED,
    JSON,
    PARQUET,
    TABLE_SUFFIXES,
    delimiter_of,
    text_of_file,
)
from surrogate_arena.importers.tool_maps import MAP_ENDING, map_of_file, shipped_maps
from surrogate_arena.importers.tool_records import ToolReader
from surrogate_arena.importers.verdict_files import VERDICT_OPTIONS, split_options, with_verdicts

Reader = Callable[..., ForeignArena]
MOST_READ = 16 * 2**20
"""Characters of a file that tell which kind it evidently is."""

READERS: Mapping[str, Reader] = MappingProxyType(
    {
        "miracl": read_miracl,
        "lmarena": read_battles,
        TABLE: read_answer_tables,
        **{name: ToolReader(name, tool) for name, tool in shipped_maps().items()},
    }
)
"""Reader of each kind of source, called with paths, and with options by name."""


def import_arena(
    kind: str | Reader,
    paths: Path | str | Sequence[Path | str],
    *,
    verdicts: Path | str | None = None,
    reference_system: str | None = None,
    **options: object,
) -> ForeignArena:
    """Read files of other tools and publishers as an arena.

    Args:
        kind: One of ``READERS``, a map (``FILE.toml``), an importer of another installed package,
            or a function of paths and options.
        paths: Files, folders, or clones of repositories.
        verdicts: File of verdicts on the answers; ``columns`` with ``verdicts.`` before are of it.
        reference_system: System whose answers serve as reference.
        options: Options of its reader, such as ``language`` or ``name``.

    Returns:
        The arena, what was left out and why, and published features.

    Raises:
        UsageError: For an unknown kind or option, and where nothing was read.
        DataError: With every problem of all files.

    Examples:
        >>> import pandas as pd
        >>> row = {"question": "Who wrote Faust?", "system": "x", "answer": "Goethe."}
        >>> pd.DataFrame([row]).to_csv("answers.csv", index=False)
        >>> import_arena("csv", "answers.csv").arena
        <Arena 'answers': 1 question in en, 1 answer by 1 system, 0 judgments>
    """
    if isinstance(paths, Path | str):
        paths = [paths]
    reader = _reader_of(kind)
    shown_kind = kind if isinstance(kind, str) else "this reader"
    if verdicts is not None:
        options, verdict_file = split_options(Path(verdicts), options)
    _check_options(shown_kind, options, reader_options(kind))
    try:
        foreign = reader(paths, **options)
    except (UsageError, DataError) as error:
        raise _with_evident_kind(error, kind, paths) from None
    if not isinstance(foreign, ForeignArena):
        raise UsageError(
            f"{shown_kind} returned {type(foreign).__name__}; a reader returns an "
            "surrogate_arena.importers.ForeignArena"
        )
    # Files of another kind often read as tables without a single row of use.
    if foreign.arena.queries.empty and foreign.arena.judgments.empty:
        raise _with_evident_kind(UsageError(_nothing_read(foreign)), kind, paths)
    if options.get("repeats") != "first" and _is_mostly_left_out(foreign):
        raise _with_evident_kind(UsageError(_most_left_out(foreign)), kind, paths)
    if reference_system is not None:
        info = foreign.arena.info
        checked_choice(reference_system, info.systems, "reference system")
        info = info.model_copy(update={"reference_system": reference_system})
        foreign = replace(foreign, arena=replace(foreign.arena, info=info))
    return foreign if verdicts is None else with_verdicts(foreign, verdict_file, paths)


def _check_options(kind: str, options: Iterable[str], known: Sequence[str]) -> None:
    for name in options:
        if name in known:
            continue
        if name in VERDICT_OPTIONS:
            raise UsageError(
                f"{kind} takes {argument(name)} only with verdicts on pairs: --verdicts FILE, or "
                "'import lmarena'; scores of single answers need --scores NAME alone"
            )
        takes = ", ".join(map(argument, known))
        raise UsageError(f"{kind} does not take {argument(name)}; it takes {takes}")


def _is_mostly_left_out(foreign: ForeignArena) -> bool:
    is_repeat = foreign.skipped["reason"].isin([SAME_AGAIN, COPY, REPLACED])
    n_repeats = int(foreign.skipped.loc[is_repeat, "count"].sum())
    n_kept = sum(
        foreign.tally.get(name, 0) for name in ("answers", "verdicts", "scores", "questions")
    )
    return foreign.tally.get("left out", 0) - n_repeats > n_kept


def _most_left_out(foreign: ForeignArena) -> str:
    n_records = foreign.tally["records"]
    return (
        f"{foreign.tally['left out']} of {count_of(n_records, 'record')} would be left out "
        f"({_reasons(foreign)}); name other paths with --column, or give the files without them"
    )


def _nothing_read(foreign: ForeignArena) -> str:
    return f"nothing could be read ({_reasons(foreign)}); nothing was written"


def _reasons(foreign: ForeignArena) -> str:
    most_reasons = 3
    skipped = foreign.skipped.sort_values("count", ascending=False, kind="stable")
    reasons = []
    for row in skipped.head(most_reasons).to_dict(orient="records"):
        reasons.append(f"{row['item']}: {row['reason']}, {count_of(row['count'], 'time')}")
    return "; ".join(reasons) or "the files hold no rows"


def _with_evident_kind(
    error: UsageError | DataError, kind: str | Reader, paths: Sequence[Path | str]
) -> UsageError | DataError:
    problems = error.problems if isinstance(error, DataError) else []
    if any(problem.line is not None for problem in problems):
        return error  # of single rows, in a file that is read as what it is
    evident = evident_kind(paths)
    if evident is None or evident[0] == kind:
        return error
    evident_name, title = evident
    hint = f"this looks like {title}: use 'import {evident_name}'"
    if evident_name in shipped_maps():
        hint += f"; {shipped_maps()[evident_name].hint}"
    if isinstance(error, UsageError):
        return UsageError(f"{error}; {hint}")
    first, *further = problems
    return DataError([replace(first, hint=f"{first.hint}; {hint}"), *further])


def evident_kind(paths: Sequence[Path | str]) -> tuple[str, str] | None:
    """Return the kind of source that files evidently are, and its name in messages."""
    try:
        record = _beginning(files_below(paths, (*JSON, *TABLE_SUFFIXES))[0])
    # This only adds a hint to another error, which says what is wrong with the files.
    except (ArenaError, OSError, ValueError):
        return None
    if not isinstance(record, Mapping):
        return None
    record = opened_value(record)
    for name, tool in shipped_maps().items():
        if any(value_at(record, sign) for sign in tool.signs):
            return name, tool.title
    return None


def _beginning(path: Path) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return a file's first record or its object; a table's columns."""
    if path.name.endswith(PARQUET):
        import pyarrow.parquet as pq

        return dict.fromkeys(pq.read_schema(path).names, True)
    with text_of_file(path, path.name) as stream:
        if path.name.lower().endswith(DELIMITED):
            header = stream.readline(MOST_READ)
            names = next(csv.reader([header], delimiter=delimiter_of(header)), [])
            return {name.strip(): True for name in names}
        # Of a table of lines, the first says what all are.
        is_whole = path.name.endswith(JSON)
        value = parsed_json(stream.read(MOST_READ) if is_whole else stream.readline(MOST_READ))
    return value[0] if isinstance(value, list) and value else value


def reader_options(kind: str | Reader) -> list[str]:
    """Return the options of a kind of source, or of a reader."""
    parameters = inspect.signature(_reader_of(kind)).parameters
    return [name for name in parameters if name != "paths"]


def _reader_of(kind: str | Reader) -> Reader:
    if not isinstance(kind, str):
        return kind
    if kind.endswith(MAP_ENDING):
        return ToolReader(Path(kind).stem, map_of_file(kind))
    check_kind(kind, READERS)
    plug_in = find_plug_in("importer", kind)
    return READERS[kind] if plug_in is None else plug_in.load_function()


def check_kind(kind: str, builtin: Collection[str]) -> None:
    """Check that exactly one package reads a kind of source, else raise a UsageError."""
    if find_plug_in("importer", kind, builtin) is None:
        kinds = [*builtin, *(plug_in.name for plug_in in plug_ins("importer"))]
        if kind not in kinds and Path(kind).exists():
            likely_kind, _ = evident_kind([kind]) or (TABLE, "")
            hint = f"put its kind before it, such as 'import {likely_kind} {kind}'"
            raise UsageError(f"{kind} is a path, not a kind of source: {hint}")
        checked_choice(kind, kinds, "kind of source")


class WrittenImport(NamedTuple):
    """A written arena folder, with the number of rows by table."""

    folder: Path
    counts: dict[str, int]
    features: Path | None
    apart: Path | None


def write_import(
    foreign: ForeignArena,
    folder: Path | str,
    apart: Sequence[str] = (),
    *,
    is_replaced: bool = False,
) -> WrittenImport:
    """Write an arena folder, whole or not at all.

    Published features become a file for ``board --feature-table``.

    Args:
        foreign: The arena.
        folder: Where to; see ``check_arena_target``.
        apart: Systems to leave out; ``rank`` reads their answers from a file.
        is_replaced: Whether to replace an arena folder.

    Returns:
        The folder, and its numbers of rows.

    Raises:
        UsageError: If the folder cannot be written to, or the arena has no such system.
    """
    folder = Path(folder)
    check_arena_target(folder, is_replaced)
    arena = foreign.arena
    for system in apart:
        if system == arena.info.reference_system:
            raise UsageError(f"{system!r} is the reference; others need its answers in the arena")
        checked_choice(system, arena.info.systems, "system to keep apart")
    part = arena.select(systems=[name for name in arena.info.systems if name not in apart])
    apart_answers = arena.answers[arena.answers["system"].isin(apart)].reset_index(drop=True)
    tables = {FEATURES_FILE: foreign.features, APART_FILE: apart_answers}
    written: dict[str, Path | None] = dict.fromkeys(tables)
    with replaced_folder(folder) as writing:
        write_arena(part, writing)
        for name, table in tables.items():
            if len(table):
                write_rows(table, writing / name)
                written[name] = folder / name
    counts = {
        "languages": len(part.info.languages),
        "systems": len(part.info.systems),
        "questions": len(part.queries),
        "answers": len(part.answers),
        "judgments": len(part.judgments),
        "published_ratings": len(part.published_ratings),
        "apart": len(apart_answers),
    }
    return WrittenImport(folder, counts, written[FEATURES_FILE], written[APART_FILE])
