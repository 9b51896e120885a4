"""Which of two texts of WikiEval is the better one, told from where they come from.

A text that stands in two files may be spelled a little otherwise in one of them, where its
encoding suffered on the way; so the most alike counts, if it is alike enough.
"""

from __future__ import annotations

import pandas as pd
from rapidfuzz.fuzz import ratio

from arena.errors import DataError, Problem
from arena.metaevaluation.wikieval.criteria import (
    ANSWER_RELEVANCE,
    CONTEXT_RELEVANCE,
    FAITHFULNESS,
    FILES,
)

ALIKE = 95.0
"""Percent of characters that must agree for two texts to count as one."""

_MEND = "take the files of one edition of WikiEval, or say that label 1 is the better (label)"


def better_answers(
    faithfulness: pd.DataFrame, relevance: pd.DataFrame
) -> dict[str, tuple[int, int]]:
    """Find for each question the answer that both files hold.

    Args:
        faithfulness: Columns ``question, answer, label, line``.
        relevance: The same.

    Returns:
        Its label in the one and in the other, by question.

    Raises:
        DataError: For each question of which no answer, or more than one, is in both.
    """
    found: dict[str, tuple[int, int]] = {}
    problems = [*_absent(faithfulness, relevance, FILES[ANSWER_RELEVANCE])]
    problems += _absent(relevance, faithfulness, FILES[FAITHFULNESS], FILES[ANSWER_RELEVANCE])
    others = dict(iter(relevance.groupby("question", sort=False)))
    for question, rows in faithfulness.groupby("question", sort=False):
        if question not in others:
            continue
        scored = [
            (ratio(one.answer, other.answer), (int(one.label), int(other.label)))
            for one in rows.itertuples()
            for other in others[question].itertuples()
        ]
        alike = [labels for likeness, labels in scored if likeness >= ALIKE]
        if len(alike) == 1:
            found[str(question)] = alike[0]
        else:
            fault = f"has {len(alike)} answers in common with {FILES[ANSWER_RELEVANCE]}, not one"
            problems.append(_problem(FILES[FAITHFULNESS], rows, question, fault))
    if problems:
        raise DataError(problems)
    return found


def better_contexts(faithfulness: pd.DataFrame, relevance: pd.DataFrame) -> dict[str, int]:
    """Find for each question the context that answers were written from.

    Args:
        faithfulness: Columns ``question, context, label, line``.
        relevance: The same.

    Returns:
        Its label in the second, by question.

    Raises:
        DataError: For each question of which neither context, or both equally, is that one.
    """
    found: dict[str, int] = {}
    problems = [*_absent(relevance, faithfulness, FILES[FAITHFULNESS], FILES[CONTEXT_RELEVANCE])]
    known = faithfulness.groupby("question", sort=False)["context"].first()
    for question, rows in relevance.groupby("question", sort=False):
        if question not in known.index:
            continue
        scored = sorted(
            (ratio(row.context, known[question]), int(row.label)) for row in rows.itertuples()
        )
        if scored[1][0] >= ALIKE and scored[1][0] > scored[0][0]:
            found[str(question)] = scored[1][1]
        else:
            fault = f"has no one context that is the one in {FILES[FAITHFULNESS]}"
            problems.append(_problem(FILES[CONTEXT_RELEVANCE], rows, question, fault))
    if problems:
        raise DataError(problems)
    return found


def _absent(
    rows: pd.DataFrame, others: pd.DataFrame, absent_from: str, source: str = FILES[FAITHFULNESS]
) -> list[Problem]:
    missing = rows[~rows["question"].isin(set(others["question"]))]
    return [
        _problem(source, part, question, f"is no question of {absent_from}")
        for question, part in missing.groupby("question", sort=False)
    ]


def _problem(source: str, rows: pd.DataFrame, question: object, fault: str) -> Problem:
    return Problem(source, int(rows["line"].iloc[0]), "question", question, fault, _MEND)
