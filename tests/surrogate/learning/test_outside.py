"""Systems outside the field that a surrogate was trained on."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from surrogate.learning.outside import outside


def test_what_does_not_vary_is_left_out_and_what_sticks_out_is_named():
    training = np.array([[0.0, 10, 1], [2, 10, 1], [0, 30, 1], [2, 30, 1]])  # deviations 1 and 10
    assert outside(np.array([1.0, 20.0, 99.0]), training) is None
    assert outside(np.array([2.0, 70.0, 1.0]), training) == [1]
    assert outside(np.array([9.0, 50.0, 1.0]), training) == [0, 1]
    assert outside(np.array([1.0, np.nan, 1.0]), training) == [1]
    assert outside(np.full(3, np.nan), training) is None


@given(st.integers(0, 2**32 - 1), st.integers(0, 11))
def test_a_copy_of_a_training_system_is_never_outside(seed, index):
    training = np.random.default_rng(seed).normal(size=(12, 3))
    assert outside(training[index], training) is None


def test_systems_of_the_same_kind_are_rarely_called_outside():
    random = np.random.default_rng(3)
    calls = [
        outside(random.normal(size=3), random.normal(size=(12, 3))) is not None for _ in range(200)
    ]
    assert np.mean(calls) < 1 / 13  # what the largest distance of 12, without a margin, would give
