"""Shares of nuggets that an answer states, by the arena's nuggets and marks."""

from __future__ import annotations

from collections.abc import Sequence

from arena.data.answer_digests import answer_digest
from arena.data.arena import Arena
from arena.judging.nuggets.scores import NuggetScores, scores_by_answer
from arena.judging.nuggets.tables import Nuggets
from features.declare.feature import Feature, Reading, Value, declared
from features.declare.sample import Answer, Missing

MARKS = "nugget marks"
"""Kind of the features that read an arena's marks in place of a model."""
NO_NUGGET_MARKS = Missing("answer without nugget marks")
NO_VITAL_NUGGETS = Missing("question without vital nuggets")


_by_marks = declared(
    source="TREC 2024 RAG, AutoNuggetizer (Pradeep et al., 2024)",
    needs=("answer", MARKS),
    reading=Reading(MARKS),
)


@_by_marks
def nugget_score(scores: NuggetScores) -> Value:
    """Share of the question's nuggets stated; okay ones and partly stated ones have half weight."""
    return scores.weighted


@_by_marks
def nugget_vital_strict(scores: NuggetScores) -> Value:
    """Share of the question's vital nuggets that the answer states in full."""
    return NO_VITAL_NUGGETS if scores.vital_strict is None else scores.vital_strict


@_by_marks
def nugget_all_strict(scores: NuggetScores) -> Value:
    """Share of all the question's nuggets that the answer states in full."""
    return scores.all_strict


def measure_marked(
    arena: Arena, answers: Sequence[Answer], features: Sequence[Feature]
) -> dict[Feature, list[Value]]:
    """Measure features of marks on all answers."""
    by_question = scores_by_answer(Nuggets.of(arena))
    values: dict[Feature, list[Value]] = {feature: [] for feature in features}
    for question, output in answers:
        by_digest = by_question.get((question.language, question.query_id), {})
        scores = by_digest.get(answer_digest(output))
        for feature, column in values.items():
            column.append(NO_NUGGET_MARKS if scores is None else feature.measurement(scores))
    return values
