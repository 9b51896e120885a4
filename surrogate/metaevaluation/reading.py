"""Files of benchmarks: every line held against a record, every problem told with its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from arena.data.errors import HALF_SURROGATE, HALF_SURROGATE_HINT, DataError, Problem
from arena.data.rows import Rows
from arena.data.schema import is_unstorable

RecordT = TypeVar("RecordT", bound=BaseModel)

_FAULTS: Mapping[str, tuple[str, str]] = {
    "missing": ("is missing", "add it"),
    "too_short": ("is an empty list", "give one at least"),
    "string_type": ("is not a string", "write it as a JSON string"),
    "string_pattern_mismatch": ("is no language code", "write one such as en"),
    "int_type": ("is not a whole number", "write it as a JSON number"),
    "list_type": ("is not a list", "write it as a JSON array"),
    "model_type": ("is not an object", "write it as a JSON object"),
}


def refuse(fault: str, hint: str) -> PydanticCustomError:
    """Return an error for a validator: what is wrong with a value, and what to do about it."""
    return PydanticCustomError("refused", "{fault}", {"fault": fault, "hint": hint})


def _filled(value: object) -> object:
    if isinstance(value, str) and not value.strip():
        raise refuse("is empty", "give it a value")
    return value


FilledText = Annotated[str, BeforeValidator(_filled)]
"""A text that is not blank."""


def validated_records(
    rows: Rows, record: type[RecordT], problems: list[Problem]
) -> Iterator[tuple[int, RecordT]]:
    """Yield the records of a file with their lines; what is wrong is added to the problems."""
    problems += rows.problems
    records = rows.table.to_dict(orient="records") or [{} for _ in rows.lines]  # rows of no field
    for line, row in zip(rows.lines, records, strict=True):
        given = {str(name): value for name, value in row.items() if value is not None}
        if is_unstorable(given):
            problems.append(
                Problem(rows.source, int(line), None, None, HALF_SURROGATE, HALF_SURROGATE_HINT)
            )
            continue
        try:
            yield int(line), record.model_validate(given)
        except ValidationError as error:
            problems += [_problem(fault, rows.source, int(line)) for fault in error.errors()]


def in_order(problems: Sequence[Problem]) -> list[Problem]:
    """Sort the problems of one file by line."""
    return sorted(problems, key=lambda problem: problem.line or 0)


def raise_if(problems: Sequence[Problem]) -> None:
    """Raise a ``DataError`` with all the problems, if there are any."""
    if problems:
        raise DataError(problems)


def _problem(error: ErrorDetails, source: str, line: int) -> Problem:
    field = ".".join(str(part) for part in error["loc"])
    kind, value = error["type"], error["input"]
    if kind == "refused":
        return Problem(source, line, field, value, error["msg"], error["ctx"]["hint"])
    if kind == "missing" or value is None:
        return Problem(source, line, field, None, *_FAULTS["missing"])
    fault, hint = _FAULTS.get(kind, (error["msg"], "see the benchmark's published format"))
    return Problem(source, line, field, value, fault, hint)
