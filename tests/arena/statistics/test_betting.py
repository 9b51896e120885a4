"""Tests and bounds by betting: a fair game, error rates whenever one stops, power."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import UsageError
from arena.statistics.betting import (
    FRACTIONS,
    SequentialTest,
    log_capitals,
    lower_bound,
    upper_bound,
)

POINTS = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
SCORES = st.lists(st.sampled_from(list(POINTS)), min_size=1, max_size=40)


def test_the_capital_is_what_bets_at_fair_odds_bring():
    scores, mean = [1.0, 0.25, 0.75, 0.5], 0.4
    capitals = [1.0] * len(FRACTIONS)
    for score in scores:
        for place, fraction in enumerate(FRACTIONS):
            stake = fraction * capitals[place]
            capitals[place] += stake * (score / mean - 1)
    assert log_capitals(scores, mean)[-1] == pytest.approx(math.log(np.mean(capitals)))


@pytest.mark.parametrize("weights", [[1, 1, 1, 1, 1], [4, 0, 0, 0, 1], [0, 3, 1, 2, 0]])
def test_the_game_is_fair_where_the_mean_is_the_one_tested(weights):
    """The expected capital over all sequences is 1 after every score: a martingale."""
    shares = np.array(weights) / sum(weights)
    mean = float(shares @ POINTS)
    sequences = np.array(list(itertools.product(range(5), repeat=4)))
    probability = shares[sequences].prod(axis=1)
    capitals = np.exp(log_capitals(POINTS[sequences], mean))
    assert probability @ capitals == pytest.approx(np.ones(4))


@given(SCORES, st.sampled_from([0.01, 0.05, 0.2]))
def test_bounds_hold_the_mean_of_the_scores_and_mirror_each_other(scores, error):
    low, high = lower_bound(scores, error), upper_bound(scores, error)
    assert 0 <= low <= np.mean(scores) <= high <= 1
    assert upper_bound([1 - score for score in scores], error) == pytest.approx(1 - low)
    if low > 0:
        assert log_capitals(scores, low)[-1] == pytest.approx(-math.log(error), abs=1e-5)


def first_statements(mean, scores, sequences, seed):
    """What a test looking after every score says first, by its capitals; scores are 0, 0.5, 1."""
    random, test = np.random.default_rng(seed), SequentialTest()
    tied = 0.4
    shares = [1 - tied - (mean - tied / 2), tied, mean - tied / 2]
    drawn = random.choice([0.0, 0.5, 1.0], size=(sequences, scores), p=shares)
    bets = {
        "better": log_capitals(drawn, 0.5) + math.log(test.error / 2),
        "worse": log_capitals(1 - drawn, 0.5) + math.log(test.error / 2),
        "same": np.minimum(log_capitals(drawn, 0.45), log_capitals(1 - drawn, 0.45))
        + math.log(test.error),
    }
    said = []
    for row in range(sequences):
        when = {name: np.flatnonzero(bet[row] > 0) for name, bet in bets.items()}
        found = {name: places[0] for name, places in when.items() if len(places)}
        name = min(found, key=found.get, default=None)
        said.append(name)
        if name is not None and row < 10:
            stop = found[name] + 1
            assert test.decide(drawn[row, :stop]) == name
            assert test.decide(drawn[row, : stop - 1]) is None
    return [said.count(name) / sequences for name in ("better", "same", "worse")]


def test_false_alarms_and_power_whenever_one_stops():
    test = SequentialTest()
    needed = test.scores_needed(0.05, 0.6 * 0.25)
    assert 900 < needed < 1200
    better, _, worse = first_statements(0.5, needed, 120, 1)
    assert better + worse <= 0.05
    better, same, worse = first_statements(0.55, needed, 120, 2)
    assert better >= 0.8
    assert same + worse <= 0.05


def test_what_a_number_of_scores_finds():
    test = SequentialTest()
    assert test.decide([]) is None
    assert test.interval([]) == (0.0, 1.0)
    assert test.decide([1.0] * 6) is None
    assert test.decide([1.0] * 12) == "better"
    assert test.decide([0.0] * 12) == "worse"
    assert test.decide([0.5] * 30) is None
    assert test.decide([0.5] * 80) == "same"
    needed = test.scores_needed(0.1, 0.15)
    assert test.difference_found(needed, 0.15) == pytest.approx(0.1, rel=0.01)
    assert test.difference_found(0, 0.15) == 0.5


@pytest.mark.parametrize(
    "make",
    [
        lambda: SequentialTest(error=0),
        lambda: SequentialTest(margin=0.5),
        lambda: SequentialTest().decide([1.5]),
        lambda: SequentialTest().decide([float("nan")]),
        lambda: lower_bound([0.5], 1.0),
        lambda: SequentialTest().scores_needed(0.0, 0.1),
    ],
)
def test_numbers_out_of_range_are_refused(make):
    with pytest.raises(UsageError):
        make()
