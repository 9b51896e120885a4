"""Rows of a file: the line of each row, the lines that hold no record, and values of cells."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd

from arena.data.errors import (
    HALF_SURROGATE,
    HALF_SURROGATE_HINT,
    DataError,
    Problem,
    counted_problems,
    place_of,
)
from arena.data.files import MOST_CELLS, refuse_beyond
from arena.data.schema import CRITERION
from arena.data.types import Flags, Record

_TRUE = frozenset({"true", "1", "1.0"})
_SURROGATE = re.compile("[\ud800-\udfff]")


def is_null(value: object) -> bool:
    """Return whether a cell is None or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def is_true(values: pd.Series) -> pd.Series:
    """Return where truth values, or texts for them, are true."""
    # Each distinct value is looked at once.
    codes, distinct = pd.factorize(values)
    flags = [str(value).lower() in _TRUE for value in distinct]
    return pd.Series(np.array([*flags, False])[codes], values.index)


def finite_number(value: object) -> float | None:
    """Return a cell's finite number, also as digits; else None."""
    if isinstance(value, bool) or not isinstance(value, Real | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def whole_digits(value: object) -> str | None:
    """Write a whole number as an id (1.0 is ``1``); else None."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return None


def is_unstorable(value: object) -> bool:
    """Return whether a value holds half a surrogate pair."""
    if isinstance(value, str):
        return not value.isascii() and _SURROGATE.search(value) is not None
    if isinstance(value, dict):
        return any(is_unstorable(key) or is_unstorable(part) for key, part in value.items())
    return isinstance(value, list) and any(is_unstorable(part) for part in value)


Numbered = Iterable[tuple[int, Record | Problem]]
"""Lines with their numbers: the record of each, or what is wrong with it."""


@dataclass(frozen=True)
class Rows:
    """Rows of a file as read.

    Attributes:
        table: One row per record, every column of type object, missing values None.
        lines: Where each row begins: the line, the row for Parquet (both from 1), or in memory from
            0.
        problems: Lines that hold no record at all (broken JSON, wrong encoding).
        sources: File of each row, where they come from several.
        notes: Remarks for the user on how the file was read.
    """

    table: pd.DataFrame
    lines: pd.Series
    source: str
    problems: tuple[Problem, ...] = ()
    is_frame: bool = False
    sources: pd.Series | None = None
    notes: tuple[str, ...] = ()

    def problem(self, row: object, field: str, value: object, fault: str, hint: str) -> Problem:
        """Return the problem of a row, given by its label."""
        line = int(self.lines.loc[row])
        return Problem(self.source_of(row), line, field, value, fault, hint, self.is_frame)

    def problems_of(
        self,
        is_wrong: pd.Series,
        fields: Sequence[str],
        fault: tuple[str, str] | Callable[[object, Any], tuple[str, str]],
    ) -> list[Problem]:
        """Return a problem of each wrong row."""
        if not is_wrong.any():
            return []
        rows = self.table.loc[is_wrong, list(fields)].itertuples(name=None)

        def problem_of(row: tuple[Any, ...]) -> Problem:
            label, *values = row
            value = tuple(values) if len(values) > 1 else values[0]
            fault_and_hint = fault(label, value) if callable(fault) else fault
            return self.problem(label, "+".join(fields), value, *fault_and_hint)

        return counted_problems(list(rows), problem_of)

    def source_of(self, row: object) -> str:
        """Return the file of a row."""
        return self.source if self.sources is None else str(self.sources.loc[row])

    def place(self, row: object, other: object) -> str:
        """Return another row's place, for a message about a row."""
        source = self.source_of(other)
        line = int(self.lines.loc[other])
        if self.is_frame or source != self.source_of(row):
            return f"at {place_of(source, line, self.is_frame)}"
        return f"on line {line}"


def rows_of_records(numbered: Numbered, source: str, columns: Iterable[str] = ()) -> Rows:
    """Make rows of numbered records; ``columns`` come first."""
    cells: dict[str, list[Any]] = {name: [] for name in columns}
    lines: list[int] = []
    problems: list[Problem] = []
    # Equal texts are kept once: passages repeat in many rows, and would fill the memory.
    texts: dict[str, str] = {}
    for number, record in numbered:
        if isinstance(record, Problem):
            problems.append(record)
            continue
        new_columns = [name for name in record if name not in cells]
        n_cells = (len(cells) + len(new_columns)) * (len(lines) + 1)
        refuse_beyond(source, n_cells, MOST_CELLS, "cells")
        for name in new_columns:
            if is_unstorable(name):
                fault = f"a column's name {HALF_SURROGATE}"
                raise DataError.of_file(source, fault, HALF_SURROGATE_HINT, line=number)
            cells[name] = [None] * len(lines)
        for name, column in cells.items():
            value = record.get(name)
            column.append(texts.setdefault(value, value) if isinstance(value, str) else value)
        lines.append(number)
    table = {name: pd.Series(column, dtype=object) for name, column in cells.items()}
    return Rows(
        table=pd.DataFrame(table, range(len(lines))),
        lines=pd.Series(lines, dtype=int),
        source=source,
        problems=tuple(counted_problems(problems)),
    )


def plain_table(table: pd.DataFrame) -> pd.DataFrame:
    """Convert to Python objects, missing values as None."""
    cells = np.where(table.notna(), table.to_numpy(object), None)
    return pd.DataFrame(cells, table.index, table.columns, dtype=object)


def with_numbers(table: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
    """Convert some columns, where present, to floats or NaN."""
    numbers: dict[str, pd.Series] = {}
    for name in columns:
        if name in table:
            numbers[name] = table[name].map(finite_number).astype(float)
    return table.assign(**numbers)


def selected_columns(
    table: pd.DataFrame, required: Sequence[str], optional: Sequence[str]
) -> pd.DataFrame:
    """Select columns; absent optional ones are NaN, required ones a KeyError."""
    absent = [name for name in required if name not in table]
    if absent:
        raise KeyError(f"the table has no column {', '.join(absent)}")
    return table.reindex(columns=[*required, *optional])


def are_in(table: pd.DataFrame, others: pd.DataFrame, key: Sequence[str]) -> Flags:
    """Flag the rows whose key another table has, shape (N,)."""
    columns = list(key)
    keys = pd.MultiIndex.from_frame(others[columns])
    return np.asarray(pd.MultiIndex.from_frame(table[columns]).isin(keys))


def without_rows(table: pd.DataFrame, dropped: Mapping[str, Collection[str]]) -> pd.DataFrame:
    """Drop the rows that hold a dropped name in its column."""
    is_dropped = np.zeros(len(table), np.bool_)
    for column, names in dropped.items():
        if names and column in table:
            is_dropped |= table[column].isin(names).to_numpy()
    if is_dropped.any():
        table = table[~is_dropped]
    return table.reset_index(drop=True)


def named_by_criterion(judgments: pd.DataFrame) -> pd.DataFrame:
    """Append the criterion, if any, to judges' names: ``gpt-4o:fluency``."""
    if CRITERION not in judgments:
        return judgments
    names = []
    for judge, criterion in zip(judgments["judge"], judgments[CRITERION], strict=True):
        is_named = is_null(criterion) or judge.endswith(f":{criterion}")
        names.append(judge if is_named else f"{judge}:{criterion}")
    return judgments.assign(judge=pd.Series(names, judgments.index, judgments["judge"].dtype))
