"""Shapley values against their definition, and the shares of features made of them."""

import sys
from importlib.util import find_spec
from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
import pytest

from arena.data.errors import MissingDependencyError, UsageError
from surrogate.learning.regression.regressors import fit_regressor
from surrogate.learning.surrogate import FEW_TREES, TREES
from surrogate.learning.training import TrainingRows
from surrogate.validation import importances
from surrogate.validation.shapley import EXPLAINED, shapley_values

needs_shap = pytest.mark.skipif(find_spec("shap") is None, reason="the package shap is missing")
FORMS = (FEW_TREES, TREES)


def by_definition(predict, rows):
    """Weighted gains over all subsets; what is unknown takes the value of each row in turn."""
    size = rows.shape[1]
    subsets = [part for count in range(size + 1) for part in combinations(range(size), count)]
    known = np.array([np.isin(range(size), part) for part in subsets])
    mixed = np.where(known[None, :, None], rows[:, None, None], rows[None, None])
    worth = predict(mixed.reshape(-1, size)).reshape(mixed.shape[:3]).mean(axis=2)
    values = np.zeros(rows.shape)
    for feature in range(size):
        for place, part in enumerate(subsets):
            if feature not in part:
                after = subsets.index(tuple(sorted((*part, feature))))
                orders = factorial(len(part)) * factorial(size - len(part) - 1)
                gain = worth[:, after] - worth[:, place]
                values[:, feature] += orders / factorial(size) * gain
    return values


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).normal(size=(14, 4))


@pytest.fixture(scope="module")
def targets(rows):
    return 2 * rows[:, 0] + rows[:, 1] * rows[:, 2]


@pytest.fixture(scope="module")
def gaps(rows):
    return np.where(np.random.default_rng(1).random(rows.shape) < 0.2, np.nan, rows)


def fitted(learner, form, rows, targets):
    if learner == "xgboost":
        pytest.importorskip("xgboost", reason="the package xgboost is missing")
    known = TrainingRows(rows, targets, np.ones(len(targets)), len(targets))
    return fit_regressor(learner, known, 0, form)


@needs_shap
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("learner", EXPLAINED)
def test_values_are_those_of_the_definition(learner, form, rows, targets):
    regressor = fitted(learner, form, rows, targets)
    expected = by_definition(regressor.predict, rows)
    np.testing.assert_allclose(shapley_values(regressor, rows), expected, rtol=0, atol=1e-5)


@needs_shap
@pytest.mark.parametrize("learner", EXPLAINED)
def test_missing_values_go_where_the_surrogate_sends_them(learner, gaps, targets):
    regressor = fitted(learner, FEW_TREES, gaps, targets)
    expected = by_definition(regressor.predict, gaps)
    np.testing.assert_allclose(shapley_values(regressor, gaps), expected, rtol=0, atol=1e-5)


@needs_shap
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("learner", EXPLAINED)
def test_values_add_up_to_the_prediction(learner, form, gaps, targets):
    regressor = fitted(learner, form, gaps, targets)
    predicted = regressor.predict(gaps)
    total = shapley_values(regressor, gaps).sum(axis=1) + predicted.mean()
    np.testing.assert_allclose(total, predicted, rtol=0, atol=1e-5)


@needs_shap
@pytest.mark.parametrize("learner", ["random-forest"])
@pytest.mark.parametrize("form", FORMS)
def test_values_that_single_precision_just_tells_apart_are_told_apart(learner, form, rows):
    close = np.where(np.arange(len(rows)) % 2, 8.0, np.nextafter(np.float32(8), np.float32(0)))
    given = np.column_stack([close, rows[:, 0]])
    regressor = fitted(learner, form, given, 3.0 * (close == 8) + rows[:, 0])
    expected = by_definition(regressor.predict, given)
    assert np.abs(expected[:, 0]).min() > 0.5
    np.testing.assert_allclose(shapley_values(regressor, given), expected, rtol=0, atol=1e-5)


