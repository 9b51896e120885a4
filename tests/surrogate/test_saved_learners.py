"""Saving surrogates of every learner that can be saved, and refusing crafted files."""

import copy
import zipfile
from dataclasses import replace

import numpy as np
import pytest
import skops.io
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from surrogate.learning.surrogates import (
    LanguageJudge,
    Recipe,
    as_numbers,
    linear_form,
    train_language_judge,
)
from threadpoolctl import threadpool_limits

from arena.data.errors import UsageError
from surrogate import SurrogateJudge, load_judge, save_judge
from surrogate.learning.regressors import LEARNERS, find_learner
from surrogate.learning.saving import SAVED_LEARNERS, check_savable, stored, trusted
from surrogate.learning.tensor import FeatureTensor

LINEAR = ("linear", "ridge", "elastic-net")
FEATURES = ("f0", "f1", "f2", "f3")
P = 5
"""The four features and an indicator of where the second is missing."""


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


def tensor_of(values):
    systems = tuple(f"s{index:02}" for index in range(len(values)))
    questions = tuple(f"q{index:02}" for index in range(values.shape[1]))
    answered = np.ones(values.shape[:2], dtype=bool)
    return FeatureTensor("en", systems, questions, FEATURES, values, answered)


@pytest.fixture(scope="module")
def tensor():
    random = np.random.default_rng(0)
    values = random.normal(size=(12, 6, 4)) + random.normal(size=(12, 1, 4))
    values[random.random(values.shape) < 0.2] = np.nan
    values[3, :, 1] = np.nan
    values[:, :, 3] = 0.25
    return tensor_of(values)


def judge_of(tensor, learner, rows="system", trees=20):
    random = np.random.default_rng(1)
    draws = random.multinomial(6, np.full(6, 1 / 6), size=8)
    targets = np.nan_to_num(tensor.means()[0]).sum(axis=1) + random.normal(size=(8, 12)) / 10
    regressor = find_learner(learner).final(0)
    if learner not in LINEAR:
        regressor.set_params(n_estimators=trees)
    trained = train_language_judge(tensor, draws, targets, Recipe(learner, rows), regressor)
    return SurrogateJudge(FEATURES, {"en": trained}, f"model:{learner}")


@pytest.mark.parametrize("learner", SAVED_LEARNERS)
@pytest.mark.parametrize("rows", ["system", "question"])
def test_what_is_read_predicts_the_same_bits(tensor, tmp_path, learner, rows):
    judge = judge_of(tensor, learner, rows)
    save_judge(judge, tmp_path / "judge.skops")
    read = load_judge(tmp_path / "judge.skops").languages["en"]
    assert read.recipe == Recipe(learner, rows)
    unseen = tensor_of(3.0 * np.nan_to_num(tensor.values[::-1], nan=0.5))
    for asked in (tensor, unseen):
        np.testing.assert_array_equal(read.predict(asked), judge.languages["en"].predict(asked))
    assert read.importances() == judge.languages["en"].importances()
    assert sum(read.importances().values()) == pytest.approx(1.0)


@pytest.mark.parametrize("learner", SAVED_LEARNERS)
def test_what_was_read_can_be_saved_again(tensor, tmp_path, learner):
    first, second = tmp_path / "first.skops", tmp_path / "second.skops"
    save_judge(judge_of(tensor, learner), first)
    save_judge(load_judge(first), second)
    once, twice = (load_judge(path).languages["en"].predict(tensor) for path in (first, second))
    np.testing.assert_array_equal(once, twice)


@pytest.mark.parametrize("learner", LINEAR)
def test_a_file_of_a_linear_surrogate_holds_arrays_only(tensor, tmp_path, learner):
    path = tmp_path / "judge.skops"
    save_judge(judge_of(tensor, learner), path)
    assert skops.io.get_untrusted_types(file=path) == []
    with zipfile.ZipFile(path) as packed:
        assert b"sklearn" not in packed.read("schema.json")


