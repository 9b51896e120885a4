"""Nuggets of an arena: facts that a good answer states, and which answers do.

People may edit both tables: a mark counts for its nugget's text and its answer's digest alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from arena.data.arena import Arena
from arena.data.checks import duplicates, undeclared
from arena.data.errors import DataError, Problem
from arena.data.folder import FURTHER_FOLDER
from arena.data.frames import as_rows, empty_rows, row_problems, typed_table
from arena.data.rows import Rows, plain_table
from arena.data.schema import ANSWER_KEY, QUESTION_KEY, TableSchema
from arena.judging.appending import append_further

IMPORTANCES = ("vital", "okay")
"""Importance of a nugget: without a vital one no answer is good; an okay one is welcome."""
SUPPORTS = ("supported", "partly", "not")
"""How far an answer states a nugget."""
NUGGETS = TableSchema(
    name="nuggets",
    columns={
        "query_id": "name",
        "language": "name",
        "nugget_id": "name",
        "text": "name",
        "importance": "name",
    },
    optional={"source": "text"},
)
NUGGET_MARKS = TableSchema(
    name="nugget_marks",
    columns={
        "query_id": "name",
        "language": "name",
        "system": "name",
        "nugget_id": "name",
        "nugget": "name",
        "support": "name",
        "judge": "name",
        "answer_digest": "name",
    },
    optional={"prompt": "text"},
)

NUGGET_KEY = [*QUESTION_KEY, "nugget_id"]
MARK_KEY = ["judge", *ANSWER_KEY, "nugget_id"]
_WORDS = {NUGGETS.name: ("importance", IMPORTANCES), NUGGET_MARKS.name: ("support", SUPPORTS)}


@dataclass(frozen=True)
class Nuggets:
    """Facts that good answers state, and marks of answers.

    A nugget is ``vital`` or ``okay`` (``importance``), by a ``source``; a mark's ``support`` is
    ``supported``, ``partly`` or ``not``.
    """

    table: pd.DataFrame
    marks: pd.DataFrame

    @classmethod
    def of(cls, arena: Arena) -> Nuggets:
        """Return those of an arena."""
        nuggets, problems = _checked(arena, NUGGETS, NUGGET_KEY)
        marks, mark_problems = _checked(arena, NUGGET_MARKS, MARK_KEY)
        problems += mark_problems
        if not problems:
            problems += undeclared(marks, "system", arena.info.systems, "systems")
        if problems:
            raise DataError(problems)
        return cls(typed_table(nuggets, NUGGETS), typed_table(marks, NUGGET_MARKS))

    def __bool__(self) -> bool:
        return bool(len(self.table) or len(self.marks))

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Return both tables by their names in an arena."""
        return {NUGGETS.name: self.table, NUGGET_MARKS.name: self.marks}

    def write(self, folder: Path) -> None:
        """Add both to an arena folder; marks replace former ones."""
        # The nuggets of a question are one list: another run's must not mix with them.
        if len(self.table):
            append_further(folder, NUGGETS.name, self.table, QUESTION_KEY)
        if len(self.marks):
            append_further(folder, NUGGET_MARKS.name, self.marks, MARK_KEY, replacing=True)

    def counts(self) -> dict[str, int]:
        """Count nuggets, vital ones among them, and answers with marks."""
        answers = self.marks[["judge", *ANSWER_KEY]].drop_duplicates()
        return {
            "facts": len(self.table),
            "vital facts": int((self.table["importance"] == "vital").sum()),
            "answers marked": len(answers),
        }

    def counted_marks(self) -> pd.DataFrame:
        """Return marks of unchanged nuggets, for answers with all of them."""
        present = self.table.rename(columns={"text": "nugget"})
        present = present[[*NUGGET_KEY, "nugget", "importance"]].assign(place=range(len(present)))
        marks = self.marks.merge(present, on=[*NUGGET_KEY, "nugget"])
        n_nuggets = self.table.groupby(QUESTION_KEY).size().rename("n_nuggets").reset_index()
        marks = marks.merge(n_nuggets, on=QUESTION_KEY)
        answer = ["judge", *ANSWER_KEY, "answer_digest"]
        n_marks = marks.groupby(answer)["nugget_id"].transform("size")
        marks = marks[n_marks == marks["n_nuggets"]].sort_values([*answer, "place"])
        return marks.drop(columns=["place", "n_nuggets"]).reset_index(drop=True)


def _checked(arena: Arena, schema: TableSchema, key: list[str]) -> tuple[Rows, list[Problem]]:
    table = arena.further.get(schema.name)
    if table is None:
        return empty_rows(schema), []
    rows = as_rows(plain_table(table), f"{FURTHER_FOLDER}/{schema.name}.jsonl")
    problems = row_problems(rows, schema)
    if problems:
        return rows, problems
    column, words = _WORDS[schema.name]
    is_other = ~rows.table[column].isin(words)
    fault = (f"is none of {', '.join(words)}", "write one of them")
    problems = [*rows.problems_of(is_other, [column], fault), *duplicates(rows, key, "row")]
    return rows, problems
