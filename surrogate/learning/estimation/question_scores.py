"""What verdicts say of single answers: one regression of scores on questions, in closed form.

The score of an answer is the share of its battles on its question that it won. Scores are

    score(s, q) = mean(q) + w · ranks(s, q) + e(q, answer) + noise

with one w for all questions and languages (a ridge), and on each question a Gaussian process e by
how alike its answers are (Rasmussen and Williams, 2006, section 2.7): what was judged on the same
question tells of answers like it. Variances of both are given, in units of the noise: chosen by
left-out systems, hardly any arena prefers others, and few systems would learn them from noise. So
every step is linear, and each system can be left out (section 5.4.2) without a refit, but for its
battles in the others' scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from arena.data.types import Flags, Floats
from surrogate.learning.estimation.field import FieldView
from surrogate.learning.training import TrainingRatings, mean_of

SLOPE_VARIANCE = 1.0
"""Of all slopes together: each of F features has this over F."""
LIKENESS_VARIANCE = 5.0
"""Of the process on a question, mean over its answers."""
SMALLEST = 1e-9
BLOCK = 1_000_000
"""Numbers of a question-by-system-by-system array held at a time."""


@dataclass(frozen=True)
class Scored:
    """Scores of one language's answers, by the N systems of its field on Q questions.

    Attributes:
        seen: The field's systems beside each other.
        scores: Share of battles won, shape (Q, N); 0 where there is none.
        judged: Whose answer to which question has a score, shape (Q, N); on a question two or none.
    """

    seen: FieldView
    scores: Floats
    judged: Flags

    @classmethod
    def of(cls, seen: FieldView, questions: Sequence[str], rated: TrainingRatings) -> Scored:
        """Count what the field's systems won, on the questions of the field."""
        items, pairs = rated.items, rated.items.pairs
        system = pd.Index(seen.systems).get_indexer(pd.Index(rated.systems))
        question = pd.Index(questions).get_indexer(pd.Index(rated.questions))
        won, met = np.zeros((2, len(questions), len(seen.systems)))
        rows, lost = question[items.question], items.counts - items.points
        for sides, points in ((pairs.first, items.points), (pairs.second, lost)):
            own = system[sides[items.pair]]
            known = (rows >= 0) & (own >= 0)
            np.add.at(won, (rows[known], own[known]), points[known])
            np.add.at(met, (rows[known], own[known]), items.counts[known])
        judged = (met > 0) & seen.answered.T
        judged &= judged.sum(axis=1, keepdims=True) > 1
        return cls(seen, np.where(judged, won / np.maximum(met, 1e-300), 0.0), judged)

    @property
    def means(self) -> Floats:
        """Mean score on each question, shape (Q,)."""
        return np.asarray(self.scores.sum(axis=1) / np.maximum(self.judged.sum(axis=1), 1))

    @cached_property
    def scales(self) -> Floats:
        """What brings cosines of judged answers to a mean variance of 1, shape (Q,); 0 if alike."""
        judged = self.judged.astype(np.float64)
        count = np.maximum(judged.sum(axis=1), 1)
        lengths = np.einsum("qnn,qn->q", self.seen.cosines, judged) / count
        sums = self.seen.cosines @ judged[:, :, None]
        shared = np.einsum("qm,qm->q", sums[:, :, 0], judged) / count**2
        apart = lengths - shared
        return np.asarray(np.divide(1.0, apart, out=np.zeros_like(apart), where=apart > SMALLEST))


@dataclass(frozen=True)
class _Solved:
    """A language solved for any slopes: what P makes of ranks and scores, and of each system.

    P is the inverse covariance of a question's scores, its mean not known.
    """

    ranks: Floats  # (Q, N, F)
    scores: Floats  # (Q, N)
    own: Floats  # (Q, N), the diagonal of P; infinite where there is no score
    normal: Floats  # (F, F)
    target: Floats  # (F,)


