"""Surrogates that learn from pairs: who wins a battle, and who is ranked before whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata
from sklearn.linear_model import LogisticRegression

from arena.data.errors import MissingDependencyError, UsageError
from surrogate.learning.surrogate import FEWEST_SYSTEMS, TOO_FEW, Arrays, FeatureSurrogate
from surrogate.learning.tensor import FeatureTensor, Scale, mean_scale, scale_of, viewed
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
        if not any(item.ratings.counts.any() for item in sets):
            raise UsageError("no battle between answers to train on: only ratings are known")
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


Booleans = npt.NDArray[np.bool_]

TREES = 100
DEPTH = 3
LEARNING_RATE = 0.1


@dataclass(frozen=True)
class RankingRows:
    """Rows to learn an order from: each group is the systems of one tournament.

    Attributes:
        features: Mean features of a system over a tournament's questions, shape (N, F).
        grades: Place in the tournament counted from the last, 0 the lowest; systems of equal
            coefficients share the lower; shape (N,).
        groups: Number of each row's tournament, ascending, shape (N,).
    """

    features: Floats
    grades: Floats
    groups: npt.NDArray[np.int64]


@dataclass(frozen=True)
class RankingModel:
    """What was learned of one language, or of all together.

    Attributes:
        ranker: The fitted trees.
        used: Which features had a value to learn from, shape (F,).
        calibrated: Language to the scales of the training systems' scores and of their ratings.
    """

    ranker: Any
    used: Booleans
    calibrated: Mapping[str, tuple[Scale, Scale]]


@dataclass(eq=False, repr=False)
class RankAwareSurrogate(FeatureSurrogate):
    """Boosted trees that learn which system is above which in a tournament.

    All pairs weigh alike, as in Kendall tau (``rank:pairwise`` of xgboost: Burges, 2010, "From
    RankNet to LambdaRank to LambdaMART"). The systems of one tournament in one language are one
    query group.

    Scores have no scale of their own: ratings are scores with the mean and the deviation of the
    training systems' coefficients.
    """

    def train(
        self,
        sets: Sequence[TrainingSet],
        random_state: int,
        arrays: Arrays | None,  # noqa: ARG002 - learns quickly
    ) -> RankingModel:
        """Fit the trees on the tournaments of all the sets; see ``FeatureSurrogate.train``.

        Raises:
            MissingDependencyError: If xgboost is not installed.
        """
        rows = _joined([self._rows(item) for item in sets])
        ranker = _xgb_ranker()(
            objective="rank:pairwise",
            n_estimators=TREES,
            max_depth=DEPTH,
            learning_rate=LEARNING_RATE,
            lambdarank_pair_method="topk",
            random_state=random_state % 2**31,
            n_jobs=1,
        ).fit(rows.features, rows.grades, qid=rows.groups)
        calibrated = {
            item.language: (
                scale_of(_scores(ranker, self.shown(item.judged, item.answers))),
                scale_of(item.ratings.means),
            )
            for item in sets
        }
        used = np.asarray(np.isfinite(rows.features).any(axis=0))
        return RankingModel(ranker, used, calibrated)

    def _rows(self, item: TrainingSet) -> RankingRows:
        means = self.shown(item.judged, item.answers).means(item.ratings.draws)
        coefficients = item.ratings.coefficients
        group, system = np.nonzero(np.isfinite(coefficients) & np.isfinite(means).any(axis=2))
        systems = len(np.unique(system))
        if systems < FEWEST_SYSTEMS:
            place, features = f"{item.language}: ", means.shape[2]
            raise UsageError(TOO_FEW.format(place, systems, features, FEWEST_SYSTEMS))
        grades = np.array(
            [rankdata(row, method="min", nan_policy="omit") - 1 for row in coefficients]
        )
        return RankingRows(means[group, system], grades[group, system], group.astype(np.int64))

    def rate(self, model: RankingModel, tensor: FeatureTensor, reference: FeatureTensor) -> Floats:
        """Rate systems by their scores, on the scale of the ratings, shape (S,)."""
        known = list(model.calibrated.values())
        scores, ratings = model.calibrated.get(tensor.language) or (
            mean_scale([item for item, _ in known]),
            mean_scale([item for _, item in known]),
        )
        found = _scores(model.ranker, self.shown(tensor, reference))
        return ratings.restore(scores.standardize(found))


def _scores(ranker: Any, shown: FeatureTensor) -> Floats:  # noqa: ANN401 - xgboost's
    """Score systems by their mean features, shape (S,); NaN without any feature value."""
    means = shown.means()[0]
    usable = np.isfinite(means).any(axis=1)
    found = np.full(len(means), np.nan)
    if usable.any():
        found[usable] = ranker.predict(means[usable])
    return found


def _xgb_ranker() -> Any:  # noqa: ANN401 - xgboost's class
    try:
        from xgboost import XGBRanker
    except ImportError as error:
        raise MissingDependencyError("learning to rank", "xgboost", "xgboost") from error
    return XGBRanker


def _joined(parts: Sequence[RankingRows]) -> RankingRows:
    starts = np.cumsum([0, *(int(part.groups.max()) + 1 for part in parts)])
    groups = [part.groups + start for part, start in zip(parts, starts[:-1], strict=True)]
    return RankingRows(
        np.concatenate([part.features for part in parts]),
        np.concatenate([part.grades for part in parts]),
        np.concatenate(groups),
    )
