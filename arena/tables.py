"""Schemas of the three tables of an arena: queries, answers, judgments.

A check's ``error`` holds what is wrong and how to mend it, separated by ``MEND``, so that one
declaration serves validation and message.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pandas as pd
import pandera.pandas as pa
from pydantic import TypeAdapter, ValidationError

from arena.errors import HALF_SURROGATE, HALF_SURROGATE_MEND, Problem
from arena.languages import LANGUAGE_CODE
from arena.records import Passage

MEND = " -> "
WINNERS = ("a", "b", "tie")
QUESTION_KEY = ["language", "query_id"]
ANSWER_KEY = ["language", "query_id", "system"]

_SURROGATE = re.compile("[\ud800-\udfff]")
_LANGUAGE_CODE = re.compile(LANGUAGE_CODE)
_REPLACEMENT = "\ufffd"
_MISSING_MENDS = {"winner": "leave failed judgments out"}
_PASSAGES = TypeAdapter(list[Passage])


def _is_text(values: pd.Series) -> pd.Series:
    return values.map(lambda value: isinstance(value, str))


def _is_filled(values: pd.Series) -> pd.Series:
    return values.map(lambda value: not isinstance(value, str) or bool(value.strip()))


def _is_language(values: pd.Series) -> pd.Series:
    return values.map(
        lambda value: not isinstance(value, str) or bool(_LANGUAGE_CODE.fullmatch(value))
    )


def passages_fault(passages: object) -> str | None:
    """Say what is wrong with the passages of one query.

    Args:
        passages: Value of the ``passages`` field.

    Returns:
        The first fault, or None if the passages are sound.
    """
    try:
        records = _PASSAGES.validate_python(passages)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return f"passages.{place}: {first['msg']}" if place else str(first["msg"])
    seen: set[str] = set()
    for record in records:
        if record.passage_id in seen:
            return f"passage_id {record.passage_id!r} stands twice"
        seen.add(record.passage_id)
    return None


def _has_sound_passages(values: pd.Series) -> pd.Series:
    return values.map(lambda passages: passages_fault(passages) is None)


def _check(function: Callable[[pd.Series], pd.Series], fault: str, mend: str) -> pa.Check:
    return pa.Check(function, error=f"{fault}{MEND}{mend}")


_TEXT = _check(_is_text, "is not a string", "write it as a JSON string")
_FILLED = _check(_is_filled, "is empty", "give it a value")
_LANGUAGE = _check(
    _is_language, "is not a language code", "use an ISO 639-1 code such as 'en' or 'zh'"
)
_WINNER = pa.Check.isin(
    WINNERS,
    error=f"is not a winner{MEND}write 'a', 'b' or 'tie', and leave failed judgments out",
)
_SOUND_PASSAGES = _check(
    _has_sound_passages,
    "is not a list of passages",
    "write [{passage_id, text, title|null, relevance: 1|0|null}, ...] with distinct ids",
)


def _key_column() -> pa.Column:
    return pa.Column(object, [_TEXT, _FILLED])


_LANGUAGE_COLUMN = pa.Column(object, [_TEXT, _LANGUAGE])

QUERIES = pa.DataFrameSchema(
    {
        "query_id": _key_column(),
        "language": _LANGUAGE_COLUMN,
        "query": pa.Column(object, [_TEXT, _FILLED]),
        "passages": pa.Column(object, [_SOUND_PASSAGES]),
    },
    name="queries",
)
ANSWERS = pa.DataFrameSchema(
    {
        "query_id": _key_column(),
        "language": _LANGUAGE_COLUMN,
        "system": _key_column(),
        "answer": pa.Column(object, [_TEXT]),
    },
    name="answers",
)
JUDGMENTS = pa.DataFrameSchema(
    {
        "query_id": _key_column(),
        "language": _LANGUAGE_COLUMN,
        "system_a": _key_column(),
        "system_b": _key_column(),
        "winner": pa.Column(object, [_WINNER]),
        "judge": _key_column(),
    },
    name="judgments",
)


def check_table(
    table: pd.DataFrame, schema: pa.DataFrameSchema, source: str, lines: pd.Series
) -> list[Problem]:
    """Check every row of a table.

    Args:
        table: Rows as read, columns of type object.
        schema: One of ``QUERIES``, ``ANSWERS``, ``JUDGMENTS``.
        source: File the rows come from.
        lines: Line of each row, on the table's index.

    Returns:
        All problems in line order, one a field; missing columns alone if there are any.
    """
    absent = [column for column in schema.columns if column not in table.columns]
    if absent:
        return [
            Problem(source, None, column, None, "this column is missing", "add it to every row")
            for column in absent
        ]
    unstorable = _unstorable_problems(table, source, lines)
    damaged = {(problem.line, problem.field) for problem in unstorable}
    sound = table[list(schema.columns)].astype(object)
    if unstorable:
        sound = sound.map(_storable).astype(object)
    try:
        schema.validate(sound, lazy=True)
    except pa.errors.SchemaErrors as error:
        found = _problems(error.failure_cases, sound, source, lines)
        others = [problem for problem in found if (problem.line, problem.field) not in damaged]
        return sorted([*unstorable, *others], key=lambda problem: problem.line or 0)
    return unstorable


def _storable(value: object) -> object:
    return _REPLACEMENT if is_unstorable(value) else value


def is_unstorable(value: object) -> bool:
    """Say whether a value holds half a surrogate pair, at any depth."""
    if isinstance(value, str):
        return _SURROGATE.search(value) is not None
    if isinstance(value, dict):
        return any(is_unstorable(part) for pair in value.items() for part in pair)
    return isinstance(value, list) and any(is_unstorable(part) for part in value)


def _unstorable_problems(table: pd.DataFrame, source: str, lines: pd.Series) -> list[Problem]:
    return [
        Problem(
            source, int(lines.loc[row]), str(column), value, HALF_SURROGATE, HALF_SURROGATE_MEND
        )
        for column in table.columns
        for row, value in table.loc[table[column].map(is_unstorable).astype(bool), column].items()
    ]


def _problems(
    cases: pd.DataFrame, table: pd.DataFrame, source: str, lines: pd.Series
) -> list[Problem]:
    first_of_field = cases.drop_duplicates(["index", "column"]).sort_values("index", kind="stable")
    return [
        _problem(check, column, table.loc[row, column], source, lines.loc[row])
        for check, column, row in zip(
            first_of_field["check"], first_of_field["column"], first_of_field["index"], strict=True
        )
    ]


def _problem(check: str, column: str, value: object, source: str, line: int) -> Problem:
    if check == "not_nullable":
        mend = _MISSING_MENDS.get(column, "give it a value")
        return Problem(source, int(line), column, None, "is missing", mend)
    fault, _, mend = check.partition(MEND)
    if column == "passages":
        fault = passages_fault(value) or fault
    return Problem(source, int(line), column, value, fault, mend)
