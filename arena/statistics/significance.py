"""Tests and intervals: Holm's correction, Wilson's interval."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

NORMAL_QUANTILE = 1.959963984540054
"""The 97.5% quantile of the normal distribution, for intervals of 95%."""
NORMAL_90 = 1.6448536269514722
"""The 95% quantile, for intervals of 90%."""


def holm_adjusted(p_values: npt.ArrayLike) -> Floats:
    """Adjust p-values for testing several at once (Holm, 1979); NaN stays, and does not count."""
    given = np.asarray(p_values, dtype=np.float64)
    tested = np.flatnonzero(np.isfinite(given))
    order = tested[np.argsort(given[tested], kind="stable")]
    stepped = given[order] * np.arange(len(order), 0, -1)
    adjusted = np.full(len(given), np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return adjusted


def wilson_interval(successes: npt.ArrayLike, trials: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return the 95% score interval of proportions (Wilson, 1927).

    Args:
        successes: Counts, shape (N,).
        trials: Counts, shape (N,).

    Returns:
        Lower and upper bounds, each of shape (N,); NaN without a trial.
    """
    number = np.asarray(trials, dtype=np.float64)
    number = np.where(number > 0, number, np.nan)
    observed = np.asarray(successes, dtype=np.float64) / number
    spread = NORMAL_QUANTILE**2 / number
    center = (observed + spread / 2) / (1 + spread)
    half = np.sqrt(observed * (1 - observed) * spread + spread**2 / 4) / (1 + spread)
    return np.clip(center - half, 0.0, 1.0), np.clip(center + half, 0.0, 1.0)
