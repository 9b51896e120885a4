"""How much of what a good answer states an answer states, by the arena's nuggets and marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena.data.answer_digests import answer_digest
from features.declare.feature import Value, declared
from features.declare.sample import NO_NUGGET_MARKS, NO_VITAL_NUGGETS, Sample

if TYPE_CHECKING:
    from arena.judging.nugget_scores import NuggetScores

_SOURCE = "TREC 2024 RAG, AutoNuggetizer (Pradeep et al., 2024)"
_NEEDS = ("answer", "nugget marks")


@declared(source=_SOURCE, needs=_NEEDS)
def nugget_score(sample: Sample) -> Value:
    """Share of the question's nuggets that the answer states, okay and partly at half weight."""
    scores = _scores(sample)
    return NO_NUGGET_MARKS if scores is None else scores.weighted


@declared(source=_SOURCE, needs=_NEEDS)
def nugget_vital_strict(sample: Sample) -> Value:
    """Share of the question's vital nuggets that the answer states in full."""
    scores = _scores(sample)
    if scores is None:
        return NO_NUGGET_MARKS
    return NO_VITAL_NUGGETS if scores.vital_strict is None else scores.vital_strict


@declared(source=_SOURCE, needs=_NEEDS)
def nugget_all_strict(sample: Sample) -> Value:
    """Share of all the question's nuggets that the answer states in full."""
    scores = _scores(sample)
    return NO_NUGGET_MARKS if scores is None else scores.all_strict


def _scores(sample: Sample) -> NuggetScores | None:
    return sample.question.nugget_scores.get(answer_digest(sample.output))
