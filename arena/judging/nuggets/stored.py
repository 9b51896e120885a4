"""An arena's nuggets of questions and marks of answers."""

from __future__ import annotations

from collections.abc import Collection

from arena.data.schema import QUESTION_KEY
from arena.judging.answer_pairs import QuestionKey
from arena.judging.nuggets.prompts import Nugget
from arena.judging.nuggets.tables import Nuggets

AnswerKey = tuple[QuestionKey, str]
"""A question, and what is shown of an answer to it."""


def stored_nuggets(
    nuggets: Nuggets, questions: Collection[QuestionKey]
) -> dict[QuestionKey, tuple[Nugget, ...]]:
    """Return an arena's nuggets of some questions, in their order."""
    stored: dict[QuestionKey, tuple[Nugget, ...]] = {}
    for key, rows in nuggets.table.groupby(QUESTION_KEY):
        language, query_id = map(str, key)
        if (language, query_id) in questions:
            facts = rows[["text", "importance", "nugget_id"]].itertuples(index=False, name=None)
            stored[language, query_id] = tuple(Nugget(*fact) for fact in facts)
    return stored


def stored_marks(nuggets: Nuggets, judge: str) -> dict[tuple[QuestionKey, str], tuple[str, ...]]:
    """Return a judge's counting marks by question and answer's digest."""
    marks = nuggets.counted_marks()
    marks = marks[marks["judge"] == judge]
    stored: dict[tuple[QuestionKey, str], tuple[str, ...]] = {}
    for key, rows in marks.groupby([*QUESTION_KEY, "answer_digest"]):
        language, query_id, digest = map(str, key)
        # Systems with the same answer have the same marks.
        supports = rows.drop_duplicates("nugget_id")["support"]
        stored[(language, query_id), digest] = tuple(supports)
    return stored
