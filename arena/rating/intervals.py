"""How sure ratings are: bootstrap over questions, bounds of ranks, tiers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, stdtr, stdtrit

from arena.data.types import Flags, Floats
from arena.rating.bradley_terry import (
    DEFAULT_RIDGE,
    BradleyTerryFit,
    NormalPrior,
    PenalizedLikelihood,
    WarmStart,
    solve,
)
from arena.rating.pairs import JudgedItems
from arena.statistics.bootstrap import percentile_intervals
from arena.statistics.significance import holm_adjusted

LEVEL = 0.95
MOST_COMPARED = 1_500
"""Systems whose pairs are all compared."""
CONSTANT = 1e-6
"""Range of a coefficient over bootstrap samples that is rounding error, in logits."""
RESAMPLE_TOLERANCE = 1e-8
"""Largest error of bootstrap resamples, of which only the spread counts, in logits."""


@dataclass(frozen=True)
class Uncertainty:
    """How far S coefficients may be off.

    Attributes:
        low: Lower bound of each coefficient's 95% interval, shape (S,).
        high: Upper bound.
        covariance: Of the coefficients, shape (S, S); NaN where it is not known.
        freedom: Degrees of freedom that the covariance was estimated with; infinity if it is known.
        regularized: Bootstrap samples whose likelihood has no maximum, fitted with a prior.
        constant: Coefficients that are the same in every bootstrap sample, and thus have no
            interval, shape (S,).
    """

    low: Floats
    high: Floats
    covariance: Floats
    freedom: float = np.inf
    regularized: int = 0
    constant: Flags | None = None

    @classmethod
    def unknown(cls, systems: int) -> Uncertainty:
        """Know nothing."""
        nothing = np.full(systems, np.nan)
        return cls(nothing, nothing, np.full((systems, systems), np.nan))


def bootstrap(
    items: JudgedItems,
    problem: PenalizedLikelihood,
    fit: BradleyTerryFit,
    rounds: int,
    random: np.random.Generator,
) -> Uncertainty:
    """Bootstrap over questions, the unit of sampling.

    Of few questions percentiles are too near, as normal quantiles are beside Student's: those taken
    are as far out as the t-distribution of Q - 1 degrees of freedom asks (Hesterberg, 2015, "What
    teachers should know about the bootstrap", the expanded percentile interval). Resamples without
    a maximum have the usual weak prior. A coefficient that is the same in all samples has no
    interval: resamples of a few verdicts that agree do not show how far it may be off.
    """
    questions, systems = items.n_questions, items.pairs.n_systems
    if questions < 2:  # resamples of one question are all alike
        return Uncertainty.unknown(systems)
    start = WarmStart(fit.parameters.T, problem.solver(fit.parameters.T))
    prior = NormalPrior.ridge(systems, DEFAULT_RIDGE)
    parts, regularized = [], 0
    for points, counts in items.resampled(rounds, random):
        drawn = replace(problem, points=points, counts=counts)
        found = solve(drawn, start, RESAMPLE_TOLERANCE)
        if (again := np.flatnonzero(~found.converged)).size:
            weak = replace(drawn.take(again), prior=prior, position_precision=DEFAULT_RIDGE)
            degenerate = solve(weak).checked()
            found.parameters[again] = degenerate.parameters
        parts.append(found.coefficients)
        regularized += again.size
    replicates = np.concatenate(parts)
    larger = questions / (questions - 1)
    quantile = float(stdtrit(questions - 1, (1 + LEVEL) / 2))
    outside = 100 * float(ndtr(-quantile * np.sqrt(larger)))
    low, high = percentile_intervals(replicates, (outside, 100 - outside))
    covariance = larger * np.atleast_2d(np.cov(replicates, rowvar=False))
    constant = np.asarray(np.ptp(replicates, axis=0) <= CONSTANT)
    low, high = (np.where(constant, np.nan, bound) for bound in (low, high))
    covariance[constant] = covariance[:, constant] = np.nan
    return Uncertainty(low, high, covariance, questions - 1, int(regularized), constant)


def ranks_and_tiers(
    coefficients: Floats, covariance: Floats, freedom: float = np.inf
) -> dict[str, npt.ArrayLike]:
    """Bound the ranks of all systems at once, and group them into tiers, with 95% confidence.

    Both rest on which pairs of systems are ``distinguishable``. A system's rank is at least one
    more than the number of systems surely better, and at most the number of those not surely worse
    (Mogstad, Romano, Shaikh and Wilhelm, 2024). A tier's systems are not distinguishable from its
    best one, and a system is in the first tier of which that is so: whose rank may be 1 is in
    tier 1.

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
    leaders: list[int] = []
    for system in np.argsort(-coefficients, kind="stable"):
        # One with a large error may be like the best one and unlike the leader just above it.
        alike = [place for place, leader in enumerate(leaders) if not different[leader, system]]
        if not alike:
            alike = [len(leaders)]
            leaders.append(int(system))
        tier[system] = 1 + alike[0]
    return {
        "rank_low": 1 + surely_better.sum(axis=0),
        "rank_high": len(coefficients) - surely_better.sum(axis=1),
        "tier": tier,
    }


def distinguishable(coefficients: Floats, covariance: Floats, freedom: float = np.inf) -> Flags:
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
