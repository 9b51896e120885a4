"""The table of regressors: all take missing values and weights, and follow their seed."""

import re
import sys
import warnings

import numpy as np
import pytest
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    StackingRegressor,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, Ridge, RidgeCV
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVR
from sklearn.utils.validation import has_fit_parameter
from threadpoolctl import threadpool_limits

from arena.data.errors import MissingDependencyError, UsageError
from surrogate.learning.names import as_surrogate, find_surrogate
from surrogate.learning.regression.estimators import check_packages, read, written
from surrogate.learning.regression.regressors import (
    REGRESSORS,
    RIDGE,
    contributions,
    fit_regressor,
    is_linear,
    shares,
)
from surrogate.learning.surrogate import FEW_TREES, TREES
from surrogate.learning.training import TrainingRows

EXTRA_TREES = "sklearn.ensemble.ExtraTreesRegressor"


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
    return TrainingRows(missing, targets, random.integers(1, 4, size).astype(float), size)


def fitted(name, known, state=0, trees=TREES):
    if name == "xgboost":
        pytest.importorskip("xgboost", reason="install the extra xgboost")
    return fit_regressor(name, known, state, trees)


@pytest.mark.parametrize("plain", [LinearRegression(), SVR(), MLPRegressor(random_state=3)])
def test_regressors_named_by_their_path_are_those_of_scikit_learn(plain):
    known = rows()
    medians = np.nanmedian(known.features, axis=0)
    filled = np.where(np.isnan(known.features), medians, known.features)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        weighted = has_fit_parameter(plain, "sample_weight")  # all from scikit-learn 1.7 on
        plain.fit(filled, known.targets, **({"sample_weight": known.weights} if weighted else {}))
    found = fitted(f"{type(plain).__module__}.{type(plain).__name__}", known, state=3)
    np.testing.assert_allclose(found.predict(known.features), plain.predict(filled), atol=1e-12)
    assert not is_linear(found)
    assert contributions(found, known.features) is None
    assert np.isnan(shares(found, 4)).all()


@pytest.mark.parametrize(
    "estimator",
    [
        GradientBoostingRegressor(max_depth=2),
        HistGradientBoostingRegressor(min_samples_leaf=3),
        make_pipeline(StandardScaler(), RidgeCV(alphas=(0.1, 1.0))),
        StackingRegressor([("ridge", Ridge()), ("svr", SVR(C=3.0))], Ridge(alpha=0.5)),
    ],
    ids=lambda item: type(item).__name__,
)
def test_any_regressor_is_named_by_a_text_that_makes_it_again(estimator):
    name = written(estimator)
    assert written(read(name)) == name
    check_packages(name)
    known = rows()
    found = fitted(name, known, state=3)
    assert np.corrcoef(found.predict(known.features), known.targets)[0, 1] > 0.8
    assert as_surrogate(estimator).name == name


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("os.system", "os.system is no estimator"),
        ("sklearn.linear_model.Nothing", "there is no sklearn.linear_model.Nothing"),
        ("sklearn.preprocessing.StandardScaler", "is no regressor"),
        ("sklearn.linear_model.Ridge(slope=1)", "unexpected keyword argument 'slope'"),
        ("sklearn.pipeline.Pipeline(steps=[], memory='x')", "other than memory"),
        ("sklearn.linear_model.Ridge(alpha=print(1))", "does not name an estimator"),
        ("a.b c", "does not name an estimator"),
    ],
)
def test_a_text_that_names_no_regressor_is_refused(name, said):
    with pytest.raises(UsageError, match=re.escape(said)):
        find_surrogate(name)


def test_a_file_names_estimators_of_known_packages_only():
    with pytest.raises(UsageError, match=r"own.Regressor is of no package among sklearn"):
        check_packages("sklearn.pipeline.Pipeline(steps=[('a', own.Regressor(b=1))])")
    with pytest.raises(UsageError, match="a surrogate cannot be named by"):
        as_surrogate(make_pipeline(FunctionTransformer(np.median), Ridge()))


