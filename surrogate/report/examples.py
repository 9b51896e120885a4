"""``examples.jsonl`` of a board: a few answers of each system, with the verdicts on them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from arena.errors import DataError, Problem
from arena.records import validation_problems
from arena.rows import read_rows
from surrogate.report.csv_tables import REBUILD

FILE_NAME = "examples.jsonl"


class Verdict(BaseModel):
    """A verdict on an answer, as seen from its system."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    opponent: str
    outcome: Literal["win", "loss", "tie"]
    judge: str = ""


class Example(BaseModel):
    """An answer with the verdicts on it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    language: str
    query_id: str
    query: str
    system: str
    answer: str
    verdicts: tuple[Verdict, ...] = ()


def read_examples(folder: Path) -> tuple[Example, ...] | None:
    """Read example answers, in the order of the file, or return None where there are none.

    Raises:
        DataError: If a line is no example, with all such lines.
    """
    path = folder / FILE_NAME
    if not path.is_file():
        return None
    rows = read_rows(path)
    examples: list[Example] = []
    problems: list[Problem] = list(rows.problems)
    records = rows.table.to_dict(orient="records")
    for record, line in zip(records, rows.lines, strict=True):
        try:
            examples.append(Example.model_validate(record))
        except ValidationError as error:
            problems += validation_problems(error, FILE_NAME, int(line), lambda _: REBUILD)
    if problems:
        raise DataError(problems)
    return tuple(examples)