@pytest.mark.parametrize("learner", sorted(set(LEARNERS) - set(SAVED_LEARNERS)))
def test_other_learners_cannot_be_saved_and_it_is_said_which_can(learner):
    saved = "random-forest, extra-trees, linear, ridge, elastic-net"
    with pytest.raises(UsageError, match=f"{learner} cannot be saved.*; use one of {saved}"):
        check_savable(learner)
    with pytest.raises(UsageError, match=f"{learner} cannot be saved"):
        trusted({}, learner, 4)


def test_a_learner_that_does_not_exist_is_refused():
    with pytest.raises(UsageError, match="unknown learner 'oracle'; use one of random-forest"):
        check_savable("oracle")


def test_a_regressor_of_another_learner_is_not_stored():
    with pytest.raises(UsageError, match="a ExtraTreesRegressor is no regressor of learner ridge"):
        stored(ExtraTreesRegressor(), "ridge")


def crafted(tensor, learner, tmp_path, content):
    """Return a file that says it is of a learner and holds something else."""
    real, path = tmp_path / "real.skops", tmp_path / "judge.skops"
    save_judge(judge_of(tensor, learner), real)
    whole = skops.io.load(real, trusted=["sklearn.tree._tree.Tree"])
    skops.io.dump(whole | {"estimators": {"en": content}}, path)
    return path


def numbers_of(tensor, **changed):
    form = linear_form(judge_of(tensor, "ridge").languages["en"].estimator)
    return as_numbers(form) | changed


NAN = np.full(P, np.nan)
SHAPE = "of its linear regressor have the wrong type or shape"
PROPER = "holds values that are no proper numbers"
FOREIGN_ARRAYS = {
    "a short array": ({"coefficients": np.ones(P - 1)}, f"the coefficients {SHAPE}"),
    "a matrix": ({"means": np.ones((P, P))}, f"the means {SHAPE}"),
    "whole numbers": ({"center": np.ones(P, dtype=np.int64)}, f"the center {SHAPE}"),
    "a list": ({"scales": [1.0] * P}, f"the scales {SHAPE}"),
    "objects": ({"low": np.array([None] * P, dtype=object)}, f"the low {SHAPE}"),
    "an estimator": ({"medians": SimpleImputer()}, f"the medians {SHAPE}"),
    "no number": ({"intercept": np.ones(1)}, f"the intercept {SHAPE}"),
    "NaN coefficients": ({"coefficients": NAN}, PROPER),
    "an infinite mean": ({"means": NAN * 0 + np.inf}, PROPER),
    "a NaN bound": ({"high": NAN}, PROPER),
    "scales of 0": ({"scales": np.zeros(P)}, PROPER),
    "crossed bounds": ({"low": np.ones(P), "high": np.zeros(P)}, PROPER),
    "other features": ({"indicated": np.ones(3, dtype=bool)}, "not fitted on the features"),
    "indicators": ({"indicated": np.zeros(4, dtype=bool)}, SHAPE),
    "a further entry": ({"hook": np.ones(P)}, "it holds other entries, not the numbers of"),
}


@pytest.mark.parametrize(("changed", "message"), FOREIGN_ARRAYS.values(), ids=FOREIGN_ARRAYS)
def test_crafted_numbers_are_refused(tensor, tmp_path, changed, message):
    assert numbers_of(tensor)["coefficients"].shape == (P,)
    path = crafted(tensor, "ridge", tmp_path, numbers_of(tensor, **changed))
    with pytest.raises(UsageError, match=f"judge.skops is not a trained judge: .*{message}"):
        load_judge(path)


def forest_of(tensor, learner):
    return copy.deepcopy(judge_of(tensor, learner).languages["en"].estimator)


@pytest.mark.parametrize(
    ("learner", "held", "message"),
    [
        ("ridge", Ridge(), "it holds a Ridge, not the numbers of a linear regressor"),
        ("ridge", [1.0], "it holds a list, not the numbers"),
        ("extra-trees", {}, "it holds a dict, not a ExtraTreesRegressor"),
        ("extra-trees", ExtraTreesRegressor(), "its forest is not fitted on the features it names"),
    ],
)
def test_another_type_inside_is_refused(tensor, tmp_path, learner, held, message):
    with pytest.raises(UsageError, match=message):
        load_judge(crafted(tensor, learner, tmp_path, held))


