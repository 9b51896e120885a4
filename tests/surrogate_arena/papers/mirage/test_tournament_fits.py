"""Surrogates of single tournaments: R² on held-out systems, and how shares of features spread."""

from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score

from arena.rating.tournaments import bootstrap_tournaments
from surrogate.learning.language_data import LanguageData, TournamentSettings
from surrogate.learning.surrogate import find_surrogate
from surrogate_arena.papers.mirage.tournament_fits import fit_tournament

SYSTEMS = tuple(f"system-{index:02}" for index in range(12))
QUESTIONS = tuple(f"q{index:02}" for index in range(15))
SETTINGS = TournamentSettings(tournaments=30, seed=7)
FOREST = find_surrogate("random-forest")


def noisy_round_robin(strength, seed=0):
    random = np.random.default_rng(seed)
    rows = [
        (question, one, other, "a" if strength[i] - strength[j] > random.logistic() else "b")
        for question in QUESTIONS
        for i, one in enumerate(SYSTEMS)
        for j, other in enumerate(SYSTEMS[:i])
    ]
    table = pd.DataFrame(rows, columns=["query_id", "system_a", "system_b", "winner"])
    return table.assign(language="en", judge="judge")


def features_of(per_system, systems=SYSTEMS, questions=QUESTIONS, noise=0.1, seed=1):
    random = np.random.default_rng(seed)
    keys = pd.MultiIndex.from_product([["en"], systems, questions])
    values = np.repeat(np.asarray(per_system), len(questions), axis=0)
    values = values + noise * random.normal(size=values.shape)
    names = [f"f{index}" for index in range(values.shape[1])]
    table = pd.DataFrame(values, keys, names)
    return table.reset_index(names=["language", "system", "query_id"])


@pytest.fixture(scope="module")
def strength():
    return np.random.default_rng(5).permutation(np.linspace(-2, 2, len(SYSTEMS)))


@pytest.fixture(scope="module")
def judgments(strength):
    return noisy_round_robin(strength)


def data_of(judgments, X, settings=SETTINGS):
    tournaments = bootstrap_tournaments(judgments, **asdict(settings))
    asked = tuple(sorted(X["query_id"].unique()))
    return LanguageData("en", judgments, X, asked, tournaments, settings)


@pytest.fixture(scope="module")
def data(judgments, strength):
    return data_of(judgments, features_of(strength[:, None]))


def test_r2_is_that_of_a_surrogate_trained_without_the_held_out_systems(data):
    held = SYSTEMS[3], SYSTEMS[8]
    fit = fit_tournament(data, FOREST, held, 4, 0)
    np.testing.assert_allclose(fit.shares, [1.0])
    coefficients = data.tournaments.coefficients[4]
    times = dict(zip(QUESTIONS, data.tournaments.draws[4], strict=True))
    weights = data.X["query_id"].map(times)
    sums = (data.X["f0"] * weights).groupby(data.X["system"]).sum()
    means = (sums / data.tournaments.draws[4].sum()).to_numpy()
    is_held = np.isin(SYSTEMS, held)
    distances = np.abs(means[is_held][:, None] - means[~is_held])
    nearest = coefficients[~is_held][distances.argmin(axis=1)]
    assert fit.holdout_r2 == pytest.approx(r2_score(coefficients[is_held], nearest), abs=0.5)
    assert fit.train_r2 > 0.5
