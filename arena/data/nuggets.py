"""Nuggets of an arena: facts that a good answer to a question states, and which answers do.

Both tables are files that people may edit: ``nuggets.jsonl`` and ``nugget_marks.jsonl``. A mark
names the text of its nugget and a digest of its answer, so that it no longer counts once either
has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import pandas as pd

from arena.data.checks import duplicates, undeclared, unknown_questions
from arena.data.errors import Problem
from arena.data.frames import empty_rows, row_problems, typed_table, with_columns
from arena.data.rows import Rows
from arena.data.schema import (
    ANSWER_KEY,
    IMPORTANCES,
    NUGGET_MARKS,
    NUGGETS,
    QUESTION_KEY,
    SUPPORTS,
    ArenaInfo,
)

NUGGET_KEY = [*QUESTION_KEY, "nugget_id"]
MARK_KEY = ["judge", *ANSWER_KEY, "nugget_id"]


@cache
def _empty_tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    # Typing an empty table takes milliseconds, and nearly every arena has these two.
    tables = [typed_table(empty_rows(schema), schema) for schema in (NUGGETS, NUGGET_MARKS)]
    return tables[0], tables[1]


def _no_nuggets() -> pd.DataFrame:
    return _empty_tables()[0].copy()


def _no_marks() -> pd.DataFrame:
    return _empty_tables()[1].copy()


@dataclass(frozen=True)
class Nuggets:
    """Facts that good answers state, and marks of answers.

    Attributes:
        table: Columns ``query_id, language, nugget_id, text, importance`` (``vital`` or ``okay``),
            and ``source``: who wrote it.
        marks: Columns ``query_id, language, system, nugget_id, nugget`` (its text), ``support``
            (``supported``, ``partly`` or ``not``), ``judge, answer_digest``, and ``prompt``.
    """

    table: pd.DataFrame = field(default_factory=_no_nuggets)
    marks: pd.DataFrame = field(default_factory=_no_marks)

    def __bool__(self) -> bool:
        return bool(len(self.table) or len(self.marks))

    def mapped(self, function: Callable[[pd.DataFrame], pd.DataFrame]) -> Nuggets:
        """Return both tables as a function changes them."""
        return Nuggets(function(self.table), function(self.marks))

    def counts(self) -> dict[str, int]:
        """Count nuggets, vital ones among them, and answers with marks."""
        answers = self.marks[["judge", *ANSWER_KEY]].drop_duplicates()
        return {
            "facts": len(self.table),
            "vital facts": int((self.table["importance"] == "vital").sum()),
            "answers marked": len(answers),
        }

    def counted_marks(self) -> pd.DataFrame:
        """Return the marks that count: of nuggets as they are, for answers with all of them.

        Returns:
            Columns of ``marks``, and the ``importance`` of the nugget, in the order of ``table``
            for every answer. Whether an answer is still the same is for the caller to compare.
        """
        present = self.table.rename(columns={"text": "nugget"})
        present = present[[*NUGGET_KEY, "nugget", "importance"]].assign(place=range(len(present)))
        marks = self.marks.merge(present, on=[*NUGGET_KEY, "nugget"])
        n_nuggets = self.table.groupby(QUESTION_KEY).size().rename("n_nuggets").reset_index()
        marks = marks.merge(n_nuggets, on=QUESTION_KEY)
        answer = ["judge", *ANSWER_KEY, "answer_digest"]
        n_marks = marks.groupby(answer)["nugget_id"].transform("size")
        marks = marks[n_marks == marks["n_nuggets"]].sort_values([*answer, "place"])
        return marks.drop(columns=["place", "n_nuggets"]).reset_index(drop=True)


def stacked_nuggets(parts: Sequence[Nuggets]) -> Nuggets:
    """Put nuggets and marks of several steps into one."""
    filled = [part for part in parts if part]
    if not filled:
        return Nuggets()
    return Nuggets(
        table=pd.concat([part.table for part in filled], ignore_index=True),
        marks=pd.concat([part.marks for part in filled], ignore_index=True),
    )


def checked_nuggets(
    nuggets: Rows | None, marks: Rows | None, queries: Rows, info: ArenaInfo
) -> tuple[Nuggets, list[Problem]]:
    """Check the tables of nuggets and marks, which may be absent.

    Returns:
        The tables, empty where there are problems, and the problems.
    """
    if nuggets is None and marks is None:
        return Nuggets(), []
    nugget_rows = with_columns(nuggets or empty_rows(NUGGETS), NUGGETS)
    mark_rows = with_columns(marks or empty_rows(NUGGET_MARKS), NUGGET_MARKS)
    # Rows first: the checks between tables need sound keys.
    problems = [*row_problems(nugget_rows, NUGGETS), *row_problems(mark_rows, NUGGET_MARKS)]
    if problems:
        return Nuggets(), problems
    problems = [
        *_other_words(nugget_rows, "importance", IMPORTANCES),
        *duplicates(nugget_rows, NUGGET_KEY, "nugget"),
        *unknown_questions(nugget_rows, queries, "nugget"),
        *_other_words(mark_rows, "support", SUPPORTS),
        *duplicates(mark_rows, MARK_KEY, "mark"),
        *unknown_questions(mark_rows, queries, "mark"),
        *undeclared(mark_rows, "system", info.systems, "systems"),
    ]
    if problems:
        return Nuggets(), problems
    return Nuggets(typed_table(nugget_rows, NUGGETS), typed_table(mark_rows, NUGGET_MARKS)), []


def _other_words(rows: Rows, column: str, words: Sequence[str]) -> list[Problem]:
    is_other = ~rows.table[column].isin(words)
    fault = f"is none of {', '.join(words)}"
    return rows.problems_of(is_other, [column], (fault, "write one of them"))


def nuggets_of_questions(table: pd.DataFrame) -> Mapping[tuple[str, str], pd.DataFrame]:
    """Return the nuggets of each question, by language and query_id, in their order."""
    return {(str(key[0]), str(key[1])): rows for key, rows in table.groupby(QUESTION_KEY)}
