"""Checks of tables: what a row must hold, and how rows must agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import pandas as pd
from pydantic import (
    TypeAdapter,
    ValidationError,
)

from arena.data.cells import finite_number, is_null, is_unstorable
from arena.data.errors import HALF_SURROGATE, HALF_SURROGATE_HINT, Problem, counted_problems
from arena.data.languages import is_language_code, language_hint
from arena.data.rows import Rows
from arena.data.schema import (
    FOR_ALL_ROWS,
    INFO_FILE,
    QUESTION_KEY,
    ROLES,
    WINNERS,
    Passage,
    TableSchema,
)
from arena.data.wording import did_you_mean

_PASSAGES_HINT = (
    "write [{passage_id, text, title|null, relevance: 1|0|null}, ...] with distinct ids"
)
_HISTORY_HINT = (
    "write the turns before the question, [{role: user|assistant, content}, ...], which alternate "
    "and end with the assistant's: the user's last turn is the question itself"
)
_NO_WINNER = ("is not a winner", "write 'a', 'b' or 'tie', and leave failed judgments out")
Fault = tuple[str, str]
"""What is wrong with a value, and what to do about it."""
_PASSAGES = TypeAdapter(list[Passage])


def validation_problems(
    error: ValidationError, source: str, line: int | None, hint: Callable[[str], str]
) -> list[Problem]:
    """Tell what pydantic found wrong with a record as problems of its file and line.

    ``hint`` says for a place in the record (``passages.0.text``) how to fix it.
    """
    problems = []
    for item in error.errors():
        place = ".".join(str(part) for part in item["loc"])
        value, fault, advice = item["input"], item["msg"], hint(place)
        if item["type"] == "missing":
            value, fault = None, "is missing"
        elif item["type"] == "string_unicode":
            fault, advice = HALF_SURROGATE, HALF_SURROGATE_HINT
        problems.append(Problem(source, line, place or None, value, fault, advice))
    return problems


def passages_fault(passages: object) -> str | None:
    """Say what is wrong with the passages of one query first, or None if they are sound."""
    try:
        records = _PASSAGES.validate_python(passages)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return f"passages.{place}: {first['msg']}" if place else str(first["msg"])
    counts = Counter(record.passage_id for record in records)
    twice = next((name for name, count in counts.items() if count > 1), None)
    return None if twice is None else f"passage_id {twice!r} appears twice"


def history_fault(turns: object) -> str | None:
    """Say what is wrong first with the turns before a question, or None if they are sound."""
    if not isinstance(turns, list):
        return "is not a list of turns"
    before = None
    for number, turn in enumerate(turns):
        told = turn if isinstance(turn, dict) else {}
        role, content = told.get("role"), told.get("content")
        if role not in ROLES:
            return f"history.{number}.role: {role!r} is neither of {', '.join(ROLES)}"
        if not isinstance(content, str) or not content.strip():
            return f"history.{number}.content: there is no text"
        if role == before:
            return f"history.{number}.role: two turns of the {role} follow each other"
        before = role
    return "ends with the user's turn, before the question" if before == "user" else None


def check_table(rows: Rows, schema: TableSchema) -> list[Problem]:
    """Return the problems of all rows in line order; missing columns alone if there are any."""
    table = rows.table
    absent = [column for column in schema.columns if column not in table.columns]
    if absent:
        missing = "this column is missing"
        return [
            Problem(rows.source, None, column, None, missing, _column_hint(rows, column, schema))
            for column in absent
        ]
    found = [
        (place, str(column), None if is_null(value) else value, fault)
        for column in table.columns
        for place, value in _suspects(table[column], str(column), schema)
        if (fault := _fault(value, str(column), schema)) is not None
    ]
    found.sort(key=lambda item: item[0])
    return counted_problems(
        found, lambda item: rows.problem(table.index[item[0]], item[1], item[2], *item[3])
    )


def _suspects(values: pd.Series, column: str, schema: TableSchema) -> Iterable[tuple[int, object]]:
    """Return the values to look at one by one: none where each of the distinct ones is sound."""
    try:
        distinct = set(values)
    except TypeError:  # lists have no hash
        return enumerate(values)
    is_sound = all(_fault(value, column, schema) is None for value in distinct)
    return () if is_sound else enumerate(values)


def _fault(value: object, column: str, schema: TableSchema) -> Fault | None:
    """Say what is wrong with a value, and what to do about it."""
    kind = schema.columns.get(column)
    if is_null(value):
        hint = "leave failed judgments out" if kind == "winner" else "give it a value"
        return ("is missing", hint) if kind else None
    kind = kind or schema.optional.get(column)
    if is_unstorable(value):
        return HALF_SURROGATE, HALF_SURROGATE_HINT
    if kind == "winner":
        return None if value in WINNERS else _NO_WINNER
    if kind == "weight":
        weight = finite_number(value)
        is_sound = weight is not None and weight > 0
        return None if is_sound else ("is not a weight", "write a finite number above 0")
    if kind == "passages":
        wrong = passages_fault(value)
        return None if wrong is None else (wrong, _PASSAGES_HINT)
    if kind == "history":
        wrong = history_fault(value)
        return None if wrong is None else (wrong, _HISTORY_HINT)
    if kind is not None and not isinstance(value, str):
        return "is not a string", "write it as a JSON string"
    if kind == "name" and not str(value).strip():
        return "is empty", "give it a value"
    if kind == "language" and not is_language_code(str(value)):
        return "is not a language code", language_hint(value)
    return None


def _column_hint(rows: Rows, column: str, schema: TableSchema) -> str:
    others = [str(name) for name in rows.table.columns if name not in schema.columns]
    listed = others[0] if len(others) == 1 else f"one of {', '.join(others)}"
    renamed = f", or rename {listed}" if others else ""
    if not rows.is_frame:
        return f"add it to every row{renamed}"
    argument = f" or give {column}=..." if column in FOR_ALL_ROWS else ""
    return f"add it{argument}{renamed}"


def duplicates(rows: Rows, key: Sequence[str], noun: str) -> list[Problem]:
    """List the rows whose key stands on an earlier line."""
    repeated = rows.table.duplicated(list(key))
    if not repeated.any():
        return []
    labels = rows.table.index.to_series()
    first = labels.groupby([rows.table[column] for column in key]).first()

    def fault(row: object, identity: Any) -> Fault:  # noqa: ANN401 - values of the key
        place = rows.place(row, first.loc[identity])
        return f"this {noun} is already {place}", "keep one of the two"

    return rows.problems_of(repeated, key, fault)


def undeclared(rows: Rows, field: str, declared: Sequence[str], key: str) -> list[Problem]:
    """List the values of a field that ``arena.json``, or a frame's caller, does not declare."""
    where, how = f" of {INFO_FILE}", f"add it to {key} there or correct the name"
    if rows.is_frame:
        where, how = "", f"correct the name, or name all of them with {key}=[...]"

    @cache
    def hint(value: str) -> str:
        return "; ".join(filter(None, [how, did_you_mean(value, declared)]))

    return rows.problems_of(
        ~rows.table[field].isin(declared),
        [field],
        lambda _, value: (f"is not among the {key}{where}", hint(value)),
    )


def unknown_questions(rows: Rows, queries: Rows, noun: str) -> list[Problem]:
    """List the rows about questions that the query table does not hold."""
    known = pd.MultiIndex.from_frame(queries.table[QUESTION_KEY].astype(object))
    asked = pd.MultiIndex.from_frame(rows.table[QUESTION_KEY].astype(object))
    fault = f"this {noun} is to a question that is not in {queries.source}"
    hint = f"add the question there or leave the {noun} out"
    return rows.problems_of(~asked.isin(known), QUESTION_KEY, (fault, hint))


def self_judgments(judgments: Rows) -> list[Problem]:
    """List the judgments of a system against itself."""
    same = judgments.table["system_a"] == judgments.table["system_b"]
    fault = ("is judged against itself", "remove this judgment")
    return judgments.problems_of(same, ["system_b"], fault)
