"""Checks of tables: what a row must hold, and keys, names and numbers that must agree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from pydantic import TypeAdapter, ValidationError

from arena.data.errors import (
    CONVERT,
    HALF_SURROGATE,
    HALF_SURROGATE_HINT,
    Fault,
    Problem,
    counted_problems,
)
from arena.data.languages import is_language_code, language_hint
from arena.data.names import name_problems, row_name_problems
from arena.data.rows import Rows, are_in, finite_number, is_null, is_unstorable
from arena.data.schema import (
    ANSWER_KEY,
    FOR_ALL_ROWS,
    INFO_FILE,
    NUMBERS,
    PROBABILITIES,
    QUESTION_KEY,
    REFERENCE,
    ROLES,
    SIDES_SHOWN,
    WINNERS,
    ArenaInfo,
    Kind,
    Passage,
    TableSchema,
)
from arena.data.wording import did_you_mean

LEAST_AMOUNT = 1e-15
"""Least cost, latency or number of tokens of an answer that is not 0."""
MOST_AMOUNT = 1e9
"""Greatest one: beyond these, an amount is a mistake, and its sums and ratios may overflow."""
_PASSAGES = TypeAdapter(list[Passage])


def validation_problems(
    error: ValidationError, source: str, line: int | None, hint: Callable[[str], str]
) -> list[Problem]:
    """Return what pydantic found wrong, with a hint by place (``passages.0.text``)."""
    problems = []
    for detail in error.errors():
        place = ".".join(str(part) for part in detail["loc"])
        value = detail["input"]
        fault = detail["msg"]
        advice = hint(place)
        if detail["type"] == "missing":
            # pydantic's input is then the whole record.
            value = None
            fault = "is missing"
        elif detail["type"] == "string_unicode":
            fault = HALF_SURROGATE
            advice = HALF_SURROGATE_HINT
        problems.append(Problem(source, line, place or None, value, fault, advice))
    return problems


def passages_fault(passages: object) -> str | None:
    """Return the first fault of the passages of one query."""
    try:
        records = _PASSAGES.validate_python(passages)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return f"passages.{place}: {first['msg']}" if place else str(first["msg"])
    seen_ids = set()
    for record in records:
        if record.passage_id in seen_ids:
            return f"passage_id {record.passage_id!r} appears twice"
        seen_ids.add(record.passage_id)
    return None


def history_fault(turns: object) -> str | None:
    """Return the first fault of the turns before a question."""
    if not isinstance(turns, list):
        return "is not a list of turns"
    last_role = None
    for number, turn in enumerate(turns):
        fields = turn if isinstance(turn, dict) else {}
        role = fields.get("role")
        content = fields.get("content")
        if role not in ROLES:
            return f"history.{number}.role: {role!r} is neither of {', '.join(ROLES)}"
        if not isinstance(content, str) or not content.strip():
            return f"history.{number}.content: there is no text"
        if role == last_role:
            return f"history.{number}.role: two turns of the {role} follow each other"
        last_role = role
    return "ends with the user's turn, before the question" if last_role == "user" else None


def check_table(rows: Rows, schema: TableSchema) -> list[Problem]:
    """Return all rows' problems in line order; missing columns alone if any."""
    table = rows.table
    problems = [
        Problem(
            source=rows.source,
            line=None,
            field=column,
            value=None,
            fault="this column is missing",
            hint=_column_hint(rows, column, schema),
        )
        for column in schema.columns
        if column not in table.columns
    ]
    if problems:
        return problems
    faults: list[tuple[int, str, object, Fault]] = []
    for column in table.columns:
        for position, value in _suspects(table[column], str(column), schema):
            fault = _fault(value, str(column), schema)
            if fault is not None:
                shown = None if is_null(value) else value
                faults.append((position, str(column), shown, fault))
    faults.sort(key=lambda entry: entry[0])

    def problem_of(entry: tuple[int, str, object, Fault]) -> Problem:
        position, column, value, (fault, hint) = entry
        return rows.problem(table.index[position], column, value, fault, hint)

    return counted_problems(faults, problem_of)


