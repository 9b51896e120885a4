"""Shares of decided battles, their intervals, and whether they lean away from one half."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.diagnostics.finding import Severity
from arena.diagnostics.verdicts import share

Floats = npt.NDArray[np.float64]
Leaning = Literal["up", "down", "none", "unknown"]

NORMAL_QUANTILE = 1.959963984540054
"""The 97.5% quantile of the normal distribution, for intervals of 95%."""

NOTABLE = 0.05
"""A share this far from one half is worth a warning, however sure a smaller one is."""


def wilson_interval(successes: npt.ArrayLike, trials: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return the 95% score interval of proportions (Wilson, 1927).

    Args:
        successes: Counts, shape (N,).
        trials: Counts, shape (N,).

    Returns:
        Lower and upper bounds, each of shape (N,); NaN without a trial.
    """
    number = np.asarray(trials, dtype=np.float64)
    observed = share(successes, number)
    safe = np.where(number > 0, number, np.nan)
    spread = NORMAL_QUANTILE**2 / safe
    centre = (observed + spread / 2) / (1 + spread)
    variance = observed * (1 - observed) * spread + spread**2 / 4
    half = np.sqrt(variance) / (1 + spread)
    return np.clip(centre - half, 0.0, 1.0), np.clip(centre + half, 0.0, 1.0)


def with_share(
    table: pd.DataFrame, successes: str, trials: str, name: str = "share"
) -> pd.DataFrame:
    """Add the share of successes among trials and its bounds, ``low`` and ``high``."""
    low, high = wilson_interval(table[successes], table[trials])
    added = {name: share(table[successes], table[trials]), "low": low, "high": high}
    return table.assign(**added)


def leaning(low: float, high: float) -> Leaning:
    """Say to which side of one half an interval lies; ``unknown`` without an interval."""
    if np.isnan(low) or np.isnan(high):
        return "unknown"
    if low > 0.5:
        return "up"
    return "down" if high < 0.5 else "none"


def leaning_severity(observed: float, low: float, high: float) -> Severity:
    """Grade a share: a warning where it surely and notably differs from one half."""
    is_sure = leaning(low, high) in ("up", "down")
    return "warning" if is_sure and abs(observed - 0.5) >= NOTABLE else "info"


def shown_share(observed: float, low: float, high: float) -> str:
    """Show a share with its interval, in percent."""
    return f"{observed:.1%}, 95% interval {low:.1%} to {high:.1%}"
