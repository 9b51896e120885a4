"""Cells of a board as printed tables show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from surrogate.exports.board_rows import ExportedBoard
from surrogate.report.formats import decimal, percent, whole

TEXTS = frozenset({"language", "system"})

_HEADINGS = {"low": "from", "high": "to"}
_WHOLE = frozenset({"rank", "arena_rank", "languages", "answers"})


@dataclass(frozen=True)
class PrintedTable:
    """A table of texts.

    Attributes:
        columns: Names of the columns in the board.
        headings: What stands above them.
        rows: Cells; a dash where a value is missing.
    """

    columns: Sequence[str]
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]


def printed(board: ExportedBoard) -> PrintedTable:
    """Return the columns of a board that a printed table has room for, two decimals each."""
    columns = board.printed_columns
    cells = [[_shown(name, value) for value in board.table[name]] for name in columns]
    headings = [_HEADINGS.get(name, name.replace("_", " ")) for name in columns]
    return PrintedTable(columns, headings, list(zip(*cells, strict=True)))


def _shown(column: str, value: object) -> str:
    if isinstance(value, str):
        return value
    if column in _WHOLE:
        return whole(value)  # type: ignore[arg-type]
    return percent(value) if column == "coverage" else decimal(value)  # type: ignore[arg-type]