@pytest.mark.parametrize("trees", [FEW_TREES, TREES])
@pytest.mark.parametrize("name", REGRESSORS)
def test_every_regressor_learns_from_rows_with_missing_values(name, trees):
    known = rows()
    predicted = fitted(name, known, 3, trees).predict(known.features)
    assert predicted.shape == known.targets.shape
    assert np.corrcoef(predicted, known.targets)[0, 1] > 0.8
    again = fitted(name, known, 3, trees).predict(known.features)
    np.testing.assert_array_equal(again, predicted)


@pytest.mark.parametrize("name", REGRESSORS)
def test_a_feature_without_any_value_is_borne(name):
    known = rows()
    known.features[:, 3] = np.nan
    assert np.isfinite(fitted(name, known).predict(known.features)).all()


def test_xgboost_is_asked_for_by_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    with pytest.raises(MissingDependencyError, match=r"surrogate-arena\[xgboost\]"):
        fit_regressor("xgboost", rows(), 0)


def test_medians_and_scales_are_those_of_the_training_rows():
    known = rows()
    ridge = fitted("linear", known)
    alone = ridge.predict(known.features[:1])
    beside = ridge.predict(np.concatenate([known.features[:1], 1e6 * known.features[1:]]))
    assert alone[0] == pytest.approx(beside[0])


def test_values_out_of_range_are_taken_as_the_nearest_in_range():
    features = np.arange(5.0)[:, None]
    ridge = fitted("ridge", TrainingRows(features, np.arange(5.0), np.ones(5), 5))
    low, inside, high, beyond = ridge.predict([[0.0], [2.5], [4.0], [100.0]])
    assert low < inside < high
    assert beyond == pytest.approx(high)


def test_rounding_errors_of_a_constant_feature_are_not_scaled_up():
    known = rows()
    known.features[:, 3] = 0.1 + 1e-15 * np.arange(60)
    new = known.features[:1].copy()
    new[0, 3] = 0.2
    assert fitted("linear", known).predict(new)[0] == pytest.approx(known.targets[0])


def test_more_rows_than_a_regressor_can_take_are_thinned_by_weight():
    random = np.random.default_rng(0)
    features = random.normal(size=(1500, 2))
    targets = np.where(np.arange(1500) < 900, features[:, 0], 50.0)
    weights = (np.arange(1500) < 900).astype(float)
    thinned = fitted("svr", TrainingRows(features, targets, weights, 3)).predict(features[:900])
    assert np.abs(thinned - features[:900, 0]).max() < 5


def test_a_row_that_stands_three_times_counts_as_once_with_three_times_its_weight():
    known = rows()
    thrice = TrainingRows(
        np.repeat(known.features, 3, axis=0),
        np.repeat(known.targets, 3),
        np.repeat(known.weights, 3),
        known.systems,
    )
    once, again = (fitted("ridge", part) for part in (known, thrice))
    np.testing.assert_allclose(once.predict(known.features), again.predict(known.features))
    prepared = once[:-1].transform(known.features)
    alone = Ridge(RIDGE * known.weights.sum()).fit(prepared, known.targets, known.weights)
    np.testing.assert_allclose(once.predict(known.features), alone.predict(prepared))


@pytest.mark.parametrize("name", ["random-forest", "linear", "ridge", EXTRA_TREES])
def test_base_and_contributions_add_up_to_the_prediction(name):
    known = rows()
    estimator = fitted(name, known)
    base, added = contributions(estimator, known.features)
    total = base + added.sum(axis=1)
    np.testing.assert_allclose(total, estimator.predict(known.features), rtol=0, atol=1e-9)
    assert shares(estimator, 4).sum() == pytest.approx(1)
    assert shares(estimator, 4).argmax() == 0


def test_a_regressor_neither_of_trees_nor_linear_has_no_contributions():
    estimator = fitted("svr", rows())
    assert contributions(estimator, rows().features) is None
    assert not is_linear(estimator)
    assert np.isnan(shares(estimator, 4)).all()
