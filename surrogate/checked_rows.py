"""Checks of the rows that this project's own regressors are given, as scikit-learn makes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

Floats = npt.NDArray[np.float64]


def rows_to_fit(
    estimator: Any,  # noqa: ANN401 - any regressor
    features: npt.ArrayLike,
    targets: npt.ArrayLike,
    sample_weight: npt.ArrayLike | None,
) -> tuple[Floats, Floats, Floats]:
    """Check training rows, and note the number of features in the regressor.

    Args:
        estimator: The regressor; its tags say whether it takes missing values.
        features: Shape (N, F).
        targets: Shape (N,).
        sample_weight: Shape (N,); None for equal weights.

    Returns:
        Features, targets and weights as floats.

    Raises:
        ValueError: For an array of another shape, values that are no finite numbers, or weights
            that are negative or all 0.
    """
    rows, goals = validate_data(
        estimator,
        features,
        targets,
        dtype=np.float64,
        ensure_all_finite=_finite(estimator),
        y_numeric=True,
    )
    if sample_weight is None:
        return rows, np.asarray(goals, np.float64), np.ones(len(goals))
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (len(goals),):
        raise ValueError(f"sample_weight has the shape {weights.shape}, not ({len(goals)},)")
    if not (weights >= 0).all() or not weights.any():
        raise ValueError("every sample weight is zero, or one of them is negative or missing")
    return rows, np.asarray(goals, np.float64), weights


def rows_to_predict(
    estimator: Any,  # noqa: ANN401 - any regressor
    features: npt.ArrayLike,
) -> Floats:
    """Check rows to predict from, shape (N, F).

    Raises:
        NotFittedError: If the regressor has not been fitted.
        ValueError: For an array of another shape, or values that are no finite numbers.
    """
    check_is_fitted(estimator)
    rows = validate_data(
        estimator,
        features,
        reset=False,
        dtype=np.float64,
        ensure_all_finite=_finite(estimator),
    )
    return np.asarray(rows)


def _finite(estimator: Any) -> bool | str:  # noqa: ANN401 - any regressor
    return "allow-nan" if get_tags(estimator).input_tags.allow_nan else True