def _suspects(values: pd.Series, column: str, schema: TableSchema) -> Iterable[tuple[int, object]]:
    try:
        distinct = set(values)
    except TypeError:  # lists have no hash
        return enumerate(values)
    if all(_fault(value, column, schema) is None for value in distinct):
        return ()
    return enumerate(values)


def _fault(value: object, column: str, schema: TableSchema) -> Fault | None:
    kind = schema.columns.get(column)
    if is_null(value):
        if kind is None:
            return None
        return "is missing", "leave failed judgments out" if kind == "winner" else "give it a value"
    kind = kind or schema.optional.get(column)
    if is_unstorable(value):
        return HALF_SURROGATE, HALF_SURROGATE_HINT
    if kind is None:
        return None
    if kind in ("winner", "sides", "weight", *NUMBERS, "passages", "history"):
        return _fault_of_kind(value, kind)
    if not isinstance(value, str):
        return "is not a string", "write it as a JSON string"
    if kind == "name" and not value.strip():
        return "is empty", "give it a value"
    if kind == "language" and not is_language_code(value):
        return "is not a language code", language_hint(value)
    return None


def _fault_of_kind(value: object, kind: Kind) -> Fault | None:
    if kind == "winner":
        if value not in WINNERS:
            return "is not a winner", "write 'a', 'b' or 'tie', and leave failed judgments out"
    elif kind == "sides":
        if value not in SIDES_SHOWN:
            return "does not say whether sides were shown", "write 'shown' or 'none'"
    elif kind == "weight":
        weight = finite_number(value)
        if weight is None or weight <= 0:
            return "is not a weight", "write a finite number above 0"
    elif kind == "probability":
        # Readers of files keep the text of a cell.
        probability = finite_number(value)
        if probability is None or not 0 <= probability <= 1:
            return "is not a probability", "write a number from 0 to 1, or nothing"
    elif kind == "amount":
        return amount_fault(value)
    elif kind == "passages":
        fault = passages_fault(value)
        if fault is not None:
            return fault, (
                "write [{passage_id, text, title|null, relevance: 1|0|null}, ...] with distinct ids"
            )
    else:
        fault = history_fault(value)
        if fault is not None:
            return fault, (
                "write the turns before the question, [{role: user|assistant, content}, ...], "
                "which alternate and end with the assistant's: the user's last turn is the "
                "question itself"
            )
    return None


def amount_fault(value: object) -> Fault | None:
    """Return what is wrong with a cost, latency or number of tokens."""
    amount = finite_number(value)
    if amount is None or not (amount == 0 or LEAST_AMOUNT <= amount <= MOST_AMOUNT):
        hint = f"write 0, a number from {LEAST_AMOUNT:g} to {MOST_AMOUNT:g}, or nothing"
        return "is not an amount", hint
    return None


def _column_hint(rows: Rows, column: str, schema: TableSchema) -> str:
    further = [str(name) for name in rows.table.columns if name not in schema.columns]
    renamed = ""
    if len(further) == 1:
        renamed = f", or rename {further[0]}"
    elif further:
        renamed = f", or rename one of {', '.join(further)}"
    if not rows.is_frame:
        return f"add it to every row{renamed}; {CONVERT}"
    argument = f" or give {column}=..." if column in FOR_ALL_ROWS else ""
    return f"add it{argument}{renamed}"


def duplicates(rows: Rows, key: Sequence[str], noun: str) -> list[Problem]:
    """List the rows that repeat the key of an earlier row."""
    is_repeated = rows.table.duplicated(list(key))
    if not is_repeated.any():
        return []
    labels = rows.table.index.to_series()
    first_labels = labels.groupby([rows.table[column] for column in key]).first()

    def fault(row: object, identity: Any) -> Fault:  # noqa: ANN401 - values of the key
        place = rows.place(row, first_labels.loc[identity])
        return f"this {noun} is already {place}", "keep one of the two"

    return rows.problems_of(is_repeated, key, fault)


