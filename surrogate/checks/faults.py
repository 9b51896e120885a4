"""Faults of answers by question: what is wrong with each, by the table of checks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.schema import ANSWER_KEY, QUESTION_KEY
from arena.data.wording import count_of, first_of
from features.declare.sample import Memo, Sample
from features.engine.extraction import answers_of
from features.text.sentences import is_prose
from surrogate.checks.repeated_texts import same_texts, varied_texts
from surrogate.checks.rules import CHECKS, RULES, CheckClass, of_class

FAULT_COLUMNS = [*ANSWER_KEY, "check"]
MOST_CHECKED = 20_000
"""Answers of an arena that are checked beside its board: more take longer than the board does."""
MOST_SHOWN = 5
"""Number of answers of a fault that a sentence names."""


@dataclass(frozen=True)
class AnswerFaults:
    """What is wrong with answers.

    Attributes:
        answers: The answers that were checked: columns ``language, query_id, system``.
        found: A row for each answer and check that found something: ``FAULT_COLUMNS``, in the
            order of the table of checks, then by language, question and system.
        untold: The same where a check cannot tell.
    """

    answers: pd.DataFrame
    found: pd.DataFrame
    untold: pd.DataFrame

    def of(self, system: str) -> AnswerFaults:
        """Return those of one system."""
        tables = (self.answers, self.found, self.untold)
        return AnswerFaults(*(table[table["system"] == system] for table in tables))

    def of_class(self, certainty: CheckClass) -> pd.DataFrame:
        """Return what the checks of a class found."""
        return self.found[self.found["check"].isin(of_class(certainty))]

    @property
    def n_broken(self) -> int:
        """Number of answers with a certain fault."""
        return len(self.of_class("certain").drop_duplicates(ANSWER_KEY))

    @property
    def broken_clause(self) -> str:
        """How many answers are broken; empty where none is."""
        if not self.n_broken:
            return ""
        verb = "is" if self.n_broken == 1 else "are"
        return f"{self.n_broken:,} of {count_of(len(self.answers), 'answer')} {verb} broken"

    @property
    def summary(self) -> tuple[str, ...]:
        """What was found, in clauses with the first questions: certain faults first."""
        clauses = []
        if self.n_broken:
            clauses.append(f"{self.broken_clause}: {'; '.join(self._clauses('certain'))}")
        likely = self._clauses("likely")
        if likely:
            clauses.append(f"likely faults: {'; '.join(likely)}")
        return tuple(clauses)

    def _clauses(self, certainty: CheckClass) -> list[str]:
        clauses = []
        for name, rows in self.of_class(certainty).groupby("check", sort=False):
            questions = self._question_names(rows)
            clause = CHECKS[str(name)].clause(len(rows))
            clauses.append(f"{clause} ({first_of(questions, MOST_SHOWN)})")
        return clauses

    def _question_names(self, rows: pd.DataFrame) -> list[str]:
        if self.answers["language"].nunique() == 1:
            return list(rows["query_id"])
        return list(rows["language"] + " " + rows["query_id"])


def find_faults(arena: Arena, answers: pd.DataFrame) -> AnswerFaults:
    """Check answers, each by every check of the table.

    Args:
        arena: Their questions.
        answers: Columns ``language, system, query_id, answer``, and ``passages`` where some have
            their own.
    """
    memo = Memo()
    table = answers[ANSWER_KEY].reset_index(drop=True)
    values: dict[str, list[bool | None]] = {name: [] for name in RULES}
    texts = []
    questions = []
    for question, output in answers_of(arena, answers):
        sample = Sample(question, output, memo)
        questions.append(question)
        texts.append(" ".join(sample.text.split()).casefold())
        for name, rule in RULES.items():
            values[name].append(rule(sample))
    results = pd.DataFrame({name: np.array(flags, float) for name, flags in values.items()})
    table["text"] = pd.Series(texts, dtype="str")
    table["query"] = pd.Series([question.query for question in questions], dtype="str")
    is_long = table["text"].map(is_prose).astype(bool)
    results["same-text"] = pd.Series(same_texts(table), dtype=float).where(is_long)
    results["varied-text"] = pd.Series(varied_texts(table, questions), dtype=float).where(is_long)
    results.loc[results["same-text"] == 1, "varied-text"] = 0.0
    n_systems = table.groupby([*QUESTION_KEY, "text"])["system"].transform("nunique")
    results["copy"] = (n_systems > 1).astype(float).where(is_long)
    for name in ("empty", "error-text"):
        # Whatever else holds of no answer, or of the message of an error, is no fault of its own.
        results.loc[results[name] == 1, results.columns.drop(name)] = 0.0
    results = results[list(CHECKS)]
    return AnswerFaults(
        answers=table[ANSWER_KEY],
        found=_listed(table, results == 1),
        untold=_listed(table, results.isna()),
    )


def arena_faults(arena: Arena) -> AnswerFaults | None:
    """Check all answers of an arena; None where there are too many."""
    return None if len(arena.answers) > MOST_CHECKED else find_faults(arena, arena.answers)


def _listed(table: pd.DataFrame, flags: pd.DataFrame) -> pd.DataFrame:
    """List the answers that each check flags, check by check."""
    parts = [pd.DataFrame(columns=FAULT_COLUMNS, dtype="str")]
    for name in flags:
        rows = table.loc[flags[name], ANSWER_KEY].sort_values(ANSWER_KEY, kind="stable")
        parts.append(rows.assign(check=name))
    return pd.concat(parts, ignore_index=True)[FAULT_COLUMNS]
