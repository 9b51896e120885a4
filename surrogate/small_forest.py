"""A random forest for the few rows of one tournament."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn import config_context
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.tree import DecisionTreeRegressor

from surrogate.checked_rows import rows_to_fit, rows_to_predict

Floats = npt.NDArray[np.float64]


class SmallForest(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Bootstrapped regression trees, as scikit-learn's ``RandomForestRegressor`` grows them.

    Each tree is grown to purity on a bootstrap of the rows, considers every feature at every
    split, and the forest predicts the mean of its trees. On some 20 rows scikit-learn's forest
    spends most of its time on cloning, seeding and checking trees; this one does not, which
    matters where hundreds of forests are trained (Algorithm 1). Not meant to be saved.

    Attributes:
        n_estimators: Number of trees.
        random_state: Seed.
    """

    def __init__(self, n_estimators: int = 100, random_state: int = 0) -> None:
        self.n_estimators = n_estimators
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 - scikit-learn's tags
        """Say that missing values are taken."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(
        self, features: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
    ) -> Self:
        """Grow the trees.

        Args:
            features: Shape (N, F); NaN is a missing value.
            y: Targets, shape (N,).
            sample_weight: How likely a bootstrap draws each row, up to a factor, shape (N,).
        """
        checked, targets, weights = rows_to_fit(self, features, y, sample_weight)
        rows = np.ascontiguousarray(checked, dtype=np.float32)
        goals = np.ascontiguousarray(targets, dtype=np.float64)
        random = np.random.default_rng(self.random_state)
        counts = random.multinomial(len(goals), weights / weights.sum(), size=self.n_estimators)
        # One stream for all trees: seeding one takes about as long as growing a tree.
        stream = np.random.RandomState(int(random.integers(np.iinfo(np.int32).max)))
        # Weights, as in scikit-learn: where features split alike, rounding decides between them,
        # and on rows repeated instead it decides otherwise.
        has_missing = bool(np.isnan(rows).any())
        with config_context(skip_parameter_validation=True, assume_finite=True):
            self.trees_ = [
                DecisionTreeRegressor(random_state=stream)
                .fit(rows, goals, sample_weight=drawn, check_input=has_missing)
                .tree_
                for drawn in counts.astype(np.float64)
            ]
        return self

    def predict(self, features: npt.ArrayLike) -> Floats:
        """Predict the mean over trees, shape (N,)."""
        rows = np.ascontiguousarray(rows_to_predict(self, features), dtype=np.float32)
        return np.asarray(np.mean([tree.predict(rows)[:, 0] for tree in self.trees_], axis=0))

    @property
    def feature_importances_(self) -> Floats:
        """Mean decrease in impurity, shares that sum to 1 (0 where no tree splits), shape (F,)."""
        shares = np.mean([tree.compute_feature_importances() for tree in self.trees_], axis=0)
        total = shares.sum()
        return np.asarray(shares / total if total > 0 else shares)
