"""Holding systems out of training."""

from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest

from arena.data.errors import UsageError
from arena.rating.tournaments import bootstrap_tournaments
from surrogate.board.holdout import check_holdout
from surrogate.board.language_study import study_languages
from surrogate.board.settings import ResolvedSettings
from surrogate.learning.language_data import (
    LanguageData,
    TournamentSettings,
)
from surrogate.learning.surrogate import find_surrogate

SYSTEMS = tuple(f"system-{index:02}" for index in range(12))
QUESTIONS = tuple(f"q{index:02}" for index in range(15))
SETTINGS = TournamentSettings(tournaments=30, seed=7)


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


def test_impossible_holdouts_are_refused():
    assert check_holdout(["b", "a"], ["a", "b", "c", "d", "e"]) == ("a", "b")
    with pytest.raises(UsageError, match="x"):
        check_holdout(["x"], ["a", "b", "c", "d"])
    with pytest.raises(UsageError, match="twice"):
        check_holdout(["a", "a"], ["a", "b", "c", "d"])
    with pytest.raises(UsageError, match="fewer than 3"):
        check_holdout(["a", "b"], ["a", "b", "c", "d"])


@pytest.mark.slow
def test_the_final_surrogate_never_sees_the_held_out_systems(data):
    changed = data.X.copy()
    changed.loc[changed["system"].isin(SYSTEMS[:2]), "f0"] = 1e6
    probe = data.X[~data.X["system"].isin(SYSTEMS[:2])]
    settings = ResolvedSettings(judge="judge", holdout=SYSTEMS[:2])
    predictions = []
    for X in (data.X, changed):
        surrogate = find_surrogate("linear")
        item = data_of(data.judgments, X, TournamentSettings(tournaments=3, seed=7))
        [fit], _ = study_languages([item], surrogate, settings)
        assert surrogate.systems_["en"] == SYSTEMS[2:]
        assert fit.holdout == SYSTEMS[:2]
        predictions.append(surrogate.predict(probe)["rating"])
    np.testing.assert_array_equal(*predictions)
