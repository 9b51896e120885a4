"""How sure ratings are: bootstrap over questions, clustered sandwich, rank intervals, tiers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

from arena.rating.bradley_terry import (
    DEFAULT_RIDGE,
    RESAMPLE_TOLERANCE,
    BradleyTerryFit,
    PenalizedLikelihood,
    WarmStart,
    all_converged,
    solve,
    tie_likelihood,
)
from arena.rating.likelihoods import Counts
from arena.rating.pairs import WinCounts
from arena.statistics.bootstrap import normal_draws, percentile_intervals
from arena.statistics.significance import NORMAL_QUANTILE, holm_adjusted

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]
Booleans = npt.NDArray[np.bool_]

LEVEL = 0.95
DRAWS = 2_000
LARGEST_ACCELERATED = 2_000_000


@dataclass(frozen=True)
class RatingModel:
    """A Bradley-Terry model of some battles.

    Attributes:
        counts: The battles; by side where ``position`` is set, without ties where they are
            dropped.
        ties: ``half`` a win for each, or a model with a parameter: ``davidson``, ``rao-kupper``.
        position: Estimate the advantage of side A.
        ridge: Precision of the Gaussian prior on coefficients (and on tau).
    """

    counts: WinCounts
    ties: str = "half"
    position: bool = False
    ridge: float = 0.0

    @property
    def covariates(self) -> Floats:
        """Covariates of each pair's logit, shape (P, C)."""
        size = len(self.counts.pairs)
        given = self.counts.covariates
        columns = np.empty((size, 0)) if given is None else given
        return np.hstack([np.ones((size, 1)), columns]) if self.position else columns

    def problem(self, counts: Counts | None = None) -> PenalizedLikelihood:
        """Return the likelihood of all battles, or of other counts of the same pairs."""
        likelihood = tie_likelihood(self.ties, self.counts.totals if counts is None else counts)
        return PenalizedLikelihood(likelihood, self.counts.pairs, self.covariates, self.ridge)

    def fit(self) -> BradleyTerryFit:
        """Fit all battles, one replicate.

        Raises:
            ConvergenceError: If the likelihood has no maximum (with ``ridge`` 0).
        """
        return all_converged(solve(self.problem()))

    def fit_resampled(self, counts: Counts, warm_start: WarmStart) -> tuple[BradleyTerryFit, int]:
        """Fit resamples of the battles, those without a maximum with a prior of their own.

        Returns:
            The fit, and the number of resamples that needed the prior.
        """
        problem = self.problem(counts)
        fit = solve(problem, warm_start, RESAMPLE_TOLERANCE)
        degenerate = np.flatnonzero(~fit.converged)
        if degenerate.size:
            regular = replace(problem.take(degenerate), ridge=max(self.ridge, DEFAULT_RIDGE))
            again = all_converged(solve(regular))
            fit.parameters[degenerate] = again.parameters
        return fit, len(degenerate)


@dataclass(frozen=True)
class Uncertainty:
    """Sampling distribution of the coefficients.

    Attributes:
        replicates: Draws around the estimates, shape (B, S).
        low: Lower bound of each coefficient's 95% interval, shape (S,).
        high: Upper bound.
        effect_errors: Standard errors of the covariates' effects, shape (C,).
        regularized: Bootstrap samples whose likelihood has no maximum, fitted with a prior.
    """

    replicates: Floats
    low: Floats
    high: Floats
    effect_errors: Floats
    regularized: int = 0


