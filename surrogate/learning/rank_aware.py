"""Surrogates that learn the order of systems: boosted trees with a loss of learning to rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from arena.data.errors import MissingDependencyError, UsageError
from surrogate.learning.surrogate import FEWEST_SYSTEMS, TOO_FEW, Arrays, FeatureSurrogate
from surrogate.learning.tensor import FeatureTensor, Scale, mean_scale, scale_of
from surrogate.learning.training import TrainingSet

Floats = npt.NDArray[np.float64]
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
