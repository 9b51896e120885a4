"""Rows of another schema, checked against a pydantic record that declares it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Generic, TypeVar

from pydantic import BaseModel, StringConstraints, ValidationError

from arena.adapters.skipped import Skip
from arena.errors import Problem
from arena.records import validation_problems
from arena.rows import Rows

StorableText = Annotated[str, StringConstraints(min_length=0)]
"""Any text but half a surrogate pair, which pydantic refuses in constrained strings alone."""

RecordT = TypeVar("RecordT", bound=BaseModel)


@dataclass(frozen=True)
class Checked(Generic[RecordT]):
    """The sound rows of a file and what is wrong with the others.

    Attributes:
        records: Sound rows by their position in the table.
        problems: Faults of the other rows, in line order.
    """

    records: dict[int, RecordT]
    problems: tuple[Problem, ...]


@dataclass(frozen=True)
class Adapted:
    """Rows brought into one of our schemas.

    Attributes:
        rows: The rows, each with the line it comes from.
        problems: What was wrong, in line order.
        skips: What was left out on purpose, one entry a thing.
    """

    rows: Rows
    problems: tuple[Problem, ...]
    skips: tuple[Skip, ...]


def checked_records(rows: Rows, record: type[RecordT]) -> Checked[RecordT]:
    """Check every row against a record whose fields say in their description how to mend them.

    Columns the record does not declare are not looked at.
    """
    missing = missing_columns(rows, [n for n, f in record.model_fields.items() if f.is_required()])
    if missing:
        return Checked({}, (*rows.problems, *missing))
    columns = [name for name in record.model_fields if name in rows.table.columns]
    records = {}
    problems = list(rows.problems)
    for position, values in enumerate(rows.table[columns].itertuples(index=False, name=None)):
        try:
            records[position] = record.model_validate(dict(zip(columns, values, strict=True)))
        except ValidationError as error:
            problems.extend(_row_problems(error, rows, position, record))
    return Checked(records, tuple(sorted(problems, key=lambda problem: problem.line or 0)))


def missing_columns(rows: Rows, columns: list[str]) -> list[Problem]:
    """List the columns that a file lacks; a file without any row lacks none."""
    if not len(rows.table.columns):
        return []
    return [
        Problem(rows.source, None, column, None, "this column is missing", "add it to every row")
        for column in columns
        if column not in rows.table.columns
    ]


def ignored_columns(rows: Rows, known: list[str]) -> tuple[Skip, ...]:
    """List the columns that an adapter does not read."""
    return tuple(
        Skip(rows.source, "column", f"{column!r} is no column of this schema")
        for column in rows.table.columns
        if column not in known
    )


def _row_problems(
    error: ValidationError, rows: Rows, position: int, record: type[BaseModel]
) -> list[Problem]:
    def mend(place: str) -> str:
        field = place.partition(".")[0]
        return f"give {field} as {record.model_fields[field].description}"

    return validation_problems(error, rows.source, int(rows.lines.iloc[position]), mend)
