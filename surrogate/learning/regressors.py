"""Checks of the rows that this project's own regressors are given, as scikit-learn makes them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn import config_context
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.ensemble import (
    ExtraTreesRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.impute import SimpleImputer
from sklearn.linear_model import ElasticNet, LinearRegression
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from arena.data.errors import MissingDependencyError, UsageError

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


class RidgePerRow(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Least squares plus ``penalty`` times the squared weights, both per unit of row weight.

    Two hundred tournaments give each system two hundred rows and hardly more to learn from. Here
    a row that stands twice counts no more than once with its share of the weight, so the penalty
    means the same for one tournament and for many.

    Attributes:
        penalty: Penalty on the squared weights of standardized features, above 0.
    """

    def __init__(self, penalty: float = 0.5) -> None:
        self.penalty = penalty

    def fit(
        self, features: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
    ) -> Self:
        """Solve the normal equations.

        Args:
            features: Standardized and complete, shape (N, F).
            y: Targets, shape (N,).
            sample_weight: Weight of each row, shape (N,).
        """
        rows, targets, weights = rows_to_fit(self, features, y, sample_weight)
        share = weights / weights.sum()
        center = share @ rows
        self.target_mean_ = float(share @ targets)
        deviations = rows - center
        moments = deviations.T @ (deviations * share[:, None])
        products = deviations.T @ (share * (targets - self.target_mean_))
        self.coef_ = np.linalg.solve(moments + self.penalty * np.eye(len(moments)), products)
        self.center_ = center
        return self

    @property
    def intercept_(self) -> float:
        """Prediction of a row of zeros."""
        return float(self.target_mean_ - self.center_ @ self.coef_)

    def predict(self, features: npt.ArrayLike) -> Floats:
        """Predict, shape (N, F) to (N,)."""
        rows = rows_to_predict(self, features)
        return np.asarray(self.target_mean_ + (rows - self.center_) @ self.coef_)


class SmallForest(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Bootstrapped regression trees, as scikit-learn's ``RandomForestRegressor`` grows them.

    Each tree is grown to purity on a bootstrap of the rows, considers every feature at every
    split, and the forest predicts the mean of its trees. On some 20 rows scikit-learn's forest
    spends most of its time on cloning, seeding and checking trees; this one does not, which
    matters where hundreds of forests are trained (Algorithm 1). Not meant to be saved.

    Attributes:
        n_estimators: Number of trees.
        random_state: Seed.
    """

    def __init__(self, n_estimators: int = 100, random_state: int = 0) -> None:
        self.n_estimators = n_estimators
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 - scikit-learn's tags
        """Say that missing values are taken."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit(
        self, features: npt.ArrayLike, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
    ) -> Self:
        """Grow the trees.

        Args:
            features: Shape (N, F); NaN is a missing value.
            y: Targets, shape (N,).
            sample_weight: How likely a bootstrap draws each row, up to a factor, shape (N,).
        """
        checked, targets, weights = rows_to_fit(self, features, y, sample_weight)
        rows = np.ascontiguousarray(checked, dtype=np.float32)
        goals = np.ascontiguousarray(targets, dtype=np.float64)
        random = np.random.default_rng(self.random_state)
        counts = random.multinomial(len(goals), weights / weights.sum(), size=self.n_estimators)
        # One stream for all trees: seeding one takes about as long as growing a tree.
        stream = np.random.RandomState(int(random.integers(np.iinfo(np.int32).max)))
        # Weights, as in scikit-learn: where features split alike, rounding decides between them,
        # and on rows repeated instead it decides otherwise.
        has_missing = bool(np.isnan(rows).any())
        with config_context(skip_parameter_validation=True, assume_finite=True):
            self.trees_ = [
                DecisionTreeRegressor(random_state=stream)
                .fit(rows, goals, sample_weight=drawn, check_input=has_missing)
                .tree_
                for drawn in counts.astype(np.float64)
            ]
        return self

    def predict(self, features: npt.ArrayLike) -> Floats:
        """Predict the mean over trees, shape (N,)."""
        rows = np.ascontiguousarray(rows_to_predict(self, features), dtype=np.float32)
        return np.asarray(np.mean([tree.predict(rows)[:, 0] for tree in self.trees_], axis=0))

    @property
    def feature_importances_(self) -> Floats:
        """Mean decrease in impurity, shares that sum to 1 (0 where no tree splits), shape (F,)."""
        shares = np.mean([tree.compute_feature_importances() for tree in self.trees_], axis=0)
        total = shares.sum()
        return np.asarray(shares / total if total > 0 else shares)


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
    """Extremely randomized trees: thresholds are drawn, so predictions are smoother."""
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