def bootstrap(
    model: RatingModel,
    parameters: Floats,
    rounds: int,
    random: np.random.Generator,
    bca: bool = False,
) -> Uncertainty:
    """Bootstrap over questions, the unit of sampling.

    Args:
        model: Model of the battles.
        parameters: All parameters of its fit, shape (K,).
        rounds: Number of replicates B.
        random: Generator of the draws.
        bca: Correct bias and acceleration (Efron, 1987) instead of plain percentiles; the
            acceleration is that of the questions' influences.
    """
    column = parameters[:, None]
    warm_start = WarmStart(column, model.problem().solver(column))
    fits, regularized = [], 0
    for counts in model.counts.resampled(rounds, random):
        fit, degenerate = model.fit_resampled(counts, warm_start)
        fits.append(fit)
        regularized += degenerate
    replicates = np.concatenate([fit.coefficients for fit in fits])
    errors = np.concatenate([fit.effects for fit in fits]).std(axis=0, ddof=1)
    if bca:
        estimates = parameters[: model.counts.pairs.n_systems]
        low, high = _bca(replicates, estimates, question_influences(model, parameters))
    else:
        low, high = percentile_intervals(replicates)
    return Uncertainty(replicates, low, high, errors, regularized)


def sandwich(model: RatingModel, parameters: Floats, random: np.random.Generator) -> Uncertainty:
    """Normal intervals from the sandwich covariance, clustered by question (White, 1982).

    Args:
        model: Model of the battles.
        parameters: All parameters of its fit, shape (K,).
        random: Generator of normal draws, from which ranks and tiers are made.
    """
    covariance = sandwich_covariance(model, parameters)
    systems = model.counts.pairs.n_systems
    linear = systems + model.covariates.shape[1]
    among = covariance[:systems, :systems]
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    estimates = parameters[:systems]
    draws = normal_draws(estimates, among, DRAWS, random)
    width = NORMAL_QUANTILE * errors[:systems]
    return Uncertainty(draws, estimates - width, estimates + width, errors[systems:linear])


def sandwich_covariance(model: RatingModel, parameters: Floats) -> Floats:
    """Return the covariance of a fit's parameters, clustered by question, shape (K, K)."""
    bread = _bread(model, parameters)
    questions = model.counts.n_questions
    correction = questions / max(questions - 1, 1)
    return np.asarray(correction * bread @ _meat(model, parameters) @ bread)


def question_influences(model: RatingModel, parameters: Floats) -> Floats | None:
    """Influence of each question on each coefficient (infinitesimal jackknife), shape (Q, S).

    Returns:
        None where every battle is its own question, or there are too many to list.
    """
    counts, systems = model.counts, model.counts.pairs.n_systems
    if counts.counted is None or counts.n_questions * systems > LARGEST_ACCELERATED:
        return None
    scores = _question_scores(model, parameters)
    return np.asarray((scores @ _bread(model, parameters))[:, :systems])


def _bread(model: RatingModel, parameters: Floats) -> Floats:
    """Inverse of the penalized information, shape (K, K)."""
    return np.asarray(np.linalg.inv(model.problem().information(parameters[:, None])))


def _meat(model: RatingModel, parameters: Floats) -> Floats:
    if model.counts.counted is not None:
        scores = _question_scores(model, parameters)
        return np.asarray(scores.T @ scores)
    return _battle_meat(model, parameters)


def _battle_meat(model: RatingModel, parameters: Floats) -> Floats:
    """Sum of squared scores of single battles, shape (K, K)."""
    problem = model.problem()
    return problem.unpenalized(
        problem.likelihood.squared_scores(*problem.parts(parameters[:, None]))
    )


def _question_scores(model: RatingModel, parameters: Floats) -> Floats:
    """Gradient of each question's log-likelihood, shape (Q, K)."""
    problem, tables = model.problem(), model.counts.tables
    slopes = problem.likelihood.slopes(*problem.parts(parameters[:, None]))
    by_logit = sum(
        table.multiply(slope).tocsr() for table, slope in zip(tables, slopes, strict=False)
    )
    scores = [(problem.pairs.incidence @ by_logit).toarray()]
    if problem.covariates.shape[1]:
        scores.append((by_logit.T @ problem.covariates).T)
    if problem.likelihood.has_tie_parameter:
        by_tie = sum(table.T @ slope[:, 0] for table, slope in zip(tables, slopes[3:], strict=True))
        scores.append(np.asarray(by_tie)[None])
    return np.concatenate(scores).T


