"""Regressors of scikit-learn as surrogates, by name and by text."""

import json
import sys
import tomllib
import warnings

import numpy as np
import pytest
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    StackingRegressor,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import LinearRegression, Ridge, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVR
from threadpoolctl import threadpool_limits

from arena.data.errors import MissingDependencyError, UsageError
from surrogate.board.settings import chosen_settings
from surrogate.learning.regression import REGRESSORS, fit_regressor
from surrogate.learning.regressor_text import read, written
from surrogate.learning.saving import check_packages
from surrogate.learning.surrogate import find_surrogate, surrogate_name
from surrogate.learning.training_data import TrainingRows


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


def rows(size=60, seed=0):
    random = np.random.default_rng(seed)
    features = random.normal(size=(size, 4))
    targets = features[:, 0] - 0.5 * features[:, 1]
    missing = features.copy()
    missing[::7, 2] = np.nan
    return TrainingRows(missing, targets, size)


def fitted(name, known, state=0):
    if name == "xgboost":
        pytest.importorskip("xgboost", reason="install the extra xgboost")
    return fit_regressor(name, known, state)


@pytest.mark.parametrize(
    ("name", "plain"),
    [("linear", LinearRegression()), ("svr", SVR()), ("mlp", MLPRegressor(random_state=3))],
)
def test_the_papers_regressors_are_those_of_scikit_learn(name, plain):
    known = rows()
    medians = np.nanmedian(known.features, axis=0)
    filled = np.where(np.isnan(known.features), medians, known.features)
    order = np.lexsort((*known.features.T, known.targets))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        plain.fit(filled[order], known.targets[order])
    found = fitted(name, known, state=3)
    np.testing.assert_allclose(found.predict(known.features), plain.predict(filled), atol=1e-12)


@pytest.mark.parametrize(
    "estimator",
    [
        GradientBoostingRegressor(max_depth=2),
        HistGradientBoostingRegressor(min_samples_leaf=3),
        make_pipeline(StandardScaler(), RidgeCV(alphas=(0.1, 1.0))),
        StackingRegressor([("linear", Ridge()), ("svr", SVR(C=3.0))], Ridge(alpha=0.5)),
        GridSearchCV(Ridge(), {"alpha": np.logspace(-2, 0, 3)}, cv=2),
        GaussianProcessRegressor(RBF() + WhiteKernel(0.1)),
        make_pipeline("passthrough", LinearRegression()),
    ],
    ids=lambda item: type(item).__name__,
)
def test_any_regressor_is_named_by_a_text_that_makes_it_again(estimator):
    name = written(estimator)
    assert written(read(name)) == name
    check_packages(name)
    stated = chosen_settings(None, tomllib.loads(f"surrogate = {json.dumps(name)}"))
    assert stated == chosen_settings(None, {"surrogate": estimator})
    known = rows()
    found = fitted(name, known, state=3)
    assert np.corrcoef(found.predict(known.features), known.targets)[0, 1] > 0.8
    assert find_surrogate(surrogate_name(estimator)).name == name


def test_a_class_is_refused_with_how_to_make_an_object_of_it():
    with pytest.raises(UsageError, match=r"give an object: Ridge\(\)"):
        chosen_settings(None, {"surrogate": Ridge})


@pytest.mark.parametrize(
    "name",
    [
        "os.system",
        "sklearn.linear_model.Nothing",
        "sklearn.preprocessing.StandardScaler",
        "sklearn.linear_model.Ridge(slope=1)",
        "sklearn.pipeline.Pipeline(steps=[], memory='x')",
        "sklearn.linear_model.Ridge(alpha=print(1))",
        "a.b c",
        "numpy.load",
        "sklearn.pipeline.Pipeline(steps=[('a', sklearn.datasets.fetch_openml)])",
    ],
)
def test_a_text_that_names_no_regressor_is_refused(name):
    with pytest.raises(UsageError):
        find_surrogate(name)


def test_a_file_names_estimators_of_known_packages_only():
    with pytest.raises(UsageError, match=r"own\.Regressor"):
        check_packages("sklearn.pipeline.Pipeline(steps=[('a', own.Regressor(b=1))])")
    with pytest.raises(UsageError, match="a surrogate cannot be named by"):
        surrogate_name(make_pipeline(FunctionTransformer(print), Ridge()))


@pytest.mark.slow
@pytest.mark.parametrize("name", REGRESSORS)
def test_every_regressor_learns_from_rows_with_missing_values_and_follows_its_seed(name):
    known = rows()
    predicted = fitted(name, known, 3).predict(known.features)
    assert np.corrcoef(predicted, known.targets)[0, 1] > 0.8
    shuffled = np.random.default_rng(1).permutation(60)
    mixed = TrainingRows(known.features[shuffled], known.targets[shuffled], 60)
    np.testing.assert_array_equal(fitted(name, mixed, 3).predict(known.features), predicted)


def test_xgboost_is_asked_for_by_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    with pytest.raises(MissingDependencyError, match=r"\[xgboost\]"):
        fit_regressor("xgboost", rows(), 0)


def test_more_rows_than_a_regressor_can_take_are_thinned():
    random = np.random.default_rng(0)
    features = random.normal(size=(1500, 2))
    thinned = fitted("svr", TrainingRows(features, features[:, 0], 3))
    assert len(thinned[-1].support_) <= 1000
    assert np.abs(thinned.predict(features) - features[:, 0]).mean() < 0.2
