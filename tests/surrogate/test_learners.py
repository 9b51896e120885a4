"""The table of learners: all take missing values and weights, and follow their seed."""

import sys

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_limits

from arena.data.errors import MissingDependencyError
from surrogate.learning.regressors import (
    LEARNERS,
    TABLE_3_LEARNERS,
    ImputedRegressor,
    RidgePerRow,
    find_learner,
)

NAMES = (
    *("random-forest", "extra-trees", "gradient-boosting", "xgboost", "linear", "ridge"),
    *("elastic-net", "svr", "mlp", "gaussian-process"),
)


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
    return missing, targets, random.integers(1, 4, size).astype(float)


def learner(name):
    if name == "xgboost":
        pytest.importorskip("xgboost", reason="xgboost is an extra")
    return find_learner(name)


def test_the_table_is_complete():
    assert tuple(LEARNERS) == NAMES
    assert set(TABLE_3_LEARNERS) <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_learner_learns_from_rows_with_missing_values(name):
    features, targets, weights = rows()
    for factory in {learner(name).final, learner(name).tournament}:
        fitted = factory(3).fit(features, targets, sample_weight=weights)
        predicted = fitted.predict(features)
        assert predicted.shape == targets.shape
        assert np.corrcoef(predicted, targets)[0, 1] > 0.8
        again = factory(3).fit(features, targets, sample_weight=weights).predict(features)
        np.testing.assert_array_equal(again, predicted)


@pytest.mark.parametrize("name", NAMES)
def test_a_feature_without_any_value_is_borne(name):
    features, targets, weights = rows()
    features[:, 3] = np.nan
    fitted = learner(name).final(0).fit(features, targets, sample_weight=weights)
    assert np.isfinite(fitted.predict(features)).all()


def test_xgboost_is_asked_for_by_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    with pytest.raises(MissingDependencyError, match=r"surrogate-arena\[xgboost\]"):
        find_learner("xgboost").final(0)


def test_medians_and_scales_are_those_of_the_training_rows():
    features, targets, _ = rows()
    fitted = ImputedRegressor(Ridge()).fit(features, targets)
    alone = fitted.predict(features[:1])
    beside = fitted.predict(np.concatenate([features[:1], 1e6 * features[1:]]))
    assert alone[0] == pytest.approx(beside[0])


def test_values_out_of_range_are_taken_as_the_nearest_in_range():
    features = np.arange(5.0)[:, None]
    fitted = ImputedRegressor(RidgePerRow(1e-9), within_range=True).fit(features, np.arange(5.0))
    np.testing.assert_allclose(fitted.predict([[2.5], [100.0]]), [2.5, 4.0], atol=1e-6)


def test_rounding_errors_of_a_constant_feature_are_not_scaled_up():
    features, targets, _ = rows()
    features[:, 3] = 0.1 + 1e-15 * np.arange(60)
    new = features[:1].copy()
    new[0, 3] = 0.2
    predicted = find_learner("linear").final(0).fit(features, targets).predict(new)
    assert predicted[0] == pytest.approx(targets[0])


def test_more_rows_than_a_learner_can_take_are_thinned_by_weight():
    features, targets, _ = rows()
    weights = (np.arange(60) < 20).astype(float)
    thinned = ImputedRegressor(Ridge(), most_rows=30).fit(features, targets, weights)
    alone = ImputedRegressor(Ridge()).fit(features[:20], targets[:20])
    np.testing.assert_allclose(thinned.predict(features), alone.predict(features))


def test_ridge_is_that_of_scikit_learn_and_repeated_rows_change_nothing():
    features, targets, weights = rows()
    features = np.nan_to_num(features)
    ours = RidgePerRow(0.5).fit(features, targets, weights)
    theirs = Ridge(alpha=0.5 * weights.sum()).fit(features, targets, sample_weight=weights)
    np.testing.assert_allclose(ours.predict(features), theirs.predict(features))
    thrice = RidgePerRow(0.5).fit(*(np.repeat(part, 3, axis=0) for part in (features, targets)))
    once = RidgePerRow(0.5).fit(features, targets)
    np.testing.assert_allclose(thrice.coef_, once.coef_)
