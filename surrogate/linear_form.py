"""A fitted linear regressor and the preparation of its rows, as nothing but numbers.

Nine arrays say all that a linear surrogate does, so that it can be saved and read without trusting
any object, and every rating put down to the features that it comes from.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import ElasticNet, LinearRegression

from arena.errors import UsageError
from surrogate.imputed_regressor import ImputedRegressor, rounded
from surrogate.ridge_per_row import RidgePerRow

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LinearForm:
    """A linear regressor of F features, P of them once M indicators of missing values are added.

    Attributes:
        medians: What stands for a missing value, shape (F,).
        indicated: Whether a feature has an indicator of what is missing, shape (F,), M of them.
        means: Taken from each prepared feature, shape (P,).
        scales: What it is divided by then, above 0, shape (P,).
        low: Least value of a prepared feature that is taken as it is, shape (P,); may be -inf.
        high: Greatest such value, shape (P,); may be inf.
        centre: Prepared features of which the rating is the intercept, shape (P,).
        coefficients: What each prepared feature adds (log-odds), shape (P,).
        intercept: Rating at the centre, shape ().
    """

    medians: Floats
    indicated: npt.NDArray[np.bool_]
    means: Floats
    scales: Floats
    low: Floats
    high: Floats
    centre: Floats
    coefficients: Floats
    intercept: Floats

    def predict(self, features: npt.ArrayLike) -> Floats:
        """Predict from features that may be missing, shape (N, F) to (N,)."""
        return np.asarray(self.intercept + self._deviations(features) @ self.coefficients)

    def contributions(self, features: npt.ArrayLike) -> Floats:
        """Return what each feature adds to the intercept, its indicator's part included, (N, F)."""
        return self._per_feature(self._deviations(features) * self.coefficients)

    @property
    def shares(self) -> Floats:
        """Sizes of the standardised features' coefficients as shares that sum to 1, shape (F,).

        The coefficient of an indicator counts for its feature; all are 0 if no coefficient is not.
        """
        sizes = self._per_feature(np.abs(self.coefficients)[None])[0]
        return np.asarray(sizes / sizes.sum() if sizes.any() else sizes)

    def _deviations(self, features: npt.ArrayLike) -> Floats:
        rows = rounded(np.asarray(features, dtype=np.float64))
        missing = np.isnan(rows)
        filled = np.where(missing, self.medians, rows)
        prepared = np.hstack([filled, missing[:, self.indicated].astype(np.float64)])
        prepared = (prepared - self.means) / self.scales
        return np.asarray(np.clip(prepared, self.low, self.high) - self.centre)

    def _per_feature(self, parts: Floats) -> Floats:
        size = len(self.medians)
        whole = parts[:, :size].copy()
        whole[:, self.indicated] += parts[:, size:]
        return whole


def linear_form(estimator: object) -> LinearForm | None:
    """Return what a fitted regressor computes as a linear form; None if it is not linear."""
    if isinstance(estimator, LinearForm):
        return estimator
    if not isinstance(estimator, ImputedRegressor):
        return None
    regressor = estimator.regressor_
    if isinstance(regressor, RidgePerRow):
        centre, intercept = regressor.centre_, regressor.target_mean_
    elif isinstance(regressor, LinearRegression | ElasticNet):
        centre, intercept = np.zeros_like(regressor.coef_), regressor.intercept_
    else:
        return None
    imputer, scaler = (step for _, step in estimator.preparation_.steps)
    low, high = estimator.range_ if estimator.within_range else (-np.inf, np.inf)
    indicated = np.zeros(len(imputer.statistics_), dtype=np.bool_)
    indicated[imputer.indicator_.features_] = True
    return LinearForm(
        medians=imputer.statistics_,
        indicated=indicated,
        means=scaler.mean_,
        scales=scaler.scale_,
        low=np.broadcast_to(low, centre.shape).copy(),
        high=np.broadcast_to(high, centre.shape).copy(),
        centre=centre,
        coefficients=regressor.coef_,
        intercept=np.asarray(intercept, dtype=np.float64),
    )


def as_numbers(form: LinearForm) -> dict[str, Any]:
    """Return a linear form's arrays by name."""
    return {item.name: getattr(form, item.name) for item in fields(form)}


def from_numbers(numbers: object, features: int) -> LinearForm:
    """Return the linear form of arrays that were read from a file, once they are checked.

    Args:
        numbers: What the file holds; see ``as_numbers``.
        features: Number of features it is to be given.

    Raises:
        UsageError: If an array is absent, of another type or shape, or holds no proper numbers.
    """
    names = [item.name for item in fields(LinearForm)]
    if type(numbers) is not dict or set(numbers) != set(names):
        raise UsageError(f"it holds {_named(numbers)}, not the numbers of a linear regressor")
    indicated = numbers["indicated"]
    if not _is_array(indicated, np.bool_, (features,)):
        raise UsageError("its linear regressor is not fitted on the features it names")
    prepared = (features + int(indicated.sum()),)
    shapes = dict.fromkeys(names, prepared) | {"medians": (features,), "intercept": ()}
    for name in names:
        if name != "indicated" and not _is_array(numbers[name], np.float64, shapes[name]):
            raise UsageError(f"the {name} of its linear regressor have the wrong type or shape")
    form = LinearForm(**numbers)
    if not _is_sound(form):
        raise UsageError("its linear regressor holds values that are no proper numbers")
    return form


def _named(numbers: object) -> str:
    return "other entries" if type(numbers) is dict else f"a {type(numbers).__name__}"


def _is_array(value: object, dtype: type[np.generic], shape: tuple[int, ...]) -> bool:
    return type(value) is np.ndarray and value.dtype == dtype and value.shape == shape


def _is_sound(form: LinearForm) -> bool:
    finite = (form.medians, form.means, form.scales, form.centre, form.coefficients, form.intercept)
    return bool(
        all(np.isfinite(values).all() for values in finite)
        and (form.scales > 0).all()
        and (form.low <= form.high).all()
    )
