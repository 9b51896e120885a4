"""Intervals and tests: quantiles, Holm's correction, intervals of shares; means without NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from arena.data.types import Floats

NORMAL_95 = 1.959963984540054
"""The 97.5% quantile of the normal distribution, for intervals of 95%."""
NORMAL_90 = 1.6448536269514722
"""The 95% quantile, for intervals of 90%."""


def completed_variances(variances: Floats) -> Floats:
    """Replace unknown variances, NaN, by the others' median, (S,).

    Exact ratings do not count for it.
    """
    positive = variances[np.isfinite(variances) & (variances > 0)]
    assumed = np.median(positive) if len(positive) else np.nan
    return np.where(np.isnan(variances), assumed, variances)


def holm_adjusted(p_values: npt.ArrayLike) -> Floats:
    """Adjust p-values for testing several (Holm, 1979), without NaN."""
    unadjusted = np.asarray(p_values, dtype=np.float64)
    tested = np.flatnonzero(np.isfinite(unadjusted))
    order = tested[np.argsort(unadjusted[tested], kind="stable")]
    # The k-th smallest of m is multiplied by m - k + 1, and is at least the one before.
    stepped = unadjusted[order] * np.arange(len(order), 0, -1)
    adjusted = np.full(len(unadjusted), np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return adjusted


def wilson_interval(successes: npt.ArrayLike, trials: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return 95% score intervals of proportions (Wilson, 1927), (N,)."""
    n = np.asarray(trials, dtype=np.float64)
    n = np.where(n > 0, n, np.nan)
    p = np.asarray(successes, dtype=np.float64) / n
    # The bounds solve (p - x)**2 = z**2 x (1 - x) / n for x.
    z2_n = NORMAL_95**2 / n
    center = (p + z2_n / 2) / (1 + z2_n)
    half_width = np.sqrt(p * (1 - p) * z2_n + z2_n**2 / 4) / (1 + z2_n)
    return np.clip(center - half_width, 0.0, 1.0), np.clip(center + half_width, 0.0, 1.0)


def degrees_of_freedom(residuals: Floats) -> float:
    """Return those of a mean over units, by how evenly they add to its variance, (N,).

    (Σ e²)² / Σ e⁴, at most N - 1: where errors sit in a few units, only these tell the variance.
    """
    squares = residuals**2
    if not squares.any():
        return len(residuals) - 1.0
    return min(float(squares.sum() ** 2 / (squares**2).sum()), len(residuals) - 1.0)


def finite_means(values: Floats) -> Floats:
    """Return the mean of finite values along the first axis."""
    is_finite = np.isfinite(values)
    totals = np.where(is_finite, values, 0.0).sum(axis=0)
    return mean_of(totals, is_finite.sum(axis=0))


def mean_of(totals: Floats, counts: npt.NDArray[Any]) -> Floats:
    """Divide totals by how many were added; NaN where none was."""
    means = np.full(counts.shape, np.nan)
    return np.asarray(np.divide(totals, counts, out=means, where=counts > 0))
