"""Tests and intervals: Holm's correction, Wilson's interval, and a test that may end early.

The sequential test looks at a mean score between 0 and 1 when a quarter, half and all of the
planned scores are there. The error that may be made is split over the looks (Bonferroni), most of
it for the last, so that a large difference ends the test at a quarter of what a test of fixed size
takes, and a small one takes 7 % more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit

from arena.data.errors import UsageError
from arena.data.types import Floats

Difference = Literal["better", "same", "worse"]

NORMAL_QUANTILE = 1.959963984540054
"""The 97.5% quantile of the normal distribution, for intervals of 95%."""
NORMAL_90 = 1.6448536269514722
"""The 95% quantile, for intervals of 90%."""

EVEN = 0.5
"""Mean score of one who is as good as the other."""
LOOKS = (0.25, 0.5, 1.0)
"""Shares of the planned scores at which the test looks."""
EARLY, LAST = 0.1, 0.8
"""Shares of the error at each earlier look, and at the last one."""


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


@dataclass(frozen=True)
class SequentialTest:
    """Says how a mean score differs from one half, after three looks at most.

    Scores must have the same expectation each, such as those of questions in random order. A
    wrong statement is made with probability ``error`` at most: ``better`` or ``worse`` of a mean
    of one half, ``same`` of one that is further from it than the margin.

    Attributes:
        error: Probability of a wrong statement.
        margin: By how much a mean may differ from one half to be the same.

    Raises:
        UsageError: For a number out of range.
    """

    error: float = 0.05
    margin: float = 0.05

    def __post_init__(self) -> None:
        if not 0 < self.error < 1:
            raise UsageError(f"error = {self.error:g} is out of range; use above 0 and below 1")
        if not 0 < self.margin < EVEN:
            raise UsageError(f"margin = {self.margin:g} is out of range; use above 0, below 0.5")

    def looks(self, planned: int) -> list[int]:
        """Return after how many scores the test looks, of so many planned."""
        return sorted({math.ceil(share * planned) for share in LOOKS} - {0})

    def decide(self, scores: npt.ArrayLike, *, is_last: bool = True) -> Difference | None:
        """Return what the scores say at a look; None where they say nothing."""
        error = self.error * (LAST if is_last else EARLY)
        low, high = _bounds(scores, error)
        if low > EVEN or high < EVEN:
            return "better" if low > EVEN else "worse"
        low, high = _bounds(scores, 2 * error)  # each side by itself, for it is one or the other
        return "same" if EVEN - self.margin < low and high < EVEN + self.margin else None

    @property
    def level(self) -> float:
        """Probability with which ``interval`` holds the mean."""
        return 1 - self.error * LAST

    def interval(self, scores: npt.ArrayLike) -> tuple[float, float]:
        """Return the bounds of the mean by which the last look decides."""
        low, high = _bounds(scores, self.error * LAST)
        return max(low, 0.0), min(high, 1.0)

    def scores_needed(self, difference: float, variance: float, power: float = 0.8) -> int:
        """Return how many scores to plan so that a difference is found with some probability.

        Args:
            difference: Distance of the mean from one half.
            variance: Of a score.
            power: The probability.

        Raises:
            UsageError: For a number out of range.
        """
        if not 0 < abs(difference) <= EVEN or variance <= 0 or not 0 < power < 1:
            raise UsageError("difference and variance must be above 0, power between 0 and 1")
        return math.ceil(self._reach(power) ** 2 * variance / difference**2)

    def difference_found(self, scores: int, variance: float, power: float = 0.8) -> float:
        """Return the difference that so many scores find; the reverse of ``scores_needed``."""
        return min(EVEN, self._reach(power) * math.sqrt(variance / max(scores, 1)))

    def _reach(self, power: float) -> float:
        return float(ndtri(1 - self.error * LAST / 2) + ndtri(power))


def _bounds(scores: npt.ArrayLike, error: float) -> tuple[float, float]:
    """Bound a mean by Student's t; a 0 and a 1 more keep few equal scores from saying too much."""
    known = np.asarray(scores, dtype=np.float64)
    if known.ndim != 1 or not ((known >= 0) & (known <= 1)).all():
        raise UsageError("scores must be a list of numbers from 0 to 1")
    more = np.append(known, [0.0, 1.0])
    mean, size = float(more.mean()), len(more)
    reach = float(stdtrit(size - 1, 1 - error / 2)) * float(more.std(ddof=1)) / math.sqrt(size)
    return mean - reach, mean + reach
