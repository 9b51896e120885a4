"""Regressors that take no missing values, made to take them."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import has_fit_parameter

from surrogate.checked_rows import rows_to_fit, rows_to_predict

Floats = npt.NDArray[np.float64]

DECIMALS = 9
"""Kept of features: rounding errors of a constant one must not be scaled up to unit variance."""


class ImputedRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A regressor behind median imputation, indicators of what was missing, and scaling.

    Medians, means and deviations are those of the rows it is fitted on.

    Attributes:
        regressor: Any scikit-learn regressor.
        most_rows: More rows than this are thinned to a random sample, drawn by their weights,
            for regressors whose time grows faster than the number of rows; None for all.
        within_range: Whether values beyond those of the fitted rows are taken as the nearest of
            them, so that a linear model does not extrapolate from an odd system.
        random_state: Seed of the sample.
    """

    def __init__(
        self,
        regressor: Any,  # noqa: ANN401 - any regressor
        most_rows: int | None = None,
        within_range: bool = False,
        random_state: int = 0,
    ) -> None:
        self.regressor = regressor
        self.most_rows = most_rows
        self.within_range = within_range
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 - scikit-learn's tags
        """Say that missing values are taken."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(
        self, features: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
    ) -> Self:
        """Fit the preparation, then the regressor.

        A regressor that stops before it has converged is kept as it is.

        Args:
            features: Shape (N, F); NaN is a missing value.
            y: Targets, shape (N,).
            sample_weight: Weight of each row, shape (N,); a regressor that takes no weights sees
                rows of equal weight, unless they are thinned.
        """
        given, goals, weights = rows_to_fit(self, features, y, sample_weight)
        rows = rounded(given)
        if self.most_rows is not None and len(goals) > self.most_rows:
            random = np.random.default_rng(self.random_state)
            share = weights / weights.sum()
            most = min(self.most_rows, int((weights > 0).sum()))
            kept = np.sort(random.choice(len(goals), most, replace=False, p=share))
            rows, goals, weights = rows[kept], goals[kept], np.ones(len(kept))
        imputer = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
        self.preparation_ = make_pipeline(imputer, StandardScaler())
        self.regressor_ = clone(self.regressor)
        prepared = self.preparation_.fit_transform(rows)
        weighted = has_fit_parameter(self.regressor_, "sample_weight")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.regressor_.fit(prepared, goals, **({"sample_weight": weights} if weighted else {}))
        self.range_ = prepared.min(axis=0), prepared.max(axis=0)
        return self

    def predict(self, features: npt.ArrayLike) -> Floats:
        """Predict from features that may be missing, shape (N, F) to (N,)."""
        rows = rounded(rows_to_predict(self, features))
        prepared = self.preparation_.transform(rows)
        if self.within_range:
            prepared = np.clip(prepared, *self.range_)
        return np.asarray(self.regressor_.predict(prepared), dtype=np.float64)


def rounded(features: Floats) -> Floats:
    """Return features without the digits that are rounding errors."""
    return np.asarray(np.round(features, DECIMALS))
