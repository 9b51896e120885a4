"""Votes of one voter hang together."""

import numpy as np
import pytest
from voters import votes

from arena.rating.battles import Battles
from arena.rating.posterior import battle_posterior
from arena.rating.ratings import rate


def errors_of(table):
    return battle_posterior(Battles.from_judgments(table)).standard_errors


def test_a_vote_each_changes_nothing_and_many_of_one_taste_widen_errors():
    single = votes(200, 1)
    np.testing.assert_allclose(errors_of(single), errors_of(single.drop(columns="voter")))
    tasteful = votes(20, 20, taste=1.0)
    assert (errors_of(tasteful) > 1.5 * errors_of(tasteful.drop(columns="voter"))).all()


def test_nobody_named_is_many_voters():
    table = votes(20, 20, taste=1.0)
    unnamed = table.assign(voter=None)
    np.testing.assert_allclose(errors_of(unnamed), errors_of(table.drop(columns="voter")))
    half = table.assign(voter=table["voter"].where(np.arange(len(table)) % 2 == 0, None))
    assert (errors_of(half) > errors_of(unnamed)).all()


def test_voters_who_vote_more_than_others_count_as_fewer_and_one_alone_tells_no_taste():
    sizes = np.array([60, *[4] * 15])
    unequal = votes(16, sizes, seed=1, taste=1.0)
    numbers = unequal["voter"].str.removeprefix("voter-").astype(int)
    # The same verdicts, by voters of equal numbers of votes.
    equal = unequal.assign(voter=numbers.to_numpy() * 100 + np.arange(len(unequal)) // 4)
    assert (errors_of(unequal) > 2 * errors_of(equal)).all()
    alone = unequal[numbers == 0]
    np.testing.assert_allclose(errors_of(alone), errors_of(alone.drop(columns="voter")))
    of_one_system = unequal["system_a"].eq("z") | unequal["system_b"].eq("z")
    assert np.isfinite(errors_of(unequal[~of_one_system | (numbers == 0)])).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("votes_of_each", "least"), [([12] * 25, 0.91), ([150, 60, 25, *[6] * 12], 0.86)]
)
def test_intervals_hold_with_voters_of_their_own_taste(votes_of_each, least):
    held = []
    for seed in range(60):
        table = rate(votes(len(votes_of_each), votes_of_each, seed, taste=0.8)).table
        held.append((table["low"].le(0) & table["high"].ge(0)).mean())
    assert np.mean(held) > least
