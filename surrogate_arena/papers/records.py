"""Files of benchmarks and of verdicts: each line a record, each problem with its line and hint."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import pandas as pd
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from arena.data.errors import (
    HALF_SURROGATE,
    HALF_SURROGATE_HINT,
    DataError,
    Problem,
    UsageError,
)
from arena.data.rows import Rows, is_unstorable
from arena.data.tables import read_rows, write_rows
from surrogate_arena.importers.foreign_arena import in_file_order

RecordT = TypeVar("RecordT", bound=BaseModel)

JSONL_SUFFIXES = (".jsonl", ".jsonl.gz")


class StrictRecord(BaseModel):
    """A line of a file: values are of the types stated, further fields are ignored."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class VerdictRecord(StrictRecord):
    """A line of a file of verdicts; each benchmark has further fields."""

    judge: str
    prompt: str
    failure: str | None = None
    was_asked: bool
    detail: str = ""


def refuse(fault: str, hint: str) -> PydanticCustomError:
    """Return a validator's error: what is wrong with a value, and what to do about it."""
    return PydanticCustomError("refused", "{fault}", {"fault": fault, "hint": hint})


def _filled(value: object) -> object:
    if isinstance(value, str) and not value.strip():
        raise refuse("is empty", "give it a value")
    return value


FilledText = Annotated[str, BeforeValidator(_filled)]
"""A text that is not blank."""


def read_records(
    path: Path, record: type[RecordT], problems: list[Problem]
) -> list[tuple[int, RecordT]]:
    """Read a file's records with their lines; add what is wrong to the problems."""
    return records_of(read_rows(path), record, problems)


def records_of(
    rows: Rows, record: type[RecordT], problems: list[Problem]
) -> list[tuple[int, RecordT]]:
    """Return a table's records with their lines; add what is wrong to the problems."""
    problems += rows.problems
    required = [name for name, field in record.model_fields.items() if field.is_required()]
    absent = [name for name in required if name not in rows.table]
    if len(rows.table) and absent:
        fault = f"has no {', '.join(absent)} but {', '.join(map(str, rows.table)) or 'nothing'}"
        hint = f"write the published columns: {', '.join(record.model_fields)}"
        problems.append(Problem(rows.source, None, None, None, fault, hint))
        return []
    if not len(rows.lines) and not rows.problems:
        hint = "put one record into each row"
        problems.append(Problem(rows.source, None, None, None, "holds nothing", hint))
    records = []
    for line, values in zip(rows.lines, rows.table.to_dict(orient="records"), strict=True):
        # An empty cell is a field that is left out.
        fields = {str(name): value for name, value in values.items() if value is not None}
        if is_unstorable(fields):
            fault, hint = HALF_SURROGATE, HALF_SURROGATE_HINT
            problems.append(Problem(rows.source, int(line), None, None, fault, hint))
            continue
        try:
            records.append((int(line), record.model_validate(fields)))
        except ValidationError as error:
            problems += [_problem(fault, rows.source, int(line)) for fault in error.errors()]
    return records


def repeats(
    path: Path, keys: Iterable[tuple[int, Hashable]], field: str, hint: str = "keep one of them"
) -> Iterator[Problem]:
    """Yield a problem for each line that repeats the key of an earlier one."""
    first_lines: dict[Hashable, int] = {}
    for line, key in keys:
        first = first_lines.setdefault(key, line)
        if first != line:
            yield Problem(path.name, line, field, key, f"is already on line {first}", hint)


def raise_if(problems: Sequence[Problem]) -> None:
    """Raise a ``DataError`` with all the problems by file and line, if any."""
    if problems:
        raise DataError(in_file_order(problems))


def _problem(error: ErrorDetails, source: str, line: int) -> Problem:
    field = ".".join(str(part) for part in error["loc"])
    kind, value = error["type"], error["input"]
    if kind == "refused":
        return Problem(source, line, field, value, error["msg"], error["ctx"]["hint"])
    if kind == "missing" or value is None:
        return Problem(source, line, field, None, "is missing", "add it")
    hint = "see the guide for the format"
    return Problem(source, line, field, value, error["msg"], hint)


def check_name(path: Path) -> None:
    """Raise a ``UsageError`` if a file's name is not one for verdicts."""
    if not path.name.endswith(JSONL_SUFFIXES):
        raise UsageError(f"{path.name}: verdicts are JSON lines; use a name such as run.jsonl")


def write_run(verdicts: pd.DataFrame, path: Path | str, notice: str = "") -> None:
    """Write verdicts as JSON lines, one per judge and item; equal verdicts give equal bytes.

    ``notice``, such as the license of the human labels, is a column.
    """
    check_name(Path(path))
    if notice:
        verdicts = verdicts.assign(notice=notice)
    write_rows(verdicts, Path(path))


def read_run(path: Path | str, record: type[VerdictRecord]) -> pd.DataFrame:
    """Read the verdicts of a file that ``write_run`` wrote, with the record's fields as columns."""
    problems: list[Problem] = []
    rows = [verdict.model_dump() for _, verdict in read_records(Path(path), record, problems)]
    raise_if(problems)
    table = pd.DataFrame(rows, columns=list(record.model_fields), dtype=object)
    return table.astype({name: bool for name in table if str(name).startswith("was_")})
