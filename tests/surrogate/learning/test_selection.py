"""The surrogate that is chosen by validation: the better one, of training systems only."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

from arena import rate
from surrogate.learning.languages import with_answers
from surrogate.learning.names import DEFAULT_SURROGATE, PAPERS_SURROGATE, find_surrogate
from surrogate.learning.saving import load_surrogate, save_surrogate
from surrogate.learning.selection import SelectedSurrogate

SYSTEMS = [f"system-{number:02}" for number in range(20)]


STRONG = 1000.0
"""How much a unit of the feature adds: where other systems lie on the scale is nothing to it."""


class Knowing:
    """Rates by one feature, rightly or wrongly."""

    seen: ClassVar[list[set[str]]] = []

    def __init__(self, sign=1, **options):
        self.sign, self.name = sign, options["name"]

    def fit(self, X, ratings):
        self.seen.append(set(X["system"]))
        return self

    def predict(self, X, questions=None):
        means = X.groupby(["language", "system"])["skill"].mean()
        return (STRONG * self.sign * means).rename("rating").reset_index()


def wrong(**options):
    return Knowing(-1, **options)


@pytest.fixture
def X():
    skill = np.repeat(np.linspace(-1, 1, len(SYSTEMS)), 3)
    return pd.DataFrame(
        {
            "language": "en",
            "system": np.repeat(SYSTEMS, 3),
            "query_id": ["a", "b", "c"] * len(SYSTEMS),
            "skill": skill,
        }
    )


@pytest.fixture
def ratings(X):
    rated = X.groupby(["language", "system"])["skill"].mean()
    return rated.rename("rating").reset_index()


def selected(*candidates):
    return SelectedSurrogate(candidates=candidates)


def test_a_clearly_better_candidate_is_chosen_in_either_order(X, ratings):
    for order in ([("right", Knowing), ("wrong", wrong)], [("wrong", wrong), ("right", Knowing)]):
        chosen = selected(*order).fit(X, ratings)
        assert chosen.chosen_.name == "right"
        assert chosen.taus_ == {"right": 1.0, "wrong": -1.0}


def test_of_equal_candidates_the_first_is_chosen(X, ratings):
    assert selected(("one", Knowing), ("two", Knowing)).fit(X, ratings).chosen_.name == "one"
    two = ratings.head(2)  # nothing can be left out
    few = X[X["system"].isin(two["system"])].assign(skill=0.0)
    assert selected(("wrong", wrong), ("right", Knowing)).fit(few, two).chosen_.name == "wrong"


class OnTheScale:
    """Rates every system as the mean of those it learns from, and a little by the feature."""

    def __init__(self, **options):
        self.name = options["name"]

    def fit(self, X, ratings):
        self.level = ratings["en"].means.mean()
        return self

    def predict(self, X, questions=None):
        means = X.groupby(["language", "system"])["skill"].mean()
        return (self.level + means / 20).rename("rating").reset_index()


class AboutZero(OnTheScale):
    """The same about a mean of 0, as what learns from battles does."""

    def fit(self, X, ratings):
        self.level = 0.0
        return self


def test_candidates_with_scales_of_their_own_are_held_against_the_same(X, ratings):
    """In each fold the held-out systems lie about where the others do, not about 0."""
    made = SelectedSurrogate(candidates=(("one", OnTheScale), ("two", AboutZero)))
    taus = made.fit(X, ratings.assign(rating=ratings["rating"] + 3)).taus_
    assert taus["one"] == taus["two"] < 0.9


def test_every_training_system_is_rated_by_those_that_did_not_see_it(X, ratings):
    Knowing.seen.clear()
    selected(("right", Knowing)).fit(X, ratings)
    *folds, whole = Knowing.seen
    assert whole == set(SYSTEMS)
    left_out = [set(SYSTEMS) - fold for fold in folds]
    assert sorted(name for fold in left_out for name in fold) == SYSTEMS


def test_auto_is_one_of_the_two_and_saved_as_what_it_chose(english_arena, quick_features, tmp_path):
    english = quick_features[quick_features["language"] == "en"]
    X = with_answers(english, english_arena.answers)
    ratings = rate(english_arena.judgments, rounds=0).table.assign(language="en")
    auto = find_surrogate("auto", seed=3).fit(X, ratings)
    assert auto.chosen_.name in (DEFAULT_SURROGATE, PAPERS_SURROGATE)
    save_surrogate(auto, tmp_path / "surrogate.zip")
    loaded = load_surrogate(tmp_path / "surrogate.zip")
    assert loaded.name == auto.chosen_.name
    pd.testing.assert_frame_equal(loaded.predict(X), auto.predict(X), atol=1e-6)
