"""Kendall tau and its bootstrap interval."""

import numpy as np
import pytest
from scipy.stats import kendalltau

from arena.statistics.rank_agreement import Agreement, agreement, kendall_tau, macro_agreement


def test_tau_is_scipys_on_the_systems_both_ratings_hold():
    first = np.array([3.0, 1.0, np.nan, 2.0, 2.0])
    second = np.array([2.5, 0.5, 9.0, 1.0, 3.0])
    kept = [0, 1, 3, 4]
    assert kendall_tau(first, second) == pytest.approx(
        kendalltau(first[kept], second[kept]).statistic
    )


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


def test_equal_rankings_have_tau_one():
    rating = np.arange(5.0)
    held = agreement(rating, rating, noisy(rating, 0.0), np.random.default_rng(0))
    assert held.tau == pytest.approx(1.0)
    assert held.interval == pytest.approx((1.0, 1.0))


def test_macro_gives_each_language_the_same_weight_and_leaves_undefined_ones_out():
    one = Agreement(0.5, np.array([0.4, 0.6]))
    other = Agreement(1.0, np.array([0.8, np.nan]))
    undefined = Agreement(float("nan"), np.array([np.nan, np.nan]))
    macro = macro_agreement([one, other, undefined])
    assert macro.tau == 0.75
    np.testing.assert_allclose(macro.replicates, [0.6])
    assert np.isnan(macro_agreement([undefined]).tau)
    assert np.isnan(macro_agreement([undefined]).interval).all()


def test_mirrored_ratings_mirror_tau():
    random = np.random.default_rng(3)
    first, second = random.normal(size=9), random.normal(size=9)
    assert kendall_tau(-first, second) == pytest.approx(-kendall_tau(first, second))
