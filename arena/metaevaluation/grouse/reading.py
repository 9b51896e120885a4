"""Reading files of unit tests in the published schema, checked line by line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from arena.errors import HALF_SURROGATE, HALF_SURROGATE_MEND, DataError, Problem
from arena.metaevaluation.grouse.records import WrittenTest, as_record
from arena.metaevaluation.grouse.typology import type_name
from arena.metaevaluation.grouse.unit_tests import GroundedAnswer, UnitTest
from arena.rows import read_rows
from arena.tables import is_unstorable

_MENDS = {
    "missing": ("is missing", "add it"),
    "empty": ("is empty", "give it a text"),
    "too_short": ("is an empty list", "give one reference at least"),
    "condition": (
        "is no condition",
        "write ==, !=, <, <=, > or >= and a number, or ==None for null",
    ),
    "string_type": ("is not a string", "write it as a JSON string"),
    "string_pattern_mismatch": ("is no language code", "write one such as en"),
    "list_type": ("is not a list", "write it as a JSON array"),
    "model_type": ("is not an object", "write it as a JSON object"),
}
_OTHERWISE = "see the published schema: input, actual_output, expected_output, references, …"


def read_unit_tests(path: Path | str) -> list[UnitTest]:
    """Read unit tests in the published schema.

    Each line holds ``input``, ``actual_output``, ``expected_output``, ``references``,
    ``conditions`` (``answer_relevancy_condition`` and so on, such as ``==5`` or ``==None``), and
    ``metadata``, of which ``test_type``, ``language`` and ``topic`` are read where they are there.

    Args:
        path: JSONL or Parquet, plain or compressed.

    Raises:
        UsageError: If there is no such file, or its format is unknown.
        DataError: With every problem: file, line, field, value and mend.
    """
    rows = read_rows(Path(path))
    problems = list(rows.problems)
    tests: list[UnitTest] = []
    for line, record in zip(rows.lines, rows.table.to_dict(orient="records"), strict=True):
        written = _checked(as_record(record), rows.source, int(line), problems)
        if written is not None:
            tests.append(_unit_test(written, f"{rows.source}:{line}"))
    if not tests and not problems:
        fault = "holds no unit tests"
        problems = [Problem(rows.source, None, None, None, fault, "put one JSON object a line in")]
    if problems:
        raise DataError(sorted(problems, key=lambda problem: problem.line or 0))
    return tests


def _checked(
    record: dict[str, Any], source: str, line: int, problems: list[Problem]
) -> WrittenTest | None:
    if is_unstorable(record):
        problems.append(Problem(source, line, None, None, HALF_SURROGATE, HALF_SURROGATE_MEND))
        return None
    try:
        return WrittenTest.model_validate(record)
    except ValidationError as error:
        problems += [_problem(dict(each), source, line) for each in error.errors()]
        return None


def _problem(error: Mapping[str, Any], source: str, line: int) -> Problem:
    place = ".".join(str(part) for part in error["loc"])
    kind = str(error["type"])
    value = None if kind == "missing" else error["input"]
    fault, mend = _MENDS.get(kind, (str(error["msg"]), _OTHERWISE))
    return Problem(source, line, place, value, fault, mend)


def _unit_test(written: WrittenTest, test_id: str) -> UnitTest:
    sample = GroundedAnswer(
        written.input, tuple(written.references), written.expected_output, written.actual_output
    )
    metadata = written.metadata
    return UnitTest(
        test_id,
        type_name(metadata.test_type),
        sample,
        written.conditions.by_metric(),
        metadata.language,
        metadata.topic,
    )
