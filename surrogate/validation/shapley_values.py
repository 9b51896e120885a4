"""Exact Shapley values of a surrogate's predictions, by the package ``shap``.

A feature's value is what knowing it adds to a prediction, averaged over all orders in which the
features could become known; one that is not known yet takes the values of the background rows, one
row after the other (interventional values: Lundberg et al., 2020, "From local explanations to
global understanding with explainable AI for trees"; Lundberg and Lee, 2017). The values of a row
and the mean prediction over the background add up to the row's prediction.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import (
    ExtraTreesRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)

from arena.errors import MissingDependencyError
from surrogate.imputed_regressor import DECIMALS, ImputedRegressor
from surrogate.small_forest import SmallForest

Floats = npt.NDArray[np.float64]

EXPLAINED_LEARNERS = (
    *("random-forest", "extra-trees", "gradient-boosting", "xgboost"),
    *("linear", "ridge", "elastic-net"),
)
"""Learners of trees and linear ones, whose Shapley values are exact and cheap."""


def load_shap() -> Any:  # noqa: ANN401 - a module without types
    """Import the package ``shap``.

    Raises:
        MissingDependencyError: If it is not installed.
    """
    with warnings.catch_warnings():
        # Its colour maps, made on import, use what matplotlib is about to retire.
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        try:
            import shap
        except ImportError as error:
            raise MissingDependencyError("SHAP importances", "shap", "shap") from error
    return shap


def shapley_values(estimator: Any, rows: Floats) -> Floats:  # noqa: ANN401 - any regressor
    """Return what each feature adds to the prediction of each of the rows trained on.

    Where boosted trees see both a feature and whether it was missing, the feature's value is the
    sum of the two.

    Args:
        estimator: A fitted regressor of one of ``EXPLAINED_LEARNERS``.
        rows: Those it was fitted on, shape (N, F), NaN for a missing value; they are the background
            as well.

    Returns:
        In the units of the target, shape (N, F).

    Raises:
        MissingDependencyError: If the package ``shap`` is not installed.
    """
    if not isinstance(estimator, ImputedRegressor):
        return _values(estimator, rows)
    preparation = estimator.preparation_
    prepared = _values(estimator.regressor_, preparation.transform(np.round(rows, DECIMALS)))
    indicated = preparation[0].indicator_.features_
    own = prepared[:, : rows.shape[1]]
    own[:, indicated] += prepared[:, rows.shape[1] :]
    return own


def _values(regressor: Any, rows: Floats) -> Floats:  # noqa: ANN401
    shap = load_shap()
    if hasattr(regressor, "coef_"):
        weights = regressor.coef_, float(regressor.intercept_)
        explainer = shap.LinearExplainer(weights, _background(shap, rows))
        return np.asarray(explainer.shap_values(rows))
    binned = isinstance(regressor, HistGradientBoostingRegressor)
    seen = rows if binned else rows.astype(np.float32)  # as these trees round them themselves
    explainer = shap.TreeExplainer(_trees(regressor), _background(shap, seen))
    return np.asarray(explainer.shap_values(seen), dtype=np.float64)


def _background(shap: Any, rows: npt.NDArray[Any]) -> Any:  # noqa: ANN401
    """All rows; by default ``shap`` takes a sample of 100."""
    return shap.maskers.Independent(rows, max_samples=len(rows))


def _trees(regressor: Any) -> Any:  # noqa: ANN401
    """Trees as ``shap`` knows them: a forest in its own notation, or boosted trees as they are."""
    if isinstance(regressor, SmallForest):
        trees = regressor.trees_
    elif isinstance(regressor, RandomForestRegressor | ExtraTreesRegressor):
        trees = [tree.tree_ for tree in regressor.estimators_]
    else:
        return regressor
    return {
        "trees": [_in_notation(tree, len(trees)) for tree in trees],
        "internal_dtype": np.float64,
        "input_dtype": np.float32,
    }


def _in_notation(tree: Any, number: int) -> dict[str, Any]:  # noqa: ANN401
    left, right = tree.children_left, tree.children_right
    return {
        "children_left": left,
        "children_right": right,
        "children_default": np.where(tree.missing_go_to_left, left, right),
        "features": tree.feature,
        "thresholds": _rounded_down(tree.threshold),
        "values": tree.value[:, :, 0] / number,
        "node_sample_weight": tree.weighted_n_node_samples,
    }


def _rounded_down(thresholds: Floats) -> Floats:
    """Largest single-precision numbers that are not above the thresholds.

    They part rows of single precision as the thresholds do; ``shap``, which compares in single
    precision, would round to the nearest, beyond rows that lie just above.
    """
    nearest = thresholds.astype(np.float32)
    lower = np.nextafter(nearest, np.float32(-np.inf))
    return np.where(nearest > thresholds, lower, nearest).astype(np.float64)