@needs_shap
def test_the_background_is_every_row_however_many():
    random = np.random.default_rng(2)
    many = random.normal(size=(300, 2))
    regressor = fitted("linear", TREES, many, many @ [3.0, -1.0])
    expected = (many - many.mean(axis=0)) * [3.0, -1.0]
    np.testing.assert_allclose(shapley_values(regressor, many), expected, rtol=0, atol=1e-6)
    forest = fitted("random-forest", 3, many, many[:, 0])
    total = shapley_values(forest, many).sum(axis=1) + forest.predict(many).mean()
    np.testing.assert_allclose(total, forest.predict(many), rtol=0, atol=1e-5)


@needs_shap
@pytest.mark.parametrize("learner", ["linear", "ridge"])
def test_rounding_errors_of_a_constant_feature_are_not_scaled_up(learner, rows, targets):
    errors = 1e-13 * np.random.default_rng(3).normal(size=len(rows))
    given = np.column_stack([rows[:, :2], 0.3 + errors])
    regressor = fitted(learner, TREES, given, targets)
    values = shapley_values(regressor, given)
    np.testing.assert_array_equal(values[:, 2], np.zeros(len(rows)))
    expected = by_definition(regressor.predict, given)
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-5)


@needs_shap
def test_a_forest_that_tells_nothing_apart_has_values_of_zero(rows):
    forest = fitted("random-forest", 3, rows, np.ones(len(rows)))
    np.testing.assert_array_equal(shapley_values(forest, rows), np.zeros(rows.shape))


@pytest.fixture(scope="module")
def common(table, settings):
    return {"feature_table": table, "tournaments": settings, "repeats": 1, "permutations": 1}


@needs_shap
@pytest.mark.parametrize("model", ["random-forest", "ridge"])
def test_the_good_feature_has_most_of_what_moves_the_ratings(model, simulated, common):
    done = importances(simulated.arena, model, kinds=["shap"], **common)
    assert "permutation" not in done.table
    assert "|importances:shap|" in done.signature
    assert "permutations:" not in done.signature
    for _, rows in done.table.groupby("language"):
        assert list(rows["feature"]) == ["close", "nothing"]
        assert rows["shap"].between(rows["shap_low"], rows["shap_high"]).all()
        assert rows["shap"].sum() == pytest.approx(1)  # two features: medians mirror each other


@needs_shap
def test_both_kinds_stand_side_by_side_and_change_nothing(simulated, common):
    both = importances(simulated.arena, "ridge", kinds=["permutation", "shap"], **common)
    shap = importances(simulated.arena, "ridge", kinds=["shap"], **common)
    plain = importances(simulated.arena, "ridge", **common)
    pd.testing.assert_frame_equal(both.table[list(plain.table)], plain.table)
    order = ["language", "feature"]
    pd.testing.assert_frame_equal(
        both.table[list(shap.table)].sort_values(order, ignore_index=True),
        shap.table.sort_values(order, ignore_index=True),
    )
    assert "importances:" not in plain.signature.removeprefix("protocol:importances")


@needs_shap
def test_a_feature_without_values_has_no_share(simulated, common, table):
    given = common | {"feature_table": table.assign(empty=np.nan)}
    done = importances(simulated.arena, "ridge", kinds=["shap"], **given)
    rows = done.table.set_index("feature")
    assert rows.loc["empty", ["shap", "shap_low", "shap_high"]].isna().all(axis=None)
    assert done.table["feature"].iloc[2] == "empty"


@needs_shap
@pytest.mark.parametrize("model", ["svr", "mlp"])
def test_models_whose_values_are_not_to_be_had_are_refused(model, simulated, common):
    with pytest.raises(UsageError, match=f"which {model} is not; use one of random-forest"):
        importances(simulated.arena, model, kinds=["shap"], **common)


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        (["gini"], "unknown importances 'gini'; use some of permutation, shap"),
        ([], "no importances are asked for"),
    ],
)
def test_unknown_kinds_are_refused(kinds, message, simulated, common):
    with pytest.raises(UsageError, match=message):
        importances(simulated.arena, "ridge", kinds=kinds, **common)


def test_without_the_package_it_is_said_how_to_install_it(simulated, common, monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'surrogate-arena\[shap\]'"):
        importances(simulated.arena, "ridge", kinds=["shap"], **common)
