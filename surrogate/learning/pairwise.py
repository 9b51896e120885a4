"""Surrogates that predict who wins a question, and rate systems by their logits against others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression

from arena.data.errors import UsageError
from surrogate.learning.surrogate import FEWEST_SYSTEMS, TOO_FEW, Arrays, FeatureSurrogate
from surrogate.learning.tensor import FeatureTensor, scale_of, viewed
from surrogate.learning.training import TrainingSet

Floats = npt.NDArray[np.float64]

LOGISTIC_PENALTY = 0.1
"""Penalty on the squared weights, per battle."""


@dataclass(frozen=True)
class Matchups:
    """Battles as rows: differences of features, and who won.

    Attributes:
        differences: First minus second answer's standardized features, shape (N, F); a feature
            that one of them lacks makes no difference.
        points: Share of the battles the first answer won, shape (N,).
        battles: Battles of each row, shape (N,).
    """

    differences: Floats
    points: Floats
    battles: Floats


@dataclass(frozen=True)
class PairwiseModel:
    """A fitted classifier of battles, and which features had a value to learn from, shape (F,)."""

    classifier: Any
    used: npt.NDArray[np.bool_]


@dataclass(eq=False, repr=False)
class PairwiseSurrogate(FeatureSurrogate):
    """A classifier of single battles, from differences of features (Bradley-Terry regression).

    A system's rating is its mean logit of winning over the questions it answered and the
    training systems. Features are standardized by the training systems' answers.
    """

    def train(
        self,
        sets: Sequence[TrainingSet],
        random_state: int,  # noqa: ARG002 - draws nothing
        arrays: Arrays | None,  # noqa: ARG002 - learns quickly
    ) -> PairwiseModel:
        """Fit the classifier on the battles of all the sets; see ``FeatureSurrogate.train``."""
        systems = max(len(item.answers.systems) for item in sets)
        used = np.any([np.isfinite(item.answers.values).any(axis=(0, 1)) for item in sets], axis=0)
        if systems < FEWEST_SYSTEMS or not used.any():
            place = "" if self.pooled else f"{sets[0].language}: "
            raise UsageError(TOO_FEW.format(place, systems, int(used.sum()), FEWEST_SYSTEMS))
        parts = [self._matchups(item) for item in sets]
        differences = np.concatenate([part.differences for part in parts])
        points = np.concatenate([part.points for part in parts])
        battles = np.concatenate([part.battles for part in parts])
        if not battles.sum() or not np.any(differences):
            raise UsageError("no battle between answers whose features differ to train on")
        # Each battle stands in both orders and once for each result, so that neither side of a
        # pair, nor the order of systems, can be learned.
        weights = np.concatenate([battles * points, battles * (1 - points)]) / 2
        rows = np.concatenate([differences, differences])
        won = np.repeat([1, 0], len(points))
        kept = weights > 0
        both_ways = np.concatenate([rows[kept], -rows[kept]])
        results = np.concatenate([won[kept], 1 - won[kept]])
        classifier = _logistic(float(battles.sum()))
        return PairwiseModel(
            classifier.fit(both_ways, results, sample_weight=np.tile(weights[kept], 2)), used
        )

    def _matchups(self, item: TrainingSet) -> Matchups:
        judged, ratings = item.judged, item.ratings
        values = self._standardized(judged, item.answers)
        times = ratings.draws.mean(axis=0)
        question, pair = np.nonzero((ratings.counts > 0) & (times > 0)[:, None])
        first, second = ratings.first[pair], ratings.second[pair]
        counts = ratings.counts[question, pair]
        return Matchups(
            values[first, question] - values[second, question],
            ratings.points[question, pair] / counts,
            counts * times[question],
        )

    def rate(self, model: PairwiseModel, tensor: FeatureTensor, reference: FeatureTensor) -> Floats:
        """Rate systems by their mean logit of winning against the reference's, shape (S,)."""
        aligned = reference.take(questions=tensor.questions)
        values = self._standardized(tensor, reference)
        others = self._standardized(aligned, reference)
        ratings = np.full(len(tensor.systems), np.nan)
        for row, system in enumerate(tensor.systems):
            is_other = np.array([name != system for name in aligned.systems])
            met = aligned.answered & tensor.answered[row] & is_other[:, None]
            opponent, question = np.nonzero(met)
            if opponent.size:
                difference = values[row, question] - others[opponent, question]
                ratings[row] = float(np.mean(_logits(model.classifier, difference)))
        return ratings

    def _standardized(self, tensor: FeatureTensor, reference: FeatureTensor) -> Floats:
        """Standardize by the reference's answers; what is missing is as the mean, (S, Q, F)."""
        compared = viewed(reference, reference, self.view).values
        scale = scale_of(compared.reshape(-1, compared.shape[2]))
        return np.nan_to_num(scale.standardize(viewed(tensor, reference, self.view).values))


def _logits(classifier: Any, differences: Floats) -> Floats:  # noqa: ANN401
    """Logit of the first winning; the same, negated, for the pair turned round."""
    forward = classifier.decision_function(differences)
    backward = classifier.decision_function(-differences)
    return np.asarray((forward - backward) / 2)


def _logistic(battles: float) -> LogisticRegression:
    """Logistic regression without intercept, its penalty in proportion to the battles."""
    return LogisticRegression(
        C=1 / (LOGISTIC_PENALTY * max(battles, 1.0)), fit_intercept=False, max_iter=1000
    )
