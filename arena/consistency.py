"""What ties the rows of an arena together: keys, declared names, known questions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from arena.errors import Problem
from arena.records import ArenaInfo
from arena.rows import Rows
from arena.tables import QUESTION_KEY

INFO_FILE = "arena.json"


def duplicates(rows: Rows, key: Sequence[str], noun: str) -> list[Problem]:
    """List the rows whose key stands on an earlier line."""
    repeated = rows.table.duplicated(list(key))
    if not repeated.any():
        return []
    first_lines = rows.lines.groupby([rows.table[column] for column in key]).first()
    return [
        Problem(
            rows.source,
            int(rows.lines.loc[row]),
            "+".join(key),
            identity,
            f"this {noun} already stands on line {int(first_lines.loc[identity])}",
            "keep one of the two",
        )
        for row, identity in _identities(rows.table[repeated], key)
    ]


def _identities(
    table: pd.DataFrame, key: Sequence[str]
) -> Iterable[tuple[object, tuple[str, ...]]]:
    return zip(table.index, table[list(key)].itertuples(index=False, name=None), strict=True)


def undeclared(rows: Rows, field: str, declared: Sequence[str], key: str) -> list[Problem]:
    """List the values of a field that ``arena.json`` does not declare under a key."""
    unknown = rows.table[~rows.table[field].isin(declared)]
    return [
        Problem(
            rows.source,
            int(rows.lines.loc[row]),
            field,
            value,
            f"is not among the {key} of {INFO_FILE}",
            f"add it to {key} there or correct the name",
        )
        for row, value in unknown[field].items()
    ]


def unknown_questions(rows: Rows, queries: Rows, noun: str) -> list[Problem]:
    """List the rows about questions that the query table does not hold."""
    known = pd.MultiIndex.from_frame(queries.table[QUESTION_KEY].astype(object))
    asked = pd.MultiIndex.from_frame(rows.table[QUESTION_KEY].astype(object))
    return [
        Problem(
            rows.source,
            int(rows.lines.loc[row]),
            "+".join(QUESTION_KEY),
            identity,
            f"this {noun} is to a question that {queries.source} does not hold",
            f"add the question there or leave the {noun} out",
        )
        for row, identity in _identities(rows.table[~asked.isin(known)], QUESTION_KEY)
    ]


def self_judgments(judgments: Rows) -> list[Problem]:
    """List the judgments of a system against itself."""
    table = judgments.table
    same = table[table["system_a"] == table["system_b"]]
    return [
        Problem(
            judgments.source,
            int(judgments.lines.loc[row]),
            "system_b",
            value,
            "is judged against itself",
            "remove this judgment",
        )
        for row, value in same["system_b"].items()
    ]


def reference_problems(info: ArenaInfo) -> list[Problem]:
    """Check that the reference system is one of the systems."""
    if info.reference_system is None or info.reference_system in info.systems:
        return []
    fault = f"is not among the systems of {INFO_FILE}"
    return [
        Problem(
            INFO_FILE,
            None,
            "reference_system",
            info.reference_system,
            fault,
            "name one of the systems or write null",
        )
    ]
