"""Scores of answers by nuggets, as of TREC's AutoNuggetizer.

Pradeep et al., 2024, "Initial nugget evaluation results for the TREC 2024 RAG track".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean
from types import MappingProxyType
from typing import NamedTuple

from arena.data.schema import QUESTION_KEY
from arena.judging.nuggets.tables import Nuggets

Mark = tuple[str, str]
"""Importance of a nugget, and how far an answer supports it."""

HALVES_OF_SUPPORT = MappingProxyType({"supported": 2, "partly": 1, "not": 0})
HALVES_OF_IMPORTANCE = MappingProxyType({"vital": 2, "okay": 1})
LOG_ODDS = 8.0
"""Logits of an answer with all nuggets over one with none: as between the marks 5 and 1."""


class NuggetScores(NamedTuple):
    """Scores of an answer, 0 to 1.

    ``weighted`` counts okay nuggets and partial support at half; strict ones count full support, of
    vital nuggets (None without any) or all.
    """

    weighted: float
    vital_strict: float | None
    all_strict: float


def nugget_points(marks: Iterable[Mark]) -> tuple[int, int]:
    """Return an answer's points, and the most possible, in quarters."""
    points = 0
    possible = 0
    for importance, support in marks:
        weight = HALVES_OF_IMPORTANCE[importance]
        points += weight * HALVES_OF_SUPPORT[support]
        possible += weight * HALVES_OF_SUPPORT["supported"]
    return points, possible


def score_nuggets(marks: Sequence[Mark]) -> NuggetScores:
    """Score an answer by its marks, at least one."""
    points, possible = nugget_points(marks)
    is_supported = [support == "supported" for _, support in marks]
    vital = [support == "supported" for importance, support in marks if importance == "vital"]
    return NuggetScores(
        weighted=points / possible,
        vital_strict=fmean(vital) if vital else None,
        all_strict=fmean(is_supported),
    )


def scores_by_answer(nuggets: Nuggets) -> dict[tuple[str, str], dict[str, NuggetScores]]:
    """Return scores by question and answer's digest, averaged over judges."""
    marks = nuggets.counted_marks()
    scores_of_judges: dict[tuple[str, str, str], dict[str, NuggetScores]] = {}
    for key, rows in marks.groupby([*QUESTION_KEY, "answer_digest", "judge"]):
        language, query_id, digest, judge = map(str, key)
        # Systems with the same answer share the marks of one of them.
        rows = rows.drop_duplicates("nugget_id")
        pairs = list(zip(rows["importance"], rows["support"], strict=True))
        scores_of_judges.setdefault((language, query_id, digest), {})[judge] = score_nuggets(pairs)
    scores: dict[tuple[str, str], dict[str, NuggetScores]] = {}
    for (language, query_id, digest), by_judge in scores_of_judges.items():
        scores.setdefault((language, query_id), {})[digest] = _mean(list(by_judge.values()))
    return scores


def _mean(scores: Sequence[NuggetScores]) -> NuggetScores:
    vital = [score.vital_strict for score in scores if score.vital_strict is not None]
    return NuggetScores(
        weighted=fmean(score.weighted for score in scores),
        vital_strict=fmean(vital) if vital else None,
        all_strict=fmean(score.all_strict for score in scores),
    )