def test_one_forest_is_not_taken_for_another(tensor, tmp_path):
    for learner, other in (("extra-trees", "random-forest"), ("random-forest", "extra-trees")):
        path = crafted(tensor, learner, tmp_path, forest_of(tensor, other))
        with pytest.raises(UsageError, match=r"it holds a \w+Regressor, not a \w+Regressor"):
            load_judge(path)
        mixed = forest_of(tensor, learner)
        mixed.estimators_[5] = forest_of(tensor, other).estimators_[5]
        with pytest.raises(UsageError, match="its forest holds a broken tree"):
            load_judge(crafted(tensor, learner, tmp_path, mixed))


def broken(forest, **nodes):
    tree = forest.estimators_[3].tree_
    state = tree.__getstate__()
    for name, value in nodes.items():
        if name == "value":
            state["values"][0] = value
        else:
            state["nodes"][name][0] = value
    tree.__setstate__(state)
    return forest


@pytest.mark.parametrize(
    "nodes",
    [
        {"left_child": 0},
        {"right_child": 10_000},
        {"left_child": -1},
        {"feature": 4},
        {"feature": -2},
        {"threshold": np.nan},
        {"value": np.nan},
    ],
    ids=str,
)
def test_broken_extra_trees_are_refused(tensor, tmp_path, nodes):
    path = crafted(
        tensor, "extra-trees", tmp_path, broken(forest_of(tensor, "extra-trees"), **nodes)
    )
    with pytest.raises(UsageError, match="its forest holds a broken tree"):
        load_judge(path)


@pytest.mark.parametrize(
    "changed", [{"predict": np.exp}, {"n_jobs": 64}, {"_validate_X_predict": np.exp}], ids=str
)
def test_a_forest_with_something_in_the_place_of_its_methods_is_refused(tensor, tmp_path, changed):
    forest = forest_of(tensor, "extra-trees")
    vars(forest).update(changed)
    with pytest.raises(UsageError, match="its forest holds what no forest of this project holds"):
        load_judge(crafted(tensor, "extra-trees", tmp_path, forest))
    forest = forest_of(tensor, "extra-trees")
    vars(forest.estimators_[0]).update({"predict": np.exp})
    with pytest.raises(UsageError, match="broken tree"):
        load_judge(crafted(tensor, "extra-trees", tmp_path, forest))


def test_a_linear_form_is_by_hand():
    rows, goals = np.array([[0.0], [2.0], [np.nan], [4.0]]), np.array([0.0, 2.0, 7.0, 4.0])
    regressor = find_learner("linear").final(0).fit(rows, goals)
    form = linear_form(regressor)
    np.testing.assert_array_equal(form.medians, [2.0])
    np.testing.assert_allclose(form.predict([[1.0], [np.nan], [6.0]]), [1.0, 7.0, 6.0], atol=1e-12)
    added = form.contributions([[1.0], [np.nan]])
    np.testing.assert_allclose(form.intercept + added[:, 0], [1.0, 7.0], atol=1e-12)
    assert form.shares == [1.0]
    judge = LanguageJudge("en", ("f0",), ("a", "b"), Recipe("linear"), regressor)
    assert judge.importances() == {"f0": 1.0}
    flat = replace(form, coefficients=np.zeros(2))
    assert flat.shares == [0.0]


def test_a_forest_is_stored_as_it_is_in_files_of_earlier_versions(tensor, tmp_path):
    save_judge(judge_of(tensor, "random-forest"), tmp_path / "judge.skops")
    trees = ["sklearn.tree._tree.Tree"]
    assert skops.io.get_untrusted_types(file=tmp_path / "judge.skops") == trees
    held = skops.io.load(tmp_path / "judge.skops", trusted=trees)
    assert held["format"] == 1
    assert type(held["estimators"]["en"]) is RandomForestRegressor