def undeclared(rows: Rows, field: str, declared: Sequence[str], key: str) -> list[Problem]:
    """List values that ``arena.json``, or a frame's caller, does not declare."""
    if rows.is_frame:
        fault = f"is not among the {key}"
        advice = f"correct the name, or name all of them with {key}=[...]"
    else:
        fault = f"is not among the {key} of {INFO_FILE}"
        advice = f"add it to {key} there or correct the name"

    @cache  # looks for similar names, and many rows may have the same one
    def fault_of(value: str) -> Fault:
        suggestion = did_you_mean(value, declared)
        return fault, f"{advice}; {suggestion}" if suggestion else advice

    is_undeclared = ~rows.table[field].isin(declared)
    return rows.problems_of(is_undeclared, [field], lambda _, value: fault_of(value))


def table_problems(info: ArenaInfo, queries: Rows, answers: Rows, judgments: Rows) -> list[Problem]:
    """List what is wrong between sound tables, and with names."""
    name_source = "systems" if queries.is_frame else INFO_FILE
    return [
        *duplicates(queries, QUESTION_KEY, "query"),
        *duplicates(answers, ANSWER_KEY, "answer"),
        *undeclared(queries, "language", info.languages, "languages"),
        *undeclared(answers, "system", info.systems, "systems"),
        *unknown_questions(answers, queries, "answer"),
        *unknown_questions(judgments, queries, "judgment"),
        *undeclared(judgments, "system_a", info.systems, "systems"),
        *undeclared(judgments, "system_b", info.systems, "systems"),
        *self_judgments(judgments),
        *probability_problems(judgments),
        *_reference_problems(info, queries),
        *name_problems(info.systems, name_source, "systems"),
        *row_name_problems(judgments, "judge"),
    ]


def unknown_questions(rows: Rows, queries: Rows, noun: str) -> list[Problem]:
    """List rows about questions that the query table lacks."""
    is_unknown = ~are_in(rows.table, queries.table, QUESTION_KEY)
    fault = f"this {noun} is to a question that is not in {queries.source}"
    hint = f"add the question there or leave the {noun} out"
    return rows.problems_of(is_unknown, QUESTION_KEY, (fault, hint))


def self_judgments(judgments: Rows) -> list[Problem]:
    """List the judgments of a system against itself."""
    is_self = judgments.table["system_a"] == judgments.table["system_b"]
    fault = ("is judged against itself", "remove this judgment")
    return judgments.problems_of(is_self, ["system_b"], fault)


def probability_problems(judgments: Rows) -> list[Problem]:
    """List judgments whose two probabilities do not go together."""
    table = judgments.table
    present = [name for name in PROBABILITIES if name in table]
    if not present:
        return []
    first, second = PROBABILITIES
    if len(present) == 1:
        absent = second if present == [first] else first
        hint = f"add it, or leave {present[0]} out: a tie has what the two leave of 1"
        return [Problem(judgments.source, None, absent, None, "this column is missing", hint)]
    missing = table[list(PROBABILITIES)].isna()
    is_half = missing[first] != missing[second]
    half_fault = ("one of the two is missing", "write both probabilities, or neither")
    numbers = table[list(PROBABILITIES)].map(finite_number).astype(np.float64)
    rounding = 1e-6
    is_above = numbers.sum(axis=1) > 1 + rounding
    # A number above 1 has a problem of its own.
    is_above &= (numbers <= 1).all(axis=1)
    sum_fault = (
        "sum to more than 1",
        "write two numbers whose sum is at most 1: a tie has the rest",
    )
    return [
        *judgments.problems_of(is_half, PROBABILITIES, half_fault),
        *judgments.problems_of(is_above, PROBABILITIES, sum_fault),
    ]


def _reference_problems(info: ArenaInfo, queries: Rows) -> Iterator[Problem]:
    name = info.reference_system
    if name is not None and name not in info.systems:
        source = INFO_FILE
        fault = f"is not among the systems of {INFO_FILE}"
        hint = "name one of the systems, or write null"
        if queries.is_frame:
            source = "from_frames"
            fault = "is not among the systems"
            hint = "name one of the systems, or None"
        yield Problem(source, None, "reference_system", name, fault, hint)
    if REFERENCE in queries.table:
        references = queries.table[REFERENCE]
        is_text = references.map(lambda value: isinstance(value, str)).astype(bool)
        fault = "is not text"
        hint = "write an answer, or leave it empty"
        yield from queries.problems_of(references.notna() & ~is_text, [REFERENCE], (fault, hint))
