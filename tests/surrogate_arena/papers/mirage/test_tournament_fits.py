"""Surrogates of single tournaments: ratings, R² and shares of features."""

from dataclasses import replace

import numpy as np
import pytest
from one_language import one_language
from sklearn.metrics import r2_score

from surrogate.learning.surrogate import find_surrogate
from surrogate_arena.papers.mirage.tournament_fits import fit_tournament

INDEX = 4
HELD = "s03", "s08"


@pytest.fixture(scope="module")
def data():
    return one_language(tournaments=INDEX + 1)


def test_a_line_through_the_other_systems_rates_those_held_out(data):
    fit = fit_tournament(data, find_surrogate("linear"), HELD, INDEX, 0)
    coefficients = data.tournaments.coefficients[INDEX]
    draws = data.tournaments.draws[INDEX]
    times = dict(zip(data.tournaments.battles.questions, draws, strict=True))
    sums = (data.X["f0"] * data.X["query_id"].map(times)).groupby(data.X["system"]).sum()
    means = (sums / draws.sum()).to_numpy()
    is_held = np.isin(data.systems, HELD)
    line = np.polynomial.Polynomial.fit(means[~is_held], coefficients[~is_held], 1)
    np.testing.assert_allclose(fit.ratings, line(means))
    np.testing.assert_allclose(fit.shares, [1.0])
    expected = r2_score(coefficients[is_held], line(means[is_held]))
    assert fit.holdout_r2 == pytest.approx(expected)
    expected = r2_score(coefficients[~is_held], line(means[~is_held]))
    assert fit.train_r2 == pytest.approx(expected)


def test_training_never_sees_the_held_out_systems(data):
    X = data.X.copy()
    X.loc[X["system"].isin(HELD), "f0"] = 1e6
    forest = find_surrogate("random-forest")
    fit = fit_tournament(data, forest, HELD, INDEX, 0)
    changed = fit_tournament(replace(data, X=X), forest, HELD, INDEX, 0)
    np.testing.assert_array_equal(changed.ratings[~fit.is_held], fit.ratings[~fit.is_held])
    assert changed.train_r2 == fit.train_r2
    assert changed.holdout_r2 != fit.holdout_r2
