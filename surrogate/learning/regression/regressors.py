"""The regressors that surrogates of features are made of: any of scikit-learn's form.

Those of table 3 of MIRAGE-Bench have names, another is named by its dotted path and parameters.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, is_regressor
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVR
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from arena.data.errors import MissingDependencyError, UsageError
from surrogate.learning.regression.estimators import read
from surrogate.learning.surrogate import TREES
from surrogate.learning.training import TrainingRows

Floats = npt.NDArray[np.float64]

SLOW_ROWS = 1000
"""Rows that a regressor is given at most whose time grows with their square or cube: more are
thinned to a random sample, drawn by their weights."""
_SLOW = ("svm", "neural_network", "gaussian_process", "kernel_ridge", "neighbors")
"""Modules of scikit-learn that have them."""
RIDGE = 0.5
"""Penalty on squared weights of standardized features, per unit of row weight."""
DECIMALS = 9
"""Kept of features: rounding errors of a constant one must not be scaled up to unit variance."""
_IMPORTANCES = "feature_importances_"
"""Where ensembles of trees have the shares of their features."""


class WithinRange(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Takes values beyond those of the fitted rows as the nearest of them.

    So a linear model does not extrapolate from an odd system.
    """

    def fit(self, rows: Floats, y: object = None) -> Self:  # noqa: ARG002 - scikit-learn's form
        """Note the least and the greatest value of each column."""
        self.low_, self.high_ = rows.min(axis=0), rows.max(axis=0)
        return self

    def transform(self, rows: Floats) -> Floats:
        """Clip, shape (N, F) to (N, F)."""
        return np.clip(rows, self.low_, self.high_)


def rounded(features: Floats) -> Floats:
    """Return features without the digits that are rounding errors."""
    return np.asarray(np.round(features, DECIMALS))


def _prepared(*steps: Any) -> Pipeline:  # noqa: ANN401 - transformers and a regressor
    """Put median imputation, indicators of what was missing, and scaling before a regressor."""
    imputer = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    return make_pipeline(FunctionTransformer(rounded), imputer, StandardScaler(), *steps)


def _xgboost(random_state: int, trees: int) -> Any:  # noqa: ANN401
    try:
        from xgboost import XGBRegressor
    except ImportError as error:
        raise MissingDependencyError("the surrogate xgboost", "xgboost", "xgboost") from error
    del trees  # few boosted trees are another model, not a quicker one
    return XGBRegressor(n_estimators=TREES, random_state=random_state % 2**31, n_jobs=1)


def _mlp(random_state: int, trees: int) -> Pipeline:  # noqa: ARG001
    network = MLPRegressor(hidden_layer_sizes=(100,), max_iter=500, random_state=random_state)
    return _prepared(network)


REGRESSORS: MappingProxyType[str, Callable[[int, int], Any]] = MappingProxyType(
    {
        # MIRAGE-Bench, section 4.3; missing values go down the trees.
        "random-forest": lambda state, trees: RandomForestRegressor(
            trees, random_state=state, n_jobs=1
        ),
        "xgboost": _xgboost,
        "linear": lambda state, trees: _prepared(LinearRegression()),  # noqa: ARG005
        "ridge": lambda state, trees: _prepared(WithinRange(), Ridge(RIDGE)),  # noqa: ARG005
        "svr": lambda state, trees: _prepared(SVR()),  # noqa: ARG005
        "mlp": _mlp,
    }
)
"""Name to what makes a regressor of a random state and a number of trees."""


def made(name: str, random_state: int, trees: int = TREES) -> Any:  # noqa: ANN401
    """Make a regressor by its name, or by a text that ``estimators.read`` takes.

    One that takes no missing values gets the medians of the training rows.

    Raises:
        MissingDependencyError: For xgboost, where it is not installed.
        UsageError: If the text names no regressor.
    """
    if name in REGRESSORS:
        return REGRESSORS[name](random_state, trees)
    estimator = read(name)
    if not is_regressor(estimator):
        raise UsageError(f"{name} is no regressor")
    drawn = [item for item in estimator.get_params() if item.split("__")[-1] == "random_state"]
    estimator.set_params(**dict.fromkeys(drawn, random_state))
    if _takes_missing(estimator):
        return estimator
    imputer = SimpleImputer(strategy="median", keep_empty_features=True)
    own = estimator.steps if isinstance(estimator, Pipeline) else [("regressor", estimator)]
    return Pipeline([("medians", imputer), *own])


def _takes_missing(estimator: Any) -> bool:  # noqa: ANN401
    steps = estimator.named_steps.values() if isinstance(estimator, Pipeline) else [estimator]
    for step in steps:
        if "Imputer" in type(step).__name__:
            return True
        if not get_tags(step).input_tags.allow_nan:
            return False
    return True


