"""Reading and writing rows: JSONL, CSV and Parquet, plain or compressed (.gz, .zst).

Tables of others are read in further forms: JSON, tab-separated text, and workbooks of Excel.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

import pandas as pd

from arena.data.errors import (
    Problem,
    counted_problems,
    place_of,
)
from arena.data.files import (
    MOST_CELLS,
    MOST_LINES,
    refuse_beyond,
)
from arena.data.wording import count_of

MOST_BAD_LINES = 100_000
"""After so many lines that are no record, the others are not looked at."""

_NOT_UTF8 = re.compile("[\udc80-\udcff]")
_SAVE_AS_UTF8 = "save the file as UTF-8, as 'CSV UTF-8' in Excel or by iconv -f CP1252 -t UTF-8"

Numbered = Iterable[tuple[int, dict[str, Any] | Problem]]
"""Lines with their numbers: what each holds, or what is wrong with it."""


@dataclass(frozen=True)
class Rows:
    """Rows of a file as read.

    Attributes:
        table: One row a record, every column of type object, missing values None.
        lines: Line in the file of each row, where it begins (the row number, from 1, for Parquet).
        source: Name of the file.
        problems: Lines that are no record at all (broken JSON, wrong encoding).
        is_frame: Whether they are those of a table in memory; lines then count from 0.
        sources: File of each row, where they are of several.
        notes: What a user should know of how the file was read.
    """

    table: pd.DataFrame
    lines: pd.Series
    source: str
    problems: tuple[Problem, ...] = ()
    is_frame: bool = False
    sources: pd.Series | None = None
    notes: tuple[str, ...] = ()

    def problem(self, row: object, field: str, value: object, fault: str, hint: str) -> Problem:
        """Say what is wrong in a row, which its label in ``table`` names."""
        line = int(self.lines.loc[row])
        return Problem(self.source_of(row), line, field, value, fault, hint, self.is_frame)

    def problems_of(
        self,
        wrong: pd.Series,
        fields: Sequence[str],
        fault: tuple[str, str] | Callable[[object, Any], tuple[str, str]],
    ) -> list[Problem]:
        """Say of some rows, with their values of some fields, what is wrong and what to do."""
        found = self.table.loc[wrong, list(fields)]
        rows = found.itertuples(name=None)
        items = [(row, tuple(key) if len(key) > 1 else key[0]) for row, *key in rows]

        def tell(item: tuple[object, Any]) -> Problem:
            said = fault(*item) if callable(fault) else fault
            return self.problem(item[0], "+".join(fields), item[1], *said)

        return counted_problems(items, tell)

    def source_of(self, row: object) -> str:
        """Return the file of a row."""
        return self.source if self.sources is None else str(self.sources.loc[row])

    def place(self, row: object, other: object) -> str:
        """Say where another row stands, to one who reads of a row."""
        source, line = self.source_of(other), int(self.lines.loc[other])
        if self.is_frame or source != self.source_of(row):
            return f"at {place_of(source, line, self.is_frame)}"
        return f"on line {line}"


class BadRowError(Exception):
    """A row that is no record."""

    def __init__(self, fault: str, hint: str) -> None:
        self.fault = fault
        self.hint = hint

    def problem(self, source: str, line: int | None) -> Problem:
        """Tell of this row as a problem of its file."""
        return Problem(source, line, None, None, self.fault, self.hint)


@dataclass(frozen=True)
class _NotUtf8(Problem):
    """A line that is not UTF-8; a file's are told as one problem."""


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
    """Make rows of numbered lines, as ``json_records`` yields them; columns come as they come."""
    cells: dict[str, list[Any]] = {name: [] for name in columns}
    lines, problems = list[int](), list[Problem]()
    texts: dict[str, str] = {}  # each once, however many rows hold it
    not_utf8 = list[_NotUtf8]()
    for number, found in numbered:
        if isinstance(found, _NotUtf8):
            not_utf8.append(found)
            continue
        if isinstance(found, Problem):
            problems.append(found)
            if len(problems) == MOST_BAD_LINES:
                break
            continue
        new = [name for name in found if name not in cells]
        refuse_beyond(source, (len(cells) + len(new)) * (len(lines) + 1), MOST_CELLS, "cells")
        cells |= {name: [None] * len(lines) for name in new}
        for name, held in cells.items():
            value = found.get(name)
            held.append(texts.setdefault(value, value) if isinstance(value, str) else value)
        lines.append(number)
    table = {name: pd.Series(held, dtype=object) for name, held in cells.items()}
    if not_utf8:
        problems = sorted([*problems, _first_of(not_utf8)], key=lambda each: each.line or 0)
    told, index = tuple(counted_problems(problems)), range(len(lines))
    return Rows(pd.DataFrame(table, index), pd.Series(lines, dtype=int), source, told)


def _first_of(lines: Sequence[_NotUtf8]) -> Problem:
    """Tell of lines that are not UTF-8 as one problem, which one save corrects."""
    first = lines[0]
    more = len(lines) - 1
    fault = f"{first.fault}, nor {'is' if more == 1 else 'are'} {count_of(more, 'further line')}"
    fault = fault if more else first.fault
    return Problem(first.source, first.line, None, None, fault, first.hint)


def check_encoding(text: str) -> None:
    """Refuse a text that ``lenient_text`` read from bytes that are not UTF-8."""
    if wrong := None if text.isascii() else _NOT_UTF8.search(text):
        byte = ord(wrong.group()) - 0xDC00
        fault = f"is not UTF-8 text (byte 0x{byte:02x} at character {wrong.start() + 1})"
        raise _NotUtf8Error(fault, _SAVE_AS_UTF8)


def plain_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of Python objects, missing values as None."""
    return table.astype(object).where(table.notna(), None)


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
