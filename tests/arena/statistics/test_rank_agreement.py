"""Kendall tau and its bootstrap interval."""

import warnings
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import kendalltau

from arena.statistics.agreement import (
    Agreement,
    agreement,
    difference_interval,
    kendall_tau,
    kendall_taus,
    largest_tau,
    lowest_tau,
    macro_agreement,
    resampled_taus,
    tau_interval,
)
from arena.statistics.bootstrap import generator, percentile_interval

RATINGS = arrays(np.float64, 6, elements=st.sampled_from([-2.0, -1.0, 0.0, 1.0, np.nan]))


@given(RATINGS, arrays(np.float64, (4, 6), elements=st.integers(-3, 3).map(float)))
def test_taus_of_many_are_those_of_scipy(one, many):
    is_rated = np.isfinite(one)
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):
        warnings.simplefilter("ignore")
        expected = [kendalltau(one[is_rated], other[is_rated]).statistic for other in many]
    np.testing.assert_allclose(kendall_taus(many, one[None])[:, 0], expected, atol=1e-12)


@given(RATINGS, st.integers(0, 10**6))
def test_resampled_taus_are_those_of_the_systems_listed_as_often_as_drawn(one, seed):
    random = np.random.default_rng(seed)
    other, drawn = random.normal(size=(5, 6)), random.integers(6, size=(5, 6))
    times = np.array([np.bincount(row, minlength=6) for row in drawn])
    expected = [
        kendall_tau(one[row], rating[row]) for row, rating in zip(drawn, other, strict=True)
    ]
    np.testing.assert_allclose(resampled_taus(one, other, times), expected, atol=1e-12)


def test_differences_that_vanish_in_rounding_are_ties():
    one, other = np.array([[1.0, 1.0 + 1e-8, 2.0]]), np.array([[1.0, 2.0, 3.0]])
    assert kendall_taus(one, other)[0, 0] == pytest.approx(1.0)
    one = np.array([[1.0, 1.0 + 1e-10, 2.0]])
    assert kendall_taus(one, other)[0, 0] == pytest.approx(2 / np.sqrt(6))


def test_tau_is_missing_where_it_is_not_defined():
    assert np.isnan(kendall_tau(np.array([1.0]), np.array([1.0])))
    assert np.isnan(kendall_tau(np.array([1.0, 1.0]), np.array([1.0, 2.0])))
    assert np.isnan(kendall_tau(np.array([np.nan, 1.0]), np.array([1.0, 2.0])))


def noisy(rating, noise, tournaments=200, seed=0):
    random = np.random.default_rng(seed)
    return rating + noise * random.normal(size=(tournaments, rating.size))


def test_the_interval_holds_tau_and_narrows_with_more_systems():
    widths = []
    for size in (6, 40):
        truth = np.linspace(-2, 2, size)
        rating = truth + 1.0 * np.random.default_rng(1).normal(size=size)
        held = agreement(rating, truth, noisy(truth, 0.3), np.random.default_rng(2))
        low, high = held.interval
        assert -1 <= low < held.tau < high <= 1
        widths.append(high - low)
    assert widths[1] < widths[0]


def test_macro_gives_each_language_the_same_weight_and_leaves_undefined_ones_out():
    one = Agreement(0.5, np.array([0.4, 0.6]))
    other = Agreement(1.0, np.array([0.8, np.nan]))
    undefined = Agreement(float("nan"), np.array([np.nan, np.nan]))
    macro = macro_agreement([one, other, undefined])
    assert macro.tau == 0.75
    np.testing.assert_allclose(macro.replicates, [0.6])
    assert np.isnan(macro_agreement([undefined]).tau)
    assert np.isnan(macro_agreement([undefined]).interval).all()


@pytest.mark.parametrize("n_systems", [5, 6, 8, 12])
def test_the_lowest_tau_lets_systems_agree_perfectly_in_one_of_40_samples(n_systems):
    random = generator(0, "perfect agreement")
    correlation = np.sin(np.pi / 2 * lowest_tau(n_systems))
    first = np.sort(random.normal(size=(20_000, n_systems)), axis=1)
    noise = random.normal(size=first.shape)
    second = correlation * first + np.sqrt(1 - correlation**2) * noise
    is_perfect = (np.diff(second, axis=1) > 0).all(axis=1)
    assert is_perfect.mean() == pytest.approx(0.025, abs=0.008)


def test_intervals_allow_for_error_where_all_resamples_agree():
    assert tau_interval(np.ones(100), 5) == (lowest_tau(5), 1)
    assert tau_interval(-np.ones(100), 5) == (-1, -lowest_tau(5))
    assert tau_interval(np.ones(100), 4)[0] == 0
    low, high = difference_interval(np.zeros(100), 6)
    assert low == -high == pytest.approx(lowest_tau(6) - 1)
    spread = np.linspace(0.2, 0.8, 101)
    assert tau_interval(spread, 5) == difference_interval(spread, 5) == percentile_interval(spread)


@given(st.lists(st.integers(0, 3), min_size=2, max_size=7))
def test_no_ranking_without_ties_agrees_more_with_ties_than_the_limit(values):
    truth = np.array(values, dtype=float)
    orders = np.array([*permutations(range(len(values)))][:720], dtype=float)
    taus = kendall_taus(orders, truth[None])[:, 0]
    limit = largest_tau(truth)
    if len(set(values)) == 1:
        assert np.isnan(limit)
    else:
        assert (taus <= limit + 1e-12).all()
        by_truth = np.argsort(np.argsort(truth, kind="stable")).astype(float)
        assert kendall_tau(by_truth, truth) == pytest.approx(limit)
