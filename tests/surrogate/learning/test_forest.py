"""Forests as plain arrays: the predictions of scikit-learn's, and refusal of broken ones."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor

from arena.data.errors import UsageError
from surrogate.learning.regression.forest import Forest, as_arrays, checked_forest, forest_of


@pytest.fixture(scope="module")
def known():
    random = np.random.default_rng(0)
    features = random.normal(size=(80, 5)).round(1)
    features[random.random(features.shape) < 0.2] = np.nan
    return features, np.nan_to_num(features).sum(axis=1) + random.normal(size=80)


@pytest.fixture(scope="module")
def forest(known):
    return forest_of(RandomForestRegressor(7, random_state=0).fit(*known))


@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor])
@pytest.mark.parametrize("gaps", [True, False])
def test_predictions_are_those_of_scikit_learn(known, kind, gaps):
    features, targets = known
    if not gaps:
        features = np.nan_to_num(features)
    estimator = kind(20, random_state=1).fit(features, targets)
    asked = np.random.default_rng(2).normal(size=(300, 5))
    asked[::3, 1] = np.nan
    found = forest_of(estimator)
    for rows in (features, asked if gaps else np.nan_to_num(asked)):
        np.testing.assert_allclose(found.predict(rows), estimator.predict(rows), atol=1e-12)
        total = found.base + found.contributions(rows).sum(axis=1)
        np.testing.assert_allclose(total, estimator.predict(rows), atol=1e-9)
    np.testing.assert_array_equal(found.feature_importances_, estimator.feature_importances_)


def test_contributions_of_a_stump_are_by_hand():
    rows, goals = np.array([[0.0, 5.0], [1.0, 5.0]]), np.array([-1.0, 3.0])
    stump = RandomForestRegressor(n_estimators=3, bootstrap=False, random_state=0).fit(rows, goals)
    found = forest_of(stump)
    assert found.base == pytest.approx(1.0)
    np.testing.assert_allclose(found.contributions(rows), [[-2.0, 0.0], [2.0, 0.0]])


def test_a_forest_of_leaves_predicts_their_mean():
    flat = RandomForestRegressor(3, random_state=0).fit(np.zeros((4, 2)), np.ones(4))
    np.testing.assert_array_equal(forest_of(flat).predict(np.zeros((2, 2))), [1.0, 1.0])


def test_arrays_make_the_same_forest_again(forest, known):
    again = checked_forest(as_arrays(forest), 5)
    np.testing.assert_array_equal(again.predict(known[0]), forest.predict(known[0]))
    assert forest_of(again) is again
    assert forest_of("no forest") is None


def changed(forest, name, place, value):
    array = getattr(forest, name).copy()
    array[place] = value
    return as_arrays(replace(forest, **{name: array}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("right", child) for child in (1, -1, -7, 10**6)],
        *[("feature", feature) for feature in (5, -1)],
        *[("roots", root) for root in (-1, 10**6)],
        ("threshold", np.nan),
        ("value", np.inf),
        ("feature_importances_", np.nan),
    ],
)
def test_broken_trees_are_refused(forest, name, value):
    with pytest.raises(UsageError, match="broken tree"):
        checked_forest(changed(forest, name, 0, value), 5)


def test_arrays_of_another_kind_are_refused(forest):
    arrays = as_arrays(forest)
    with pytest.raises(UsageError, match="the feature_importances_ of its forest have the wrong"):
        checked_forest(arrays, 4)
    with pytest.raises(UsageError, match="the value of its forest have the wrong"):
        checked_forest(arrays | {"value": arrays["value"].astype(np.float32)}, 5)
    with pytest.raises(UsageError, match="the right of its forest have the wrong"):
        checked_forest(arrays | {"right": arrays["right"][:-1]}, 5)
    with pytest.raises(UsageError, match="other arrays"):
        checked_forest({"roots": arrays["roots"]}, 5)
    assert isinstance(checked_forest(arrays, 5), Forest)
