"""Ridge regression whose penalty does not fade as rows are repeated."""

from __future__ import annotations

from typing import Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin

from surrogate.checked_rows import rows_to_fit, rows_to_predict

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

    def fit(
        self, features: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
    ) -> Self:
        """Solve the normal equations.

        Args:
            features: Standardised and complete, shape (N, F).
            y: Targets, shape (N,).
            sample_weight: Weight of each row, shape (N,).
        """
        rows, targets, weights = rows_to_fit(self, features, y, sample_weight)
        share = weights / weights.sum()
        centre = share @ rows
        self.target_mean_ = float(share @ targets)
        deviations = rows - centre
        moments = deviations.T @ (deviations * share[:, None])
        products = deviations.T @ (share * (targets - self.target_mean_))
        self.coef_ = np.linalg.solve(moments + self.penalty * np.eye(len(moments)), products)
        self.centre_ = centre
        return self

    @property
    def intercept_(self) -> float:
        """Prediction of a row of zeros."""
        return float(self.target_mean_ - self.centre_ @ self.coef_)

    def predict(self, features: npt.ArrayLike) -> Floats:
        """Predict, shape (N, F) to (N,)."""
        rows = rows_to_predict(self, features)
        return np.asarray(self.target_mean_ + (rows - self.centre_) @ self.coef_)
