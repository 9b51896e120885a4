"""Poisson draws by table lookup follow the distribution."""

import numpy as np
import pytest
from scipy.stats import chisquare, poisson

from arena.rating.outcomes import LARGEST_MEAN, PoissonDraws


@pytest.mark.parametrize("mean", [1, 3, 40, 399, LARGEST_MEAN + 1])
def test_draws_follow_the_poisson_distribution(mean):
    draws = PoissonDraws(np.full(20, float(mean))).draw(10_000, np.random.default_rng(mean)).ravel()
    values = np.arange(draws.max() + 1)
    expected = poisson.pmf(values, mean) * draws.size
    inside = np.flatnonzero(expected > 10)
    low, high = inside[0], inside[-1]
    edges = [0, *range(low + 1, high + 1), int(draws.max()) + 2]
    counted = np.add.reduceat(np.bincount(draws.astype(int), minlength=edges[-1]), edges[:-1])
    chances = np.diff(poisson.cdf(np.array(edges) - 1, mean))
    chances[-1] += poisson.sf(edges[-1] - 1, mean)
    assert chisquare(counted, chances / chances.sum() * draws.size).pvalue > 0.001


def test_each_cell_has_its_own_mean_and_zero_stays_zero():
    means = np.array([0.0, 5.0, 500.0, 2.0, 0.0])
    draws = PoissonDraws(means).draw(20_000, np.random.default_rng(0))
    assert draws.shape == (20_000, 5)
    np.testing.assert_allclose(draws.mean(axis=0), means, rtol=0.03)
    np.testing.assert_allclose(draws.var(axis=0), means, rtol=0.06)
    assert not draws[:, [0, 4]].any()
    correlations = np.corrcoef(draws[:, 1:4], rowvar=False)[np.triu_indices(3, 1)]
    assert np.abs(correlations).max() < 0.03


def test_one_seed_gives_one_draw():
    sampler = PoissonDraws(np.array([3.0, 7.0]))
    one, same, other = (sampler.draw(50, np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()
