"""Intervals of the mean of few skewed values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from arena.statistics.bootstrap import bootstrap_weights, percentile_interval
from surrogate_arena.gating.mean_intervals import mean_interval

COSTS = st.lists(st.integers(1, 10**6), min_size=10, max_size=30)


def test_without_skewness_it_is_students_interval():
    values = np.array([-3.0, -1, 0, 1, 3, -2, 2])
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert mean_interval(values) == pytest.approx((expected.low, expected.high))


def test_few_skewed_values_reach_further_to_the_side_of_their_tail():
    values = np.array([1.0, 1, 1, 1, 2, 2, 3, 4, 9, 30])
    low, high = mean_interval(values)
    student = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert low == pytest.approx(student.low)
    assert high > student.high + 0.2 * (student.high - student.low)


def test_equal_values_have_no_width():
    assert mean_interval([2.5] * 10) == (2.5, 2.5)


@given(values=COSTS, order=st.randoms(use_true_random=False), shift=st.integers(-100, 100))
def test_order_shift_and_sign_of_values(values, order, shift):
    low, high = mean_interval(values)
    assert low <= np.mean(values) * (1 + 1e-12)
    assert high >= np.mean(values) * (1 - 1e-12)
    shuffled = list(values)
    order.shuffle(shuffled)
    assert mean_interval(shuffled) == (low, high)
    scale = max(values)
    assert mean_interval(-np.array(values)) == pytest.approx((-high, -low), abs=1e-9 * scale)
    moved = mean_interval(np.array(values) + shift)
    assert moved == pytest.approx((low + shift, high + shift), abs=1e-7 * scale)


def test_skewed_costs_are_called_cheaper_less_often_than_by_percentiles():
    random = np.random.default_rng(0)
    n_called = np.zeros(2)
    n_samples = 300
    for _ in range(n_samples):
        values = random.lognormal(-0.5, 1.0, 10) - 1  # of mean 0
        resampled = bootstrap_weights(10, 300, random) @ values / 10
        highs = np.array([mean_interval(values)[1], percentile_interval(resampled)[1]])
        n_called += highs < 0
    assert n_called[0] <= 0.7 * n_called[1]
    assert n_called[1] > 0.1 * n_samples
