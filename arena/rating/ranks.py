"""Which systems can be told apart: simultaneous rank intervals, and tiers of tied systems."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]
Booleans = npt.NDArray[np.bool_]

LEVEL = 0.95


def rank_intervals(coefficients: Floats, replicates: Floats) -> tuple[Integers, Integers]:
    """Bound the ranks of all systems at once, with 95% confidence that all bounds hold.

    A system's rank is at least one more than the number of systems surely better, and at most
    the number of those not surely worse (Mogstad, Romano, Shaikh and Wilhelm, 2024). "Surely" is
    by the largest studentised difference over all pairs of systems.

    Args:
        coefficients: Estimates, shape (S,).
        replicates: Draws around them, shape (B, S).

    Returns:
        Best and worst rank of each system, two arrays of shape (S,).
    """
    differences = coefficients[:, None] - coefficients[None, :]
    errors = difference_errors(replicates)
    critical = _largest_studentised(coefficients, replicates, errors)
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
    errors = difference_errors(replicates)
    first, second = np.triu_indices(len(coefficients), 1)
    gap = np.abs(coefficients[first] - coefficients[second])
    error = errors[first, second]
    z = np.divide(gap, error, out=np.full_like(gap, np.inf), where=error > 0)
    z[gap == 0] = 0.0
    chance = 2 * norm.sf(z)
    order = np.argsort(chance, kind="stable")
    passed = chance[order] <= (1 - LEVEL) / (len(chance) - np.arange(len(chance)))
    rejected = order[: len(passed) if passed.all() else int(np.argmin(passed))]
    different = np.zeros((len(coefficients), len(coefficients)), dtype=np.bool_)
    different[first[rejected], second[rejected]] = True
    return np.asarray(different | different.T)


def difference_errors(replicates: Floats) -> Floats:
    """Standard error of each difference of two coefficients, shape (S, S)."""
    covariance = np.atleast_2d(np.cov(replicates, rowvar=False))
    variance = np.diag(covariance)
    return np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2 * covariance, 0.0))


def _largest_studentised(coefficients: Floats, replicates: Floats, errors: Floats) -> float:
    """Return the 95% quantile of the largest studentised difference over pairs."""
    inverse = np.divide(1.0, errors, out=np.zeros_like(errors), where=errors > 0)
    largest = np.empty(len(replicates))
    for row, deviation in enumerate(replicates - coefficients):
        largest[row] = (np.abs(deviation[:, None] - deviation[None, :]) * inverse).max()
    return float(np.quantile(largest, LEVEL))
