"""The regressors that surrogates of features are made of: scikit-learn's, and xgboost's."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVR
from sklearn.utils.validation import has_fit_parameter

from arena.data.errors import MissingDependencyError
from surrogate.learning.regression.forest import forest_of
from surrogate.learning.surrogate import TREES
from surrogate.learning.training import TrainingRows

Floats = npt.NDArray[np.float64]

SLOW_ROWS = 1000
"""Rows that a regressor is given at most whose time grows with their square or cube."""
RIDGE = 0.5
"""Penalty on squared weights of standardized features, per unit of row weight."""
DECIMALS = 9
"""Kept of features: rounding errors of a constant one must not be scaled up to unit variance."""
_IMPORTANCES = "feature_importances_"
"""Where ensembles of trees have the shares of their features."""


@dataclass(frozen=True)
class Regressor:
    """A family of regressors.

    Attributes:
        make: Random state and number of trees to an unfitted regressor.
        most_rows: More rows than this are thinned to a random sample, drawn by their weights;
            None for all.
    """

    make: Callable[[int, int], Any]
    most_rows: int | None = None


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


def _plain(regressor: Any) -> Pipeline:  # noqa: ANN401 - a regressor
    """Leave features as they are; what has no value at all is 0, which these cannot do without."""
    return make_pipeline(
        SimpleImputer(strategy="constant", fill_value=0.0, keep_empty_features=True), regressor
    )


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


REGRESSORS: MappingProxyType[str, Regressor] = MappingProxyType(
    {
        # MIRAGE-Bench, section 4.3; missing values go down the trees.
        "random-forest": Regressor(
            lambda state, trees: RandomForestRegressor(trees, random_state=state, n_jobs=1)
        ),
        # Thresholds are drawn, so that predictions are smoother.
        "extra-trees": Regressor(
            lambda state, trees: ExtraTreesRegressor(trees, random_state=state, n_jobs=1)
        ),
        "xgboost": Regressor(_xgboost),
        "linear": Regressor(lambda state, trees: _prepared(LinearRegression())),  # noqa: ARG005
        "ridge": Regressor(
            lambda state, trees: _prepared(WithinRange(), Ridge(RIDGE)),  # noqa: ARG005
        ),
        "svr": Regressor(lambda state, trees: _prepared(SVR()), SLOW_ROWS),  # noqa: ARG005
        "mlp": Regressor(_mlp, SLOW_ROWS),
        # As scikit-learn has them, for table 3 as it was published.
        "plain-linear": Regressor(lambda state, trees: _plain(LinearRegression())),  # noqa: ARG005
        "plain-svr": Regressor(lambda state, trees: _plain(SVR()), SLOW_ROWS),  # noqa: ARG005
        "plain-mlp": Regressor(
            lambda state, trees: _plain(MLPRegressor(random_state=state)),  # noqa: ARG005
            SLOW_ROWS,
        ),
    }
)
"""Name to regressor: those of table 3 of MIRAGE-Bench, and two that do better on real arenas."""


def fit_regressor(name: str, rows: TrainingRows, random_state: int, trees: int = TREES) -> Any:  # noqa: ANN401
    """Fit a regressor; one that stops before it has converged is kept as it is.

    Args:
        name: One of ``REGRESSORS``.
        rows: What it learns from.
        random_state: Seed of what it draws.
        trees: Trees of a forest.

    Raises:
        MissingDependencyError: For xgboost, where it is not installed.
    """
    chosen = REGRESSORS[name]
    estimator = chosen.make(random_state, trees)
    features, targets, weights = rows.features, rows.targets, rows.weights
    if chosen.most_rows is not None and len(targets) > chosen.most_rows:
        random = np.random.default_rng(random_state)
        share = weights / weights.sum()
        most = min(chosen.most_rows, int((weights > 0).sum()))
        kept = np.sort(random.choice(len(targets), most, replace=False, p=share))
        features, targets, weights = features[kept], targets[kept], np.ones(most)
    last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
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
    found = getattr(estimator, _IMPORTANCES, np.full(size, np.nan))
    return np.asarray(found, dtype=np.float64)


def contributions(estimator: Any, rows: Floats) -> tuple[float, Floats] | None:  # noqa: ANN401
    """Say what each feature adds to the predictions of rows.

    A linear regressor adds coefficient times standardized value; for trees see
    ``Forest.contributions``. Unlike Shapley values the latter depend on the order of splits, and
    cost one walk down each tree.

    Returns:
        What is predicted where nothing is known, and what each feature adds to it, shape (N, F);
        None for a regressor that is neither.
    """
    if is_linear(estimator):
        linear = estimator[-1]
        parts = estimator[:-1].transform(rows) * linear.coef_
        return float(linear.intercept_), per_feature(estimator, parts, rows.shape[1])
    forest = forest_of(estimator)
    return None if forest is None else (forest.base, forest.contributions(rows))


def is_linear(estimator: Any) -> bool:  # noqa: ANN401 - any regressor
    """Tell whether a fitted regressor is linear in its standardized features."""
    scaled = isinstance(estimator, Pipeline) and "standardscaler" in estimator.named_steps
    return scaled and hasattr(estimator[-1], "coef_")


def per_feature(pipeline: Pipeline, parts: Floats, size: int) -> Floats:
    """Add what belongs to indicators of missing values to their features, (N, P) to (N, F)."""
    whole = parts[:, :size].copy()
    whole[:, pipeline.named_steps["simpleimputer"].indicator_.features_] += parts[:, size:]
    return whole
