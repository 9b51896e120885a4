"""Battles straight from a large Parquet file, column by column; choosing a language or judge."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from arena.data.errors import DataError, Problem, UsageError, told_problems
from arena.data.files import bounds
from arena.data.rows import read_rows
from arena.data.schema import SOFT, WINNERS
from arena.rating.battles import Battles

Integers = npt.NDArray[np.int64]

MOST_ROWS = 1_000_000
ALL = "all"

_NEEDED = ("system_a", "system_b", "winner")
_CHOICES = ("language", "judge")


def is_large_file(path: Path) -> bool:
    """Tell whether a path is a Parquet file of more judgments than are held as rows."""
    return path.suffix == ".parquet" and path.is_file() and _row_count(path) > MOST_ROWS


def _row_count(path: Path) -> int:
    return int(pq.read_metadata(path).num_rows)


def _size(path: Path) -> int:
    """Return the bytes of a file's columns when unpacked, dictionaries as they are."""
    meta = pq.read_metadata(path)
    return sum(meta.row_group(group).total_byte_size for group in range(meta.num_row_groups))


def read_battle_columns(
    path: Path, language: str | None = None, judge: str | None = None
) -> Battles:
    """Read a Parquet file of judgments column by column, without building rows.

    Args:
        path: Columns ``system_a, system_b, winner`` and, optional, ``query_id``, ``language``,
            ``judge``. Without ``query_id`` every battle is a question of its own.
        language: Language to take; may be left out where there is one.
        judge: Judge to take; likewise.

    Raises:
        UsageError: If there is nothing to count, or a choice to be made.
        DataError: For missing columns, missing values, unknown winners, and systems against
            themselves; names the row.
    """
    names = pq.read_schema(path).names
    absent = [name for name in _NEEDED if name not in names]
    if absent:
        fault, hint = "this column is missing", "add it"
        raise DataError([Problem(path.name, None, name, None, fault, hint) for name in absent])
    wanted = [name for name in (*_NEEDED, *_CHOICES, "query_id") if name in names]
    encoded = [name for name in (*_NEEDED, *_CHOICES) if name in names]
    if SOFT in names:
        rows = read_rows(path).table
        return Battles.from_judgments(selected_judgments(rows, language, judge))
    limits = bounds()
    limits.check(path.name, "cells", _row_count(path) * len(wanted))
    limits.check(path.name, "expanded", _size(path), limits.most_expanded(path.stat().st_size))
    table = pq.read_table(path, columns=wanted, read_dictionary=encoded)
    table = _chosen(_chosen(table, "language", language), "judge", judge)
    if not len(table):
        raise UsageError(f"{path.name} holds no judgments")
    _refuse_missing(table, path.name)
    side_a, names_a = _dictionary(table["system_a"])
    side_b, names_b = _dictionary(table["system_b"])
    question = None
    if "query_id" in names:
        question = _dictionary(pc.dictionary_encode(table["query_id"]))[0]
    winner = _winners(table, path.name)
    battles = Battles.from_codes(side_a, names_a, side_b, names_b, winner, question)
    same = np.flatnonzero(battles.side_a == battles.side_b)
    if same.size:
        fault, hint = "is judged against itself", "remove this judgment"

        def tell(row: int) -> Problem:
            name = battles.systems[battles.side_b[row]]
            return Problem(path.name, int(row) + 1, "system_b", name, fault, hint)

        raise DataError(told_problems(same.tolist(), tell))
    return battles


def choose(column: str, wanted: str | None, present: list[str]) -> str | None:
    """Choose a language or a judge.

    Args:
        column: ``language`` or ``judge``.
        wanted: What the user asked for; may be left out where there is one, or ``all``.
        present: What there is.

    Returns:
        What to keep; None for everything.

    Raises:
        UsageError: If there is no such one, or a choice to be made.
    """
    if wanted is None and len(present) > 1:
        raise UsageError(f"several {column}s, choose one (or all): {', '.join(present)}")
    if wanted is not None and wanted not in present and wanted != ALL:
        raise UsageError(f"no {column} {wanted!r} here; there is {', '.join(present)}")
    return wanted if wanted in present else None


def selected_judgments(
    judgments: pd.DataFrame, language: str | None = None, judge: str | None = None
) -> pd.DataFrame:
    """Keep the judgments of one language and one judge; see ``choose``."""
    for column, wanted in (("language", language), ("judge", judge)):
        if column in judgments:
            chosen = choose(column, wanted, sorted(judgments[column].astype(str).unique()))
            if chosen is not None:
                judgments = judgments[judgments[column] == chosen]
    return judgments.reset_index(drop=True)


def _chosen(table: pa.Table, column: str, value: str | None) -> pa.Table:
    if column not in table.column_names:
        return table
    present = sorted(str(item) for item in pc.unique(table[column]).to_pylist())
    chosen = choose(column, value, present)
    return table if chosen is None else table.filter(pc.equal(table[column], chosen))


def _refuse_missing(table: pa.Table, source: str) -> None:
    found = [
        (name, int(row) + 1)
        for name in table.column_names
        if table[name].null_count
        for row in np.flatnonzero(table[name].is_null().to_numpy())
    ]
    if found:
        fault, hint = "is missing", "give it a value"
        raise DataError(
            told_problems(found, lambda at: Problem(source, at[1], at[0], None, fault, hint))
        )


def _dictionary(column: pa.ChunkedArray) -> tuple[npt.NDArray[np.int64], list[str]]:
    whole = column.unify_dictionaries().combine_chunks()
    parts = whole.chunks if isinstance(whole, pa.ChunkedArray) else [whole]
    if not parts:
        return np.empty(0, dtype=np.int64), []
    indices = np.concatenate([part.indices.to_numpy(zero_copy_only=False) for part in parts])
    return indices, parts[0].dictionary.to_pylist()


def _winners(table: pa.Table, source: str) -> npt.NDArray[np.intp]:
    codes, labels = _dictionary(table["winner"])
    code_of_label = pd.Index(WINNERS).get_indexer(pd.Index(labels, dtype=object))
    winner = np.asarray(code_of_label[codes])
    bad = np.flatnonzero(winner < 0)
    if bad.size:
        fault = "is not a winner"
        hint = "write 'a', 'b' or 'tie', and leave failed judgments out"
        raise DataError(
            told_problems(
                bad.tolist(),
                lambda row: Problem(source, row + 1, "winner", labels[codes[row]], fault, hint),
            )
        )
    return winner
