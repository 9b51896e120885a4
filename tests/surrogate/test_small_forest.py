"""The forest for few rows against scikit-learn's own."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor

from arena.data.errors import UsageError
from surrogate.learning.regressors import LEARNERS, SmallForest, find_learner


def rows(seed=0, size=17, missing=False):
    random = np.random.default_rng(seed)
    features = random.normal(size=(size, 5))
    targets = 2 * features[:, 0] + features[:, 1] + 0.3 * random.normal(size=size)
    if missing:
        features[random.random(features.shape) < 0.1] = np.nan
    return features, targets, random.normal(size=(6, 5))


@pytest.mark.parametrize("missing", [False, True])
def test_trees_are_distributed_as_in_scikit_learn(missing):
    features, targets, new = rows(missing=missing)
    ours = SmallForest(1500, random_state=1).fit(features, targets)
    theirs = RandomForestRegressor(1500, random_state=1).fit(features, targets)
    trees = np.array([tree.predict(new.astype(np.float32)) for tree in theirs.estimators_])
    error = trees.std(axis=0) * np.sqrt(2 / 1500)
    assert (np.abs(ours.predict(new) - theirs.predict(new)) < 5 * error).all()
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=0.03)
    assert ours.feature_importances_.sum() == pytest.approx(1.0)


def test_one_seed_gives_one_forest():
    features, targets, new = rows()
    forest = SmallForest(20, random_state=4)
    first = forest.fit(features, targets).predict(new)
    np.testing.assert_array_equal(clone(forest).fit(features, targets).predict(new), first)
    other = SmallForest(20, random_state=5).fit(features, targets).predict(new)
    assert (other != first).any()


def test_rows_without_weight_are_never_drawn():
    features, targets, new = rows()
    weights = np.arange(17) < 8
    forest = SmallForest(30, random_state=0).fit(features, targets, weights)
    alone = SmallForest(30, random_state=0).fit(features[:8], targets[:8])
    assert forest.predict(new).min() >= targets[:8].min()
    assert forest.predict(new).max() <= targets[:8].max()
    assert np.corrcoef(forest.predict(new), alone.predict(new))[0, 1] > 0.9


def test_constant_targets_have_no_importances():
    features, _, new = rows()
    forest = SmallForest(5, random_state=0).fit(features, np.ones(17))
    np.testing.assert_array_equal(forest.predict(new), np.ones(6))
    np.testing.assert_array_equal(forest.feature_importances_, np.zeros(5))


def test_learners_are_found_by_name():
    assert find_learner("random-forest") is LEARNERS["random-forest"]
    with pytest.raises(UsageError, match="unknown learner 'oracle'; use one of random-forest"):
        find_learner("oracle")


def test_a_tree_grows_until_it_knows_every_row_of_its_bootstrap():
    features, targets, _ = rows()
    weights = np.arange(17) < 6
    found = SmallForest(1, random_state=2).fit(features, targets, weights).predict(features[:6])
    known = np.isclose(found, targets[:6])
    assert 2 <= known.sum() <= 6
    np.testing.assert_array_equal(np.isin(found.round(9), targets[:6].round(9)), True)


def test_values_may_be_missing_in_new_rows_alone():
    features, targets, new = rows()
    forest = SmallForest(30, random_state=0).fit(features, targets)
    new[:, 0] = np.nan
    found = forest.predict(new)
    assert ((found >= targets.min()) & (found <= targets.max())).all()
