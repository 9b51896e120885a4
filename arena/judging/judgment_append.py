"""Adding verdicts to the judgments file of an arena folder, without losing what is there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from arena.errors import DataError, UsageError
from arena.folder import read_info
from arena.folder_lock import locked_folder
from arena.judging.comparisons import PairKey, pair_keys
from arena.rows import CSV_SUFFIXES, SUFFIXES, read_rows, row_suffix, write_rows
from arena.streams import atomic_path, open_text
from arena.tables import JUDGMENTS as JUDGMENT_SCHEMA
from arena.tables import check_table

JUDGMENTS = "judgments"

_JudgedKey = tuple[str, PairKey]
_Append = Callable[[Path, pd.DataFrame, bool], int]


def append_judgments(
    folder: Path | str, judgments: pd.DataFrame, replacing: bool = False
) -> tuple[Path, int]:
    """Add verdicts to an arena folder, in the format of the judgments that are there.

    The file is replaced in one step, under a lock, so that neither a crash nor another process
    that adds its own loses a row. A verdict of the same judge on the same pair in the same order
    is not written twice.

    Args:
        folder: Arena folder. Without a judgments file it gets one in the format of its answers.
        judgments: Columns ``query_id, language, system_a, system_b, winner, judge`` and others.
        replacing: Write these verdicts in the place of those that are there under the same judge,
            pair and order, as for a panel, which follows from its judges' verdicts.

    Returns:
        The file, and the number of rows added.

    Raises:
        UsageError: If the folder is no arena folder, or holds judgments several times.
        DataError: If the judgments there are damaged.
    """
    folder = Path(folder)
    read_info(folder)
    with locked_folder(folder):
        path = _judgments_file(folder)
        append = _append_of(row_suffix(path))
        return path, append(path, judgments, replacing)


def _judgments_file(folder: Path) -> Path:
    there = _files(folder, JUDGMENTS)
    if len(there) > 1:
        names = ", ".join(path.name for path in there)
        raise UsageError(f"{folder} holds the same table several times ({names}); keep one")
    if there:
        return there[0]
    answers = _files(folder, "answers")
    suffix = row_suffix(answers[0]) if answers else SUFFIXES[0]
    return folder / f"{JUDGMENTS}{suffix}"


def _files(folder: Path, name: str) -> list[Path]:
    return [path for suffix in SUFFIXES if (path := folder / f"{name}{suffix}").is_file()]


def _append_of(suffix: str) -> _Append:
    if suffix == ".parquet":
        return _append_parquet
    return _append_csv if suffix in CSV_SUFFIXES else _append_lines


def _append_lines(path: Path, judgments: pd.DataFrame, replacing: bool) -> int:
    """Copy the lines that are there as they are, and add one for each new verdict."""
    there = _keys(_read(path)) if path.is_file() else []
    new, dropped = _sorted_out(there, judgments, replacing)
    with atomic_path(path) as temporary, open_text(temporary, "wt") as stream:
        if path.is_file():
            with open_text(path) as old:
                lines = (line for line in map(_without_mark, old) if line.strip())
                for number, line in enumerate(lines):
                    if number not in dropped:
                        stream.write(line.rstrip("\r\n") + "\n")
        plain = new.astype(object).where(new.notna(), None)
        for record in plain.to_dict(orient="records"):
            stream.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")
    return len(new)


def _append_csv(path: Path, judgments: pd.DataFrame, replacing: bool) -> int:
    if not path.is_file():
        write_rows(judgments, path)
        return len(judgments)
    old = _read(path)
    new, dropped = _sorted_out(_keys(old), judgments, replacing)
    kept = old.drop(index=list(dropped))
    write_rows(pd.concat([kept, new.astype(object)], ignore_index=True), path)
    return len(new)


def _append_parquet(path: Path, judgments: pd.DataFrame, replacing: bool) -> int:
    if not path.is_file():
        write_rows(judgments, path)
        return len(judgments)
    old = pq.read_table(path)
    new, dropped = _sorted_out(_keys(_read(path)), judgments, replacing)
    kept = old.take([row for row in range(old.num_rows) if row not in dropped])
    added = pa.Table.from_pandas(new, preserve_index=False).replace_schema_metadata(None)
    for place, field in enumerate(added.schema):
        if field.name in old.column_names:
            added = added.set_column(
                place, field.name, _cast(added[field.name], old.schema.field(field.name).type)
            )
    with atomic_path(path) as temporary:
        pq.write_table(pa.concat_tables([kept, added], promote_options="default"), temporary)
    return len(new)


def _without_mark(line: str) -> str:
    return line.removeprefix("\ufeff")


def _cast(values: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    return values if pa.types.is_null(wanted) else values.cast(wanted)


def _read(path: Path) -> pd.DataFrame:
    """Read the judgments that are there; damaged ones stay as they are, and nothing is added."""
    rows = read_rows(path)
    if rows.table.empty and not rows.problems:
        return rows.table
    problems = [*rows.problems, *check_table(rows.table, JUDGMENT_SCHEMA, rows.source, rows.lines)]
    if problems:
        raise DataError(problems)
    return rows.table


def _keys(table: pd.DataFrame) -> list[_JudgedKey]:
    if table.empty:
        return []
    return list(zip(table["judge"].astype(str), pair_keys(table), strict=True))


def _sorted_out(
    there: list[_JudgedKey], judgments: pd.DataFrame, replacing: bool
) -> tuple[pd.DataFrame, set[int]]:
    """Say which verdicts to add, and which of the rows that are there to leave out."""
    keys = _keys(judgments)
    if replacing:
        coming = set(keys)
        return judgments, {row for row, key in enumerate(there) if key in coming}
    known = set(there)
    return judgments[np.array([key not in known for key in keys], dtype=np.bool_)], set()
