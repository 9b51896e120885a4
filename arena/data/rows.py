"""Rows of a file: a table, the line of each row, and the lines that hold no record."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

import pandas as pd

from arena.data.cells import finite_number
from arena.data.errors import Problem, counted_problems, place_of
from arena.data.files import MOST_CELLS, MOST_LINES, refuse_beyond
from arena.data.types import Record
from arena.data.wording import count_of

MOST_BAD_LINES = 100_000
"""Number of lines without a record after which the rest of a file is not read."""

_NOT_UTF8 = re.compile("[\udc80-\udcff]")

Numbered = Iterable[tuple[int, Record | Problem]]
"""Lines with their numbers: the record of each, or what is wrong with it."""


@dataclass(frozen=True)
class Rows:
    """Rows of a file as read.

    Attributes:
        table: One row per record, every column of type object, missing values None.
        lines: Line of the file where each row begins (the row number, from 1, for Parquet).
        source: Name of the file.
        problems: Lines that hold no record at all (broken JSON, wrong encoding).
        is_frame: Whether they are those of a table in memory; lines then count from 0.
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
        """Return the problem of a row, given by its label in ``table``."""
        line = int(self.lines.loc[row])
        return Problem(self.source_of(row), line, field, value, fault, hint, self.is_frame)

    def problems_of(
        self,
        is_wrong: pd.Series,
        fields: Sequence[str],
        fault: tuple[str, str] | Callable[[object, Any], tuple[str, str]],
    ) -> list[Problem]:
        """Return a problem of each wrong row.

        Args:
            is_wrong: Whether a row is wrong, shape (rows,).
            fields: Columns at fault, whose values are shown.
            fault: The fault and a hint; or a function that returns both for a row's label and its
                value (a tuple where there are several fields).
        """
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
        """Return the place of another row, for a message about a row."""
        source = self.source_of(other)
        line = int(self.lines.loc[other])
        if self.is_frame or source != self.source_of(row):
            return f"at {place_of(source, line, self.is_frame)}"
        return f"on line {line}"


class BadRowError(Exception):
    """A row that is no record."""

    def __init__(self, fault: str, hint: str) -> None:
        self.fault = fault
        self.hint = hint

    def problem(self, source: str, line: int | None) -> Problem:
        """Return this fault as a problem of a file."""
        return Problem(source, line, None, None, self.fault, self.hint)


@dataclass(frozen=True)
class _NotUtf8(Problem):
    """A line that is not UTF-8; all of a file's become one problem."""


class _NotUtf8Error(BadRowError):
    """A row that is not UTF-8, mostly one of many."""

    def problem(self, source: str, line: int | None) -> Problem:
        return _NotUtf8(source, line, None, None, self.fault, self.hint)


def bounded_lines(stream: TextIO, source: str) -> Iterator[str]:
    """Yield the lines of a text; a DataError beyond ``MOST_LINES``."""
    for number, line in enumerate(stream, start=1):
        refuse_beyond(source, number, MOST_LINES, "lines")
        yield line


def rows_of_records(numbered: Numbered, source: str, columns: Iterable[str] = ()) -> Rows:
    """Make rows of numbered records; further columns follow in the order they first appear.

    Args:
        numbered: Lines with their records, or what is wrong with them.
        source: Name of the file.
        columns: Columns that come first, even where no record has them.

    Raises:
        DataError: If the table has more cells than ``MOST_CELLS``.
    """
    cells: dict[str, list[Any]] = {name: [] for name in columns}
    lines: list[int] = []
    problems: list[Problem] = []
    not_utf8: list[_NotUtf8] = []
    # Equal texts are kept once: passages repeat in many rows, and would fill the memory.
    texts: dict[str, str] = {}
    for number, record in numbered:
        if isinstance(record, _NotUtf8):
            not_utf8.append(record)
            continue
        if isinstance(record, Problem):
            problems.append(record)
            if len(problems) == MOST_BAD_LINES:
                break
            continue
        new_columns = [name for name in record if name not in cells]
        n_cells = (len(cells) + len(new_columns)) * (len(lines) + 1)
        refuse_beyond(source, n_cells, MOST_CELLS, "cells")
        for name in new_columns:
            cells[name] = [None] * len(lines)
        for name, column in cells.items():
            value = record.get(name)
            column.append(texts.setdefault(value, value) if isinstance(value, str) else value)
        lines.append(number)
    if not_utf8:
        problems.append(_not_utf8_problem(not_utf8))
        problems.sort(key=lambda problem: problem.line or 0)
    table = {name: pd.Series(column, dtype=object) for name, column in cells.items()}
    return Rows(
        table=pd.DataFrame(table, range(len(lines))),
        lines=pd.Series(lines, dtype=int),
        source=source,
        problems=tuple(counted_problems(problems)),
    )


def _not_utf8_problem(lines: Sequence[_NotUtf8]) -> Problem:
    """Return one problem for all lines that are not UTF-8, since saving once corrects all."""
    first = lines[0]
    fault = first.fault
    n_more = len(lines) - 1
    if n_more:
        verb = "is" if n_more == 1 else "are"
        fault = f"{fault}, nor {verb} {count_of(n_more, 'further line')}"
    return Problem(first.source, first.line, None, None, fault, first.hint)


def check_encoding(text: str) -> None:
    """Refuse a text that ``lenient_text`` read from bytes that are not UTF-8."""
    match = None if text.isascii() else _NOT_UTF8.search(text)
    if match is None:
        return
    # Python reads such a byte b as the character U+DC00 + b ("surrogateescape").
    byte = ord(match.group()) - 0xDC00
    raise _NotUtf8Error(
        f"is not UTF-8 text (byte 0x{byte:02x} at character {match.start() + 1})",
        "save the file as UTF-8, as 'CSV UTF-8' in Excel or by iconv -f CP1252 -t UTF-8",
    )


def plain_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of Python objects, missing values as None."""
    return table.astype(object).where(table.notna(), None)


def with_numbers(table: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
    """Return a table with the cells of some columns, where it has them, as floats or NaN."""
    numbers: dict[str, pd.Series] = {}
    for name in columns:
        if name in table:
            numbers[name] = table[name].map(finite_number).astype(float)
    return table.assign(**numbers)


def selected_columns(
    table: pd.DataFrame, required: Sequence[str], optional: Sequence[str]
) -> pd.DataFrame:
    """Select columns, with NaN in optional ones that are absent.

    Raises:
        KeyError: If a required column is absent, such as a misspelt one.
    """
    absent = [name for name in required if name not in table]
    if absent:
        raise KeyError(f"the table has no column {', '.join(absent)}")
    return table.reindex(columns=[*required, *optional])
