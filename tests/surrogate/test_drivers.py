"""What moved a rating: contributions that add up to it."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from surrogate.learning.surrogates import LanguageJudge, Recipe, train_language_judge

from surrogate.learning.regressors import find_learner
from surrogate.learning.saving import SAVED_LEARNERS
from surrogate.learning.tensor import FeatureTensor
from surrogate.ranking.explanations import has_drivers, rating_drivers

FEATURES = ("f0", "f1", "f2")


def tensor_of(values):
    values = np.asarray(values, dtype=float)
    systems = tuple(f"s{index:02}" for index in range(len(values)))
    questions = tuple(f"q{index:02}" for index in range(values.shape[1]))
    answered = np.ones(values.shape[:2], dtype=bool)
    return FeatureTensor("en", systems, questions, FEATURES[: values.shape[2]], values, answered)


@pytest.fixture(scope="module")
def tensor():
    random = np.random.default_rng(0)
    values = random.normal(size=(10, 6, 3)) + random.normal(size=(10, 1, 3))
    values[random.random(values.shape) < 0.2] = np.nan
    values[3, :, 1] = np.nan
    return tensor_of(values)


def trained(tensor, recipe):
    random = np.random.default_rng(1)
    draws = random.multinomial(6, np.full(6, 1 / 6), size=8)
    targets = np.nan_to_num(tensor.means()[0]).sum(axis=1) + random.normal(size=(8, 10)) / 10
    return train_language_judge(
        tensor, draws, targets, recipe, find_learner(recipe.learner).final(0)
    )


@pytest.mark.parametrize("learner", SAVED_LEARNERS)
@pytest.mark.parametrize("rows", ["system", "question"])
def test_base_and_contributions_add_up_to_the_rating(tensor, learner, rows):
    judge = trained(tensor, Recipe(learner, rows))
    found = rating_drivers(judge, tensor)
    total = found.base + found.contributions.sum(axis=1)
    np.testing.assert_allclose(total, judge.predict(tensor), rtol=0, atol=1e-9)


def test_contributions_of_a_stump_are_by_hand():
    rows, goals = np.array([[0.0, 5.0], [1.0, 5.0]]), np.array([-1.0, 3.0])
    forest = RandomForestRegressor(n_estimators=3, bootstrap=False, random_state=0)
    judge = LanguageJudge("en", ("f0", "f1"), ("a", "b"), Recipe(), forest.fit(rows, goals))
    found = rating_drivers(judge, tensor_of([[[0.0, 5.0]], [[1.0, 5.0]]]))
    assert found.base == pytest.approx(1.0)
    np.testing.assert_allclose(found.contributions, [[-2.0, 0.0], [2.0, 0.0]])
    assert found.largest_first(0) == [{"feature": "f0", "contribution": -2.0}]


def test_the_largest_comes_first_whatever_its_sign(tensor):
    found = rating_drivers(trained(tensor, Recipe()), tensor)
    for system in range(10):
        sizes = [abs(entry["contribution"]) for entry in found.largest_first(system)]
        assert sizes == sorted(sizes, reverse=True)


def test_a_system_without_values_has_no_drivers(tensor):
    judge = trained(tensor, Recipe())
    found = rating_drivers(judge, tensor_of(np.full((1, 2, 3), np.nan)))
    assert np.isnan(found.contributions).all()
    assert found.largest_first(0) == []


def test_a_learner_neither_of_trees_nor_linear_has_no_drivers(tensor):
    judge = trained(tensor, Recipe("svr"))
    assert rating_drivers(judge, tensor) is None
    assert not has_drivers(judge)
    assert has_drivers(trained(tensor, Recipe("ridge")))
