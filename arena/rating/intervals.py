"""Uncertainty of ratings: bootstrap over questions, bounds of ranks, tiers, pairs compared.

Guide: docs/reference/ratings.md, "What the numbers mean".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from numpy.polynomial.hermite import hermgauss
from scipy.special import expit, ndtr, stdtr, stdtrit

from arena.data.types import Flags, Floats
from arena.rating.bradley_terry import (
    DEFAULT_RIDGE,
    BradleyTerryFit,
    PenalizedLikelihood,
    WarmStart,
    regularize,
    solve,
)
from arena.rating.pairs import JudgedItems, Pairs
from arena.statistics.bootstrap import SAME_DECIMALS, percentile_intervals
from arena.statistics.significance import NORMAL_90

LEVEL = 0.9
MOST_COMPARED = 1_500
"""Systems above which pairs are not compared: time and memory grow with their square."""
CONSTANT = 1e-6
"""Range of a coefficient over bootstrap samples that is mere rounding error, in logits."""


class Uncertainty(NamedTuple):
    """Uncertainty of S coefficients.

    Attributes:
        low: Lower bounds of 90% intervals, shape (S,).
        high: Upper bounds.
        covariance: Of the coefficients, shape (S, S); NaN if not known.
        freedom: Degrees of freedom of its estimate; infinite if it is exact.
        regularized: Bootstrap samples without a maximum, fitted with a prior.
        constant: Whether one never changes in the bootstrap, so has no interval, shape (S,).
        p_values: Of every two, shape (S, S), where the covariance does not tell.
    """

    low: Floats
    high: Floats
    covariance: Floats
    freedom: float = np.inf
    regularized: int = 0
    constant: Flags | None = None
    p_values: Floats | None = None

    @classmethod
    def unknown(cls, systems: int) -> Uncertainty:
        """Return unknown bounds and covariance."""
        bounds = np.full(systems, np.nan)
        return cls(bounds, bounds, np.full((systems, systems), np.nan))

    @classmethod
    def normal(cls, coefficients: Floats, covariance: Floats) -> Uncertainty:
        """Return normal intervals of known covariance."""
        half_widths = NORMAL_90 * np.sqrt(np.maximum(np.diag(covariance), 0.0))
        return cls(coefficients - half_widths, coefficients + half_widths, covariance)


def bootstrap(
    items: JudgedItems,
    problem: PenalizedLikelihood,
    fit: BradleyTerryFit,
    rounds: int,
    random: np.random.Generator,
) -> Uncertainty:
    """Bootstrap over questions, the unit of sampling.

    Percentiles are expanded as the t-distribution with Q - 1 degrees of freedom calls for
    (Hesterberg, 2015, "What teachers should know about the bootstrap"). Resamples without a maximum
    have a weak prior; a coefficient that never changes has no interval.
    """
    # Largest error of bootstrap resamples, of which only the spread counts, in logits
    resample_tolerance = 1e-8
    n_questions = items.n_questions
    n_systems = items.pairs.n_systems
    if n_questions < 2:
        return Uncertainty.unknown(n_systems)
    start = WarmStart(fit.parameters.T, problem.solver(fit.parameters.T))
    blocks = []
    n_regularized = 0
    for points, counts in items.resampled(rounds, random):
        resample = replace(problem, points=points, counts=counts)
        resample_fit = solve(resample, start, resample_tolerance)
        n_regularized += regularize(resample_fit, resample, DEFAULT_RIDGE)
        blocks.append(resample_fit.coefficients)
    return _of_replicates(np.concatenate(blocks), n_questions, n_regularized)


def _of_replicates(replicates: Floats, n_questions: int, n_regularized: int) -> Uncertainty:
    # A bootstrap's variance is (Q - 1) / Q of the unbiased one.
    inflation = n_questions / (n_questions - 1)
    quantile = float(stdtrit(n_questions - 1, (1 + LEVEL) / 2))
    percentile = 100 * float(ndtr(-quantile * np.sqrt(inflation)))
    low, high = percentile_intervals(replicates, (percentile, 100 - percentile))
    covariance = inflation * np.atleast_2d(np.cov(replicates, rowvar=False))
    is_constant = np.asarray(np.ptp(replicates, axis=0) <= CONSTANT)
    covariance[is_constant] = np.nan
    covariance[:, is_constant] = np.nan
    return Uncertainty(
        low=np.where(is_constant, np.nan, low),
        high=np.where(is_constant, np.nan, high),
        covariance=covariance,
        freedom=n_questions - 1,
        regularized=n_regularized,
        constant=is_constant,
    )


def rating_rows(
    systems: Sequence[str], coefficients: Floats, uncertainty: Uncertainty
) -> pd.DataFrame:
    """Return columns ``system, rating, low, high, rank, rank_low, rank_high, tier``."""
    # Rounding errors must not rank systems of equal ratings.
    rounded = pd.Series(coefficients).round(SAME_DECIMALS)
    return pd.DataFrame(
        {
            "system": list(systems),
            "rating": coefficients,
            "low": uncertainty.low,
            "high": uncertainty.high,
            "rank": rounded.rank(ascending=False, method="min"),
            **ranks_and_tiers(
                coefficients, uncertainty.covariance, uncertainty.freedom, uncertainty.p_values
            ),
        }
    )


def ranks_and_tiers(
    coefficients: Floats,
    covariance: Floats,
    freedom: float = np.inf,
    p_values: Floats | None = None,
) -> dict[str, npt.ArrayLike]:
    """Bound every system's rank, and group systems into tiers.

    Two systems differ if the 90% interval of their difference excludes 0 (``p_values``, by default
    ``wald_p_values``). A rank is at least one more than the number of better systems, and at most
    the number of those not worse. A system belongs to the first tier whose best system is like it;
    all that may rank first are in tier 1. A single leader is wrong in at most 10% of arenas (Hung
    and Fithian, 2019, "Rank verification for exponential families"). NaN for too many systems, or
    unknown errors.
    """
    if len(coefficients) > MOST_COMPARED or np.isnan(np.diag(covariance)).all():
        return dict.fromkeys(("rank_low", "rank_high", "tier"), np.nan)
    if p_values is None:
        p_values = wald_p_values(coefficients, covariance, freedom)
    different = p_values <= 1 - LEVEL
    surely_better = different & (coefficients[:, None] > coefficients[None, :])
    tier = np.zeros(len(coefficients), dtype=np.intp)
    leaders: list[int] = []
    for system in np.argsort(-coefficients, kind="stable"):
        # With a large error it may be like the best one and unlike the leader just above it.
        is_alike = ~different[leaders, system]
        if not is_alike.any():
            leaders.append(int(system))
            tier[system] = len(leaders)
            continue
        tier[system] = 1 + np.argmax(is_alike)
    return {
        "rank_low": 1 + surely_better.sum(axis=0),
        "rank_high": len(coefficients) - surely_better.sum(axis=1),
        "tier": tier,
    }


def wald_p_values(coefficients: Floats, covariance: Floats, freedom: float = np.inf) -> Floats:
    """Return two-sided p-values of every two systems, (S, S), by t-tests."""
    variance = np.diag(covariance)
    # Var(a - b) = Var(a) + Var(b) - 2 Cov(a, b).
    variances = variance[:, None] + variance[None, :] - 2 * covariance
    gap = np.abs(coefficients[:, None] - coefficients[None, :])
    error = np.sqrt(np.maximum(variances, 0.0))
    # An error of 0 is that of exact ratings, which differ wherever they are not the same.
    exact = np.where(gap > 0, np.inf, 0.0)
    statistic = np.divide(gap, error, out=exact, where=error != 0)
    return np.asarray(2 * stdtr(freedom, -statistic))


def pair_comparisons(ratings: pd.Series, covariance: pd.DataFrame) -> pd.DataFrame:
    """Compare every two systems, whose ratings are jointly normal.

    Intervals hold 90%; NaN where the covariance is.
    """
    rounding_error = 1e-12  # variances below it are 0, but for rounding
    names = ratings.index.to_numpy(object)
    values = ratings.to_numpy(np.float64)
    pairs = Pairs(*np.triu_indices(len(values), 1), len(values))
    variances = pairs.spreads(covariance.loc[names, names].to_numpy(np.float64))
    error = np.sqrt(np.where(variances > rounding_error, variances, np.nan))
    difference = pairs.differences(values)
    return pd.DataFrame(
        {
            "system": names[pairs.first],
            "opponent": names[pairs.second],
            "difference": difference,
            "low": difference - NORMAL_90 * error,
            "high": difference + NORMAL_90 * error,
            "probability": ndtr(difference / error),
        }
    )


def expected_shares(logits: Floats, errors: Floats) -> Floats:
    """Return mean shares of points, given normal logits, shape (N,)."""
    nodes, weights = hermgauss(20)
    shares = np.zeros(len(logits))
    scale = np.sqrt(2) * np.nan_to_num(errors)
    for node, weight in zip(nodes, weights, strict=True):
        shares += weight * expit(logits + scale * node)
    return np.asarray(shares / np.sqrt(np.pi))
