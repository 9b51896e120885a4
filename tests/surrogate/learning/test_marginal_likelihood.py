"""The likelihood of variances: against quadrature, against the arena's, and its gradient."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import expit

import arena.rating.posterior as arena_posterior
from arena.rating.pairs import JudgedItems, Pairs
from arena.rating.posterior import BattleLikelihood
from surrogate.learning.estimation.observations import JudgedBattles, Observation, Observations
from surrogate.learning.estimation.process import (
    MarginalLikelihood,
    condition,
    fit_process,
)

WEAK = 0.1
"""Precision of the usual weak prior."""


def observed(ratings, times=6, seed=0, effect=1.0):
    """Battles of all pairs of systems of given ratings, and what they say."""
    random = np.random.default_rng(seed)
    size = len(ratings)
    first, second = np.triu_indices(size, k=1)
    chances = expit(ratings[first] - ratings[second])
    points = random.binomial(times, chances).astype(float)
    pairs, question, every = Pairs(first, second, size), np.zeros(len(first), int), len(first)
    items = JudgedItems(pairs, question, np.arange(every), points, np.full(every, float(times)), 1)
    battles = BattleLikelihood(items)
    verdicts = JudgedBattles(battles, effect, np.zeros(size))
    everyone, nothing = np.arange(size), np.zeros(size)
    names = tuple("abcdefghijklmnop"[:size])
    start = Observation(names, nothing, np.eye(size), verdicts=verdicts, places=everyone)
    for _ in range(30):
        start = start.around(start.ratings)
    return start


def marginal(seen, kernels=()):
    parts = np.stack([*kernels, np.eye(len(seen.ratings))])
    return MarginalLikelihood(parts, np.ones((len(seen.ratings), 1)), seen)


@pytest.mark.parametrize("effect", [1.0, 2.5])
def test_it_is_that_of_a_numeric_integral(effect):
    seen = observed(np.array([1.5, 0.0, -0.7]), effect=effect)
    axis = np.linspace(-12, 12, 401)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), -1).reshape(-1, 2)
    contrasts = np.linalg.svd(np.eye(3) - 1 / 3)[0][:, :2]
    at = grid @ contrasts.T
    logs = np.array([seen.verdicts.likelihood.value(one) - 0.05 * one @ one for one in at]) / effect

    def by_quadrature(variance):
        density = -0.5 * (at**2).sum(axis=1) / variance - np.log(variance)
        return np.log(np.exp(logs + density - logs.max()).sum()) + logs.max()

    def by_mode(variance):
        return -marginal(seen).loss(np.array([variance]))[0]

    for low, high in ((0.1, 0.5), (0.5, 2.0)):
        expected = by_quadrature(high) - by_quadrature(low)
        assert by_mode(high) - by_mode(low) == pytest.approx(expected, abs=0.05)


def test_it_is_that_of_the_arenas_posterior():
    seen = observed(np.array([1.5, 0.5, 0.0, -0.7, -1.1]))
    battles = seen.verdicts.likelihood

    def by_arena(variance):
        prior = arena_posterior.RatingPrior.flat(5, 1 / variance + WEAK)
        mode = battles.mode(prior)
        precision = battles.information(mode) + np.eye(5) * (1 / variance + WEAK)
        log_prior = arena_posterior._log_prior(prior, mode, precision)
        # Here the weak prior is part of what is observed, and the level is not.
        return battles.value(mode) + log_prior - 2 * np.log((1 / variance + WEAK) * variance)

    def own(variance):
        return -marginal(seen).loss(np.array([variance]))[0]

    assert own(1.5) - own(0.2) == pytest.approx(by_arena(1.5) - by_arena(0.2), abs=1e-5)


@pytest.mark.parametrize("kept", ["abcdefg", "acdg"])
def test_its_gradient_is_right_though_the_mode_moves(kept):
    random = np.random.default_rng(3)
    languages = {
        name: observed(random.normal(size=7), times=2, seed=seed, effect=1.4)
        for seed, name in enumerate(("en", "fi"))
    }
    languages["fi"] = languages["fi"].among(kept)
    size = 7 + len(kept)
    seen = Observations(languages, 0.3 * random.normal(size=size))
    factor = random.normal(size=(size, 4))
    parts = np.stack([factor @ factor.T / 4, np.eye(size)])

    def value(logs):
        return MarginalLikelihood(parts, seen.groups, seen).loss(np.exp(logs))[0]

    logs = np.array([-0.4, -1.2])
    gradient = MarginalLikelihood(parts, seen.groups, seen).loss(np.exp(logs))[1]
    np.testing.assert_allclose(gradient, approx_fprime(logs, value, 1e-5), rtol=2e-3, atol=2e-3)


def test_battles_with_others_count_as_if_nothing_was_known_of_these():
    """A system that is not in the process is as one whose variance is without bounds."""
    seen = observed(np.array([1.5, 0.5, 0.0, -0.7, -1.1]))
    kernel = np.diag([1.0, 1.0, 1.0, 1.0, 0.0])
    whole = kernel + np.diag([0, 0, 0, 0, 1e5])
    one, none = np.ones((1, 1)), np.zeros(1)
    everyone = condition(one, none, whole[None], seen, np.ones((5, 1)))
    some = condition(one, none, kernel[None, :4, :4], seen.among("abcd"), np.ones((4, 1)))
    means, others = everyone.posterior()[0][:4], some.posterior()[0]
    np.testing.assert_allclose(others - others.mean(), means - means.mean(), atol=2e-3)


def test_intervals_of_few_battles_hold_the_truth():
    missed, slopes = [], []
    for seed in range(60):
        random = np.random.default_rng(seed)
        truth = random.normal(0, 0.8, 10)
        seen = observed(truth, times=1, seed=seed)
        process = fit_process(np.zeros((0, 10, 10)), seen, np.ones((10, 1)), 1.0, adjusted=True)
        means, covariance, _ = process.posterior()
        away = means - means.mean() - (truth - truth.mean())
        missed.append(np.abs(away) > 1.645 * np.sqrt(np.diag(covariance)))
        slopes.append(np.polyfit(means, truth, 1)[0])
    assert 0.07 < np.mean(missed) < 0.13
    assert np.mean(slopes) == pytest.approx(1.0, abs=0.12)
