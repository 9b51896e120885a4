"""The nuggets of questions and the marks of answers that an arena already holds."""

from __future__ import annotations

from collections.abc import Sequence

from arena.data.schema import QUESTION_KEY
from arena.judging.answer_pairs import QuestionKey
from arena.judging.nuggets.prompts import Nugget
from arena.judging.nuggets.tables import Nuggets, nuggets_of_questions

AnswerKey = tuple[QuestionKey, str]
"""A question, and what is shown of an answer to it."""


def stored_nuggets(
    nuggets: Nuggets, questions: Sequence[QuestionKey]
) -> dict[QuestionKey, tuple[Nugget, ...]]:
    """Return the nuggets that an arena holds of some questions, in their order."""
    by_question = nuggets_of_questions(nuggets.table)
    stored: dict[QuestionKey, tuple[Nugget, ...]] = {}
    for question in questions:
        if question not in by_question:
            continue
        rows = by_question[question][["text", "importance", "nugget_id"]]
        stored[question] = tuple(Nugget(*row) for row in rows.itertuples(index=False, name=None))
    return stored


def stored_marks(nuggets: Nuggets, judge: str) -> dict[tuple[QuestionKey, str], tuple[str, ...]]:
    """Return a judge's marks that count, by question and digest of the answer."""
    marks = nuggets.counted_marks()
    marks = marks[marks["judge"] == judge]
    stored: dict[tuple[QuestionKey, str], tuple[str, ...]] = {}
    for key, rows in marks.groupby([*QUESTION_KEY, "answer_digest"]):
        language, query_id, digest = map(str, key)
        # Systems with the same answer have the same marks.
        supports = rows.drop_duplicates("nugget_id")["support"]
        stored[(language, query_id), digest] = tuple(supports)
    return stored
