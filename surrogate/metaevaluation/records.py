"""Files of benchmarks and of verdicts: each line a record, each problem told with its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import pandas as pd
from pydantic import BaseModel, BeforeValidator, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from arena.data.errors import HALF_SURROGATE, HALF_SURROGATE_HINT, DataError, Problem, UsageError
from arena.data.rows import Rows, read_rows, write_rows
from arena.data.schema import is_unstorable

RecordT = TypeVar("RecordT", bound=BaseModel)

JSONL_SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.zst")
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


def write_run(verdicts: pd.DataFrame, path: Path | str, notice: str = "") -> None:
    """Write verdicts as JSON lines, a line a judge and item; the same verdicts give the same bytes.

    Args:
        verdicts: As ``evaluate_judges`` returns them.
        path: Such as ``run.jsonl``; its folder must exist.
        notice: License of what people said, noted in each line.

    Raises:
        UsageError: If the folder does not exist, or the name is not that of a JSONL file.
    """
    path = Path(path)
    if not path.name.endswith(JSONL_SUFFIXES):
        raise UsageError(f"{path.name}: verdicts are JSON lines; use a name such as run.jsonl")
    write_rows(verdicts.assign(notice=notice) if notice else verdicts, path)


def read_run(path: Path | str, record: type[BaseModel]) -> pd.DataFrame:
    """Read the verdicts of a file that ``write_run`` wrote.

    Args:
        path: The file.
        record: Fields of a line.

    Returns:
        Columns named as the fields, one row a judge and item.

    Raises:
        UsageError: If there is no such file.
        DataError: With every problem: line, field, value and hint.
    """
    rows = read_rows(Path(path))
    problems: list[Problem] = []
    read = [each.model_dump() for _, each in validated_records(rows, record, problems)]
    if not read and not problems:
        hint = "write verdicts with metaeval --out"
        problems = [Problem(rows.source, None, None, None, "holds no verdicts", hint)]
    raise_if(in_order(problems))
    table = pd.DataFrame(read, columns=list(record.model_fields), dtype=object)
    return table.astype({name: bool for name in table if str(name).startswith("was_")})
