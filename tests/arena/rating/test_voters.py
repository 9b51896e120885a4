"""Votes of one voter hang together, and one voter may decide first place."""

import numpy as np
import pandas as pd
import pytest

from arena.quality.decisive_voters import decisive_voters
from arena.rating.battles import Battles
from arena.rating.posterior import battle_posterior
from arena.rating.ratings import rate

NAMES = np.array(["x", "y", "z"])


def votes(n_voters, votes_of_one, seed=0, taste=0.0):
    """Votes on a question each; a voter likes each system by its own taste, N(0, taste^2)."""
    rng = np.random.default_rng(seed)
    voter = np.repeat(np.arange(n_voters), votes_of_one)
    first = rng.integers(0, 3, len(voter))
    second = (first + rng.integers(1, 3, len(voter))) % 3
    tastes = rng.normal(0.0, taste, (n_voters, 3)) if taste else np.zeros((n_voters, 3))
    logits = tastes[voter, first] - tastes[voter, second]
    won = rng.random(len(voter)) < 1 / (1 + np.exp(-logits))
    return pd.DataFrame(
        {
            "query_id": [f"q{number}" for number in range(len(voter))],
            "language": "en",
            "system_a": NAMES[first],
            "system_b": NAMES[second],
            "winner": np.where(won, "a", "b"),
            "judge": "people",
            "voter": [f"voter-{number}" for number in voter],
        }
    )


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


def test_a_voter_who_decides_first_place_is_named():
    table = votes(30, 4, seed=1)
    spam = votes(1, 300).assign(voter="spammer", winner="a", system_a="z", system_b="x")
    spam["query_id"] = [f"s{number}" for number in range(300)]
    [voter] = decisive_voters(pd.concat([table, spam], ignore_index=True))
    assert (voter.voter, voter.voters, voter.first) == ("spammer", 31, "z")
    assert voter.share == pytest.approx(300 / 420)
    assert voter.sentence.startswith("1 of 31 voters, spammer, cast 71% of the votes: without")
    assert decisive_voters(table.drop(columns="voter")) == []
    assert decisive_voters(table.assign(voter="one")) == []
