"""The learners a surrogate judge may use: scikit-learn regressors by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from sklearn.ensemble import (
    ExtraTreesRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import ElasticNet, LinearRegression
from sklearn.neural_network import MLPRegressor
from sklearn.svm import SVR

from arena.errors import MissingDependencyError, UsageError
from surrogate.imputed_regressor import ImputedRegressor
from surrogate.ridge_per_row import RidgePerRow
from surrogate.small_forest import SmallForest

DEFAULT_LEARNER = "random-forest"
TREES = 100
SLOW_LEARNER_ROWS = 1000
"""Rows a learner is given at most whose time grows with their square or cube."""


@dataclass(frozen=True)
class Learner:
    """A family of regressors.

    Attributes:
        final: Random state to the unfitted regressor trained on all tournaments.
        tournament: Random state to the unfitted regressor trained on one tournament.
    """

    final: Callable[[int], Any]
    tournament: Callable[[int], Any]


def random_forest(random_state: int) -> Any:  # noqa: ANN401 - any regressor
    """Random forest of 100 trees (MIRAGE-Bench, section 4.3); missing values go down the trees."""
    return RandomForestRegressor(n_estimators=TREES, random_state=random_state, n_jobs=1)


def small_random_forest(random_state: int) -> Any:  # noqa: ANN401 - any regressor
    """Grow the same forest faster on the few rows of one tournament."""
    return SmallForest(n_estimators=TREES, random_state=random_state)


def extra_trees(random_state: int) -> Any:  # noqa: ANN401 - any regressor
    """Extremely randomised trees: thresholds are drawn, so predictions are smoother."""
    return ExtraTreesRegressor(n_estimators=TREES, random_state=random_state, n_jobs=1)


def gradient_boosting(random_state: int) -> Any:  # noqa: ANN401 - any regressor
    """Boosted trees over binned features; leaves as small as the few systems ask for."""
    boosted = HistGradientBoostingRegressor(
        max_iter=100, max_leaf_nodes=8, min_samples_leaf=2, random_state=random_state
    )
    return ImputedRegressor(boosted)


def xgboost(random_state: int) -> Any:  # noqa: ANN401 - any regressor
    """Boosted trees of xgboost with its defaults (MIRAGE-Bench, table 3).

    Raises:
        MissingDependencyError: If xgboost is not installed.
    """
    try:
        from xgboost import XGBRegressor
    except ImportError as error:
        raise MissingDependencyError("the learner xgboost", "xgboost", "xgboost") from error
    return XGBRegressor(n_estimators=TREES, random_state=random_state % 2**31, n_jobs=1)


def linear(random_state: int) -> Any:  # noqa: ANN401, ARG001 - any regressor; draws nothing
    """Least squares (MIRAGE-Bench, table 3)."""
    return ImputedRegressor(LinearRegression())


def ridge(random_state: int) -> Any:  # noqa: ANN401, ARG001 - any regressor; draws nothing
    """Least squares with a penalty on squared weights."""
    return ImputedRegressor(RidgePerRow(), within_range=True)


def elastic_net(random_state: int) -> Any:  # noqa: ANN401 - any regressor
    """Least squares with a penalty that leaves features out."""
    net = ElasticNet(alpha=0.1, random_state=random_state)
    return ImputedRegressor(net, within_range=True)


def svr(random_state: int) -> Any:  # noqa: ANN401 - any regressor
    """Support vector regression with a radial kernel (MIRAGE-Bench, table 3)."""
    return ImputedRegressor(SVR(), SLOW_LEARNER_ROWS, random_state=random_state)


def mlp(random_state: int) -> Any:  # noqa: ANN401 - any regressor
    """One hidden layer of 100 units (MIRAGE-Bench, table 3)."""
    network = MLPRegressor(hidden_layer_sizes=(100,), max_iter=500, random_state=random_state)
    return ImputedRegressor(network, SLOW_LEARNER_ROWS, random_state=random_state)


def gaussian_process(random_state: int) -> Any:  # noqa: ANN401 - any regressor
    """Gaussian process; its length scale and noise are those of the highest likelihood."""
    kernel = ConstantKernel() * RBF(5.0) + WhiteKernel(0.3)
    process = GaussianProcessRegressor(kernel, normalize_y=True, random_state=random_state)
    return ImputedRegressor(process, SLOW_LEARNER_ROWS // 4, random_state=random_state)


def _always(factory: Callable[[int], Any]) -> Learner:
    return Learner(final=factory, tournament=factory)


LEARNERS: MappingProxyType[str, Learner] = MappingProxyType(
    {
        DEFAULT_LEARNER: Learner(random_forest, small_random_forest),
        "extra-trees": _always(extra_trees),
        "gradient-boosting": _always(gradient_boosting),
        "xgboost": _always(xgboost),
        "linear": _always(linear),
        "ridge": _always(ridge),
        "elastic-net": _always(elastic_net),
        "svr": _always(svr),
        "mlp": _always(mlp),
        "gaussian-process": _always(gaussian_process),
    }
)

TABLE_3_LEARNERS = ("random-forest", "linear", "mlp", "xgboost", "svr")
"""The learners that MIRAGE-Bench compares."""


def find_learner(name: str) -> Learner:
    """Return a learner by name.

    Raises:
        UsageError: If the name is unknown.
    """
    if name not in LEARNERS:
        raise UsageError(f"unknown learner {name!r}; use one of {', '.join(LEARNERS)}")
    return LEARNERS[name]
