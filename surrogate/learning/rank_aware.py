"""Surrogates that learn the order of systems: boosted trees with losses of learning to rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from arena.data.errors import MissingDependencyError, UsageError
from surrogate.learning.surrogates import FEWEST_SYSTEMS, FittedSurrogate
from surrogate.learning.tensor import (
    FeatureTensor,
    Scale,
    View,
    mean_scale,
    scale_of,
    standardized_within,
    viewed,
)
from surrogate.learning.training import Field

Floats = npt.NDArray[np.float64]
Objective = Literal["rank:ndcg", "rank:pairwise"]

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
class RankAwareSurrogate:
    """Boosted trees that learn which system is above which in a tournament.

    ``rank:ndcg`` is LambdaMART (Burges, 2010, "From RankNet to LambdaRank to LambdaMART"): pairs
    near the top of the order weigh more. ``rank:pairwise`` weighs all pairs alike, as Kendall tau
    does. The systems of one tournament in one language are one query group.

    Scores have no scale of their own: ratings are scores with the mean and the deviation of the
    training systems' coefficients.

    Attributes:
        objective: Loss, by its name in xgboost.
        view: Features as they are, as ranks within their question, or both.
        pooled: One model for all languages, features standardized within each.
    """

    objective: Objective = "rank:ndcg"
    view: View = "raw"
    pooled: bool = False

    def fit(self, fields: Sequence[Field], random_state: int) -> FittedSurrogate:
        """Train one model for all, or one a language; see ``Surrogate.fit``.

        Raises:
            MissingDependencyError: If xgboost is not installed.
        """
        parts = {field.language: self._rows(field) for field in fields}
        if self.pooled:
            shared = self._train(_joined(list(parts.values())), random_state)
            models = dict.fromkeys(parts, shared)
        else:
            models = {name: self._train(rows, random_state) for name, rows in parts.items()}
        calibrated = {
            field.language: _calibrated(self._scores(models[field.language], field), field)
            for field in fields
        }
        return _FittedRanker(self, models, calibrated)

    def for_all_languages(self) -> RankAwareSurrogate:
        """Return the surrogate with one model for all languages."""
        return replace(self, pooled=True)

    def shown(self, tensor: FeatureTensor, field: FeatureTensor) -> FeatureTensor:
        """Return features as the model sees them."""
        seen = viewed(tensor, field, self.view)
        return standardized_within(seen, viewed(field, field, self.view)) if self.pooled else seen

    def _rows(self, field: Field) -> RankingRows:
        means = self.shown(field.judged, field.answers).means(field.tournaments.draws)
        coefficients = field.tournaments.coefficients
        group, system = np.nonzero(np.isfinite(coefficients) & np.isfinite(means).any(axis=2))
        grades = np.array(
            [rankdata(row, method="min", nan_policy="omit") - 1 for row in coefficients]
        )
        if len(np.unique(system)) < FEWEST_SYSTEMS:
            raise UsageError(
                f"{field.language}: {len(np.unique(system))} systems with judged answers to train "
                f"on; at least {FEWEST_SYSTEMS} are needed"
            )
        return RankingRows(means[group, system], grades[group, system], group.astype(np.int64))

    def _train(self, rows: RankingRows, random_state: int) -> Any:  # noqa: ANN401 - xgboost's
        gain = {"ndcg_exp_gain": False} if self.objective == "rank:ndcg" else {}
        ranker = _xgb_ranker()(
            objective=self.objective,
            n_estimators=TREES,
            max_depth=DEPTH,
            learning_rate=LEARNING_RATE,
            lambdarank_pair_method="topk",
            **gain,
            random_state=random_state % 2**31,
            n_jobs=1,
        )
        return ranker.fit(rows.features, rows.grades, qid=rows.groups)

    def _scores(self, model: Any, field: Field) -> Floats:  # noqa: ANN401 - xgboost's
        return scores(model, self.shown(field.judged, field.answers))


def scores(model: Any, shown: FeatureTensor) -> Floats:  # noqa: ANN401 - xgboost's
    """Score systems by their mean features, shape (S,); NaN without any feature value."""
    means = shown.means()[0]
    usable = np.isfinite(means).any(axis=1)
    found = np.full(len(means), np.nan)
    if usable.any():
        found[usable] = model.predict(means[usable])
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


@dataclass(frozen=True)
class _Calibration:
    """From scores to ratings of one language."""

    scores: Scale
    ratings: Scale


def _calibrated(found: Floats, field: Field) -> _Calibration:
    return _Calibration(scale_of(found), scale_of(field.targets))


@dataclass(frozen=True)
class _FittedRanker:
    surrogate: RankAwareSurrogate
    models: Mapping[str, Any]
    calibrated: Mapping[str, _Calibration]

    def predict(self, tensor: FeatureTensor, field: FeatureTensor) -> Floats:
        known = list(self.calibrated.values())
        own = self.calibrated.get(tensor.language) or _Calibration(
            mean_scale([item.scores for item in known]),
            mean_scale([item.ratings for item in known]),
        )
        model = self.models.get(tensor.language) or next(iter(self.models.values()))
        found = scores(model, self.surrogate.shown(tensor, field))
        return own.ratings.restore(own.scores.standardize(found))
