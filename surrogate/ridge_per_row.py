"""Ridge regression whose penalty does not fade as rows are repeated."""

from __future__ import annotations

from typing import Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin

Floats = npt.NDArray[np.float64]


class RidgePerRow(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Least squares plus ``penalty`` times the squared weights, both per unit of row weight.

    Two hundred tournaments give each system two hundred rows and hardly more to learn from. Here
    a row that stands twice counts no more than once with its share of the weight, so the penalty
    means the same for one tournament and for many.

    Attributes:
        penalty: Penalty on the squared weights of standardised features, above 0.
    """

    def __init__(self, penalty: float = 0.5) -> None:
        self.penalty = penalty

    def fit(self, features: Floats, targets: Floats, sample_weight: Floats | None = None) -> Self:
        """Solve the normal equations.

        Args:
            features: Standardised and complete, shape (N, F).
            targets: Shape (N,).
            sample_weight: Weight of each row, shape (N,).
        """
        weights = np.ones(len(targets)) if sample_weight is None else np.asarray(sample_weight)
        share = weights / weights.sum()
        centre = share @ features
        self.target_mean_ = float(share @ targets)
        deviations = features - centre
        moments = deviations.T @ (deviations * share[:, None])
        products = deviations.T @ (share * (targets - self.target_mean_))
        self.coef_ = np.linalg.solve(moments + self.penalty * np.eye(len(moments)), products)
        self.centre_ = centre
        return self

    def predict(self, features: Floats) -> Floats:
        """Predict, shape (N, F) to (N,)."""
        return np.asarray(self.target_mean_ + (features - self.centre_) @ self.coef_)