def fit_regressor(name: str, rows: TrainingRows, random_state: int, trees: int = TREES) -> Any:  # noqa: ANN401
    """Fit a regressor; one that stops before it has converged is kept as it is.

    Args:
        name: One of ``REGRESSORS``, or a text; see ``made``.
        rows: What it learns from.
        random_state: Seed of what it draws.
        trees: Trees of a forest.

    Raises:
        MissingDependencyError: For xgboost, where it is not installed.
    """
    estimator = made(name, random_state, trees)
    last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    features, targets, weights = rows.features, rows.targets, rows.weights
    is_slow = any(part in _SLOW for part in type(last).__module__.split("."))
    if is_slow and len(targets) > SLOW_ROWS:
        random = np.random.default_rng(random_state)
        share = weights / weights.sum()
        most = min(SLOW_ROWS, int((weights > 0).sum()))
        kept = np.sort(random.choice(len(targets), most, replace=False, p=share))
        features, targets, weights = features[kept], targets[kept], np.ones(most)
    if isinstance(last, Ridge):
        # Two hundred tournaments give each system two hundred rows and hardly more to learn from:
        # a row that stands twice counts no more than once with its share of the weight.
        weights = weights / weights.sum()
    prefix = f"{estimator.steps[-1][0]}__" if isinstance(estimator, Pipeline) else ""
    weighted = has_fit_parameter(last, "sample_weight")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        given = {f"{prefix}sample_weight": weights} if weighted else {}
        return estimator.fit(features, targets, **given)


def by_value(rows: TrainingRows) -> TrainingRows:
    """Order rows by their values, so that what is drawn of them hangs on no system's name."""
    order = np.lexsort((*rows.features.T, rows.targets))
    return TrainingRows(
        rows.features[order], rows.targets[order], rows.weights[order], rows.systems
    )


def shares(estimator: Any, size: int) -> Floats:  # noqa: ANN401 - any regressor
    """Share of each feature in a regressor's decisions, shape (F,).

    The mean decrease in impurity of an ensemble of trees; the size of a linear regressor's
    coefficients, its features standardized, that of a feature's indicator included. NaN where it
    has neither.
    """
    if is_linear(estimator):
        sizes = per_feature(estimator, np.abs(estimator[-1].coef_)[None], size)[0]
        return np.asarray(sizes / sizes.sum() if sizes.any() else sizes)
    last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    found = np.asarray(getattr(last, _IMPORTANCES, np.nan), dtype=np.float64)
    return found if found.shape == (size,) else np.full(size, np.nan)


def contributions(estimator: Any, rows: Floats) -> tuple[float, Floats] | None:  # noqa: ANN401
    """Say what each feature adds to the predictions of rows.

    A linear regressor adds coefficient times standardized value. In a forest each change of a
    tree's expected rating at a split is put down to the feature that is split on (Saabas, 2014),
    and averaged over the trees; unlike Shapley values these depend on the order of splits.

    Returns:
        What is predicted where nothing is known, and what each feature adds to it, shape (N, F);
        None for a regressor that is neither.
    """
    if is_linear(estimator):
        linear = estimator[-1]
        parts = estimator[:-1].transform(rows) * linear.coef_
        return float(linear.intercept_), per_feature(estimator, parts, rows.shape[1])
    if not isinstance(estimator, RandomForestRegressor | ExtraTreesRegressor):
        return None
    trees = [tree.tree_ for tree in estimator.estimators_]
    base = float(np.mean([tree.value[0, 0, 0] for tree in trees]))
    return base, np.mean([_on_the_way(tree, rows) for tree in trees], axis=0)


def _on_the_way(tree: Any, rows: Floats) -> Floats:  # noqa: ANN401 - a tree of scikit-learn's
    """What each feature changes on the way down a tree, whose nodes are numbered from the top."""
    path = tree.decision_path(rows.astype(np.float32))
    row = np.repeat(np.arange(len(rows)), np.diff(path.indptr))
    is_step = row[1:] == row[:-1]
    parent, child = path.indices[:-1][is_step], path.indices[1:][is_step]
    added = np.zeros(rows.shape)
    change = tree.value[child, 0, 0] - tree.value[parent, 0, 0]
    np.add.at(added, (row[1:][is_step], tree.feature[parent]), change)
    return added


def is_linear(estimator: Any) -> bool:  # noqa: ANN401 - any regressor
    """Tell whether a fitted regressor is linear in its standardized features."""
    if not isinstance(estimator, Pipeline) or "standardscaler" not in estimator.named_steps:
        return False
    marks_missing = getattr(estimator.named_steps.get("simpleimputer"), "add_indicator", False)
    return bool(marks_missing) and hasattr(estimator[-1], "coef_")


def per_feature(pipeline: Pipeline, parts: Floats, size: int) -> Floats:
    """Add what belongs to indicators of missing values to their features, (N, P) to (N, F)."""
    whole = parts[:, :size].copy()
    whole[:, pipeline.named_steps["simpleimputer"].indicator_.features_] += parts[:, size:]
    return whole
