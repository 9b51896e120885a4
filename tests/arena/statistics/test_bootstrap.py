"""Sums over resamples, by their moments in closed form."""

import numpy as np
import pytest

from arena.statistics.bootstrap import generator, resampled_sums


def test_sums_over_resamples_have_the_moments_of_a_sample_with_replacement():
    """Of N draws the mean sum is the sum of all, and its covariance N times theirs."""
    rng = np.random.default_rng(0)
    parts = np.column_stack([rng.integers(0, 3, 400), rng.integers(0, 2, 400)]).astype(float)
    sums = resampled_sums(parts, 20_000, generator(0, "test"))
    covariance = len(parts) * np.cov(parts.T, bias=True)
    np.testing.assert_allclose(sums.mean(axis=0), parts.sum(axis=0), rtol=0.01)
    np.testing.assert_allclose(np.cov(sums.T), covariance, atol=0.03 * covariance.max())


@pytest.mark.slow
def test_the_order_of_units_and_the_number_of_equal_ones_change_nothing():
    parts = np.repeat([[1.0, 0.0], [0.0, 2.0], [3.0, 3.0]], [5, 70, 25], axis=0)
    sums = resampled_sums(parts, 50, generator(0, "test"))
    shuffled = np.random.default_rng(1).permutation(parts)
    np.testing.assert_array_equal(resampled_sums(shuffled, 50, generator(0, "test")), sums)
    assert resampled_sums(np.ones((1_000_000, 1)), 3, generator(0, "test")).tolist() == [[1e6]] * 3