@dataclass(frozen=True)
class QuestionScores:
    """The regression, fitted.

    Attributes:
        slopes: Of the F features' ranks, shape (F,).
        languages: The scores learned from.
        duals: Language to the weight of each judged answer on its question, shape (Q, N).
        left_out: Language to each field system's mean score less that of the others, predicted
            with the system left out in all languages, shape (N,); NaN without a score.
    """

    slopes: Floats
    languages: Mapping[str, Scored]
    duals: Mapping[str, Floats]
    left_out: Mapping[str, Floats]

    @classmethod
    def fit(cls, languages: Mapping[str, Scored]) -> QuestionScores:
        """Learn from the scores of all languages together."""
        solved = {name: _solve(item) for name, item in languages.items()}
        size = next(iter(languages.values())).seen.ranks.shape[2]
        prior = np.eye(size) * size / SLOPE_VARIANCE
        normal = prior + sum(item.normal for item in solved.values())
        target = np.zeros(size) + sum(item.target for item in solved.values())
        slopes = np.linalg.solve(normal, target)
        duals = {name: item.scores - item.ranks @ slopes for name, item in solved.items()}
        names = sorted({name for item in languages.values() for name in item.seen.systems})
        without = {name: _without(name, languages, solved, normal, target) for name in names}
        left_out = {
            name: _left_out(
                item, solved[name], np.array([without[one] for one in item.seen.systems])
            )
            for name, item in languages.items()
        }
        return cls(slopes, languages, duals, left_out)

    def predict(self, language: str, seen: FieldView) -> Floats:
        """Return mean scores over the questions answered, less those of the judged, shape (M,).

        In a language without scores by the slopes alone. NaN for a system without answers.
        """
        scores = self._unlevelled(language, seen)
        if language in self.languages:
            known = self.languages[language]
            own = self._unlevelled(language, known.seen)
            judged = known.judged.T
            scores = scores - (own * judged).sum(axis=0) / np.maximum(judged.sum(axis=0), 1)
        answered = seen.answered
        return mean_of(np.where(answered, scores, 0.0).sum(axis=1), answered.sum(axis=1))

    def _unlevelled(self, language: str, seen: FieldView) -> Floats:
        scores = seen.ranks @ self.slopes
        if language not in self.languages:
            return np.asarray(scores)
        known = self.languages[language]
        weights = LIKENESS_VARIANCE * self.duals[language] * known.scales[:, None]
        return np.asarray(scores + seen.likeness(weights.T))


def _solve(item: Scored) -> _Solved:
    """Find what P makes of the ranks and the scores of each question, some questions at a time."""
    ranks = item.seen.ranks.transpose(1, 0, 2) * item.judged[:, :, None]
    questions, systems, size = ranks.shape
    of_ranks, of_scores = np.zeros(ranks.shape), np.zeros(item.scores.shape)
    own = np.full(item.scores.shape, np.inf)
    step = max(BLOCK // systems**2, 1)
    for start in range(0, questions, step):
        rows = slice(start, start + step)
        judged = item.judged[rows].astype(np.float64)
        alike = item.seen.cosines[rows] * judged[:, :, None] * judged[:, None, :]
        variance = LIKENESS_VARIANCE * item.scales[rows][:, None, None]
        inverse = np.linalg.inv(variance * alike + np.eye(systems))
        # Ranks and scores of whom nobody judged are 0, and these are alike to nobody.
        sums = inverse @ judged[:, :, None]
        shares = sums / np.maximum(sums.sum(axis=1, keepdims=True), SMALLEST)
        of_ranks[rows] = inverse @ ranks[rows] - shares * (sums.transpose(0, 2, 1) @ ranks[rows])
        scores = item.scores[rows, :, None]
        projected = inverse @ scores - shares * (sums.transpose(0, 2, 1) @ scores)
        of_scores[rows] = projected[:, :, 0]
        diagonal = np.einsum("qnn->qn", inverse) - (sums * shares)[:, :, 0]
        own[rows] = np.where(judged > 0, np.maximum(diagonal, SMALLEST), np.inf)
    flat = ranks.reshape(-1, size)
    normal = flat.T @ of_ranks.reshape(-1, size)
    return _Solved(of_ranks, of_scores, own, normal, flat.T @ of_scores.ravel())


def _without(
    system: str,
    languages: Mapping[str, Scored],
    solved: Mapping[str, _Solved],
    normal: Floats,
    target: Floats,
) -> Floats:
    """Slopes as they would be without one system in any language, shape (F,)."""
    for name, item in languages.items():
        if system in item.seen.systems:
            place, own = item.seen.systems.index(system), solved[name]
            ranks = own.ranks[:, place]
            shares = ranks / own.own[:, place, None]
            normal = normal - shares.T @ ranks
            target = target - shares.T @ own.scores[:, place]
    return np.asarray(np.linalg.solve(normal, target))


def _left_out(item: Scored, solved: _Solved, slopes: Floats) -> Floats:
    """Predict each system as if it were not there, shape (N,); see ``QuestionScores.left_out``.

    Slopes are those without each system, shape (N, F).
    """
    missed = (solved.scores - np.einsum("qnf,nf->qn", solved.ranks, slopes)) / solved.own
    judged = item.judged
    others = (item.scores.sum(axis=1, keepdims=True) - item.scores) / np.maximum(
        judged.sum(axis=1, keepdims=True) - 1, 1
    )
    expected = np.where(judged, item.scores - missed - others, 0.0)
    return mean_of(expected.sum(axis=0), judged.sum(axis=0))
