"""The solver against choix, against properties of the model, and against degenerate data."""

import choix
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from arena.rating.bradley_terry import ConvergenceError, NormalPrior, PenalizedLikelihood, solve
from arena.rating.pairs import Pairs


def round_robin(n_systems):
    return np.triu_indices(n_systems, 1)


def simulated_points(n_systems, questions, replicates, seed):
    random = np.random.default_rng(seed)
    strength = random.normal(size=n_systems)
    first, second = round_robin(n_systems)
    chance = expit(strength[first] - strength[second])
    points = random.binomial(questions, chance, size=(replicates, len(first))).astype(float)
    return points, np.full_like(points, questions), first, second


def fitted(points, counts, pairs, ridge):
    prior = NormalPrior.ridge(pairs.n_systems, ridge)
    return solve(PenalizedLikelihood(pairs, points.T, counts.T, prior)).checked()


def comparisons(points, counts, first, second):
    listed = []
    for won, met, one, other in zip(points, counts, first, second, strict=True):
        listed += [(one, other)] * int(won) + [(other, one)] * int(met - won)
    return listed


def test_maximum_likelihood_equals_choix():
    points, counts, first, second = simulated_points(7, 30, 4, seed=1)
    fit = fitted(points, counts, Pairs(first, second, 7), ridge=0.0)
    for row in range(4):
        expected = choix.ilsr_pairwise(7, comparisons(points[row], counts[row], first, second))
        np.testing.assert_allclose(fit.coefficients[row], expected - expected.mean(), atol=1e-7)


def test_gaussian_prior_equals_choix_penalised_likelihood():
    points, counts, first, second = simulated_points(6, 8, 3, seed=2)
    fit = fitted(points, counts, Pairs(first, second, 6), ridge=0.7)
    for row in range(3):
        expected = choix.opt_pairwise(
            6, comparisons(points[row], counts[row], first, second), alpha=0.7 / 2, tol=1e-12
        )
        np.testing.assert_allclose(fit.coefficients[row], expected, atol=2e-6)


def test_separable_data_stay_finite_and_are_reported():
    first, second = round_robin(3)
    points = np.array([[10.0, 10.0, 5.0]])
    fit = fitted(points, np.full((1, 3), 10.0), Pairs(first, second, 3), ridge=0.1)
    top, *rest = fit.coefficients[0]
    assert top > max(rest)
    assert np.isfinite(fit.coefficients).all()
    with pytest.raises(ConvergenceError, match="the likelihood has no maximum; use ridge > 0"):
        fitted(points, np.full((1, 3), 10.0), Pairs(first, second, 3), ridge=0.0)


def test_replicates_unlike_the_pooled_data_are_finished_by_newton_steps():
    first, second = round_robin(4)
    counts = np.full((2, 6), 50.0)
    points = np.vstack([np.zeros(6), np.full(6, 50.0)])
    fit = fitted(points, counts, Pairs(first, second, 4), ridge=0.1)
    np.testing.assert_allclose(fit.coefficients[0], -fit.coefficients[1], atol=1e-9)
    alone = fitted(points[:1], counts[:1], Pairs(first, second, 4), ridge=0.1)
    np.testing.assert_allclose(fit.coefficients[0], alone.coefficients[0], atol=1e-9)


@settings(max_examples=30)
@given(st.integers(3, 8), st.integers(0, 10**6))
def test_the_gradient_vanishes_and_coefficients_are_centered(n_systems, seed):
    points, counts, first, second = simulated_points(n_systems, 5, 3, seed)
    theta = fitted(points, counts, Pairs(first, second, n_systems), ridge=0.1).coefficients
    residual = counts * expit(theta[:, first] - theta[:, second]) - points
    gradient = 0.1 * theta
    for pair, (one, other) in enumerate(zip(first, second, strict=True)):
        gradient[:, one] += residual[:, pair]
        gradient[:, other] -= residual[:, pair]
    assert np.abs(gradient).max() < 1e-7
    np.testing.assert_allclose(theta.mean(axis=1), 0.0, atol=1e-9)
