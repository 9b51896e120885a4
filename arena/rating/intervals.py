"""How sure ratings are: bootstrap over questions, bounds of ranks, tiers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, stdtr, stdtrit

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
from arena.statistics.bootstrap import percentile_intervals
from arena.statistics.significance import holm_adjusted

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]
Booleans = npt.NDArray[np.bool_]

LEVEL = 0.95
MOST_COMPARED = 1_500
"""Systems whose pairs are all compared."""


@dataclass(frozen=True)
class RatingModel:
    """A Bradley-Terry model of some battles.

    Attributes:
        counts: The battles; by side where ``position`` is set, without ties where they are
            dropped.
        ties: ``half`` a win for each, or ``davidson``, a model with a parameter.
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
    """How far S coefficients may be off.

    Attributes:
        low: Lower bound of each coefficient's 95% interval, shape (S,).
        high: Upper bound.
        covariance: Of the coefficients, shape (S, S); NaN where it is not known.
        freedom: Degrees of freedom that the covariance was estimated with; infinity if it is known.
        effect_widths: Half-widths of the 95% intervals of the covariates' effects, shape (C,).
        regularized: Bootstrap samples whose likelihood has no maximum, fitted with a prior.
    """

    low: Floats
    high: Floats
    covariance: Floats
    freedom: float
    effect_widths: Floats
    regularized: int = 0

    @classmethod
    def unknown(cls, systems: int, effects: int) -> Uncertainty:
        """Know nothing."""
        nothing, square = np.full(systems, np.nan), np.full((systems, systems), np.nan)
        return cls(nothing, nothing, square, np.inf, np.full(effects, np.nan))


def bootstrap(
    model: RatingModel, parameters: Floats, rounds: int, random: np.random.Generator
) -> Uncertainty:
    """Bootstrap over questions, the unit of sampling.

    Of few questions percentiles are too near, as normal quantiles are beside Student's: those taken
    are as far out as the t-distribution of Q - 1 degrees of freedom asks (Hesterberg, 2015, "What
    teachers should know about the bootstrap", the expanded percentile interval).

    Args:
        model: Model of the battles.
        parameters: All parameters of its fit, shape (K,).
        rounds: Number of replicates B.
        random: Generator of the draws.
    """
    column = parameters[:, None]
    warm_start = WarmStart(column, model.problem().solver(column))
    fits, regularized = [], 0
    for counts in model.counts.resampled(rounds, random):
        fit, degenerate = model.fit_resampled(counts, warm_start)
        fits.append(fit)
        regularized += degenerate
    replicates = np.concatenate([fit.coefficients for fit in fits])
    questions = model.counts.n_questions
    if questions < 2:  # resamples of one question are all alike
        return Uncertainty.unknown(replicates.shape[1], model.covariates.shape[1])
    larger = questions / (questions - 1)
    quantile = float(stdtrit(questions - 1, (1 + LEVEL) / 2))
    outside = 100 * float(ndtr(-quantile * np.sqrt(larger)))
    low, high = percentile_intervals(replicates, (outside, 100 - outside))
    errors = np.concatenate([fit.effects for fit in fits]).std(axis=0, ddof=1)
    return Uncertainty(
        low=low,
        high=high,
        covariance=larger * np.atleast_2d(np.cov(replicates, rowvar=False)),
        freedom=questions - 1,
        effect_widths=quantile * np.sqrt(larger) * errors,
        regularized=regularized,
    )


def ranks_and_tiers(
    coefficients: Floats, covariance: Floats, freedom: float = np.inf
) -> dict[str, npt.ArrayLike]:
    """Bound the ranks of all systems at once, and group them into tiers, with 95% confidence.

    Both rest on which pairs of systems are ``distinguishable``. A system's rank is at least one
    more than the number of systems surely better, and at most the number of those not surely worse
    (Mogstad, Romano, Shaikh and Wilhelm, 2024). A tier's systems are not distinguishable from its
    best one.

    Args:
        coefficients: Estimates, shape (S,).
        covariance: Of these, shape (S, S); NaN where it is not known.
        freedom: Degrees of freedom that it was estimated with.

    Returns:
        ``rank_low``, ``rank_high`` and ``tier`` of each system, 1 the best; NaN of too many
        systems, and where no error is known.
    """
    if len(coefficients) > MOST_COMPARED or np.isnan(np.diag(covariance)).all():
        return dict.fromkeys(("rank_low", "rank_high", "tier"), np.nan)
    different = distinguishable(coefficients, covariance, freedom)
    surely_better = different & (coefficients[:, None] > coefficients[None, :])
    tier = np.zeros(len(coefficients), dtype=np.intp)
    leader = -1
    for system in np.argsort(-coefficients, kind="stable"):
        if leader < 0 or different[leader, system]:
            leader = system
            tier[system] = tier.max() + 1
        else:
            tier[system] = tier[leader]
    return {
        "rank_low": 1 + surely_better.sum(axis=0),
        "rank_high": len(coefficients) - surely_better.sum(axis=1),
        "tier": tier,
    }


def distinguishable(coefficients: Floats, covariance: Floats, freedom: float = np.inf) -> Booleans:
    """Tell which pairs of systems differ at 5% after Holm's (1979) correction, shape (S, S).

    Pairs are compared by two-sided tests of their difference, by Student's distribution of the
    degrees of freedom. Systems whose error is not known are like all others.
    """
    variance = np.diag(covariance)
    spread = variance[:, None] + variance[None, :] - 2 * covariance
    first, second = np.triu_indices(len(coefficients), 1)
    gap = np.abs(coefficients[first] - coefficients[second])
    error = np.sqrt(np.maximum(spread[first, second], 0.0))
    # An error of 0 is that of exact ratings, which differ wherever they are not the same.
    score = np.divide(gap, error, out=np.where(gap > 0, np.inf, 0.0), where=error != 0)
    different = np.zeros((len(coefficients), len(coefficients)), dtype=np.bool_)
    different[first, second] = holm_adjusted(2 * stdtr(freedom, -score)) <= 1 - LEVEL
    return np.asarray(different | different.T)
