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


@pytest.mark.slow
def test_intervals_hold_with_voters_of_their_own_taste():
    held = []
    for seed in range(60):
        table = rate(votes(25, 12, seed=seed, taste=0.8)).table
        held.append((table["low"].le(0) & table["high"].ge(0)).mean())
    assert np.mean(held) > 0.91
