"""Tests of changes keep their level, and find changes that are there."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, ttest_ind_from_stats

from arena.statistics.significance import holm_adjusted
from surrogate.diff.languages import (
    Errors,
    bootstrap_errors,
    difference_errors,
    interval_width,
    p_values,
)


@pytest.mark.parametrize("tournaments", [5, 20, 200, 500])
def test_interval_width_is_that_of_normal_draws(tournaments):
    draws = np.random.default_rng(0).normal(size=(1500, tournaments))
    low, high = np.percentile(draws, [2.5, 97.5], axis=1)
    assert interval_width(tournaments) == pytest.approx((high - low).mean(), rel=0.03)
    assert interval_width(tournaments) < 2 * norm.ppf(0.975)


def test_welch_is_that_of_scipy():
    old, new = Errors(np.array([0.2]), 10.0), Errors(np.array([0.4]), 30.0)
    error, freedom = difference_errors(old, new)
    tested = p_values(np.array([0.9]), error, freedom)
    # scipy takes standard deviations of n observations: s² / n, with n - 1 degrees of freedom
    sizes = np.array([11, 31])
    deviations = np.array([0.2, 0.4]) * np.sqrt(sizes)
    expected = ttest_ind_from_stats(
        0.0, deviations[0], sizes[0], 0.9, deviations[1], sizes[1], equal_var=False
    )
    assert tested[0] == pytest.approx(expected.pvalue, rel=1e-9)


@pytest.mark.parametrize("tournaments", [5, 30, 200])
@pytest.mark.parametrize("shared", [0.0, 0.8])
def test_the_level_is_kept_and_shared_questions_make_it_lower(tournaments, shared):
    """Bootstrap intervals around estimates whose errors go together to some degree."""
    random = np.random.default_rng(1)
    boards = 4_000
    common = random.normal(size=boards)
    sides = []
    for _ in range(2):
        own = random.normal(size=boards)
        estimate = np.sqrt(shared) * common + np.sqrt(1 - shared) * own
        draws = estimate[:, None] + random.normal(size=(boards, tournaments))
        low, high = np.percentile(draws, [2.5, 97.5], axis=1)
        sides.append((estimate, bootstrap_errors(low, high, tournaments)))
    (old, old_errors), (new, new_errors) = sides
    rejected = (p_values(new - old, *difference_errors(old_errors, new_errors)) < 0.05).mean()
    assert rejected < (0.06 if shared == 0 else 0.005)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_keeps_the_order_and_never_lowers(values):
    plain = np.array(values)
    adjusted = holm_adjusted(plain)
    assert (adjusted >= plain).all()
    assert (adjusted <= 1).all()
    order = np.argsort(plain, kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()
