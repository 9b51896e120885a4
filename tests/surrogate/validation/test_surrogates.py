"""Surrogates by themselves: pairwise odds, selection, fields."""

import numpy as np
import pytest
from surrogate.learning.ensembles import SelectedSurrogate

from arena.data.errors import UsageError
from surrogate.learning.names import find_surrogate
from surrogate.learning.pairwise import PairwiseSurrogate, boosting, logistic


@pytest.fixture(scope="module")
def arena(simulated, table, arenas_of):
    return arenas_of(simulated.arena, table)[0]


@pytest.fixture(scope="module")
def field(arena):
    return arena.field_without(arena.systems[:3])


class Blind:
    """Rates every system by chance."""

    pooled = False

    def fit(self, fields, random_state):
        return self

    def predict(self, tensor, field):
        return np.random.default_rng(len(tensor.systems)).normal(size=len(tensor.systems))

    def for_all_languages(self):
        return self


def test_the_field_of_some_systems_holds_no_battle_of_the_others(arena, field):
    assert field.answers.systems == arena.systems[3:]
    assert field.tournaments.systems == arena.systems[3:]
    as_in_paper = arena.field_as_in_paper(arena.systems[:3])
    assert as_in_paper.tournaments.systems == arena.systems[3:]
    np.testing.assert_array_equal(as_in_paper.targets, arena.truth[3:])
    np.testing.assert_array_equal(
        as_in_paper.tournaments.battles.counts, field.tournaments.battles.counts
    )


def test_pairwise_odds_do_not_depend_on_the_order_of_a_pair(field):
    ratings = PairwiseSurrogate(logistic).fit([field], 0).predict(field.judged, field.answers)
    assert np.corrcoef(ratings, field.targets)[0, 1] > 0.8
    boosted = PairwiseSurrogate(boosting).fit([field], 0).predict(field.judged, field.answers)
    assert np.corrcoef(boosted, field.targets)[0, 1] > 0.8


def test_a_system_without_answers_has_no_rating(arena, field):
    unseen = arena.judged.take(systems=arena.systems[:1])
    unseen.answered[:] = False
    unseen.values[:] = np.nan
    for name in ("pairwise-logistic", "ridge", "pooled-ridge", "relative-ridge"):
        fitted = find_surrogate(name).fit([field], 0)
        assert np.isnan(fitted.predict(unseen, field.answers)).all()


@pytest.mark.parametrize("name", ["pairwise-logistic", "ridge", "pooled-ridge"])
def test_two_systems_are_too_few(name, arena):
    few = arena.field_without(arena.systems[2:])
    with pytest.raises(UsageError, match="at least 3"):
        find_surrogate(name).fit([few], 0)


def test_the_better_surrogate_is_selected_by_the_training_systems(field):
    ridge = find_surrogate("ridge")
    chosen = SelectedSurrogate((Blind(), ridge)).fit([field], 7)
    np.testing.assert_array_equal(
        chosen.predict(field.judged, field.answers),
        ridge.fit([field], 7).predict(field.judged, field.answers),
    )


def test_all_languages_are_learned_from_together():
    for name in ("ridge", "pairwise-logistic", "selected", "pooled-forest"):
        assert find_surrogate(name).for_all_languages().pooled
