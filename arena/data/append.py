"""Adding answers or judgments to an arena folder, and listing beside them what failed."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import pandera.pandas as pa
import pyarrow
import pyarrow.parquet as pq

from arena.data.errors import DataError, Problem
from arena.data.files import atomic_path, locked_folder, open_text
from arena.data.folder import find_table_file, read_arena, read_info
from arena.data.rows import CSV_SUFFIXES, SUFFIXES, json_lines, read_rows, row_suffix, write_rows
from arena.data.schema import (
    ANSWER_KEY,
    ANSWERS,
    INFO_FILE,
    JUDGMENTS,
    QUESTION_KEY,
    ArenaInfo,
    check_table,
)
from arena.data.tables.frames import open_answers

FAILED_JUDGMENTS = "failed_judgments.jsonl"
"""File of an arena folder that lists pairs without a verdict."""
JUDGMENT_KEY = ["judge", *QUESTION_KEY, "system_a", "system_b"]

Table = Literal["answers", "judgments"]
Key = tuple[object, ...]

_TABLES: MappingProxyType[Table, tuple[pa.DataFrameSchema, list[str]]] = MappingProxyType(
    {"answers": (ANSWERS, ANSWER_KEY), "judgments": (JUDGMENTS, JUDGMENT_KEY)}
)


def append_rows(
    folder: Path | str, name: Table, rows: pd.DataFrame, *, replacing: bool = False
) -> tuple[Path, int]:
    """Add rows to a table of an arena folder, in the format of those that are there.

    The file is replaced in one step, under a lock, so that neither a crash nor another process
    that adds its own loses a row. A row whose key is there already (an answer: language, question,
    system; a judgment: judge, language, question, sides) is not written twice. Systems of new
    answers are declared in ``arena.json``.

    Args:
        folder: Arena folder. Without such a file it gets one in the format of its answers.
        name: ``answers`` or ``judgments``.
        rows: The table's columns and others.
        replacing: Write these rows in the place of those of the same key, as for a panel's
            verdicts, which follow from its judges'.

    Returns:
        The file, and the number of rows added.

    Raises:
        UsageError: If the folder is no arena folder, or holds the table several times.
        DataError: If the rows there are damaged; nothing is added.
    """
    folder = Path(folder)
    info = read_info(folder)
    with locked_folder(folder):
        path = _file_of(folder, name)
        there = _read(path, name)
        new, replaced = _sorted_out(there, rows, _TABLES[name][1], replacing)
        if name == "answers":
            # Declared first: a system without answers is sound, answers of an unknown one are not.
            _declare(folder, info, list(dict.fromkeys(new["system"])))
        _write(path, there, new, replaced)
    return path, len(new)


def add_answers(folder: Path | str, answers: pd.DataFrame | Path | str) -> tuple[Path, int, int]:
    """Add a new system's answers, or further answers of a known one, to an arena folder.

    Args:
        folder: Arena folder; new systems are declared in its ``arena.json``.
        answers: Columns ``query_id, language, system, answer``, or the path of their file; those
            that are there already are left as they are.

    Returns:
        The file, how many were added, and how many were there.

    Raises:
        UsageError: If the folder is no arena folder, or there is no such file.
        DataError: For malformed answers, answers to unknown questions, and answers that differ
            from those that the same system has there; nothing is added.
    """
    arena = read_arena(folder)
    given = open_answers(answers, arena.queries)
    known = arena.answers.set_index(ANSWER_KEY)["answer"]
    before = pd.Series(known.reindex(pd.MultiIndex.from_frame(given[ANSWER_KEY])).to_numpy())
    source = answers.name if isinstance(answers, Path) else "answers"
    problems = [
        Problem(
            source,
            None,
            "+".join(ANSWER_KEY),
            tuple(given.loc[row, ANSWER_KEY]),
            "the arena holds another answer of this system to this question",
            "leave it out, or give the new version of the system a name of its own",
        )
        for row in before.index[before.notna() & (before != given["answer"])]
    ]
    if problems:
        raise DataError(problems)
    file, added = append_rows(folder, "answers", given)
    return file, added, len(given) - added


def list_failures(
    path: Path, failures: pd.DataFrame, key: list[str], settled: Collection[Key]
) -> Path | None:
    """Bring a list of what failed up to date; there is no file where nothing is left in it.

    Args:
        path: The list, JSON lines.
        failures: What failed now: ``key``'s columns, ``reason``, ``detail`` and others.
        key: Columns that tell rows apart.
        settled: Keys that this run was about, failed or not: what was listed of them is replaced.

    Returns:
        The file, or None.
    """
    if path.is_file():
        old = read_rows(path).table
        is_left = [row not in settled for row in old[key].itertuples(index=False, name=None)]
        left = old[np.array(is_left, dtype=np.bool_)]
        failures = pd.concat([left, failures], ignore_index=True) if len(left) else failures
    if failures.empty:
        path.unlink(missing_ok=True)
        return None
    write_rows(failures, path)
    return path


def _file_of(folder: Path, name: Table) -> Path:
    found = find_table_file(folder, name)
    if found is not None:
        return found
    answers = find_table_file(folder, "answers")
    return folder / f"{name}{SUFFIXES[0] if answers is None else row_suffix(answers)}"


def _read(path: Path, name: Table) -> pd.DataFrame:
    schema, key = _TABLES[name]
    empty = pd.DataFrame(columns=key, dtype=object)
    if not path.is_file():
        return empty
    rows = read_rows(path)
    if rows.table.empty and not rows.problems:
        return empty
    problems = [*rows.problems, *check_table(rows, schema)]
    if problems:
        raise DataError(problems)
    return rows.table


def _sorted_out(
    there: pd.DataFrame, rows: pd.DataFrame, key: list[str], replacing: bool
) -> tuple[pd.DataFrame, npt.NDArray[np.bool_]]:
    """Say which rows to add, and which of those that are there they replace."""
    old, coming = pd.MultiIndex.from_frame(there[key]), pd.MultiIndex.from_frame(rows[key])
    if replacing:
        return rows, old.isin(coming)
    return rows[~coming.isin(old)], np.zeros(len(there), dtype=np.bool_)


def _write(
    path: Path, there: pd.DataFrame, new: pd.DataFrame, replaced: npt.NDArray[np.bool_]
) -> None:
    suffix = row_suffix(path)
    if not path.is_file():
        if len(new):
            write_rows(new, path)
    elif suffix == ".parquet":
        _append_parquet(path, new, replaced)
    elif suffix in CSV_SUFFIXES:
        write_rows(pd.concat([there[~replaced], new.astype(object)], ignore_index=True), path)
    else:
        _append_lines(path, new, replaced)


def _append_lines(path: Path, new: pd.DataFrame, replaced: npt.NDArray[np.bool_]) -> None:
    """Copy the lines that are there as they are, and add one for each new row."""
    with atomic_path(path) as temporary, open_text(temporary, "wt") as stream:
        with open_text(path) as old:
            lines = (line for line in (each.removeprefix("\ufeff") for each in old) if line.strip())
            for line, is_replaced in zip(lines, replaced, strict=True):
                if not is_replaced:
                    stream.write(line.rstrip("\r\n") + "\n")
        stream.writelines(json_lines(new))


def _append_parquet(path: Path, new: pd.DataFrame, replaced: npt.NDArray[np.bool_]) -> None:
    """Keep the columns and types that are there."""
    old = pq.read_table(path)
    added = pyarrow.Table.from_pandas(new, preserve_index=False).replace_schema_metadata(None)
    for column, field in enumerate(added.schema):
        if field.name in old.column_names:
            wanted = old.schema.field(field.name).type
            values = added[field.name]
            cast = values if pyarrow.types.is_null(wanted) else values.cast(wanted)
            added = added.set_column(column, field.name, cast)
    tables = [old.filter(pyarrow.array(~replaced)), added]
    with atomic_path(path) as temporary:
        pq.write_table(pyarrow.concat_tables(tables, promote_options="default"), temporary)


def _declare(folder: Path, info: ArenaInfo, systems: list[str]) -> None:
    unknown = [system for system in systems if system not in info.systems]
    if not unknown:
        return
    declared = info.model_copy(update={"systems": (*info.systems, *unknown)})
    with atomic_path(folder / INFO_FILE) as path:
        text = json.dumps(declared.model_dump(mode="json"), indent=2, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")
