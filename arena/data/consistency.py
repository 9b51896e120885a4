"""Consistency of an arena's tables: keys, names and numbers that must agree with each other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from arena.data.checks import duplicates, undeclared
from arena.data.errors import Problem
from arena.data.rows import Rows, are_in, finite_number
from arena.data.schema import (
    ANSWER_KEY,
    INFO_FILE,
    PROBABILITIES,
    QUESTION_KEY,
    REFERENCE,
    ArenaInfo,
)
from arena.data.systems import name_problems, row_name_problems


def table_problems(info: ArenaInfo, queries: Rows, answers: Rows, judgments: Rows) -> list[Problem]:
    """List what is wrong between tables whose rows are sound, and with names in them."""
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
    """List the rows about questions that the query table does not hold."""
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
    """List the judgments whose two probabilities do not go together."""
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
    """Check the reference system, and the reference answers of questions, which may be missing."""
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
