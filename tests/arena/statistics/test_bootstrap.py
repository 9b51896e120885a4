"""Weights of the bootstrap."""

import numpy as np
import pytest

from arena.statistics.bootstrap import exponential_sums


@pytest.mark.parametrize("number", [1, 2, 10, 1000])
def test_sums_of_exponential_weights_have_the_moments_of_the_gamma_distribution(number):
    sums = exponential_sums(np.full(20, number), 50_000, np.random.default_rng(0)).ravel()
    standard = (sums - number) / np.sqrt(number)
    assert sums.min() > 0
    assert standard.mean() == pytest.approx(0, abs=0.005)
    assert standard.var() == pytest.approx(1, abs=0.01)
    assert (standard**3).mean() == pytest.approx(2 / np.sqrt(number), rel=0.05, abs=0.01)


def test_no_units_have_no_weight():
    sums = exponential_sums([0, 3], 100, np.random.default_rng(0))
    assert not sums[0].any()
    assert sums[1].all()
