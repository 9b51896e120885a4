"""Surrogates that predict who wins a question, and rate systems by their odds against the field."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from arena.data.errors import UsageError
from surrogate.learning.surrogates import FEWEST_SYSTEMS, FittedSurrogate
from surrogate.learning.tensor import FeatureTensor, Scale, View, scale_of, viewed
from surrogate.learning.training import Field

Floats = npt.NDArray[np.float64]

LOGISTIC_PENALTY = 0.1
"""Penalty on the squared weights, per battle."""


@dataclass(frozen=True)
class Duels:
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
class PairwiseSurrogate:
    """A classifier of single battles, from differences of features (Bradley-Terry regression).

    A system's rating is its mean log-odds of winning over the questions it answered and the
    systems of the field.

    Attributes:
        classifier: Number of battles and random state to an unfitted classifier of battles.
        view: Features as they are, as ranks within their question, or both.
        pooled: One classifier for all languages; each language's features are standardized.
    """

    classifier: Callable[[float, int], Any]
    view: View = "raw"
    pooled: bool = False

    def fit(self, fields: Sequence[Field], random_state: int) -> FittedSurrogate:
        """Train one classifier for all, or one a language; see ``Surrogate.fit``."""
        duels = {field.language: self._duels(field) for field in fields}
        if max(len(field.answers.systems) for field in fields) < FEWEST_SYSTEMS:
            raise UsageError(f"at least {FEWEST_SYSTEMS} systems are needed to train on")
        if not self.pooled:
            fitted = {
                language: self._fit_classifier([rows], random_state)
                for language, rows in duels.items()
            }
            return _FittedPairwise(fitted, None, self.view)
        shared = self._fit_classifier(list(duels.values()), random_state)
        return _FittedPairwise({}, shared, self.view)

    def for_all_languages(self) -> PairwiseSurrogate:
        """Return the surrogate with one classifier for all languages."""
        return replace(self, pooled=True)

    def _duels(self, field: Field) -> Duels:
        values = _standardized(field.judged, field.answers, self.view)
        battles = field.tournaments.battles
        times = field.tournaments.draws.mean(axis=0)
        question, pair = np.nonzero((battles.counts > 0) & (times > 0)[:, None])
        first, second = battles.first[pair], battles.second[pair]
        counts = battles.counts[question, pair]
        return Duels(
            values[first, question] - values[second, question],
            battles.points[question, pair] / counts,
            counts * times[question],
        )

    def _fit_classifier(self, parts: Sequence[Duels], random_state: int) -> Any:  # noqa: ANN401
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
        classifier = self.classifier(float(battles.sum()), random_state)
        return classifier.fit(both_ways, results, sample_weight=np.tile(weights[kept], 2))


@dataclass(frozen=True)
class _FittedPairwise:
    classifiers: Mapping[str, Any]
    shared: Any
    view: View

    def predict(self, tensor: FeatureTensor, field: FeatureTensor) -> Floats:
        classifier = self.shared or self.classifiers[tensor.language]
        aligned = field.take(questions=tensor.questions)
        values = _standardized(tensor, field, self.view)
        others = _standardized(aligned, field, self.view)
        ratings = np.full(len(tensor.systems), np.nan)
        for row, system in enumerate(tensor.systems):
            rivals = np.array([name != system for name in aligned.systems])
            met = aligned.answered & tensor.answered[row] & rivals[:, None]
            rival, question = np.nonzero(met)
            if rival.size:
                difference = values[row, question] - others[rival, question]
                ratings[row] = float(np.mean(_log_odds(classifier, difference)))
        return ratings


def _standardized(tensor: FeatureTensor, field: FeatureTensor, view: View) -> Floats:
    """Standardize by the field's answers; what is missing is as the mean, shape (S, Q, F)."""
    compared = viewed(field, field, view).values
    scale: Scale = scale_of(compared.reshape(-1, compared.shape[2]))
    return np.nan_to_num(scale.standardize(viewed(tensor, field, view).values))


def _log_odds(classifier: Any, differences: Floats) -> Floats:  # noqa: ANN401
    """Log-odds of the first winning; the same, negated, for the pair turned round."""
    forward = classifier.decision_function(differences)
    backward = classifier.decision_function(-differences)
    return np.asarray((forward - backward) / 2)


def logistic(battles: float, random_state: int) -> Any:  # noqa: ANN401, ARG001 - draws nothing
    """Logistic regression without intercept, its penalty in proportion to the battles."""
    return LogisticRegression(
        C=1 / (LOGISTIC_PENALTY * max(battles, 1.0)), fit_intercept=False, max_iter=1000
    )


def boosting(battles: float, random_state: int) -> Any:  # noqa: ANN401, ARG001 - of any size
    """Boosted trees over binned differences."""
    return HistGradientBoostingClassifier(
        max_iter=60, max_leaf_nodes=8, learning_rate=0.08, random_state=random_state
    )