def _bca(replicates: Floats, estimates: Floats, influences: Floats | None) -> tuple[Floats, Floats]:
    below = (replicates < estimates).mean(axis=0)
    floor = 1.0 / (2 * len(replicates))
    bias = ndtri(np.clip(below, floor, 1 - floor))
    acceleration = np.zeros(len(estimates))
    if influences is not None:
        spread = (influences**2).sum(axis=0) ** 1.5
        cubes = (influences**3).sum(axis=0)
        acceleration = np.divide(cubes, 6 * spread, out=acceleration, where=spread > 0)
    bounds = []
    for tail in ((1 - LEVEL) / 2, (1 + LEVEL) / 2):
        shifted = bias + ndtri(tail)
        level = ndtr(bias + shifted / (1 - acceleration * shifted))
        bounds.append(np.array([np.quantile(replicates[:, i], p) for i, p in enumerate(level)]))
    return bounds[0], bounds[1]


def rank_intervals(coefficients: Floats, replicates: Floats) -> tuple[Integers, Integers]:
    """Bound the ranks of all systems at once, with 95% confidence that all bounds hold.

    A system's rank is at least one more than the number of systems surely better, and at most
    the number of those not surely worse (Mogstad, Romano, Shaikh and Wilhelm, 2024). "Surely" is
    by the largest studentized difference over all pairs of systems.

    Args:
        coefficients: Estimates, shape (S,).
        replicates: Draws around them, shape (B, S).

    Returns:
        Best and worst rank of each system, two arrays of shape (S,).
    """
    differences = coefficients[:, None] - coefficients[None, :]
    errors = _difference_errors(replicates)
    critical = _largest_studentized(coefficients, replicates, errors)
    surely_better = differences > critical * errors
    np.fill_diagonal(surely_better, False)
    best = 1 + surely_better.sum(axis=0)
    worst = len(coefficients) - surely_better.sum(axis=1)
    return best.astype(np.intp), worst.astype(np.intp)


def tiers(coefficients: Floats, replicates: Floats) -> Integers:
    """Group systems into tiers: a tier's systems are not distinguishable from its best one.

    Pairs are compared by normal tests of their difference, two-sided, at 5% with Holm's (1979)
    correction over all pairs.

    Returns:
        Tier of each system, 1 the best, shape (S,).
    """
    different = distinguishable(coefficients, replicates)
    tier = np.zeros(len(coefficients), dtype=np.intp)
    leader = -1
    for system in np.argsort(-coefficients, kind="stable"):
        if leader < 0 or different[leader, system]:
            leader = system
            tier[system] = tier.max() + 1
        else:
            tier[system] = tier[leader]
    return tier


def distinguishable(coefficients: Floats, replicates: Floats) -> Booleans:
    """Tell which pairs of systems differ at 5% after Holm's correction, shape (S, S)."""
    errors = _difference_errors(replicates)
    first, second = np.triu_indices(len(coefficients), 1)
    gap = np.abs(coefficients[first] - coefficients[second])
    error = errors[first, second]
    z = np.divide(gap, error, out=np.full_like(gap, np.inf), where=error > 0)
    z[gap == 0] = 0.0
    different = np.zeros((len(coefficients), len(coefficients)), dtype=np.bool_)
    different[first, second] = holm_adjusted(2 * ndtr(-z)) <= 1 - LEVEL
    return np.asarray(different | different.T)


def _difference_errors(replicates: Floats) -> Floats:
    """Standard error of each difference of two coefficients, shape (S, S)."""
    covariance = np.atleast_2d(np.cov(replicates, rowvar=False))
    variance = np.diag(covariance)
    return np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2 * covariance, 0.0))


def _largest_studentized(coefficients: Floats, replicates: Floats, errors: Floats) -> float:
    """Return the 95% quantile of the largest studentized difference over pairs."""
    inverse = np.divide(1.0, errors, out=np.zeros_like(errors), where=errors > 0)
    largest = np.empty(len(replicates))
    for row, deviation in enumerate(replicates - coefficients):
        largest[row] = (np.abs(deviation[:, None] - deviation[None, :]) * inverse).max()
    return float(np.quantile(largest, LEVEL))
