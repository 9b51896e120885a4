"""Features that look good only when the whole table is seen do not pass the protocol."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from features import extract, parse_features
from surrogate.learning.cross_fitting import Repeats, leave_systems_out
from surrogate.learning.surrogate import find_surrogate
from surrogate_arena.studies.scores import outcome_scores

COLUMNS = 150
KEPT = 3


@pytest.fixture(scope="module")
def noisy(simulated, data_of):
    """Features that know nothing of the systems, so many that some agree with any ratings."""
    judged = simulated.arena.judgments
    english = replace(simulated.arena, judgments=judged[judged["language"] == "en"])
    return [data_of(english, noise(simulated.arena.answers, seed)) for seed in range(3)]


def noise(answers, seed):
    random = np.random.default_rng(seed)
    rows = answers.loc[answers["language"] == "en", ["language", "system", "query_id"]]
    systems, owner = np.unique(rows["system"], return_inverse=True)
    own = random.normal(size=(len(systems), COLUMNS))[owner]
    values = own + 0.1 * random.normal(size=own.shape)
    names = [f"noise_{number:03}" for number in range(COLUMNS)]
    return pd.concat([rows, pd.DataFrame(values, rows.index, names)], axis=1)


def most_correlated(X, ratings):
    means = X.groupby("system")[[name for name in X if name.startswith("noise")]].mean()
    agreement = means.corrwith(pd.Series(ratings)).abs()
    return list(agreement.sort_values().index[-KEPT:])


def chosen_columns(X, ratings):
    return X[["language", "system", "query_id", *most_correlated(X, ratings)]]


class SelectingSurrogate(BaseEstimator):
    """Keeps the features that agree best with the ratings it is given, and nothing else."""

    def __init__(self, pooled=False, seed=0):
        self.pooled, self.seed = pooled, seed

    def fit(self, X, ratings):
        [rated] = ratings.values()
        targets = dict(zip(rated.systems, rated.mean_coefficients, strict=True))
        self.fitted_ = find_surrogate("linear").fit(chosen_columns(X, targets), ratings)
        self.failures_ = {}
        return self

    def predict(self, X, questions=None):
        return self.fitted_.predict(X, questions)

    def unread_questions(self, X, judged):
        return set()


def tau_unseen(data, surrogate, repeats=2):
    outcomes = leave_systems_out(data, surrogate, Repeats(repeats, 0))
    return outcome_scores(outcomes, 0)["tau"].iloc[-1]


def mean_tau(noisy, surrogate, repeats=2):
    return np.mean([tau_unseen(data, surrogate, repeats) for data in noisy])


@pytest.mark.slow
def test_features_chosen_with_the_held_out_ratings_in_view_leak_and_chosen_inside_do_not(
    noisy,
):
    leaking = []
    for [data] in noisy:
        ratings = dict(zip(data.systems, data.arena_ratings, strict=True))
        leaking.append([replace(data, X=chosen_columns(data.X, ratings))])
    assert mean_tau(leaking, find_surrogate("linear")) > 0.4
    assert mean_tau(noisy, SelectingSurrogate()) < 0.2


@pytest.mark.slow
def test_normalizing_by_the_training_systems_gives_noise_no_rank(noisy):
    assert mean_tau(noisy, find_surrogate("linear")) < 0.2


@pytest.mark.slow
def test_features_see_neither_judgments_nor_whose_an_answer_is(simulated):
    arena = simulated.arena
    names = {name: f"x{number}" for number, name in enumerate(arena.info.systems)}
    judgments = arena.judgments.assign(winner=arena.judgments["winner"].iloc[::-1].to_numpy())
    asked = "answer_length,citation_recall@10,ngram_coverage,target_language"
    first = extract(arena, parse_features(asked))
    again = extract(replace(arena, judgments=judgments), parse_features(asked))
    pd.testing.assert_frame_equal(again, first)
    other = replace(arena, answers=arena.answers.assign(system=arena.answers["system"].map(names)))
    renamed = extract(other, parse_features(asked))
    back = renamed.assign(system=renamed["system"].map({new: old for old, new in names.items()}))
    keys = ["language", "system", "query_id"]
    pd.testing.assert_frame_equal(
        back.sort_values(keys, ignore_index=True), first.sort_values(keys, ignore_index=True)
    )
