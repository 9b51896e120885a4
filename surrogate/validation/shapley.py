"""Exact Shapley values of a surrogate's predictions, by the package ``shap``.

A feature's value is what knowing it adds to a prediction, averaged over all orders in which the
features could become known; one that is not known yet takes the values of the background rows, one
row after the other (interventional values: Lundberg et al., 2020, "From local explanations to
global understanding with explainable AI for trees"; Lundberg and Lee, 2017). The values of a row
and the mean prediction over the background add up to the row's prediction.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt
from joblib import delayed
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

from arena.data.errors import MissingDependencyError, UsageError
from surrogate.learning.cross_fitting import derived_seed
from surrogate.learning.languages import LanguageData
from surrogate.learning.names import find_surrogate
from surrogate.learning.regression.regressors import is_linear, per_feature
from surrogate.learning.regression.surrogate import RegressionSurrogate
from surrogate.learning.surrogate import FEW_TREES, reseeded
from surrogate.validation.study import Study

Floats = npt.NDArray[np.float64]

EXPLAINED = ("random-forest", "xgboost", "linear", "ridge")
"""Regressors of trees and linear ones, whose Shapley values are exact and cheap."""


def load_shap() -> Any:  # noqa: ANN401 - a module without types
    """Import the package ``shap``.

    Raises:
        MissingDependencyError: If it is not installed.
    """
    with warnings.catch_warnings():
        # Its color maps, made on import, use what matplotlib is about to retire.
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        try:
            import shap
        except ImportError as error:
            raise MissingDependencyError("SHAP importances", "shap", "shap") from error
    return shap


def shapley_values(estimator: Any, rows: Floats) -> Floats:  # noqa: ANN401 - any regressor
    """Return what each feature adds to the prediction of each of the rows trained on.

    Args:
        estimator: A fitted regressor, one of ``EXPLAINED``.
        rows: Those it was fitted on, shape (N, F), NaN for a missing value; they are the background
            as well.

    Returns:
        In the units of the target, shape (N, F).

    Raises:
        MissingDependencyError: If the package ``shap`` is not installed.
    """
    shap = load_shap()
    if is_linear(estimator):
        prepared = estimator[:-1].transform(rows)
        weights = estimator[-1].coef_, float(estimator[-1].intercept_)
        explainer = shap.LinearExplainer(weights, _background(shap, prepared))
        return per_feature(estimator, np.asarray(explainer.shap_values(prepared)), rows.shape[1])
    seen = rows.astype(np.float32)  # as these trees round them themselves
    explainer = shap.TreeExplainer(_trees(estimator), _background(shap, seen))
    return np.asarray(explainer.shap_values(seen), dtype=np.float64)


def _background(shap: Any, rows: npt.NDArray[Any]) -> Any:  # noqa: ANN401
    """All rows; by default ``shap`` takes a sample of 100."""
    return shap.maskers.Independent(rows, max_samples=len(rows))


def _trees(regressor: Any) -> Any:  # noqa: ANN401
    """Trees as ``shap`` knows them: a forest in its own notation, or boosted trees as they are."""
    if not isinstance(regressor, RandomForestRegressor | ExtraTreesRegressor):
        return regressor
    trees = [tree.tree_ for tree in regressor.estimators_]
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


def explained(name: str) -> RegressionSurrogate:
    """Return a surrogate whose Shapley values can be had.

    Args:
        name: One of ``surrogate.learning.names.SURROGATE_NAMES``.

    Raises:
        MissingDependencyError: If the package ``shap`` is not installed.
        UsageError: If the surrogate is unknown, no one regressor a language, or neither of trees
            nor linear.
    """
    load_shap()
    surrogate = find_surrogate(name)
    if not _is_explained(surrogate):
        raise UsageError(
            f"SHAP importances are for one regressor a language, of trees or linear, which {name} "
            f"is not; use one of {', '.join(EXPLAINED)}"
        )
    return surrogate


def _is_explained(surrogate: object) -> TypeGuard[RegressionSurrogate]:
    return isinstance(surrogate, RegressionSurrogate) and surrogate.name in EXPLAINED


def shapley_shares(study: Study, surrogate: RegressionSurrogate) -> dict[str, Floats]:
    """Return how much of what moves the ratings is due to each feature.

    A surrogate is trained on each tournament, and what each feature adds to the rating of each
    system in it is taken without its sign and averaged over systems.

    Args:
        study: The arena.
        surrogate: One that ``explained`` returns.

    Returns:
        Language code to shares, shape (T, F), each row with sum 1; NaN for a feature that the
        surrogate could not use, and where it rates all systems alike.
    """
    tasks = [delayed(_of_language)(item, study.features, surrogate) for item in study.languages]
    found = study.repeats.run(tasks)
    return {item.language: shares for item, shares in zip(study.languages, found, strict=True)}


def _of_language(
    data: LanguageData, features: Sequence[str], surrogate: RegressionSurrogate
) -> Floats:
    shares = np.full((len(data.tournaments.draws), len(features)), np.nan)
    for index, row in enumerate(shares):
        state = derived_seed(data.settings.seed, "shares", data.language, str(index))
        ratings = {data.language: data.tournaments.single(index)}
        fitted = reseeded(surrogate, state, trees=FEW_TREES).fit(data.rows(), ratings)
        model = fitted.models_[data.language]
        rows = fitted.training_rows(fitted.sets_[data.language])
        # Mean size over the rows trained on, in logits.
        sizes = np.abs(shapley_values(model.estimator, rows.features)).mean(axis=0)
        total = sizes.sum()
        row[model.used] = sizes / total if total > 0 else np.nan
    return shares
