"""Rows in another shape than their file has: what every shape needs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from arena.data.rows import Numbered, Rows, rows_of_records
from arena.data.types import Record
from surrogate_arena.importers.columns import bare_column

HOLDERS = frozenset(
    {
        *("input", "inputs", "output", "outputs", "request", "response", "result", "run"),
        *(
            "example",
            "data",
            "doc",
            "item",
            "datasource_item",
            "row",
            "sample",
            "record",
            "test_case",
        ),
        *("attributes", "metadata", "meta", "prediction"),
    }
)
"""What programs call the records that hold a question, an answer, or what else belongs to it."""


def columns_by_name(rows: Rows) -> dict[str, str]:
    """Return the columns of a table by their names as ``bare_column`` writes them."""
    return {bare_column(column): column for column in map(str, rows.table)}


def with_records(rows: Rows, numbered: Iterable[tuple[int, Record]], note: str) -> Rows:
    """Return rows with other records, each with the number of the row that it comes from."""
    lines = [int(line) for line in rows.lines]
    placed: Numbered = [(lines[number], record) for number, record in numbered]
    shaped = rows_of_records(placed, rows.source)
    return replace(
        shaped,
        problems=rows.problems,
        is_frame=rows.is_frame,
        notes=(*rows.notes, note),
    )
