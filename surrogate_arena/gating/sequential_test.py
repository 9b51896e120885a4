"""A test of a mean score that may end early, and one that may be looked at as often as one likes.

The sequential test looks at a mean score between 0 and 1 after a quarter, half and all of the
planned scores. The permitted error is split over the looks (Bonferroni), most of it for the last:
a large difference ends the test after a quarter of the scores of a test of fixed size, and a small
one takes 7 % more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit

from arena.data.errors import UsageError
from arena.data.types import Floats

Difference = Literal["better", "same", "not worse", "worse"]
EVEN = 0.5
"""Mean score of two equal systems."""
MARGIN = 0.05
"""Difference of a win rate from one half that matters, unless another one is stated."""
LOOKS = (0.25, 0.5, 1.0)
"""Shares of the planned scores at which the test looks."""
EARLY, LAST = 0.1, 0.8
"""Shares of the error at each earlier look, and at the last one."""


@dataclass(frozen=True)
class SequentialTest:
    """Decides how a mean score differs from one half, after three looks at most.

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
    margin: float = MARGIN

    def __post_init__(self) -> None:
        if not 0 < self.error < 1:
            raise UsageError(f"error = {self.error:g} is out of range; use above 0 and below 1")
        if not 0 < self.margin < EVEN:
            raise UsageError(f"margin = {self.margin:g} is out of range; use above 0, below 0.5")

    def looks(self, planned: int) -> list[int]:
        """Return the numbers of scores after which the test looks, given the planned number."""
        return sorted({math.ceil(share * planned) for share in LOOKS} - {0})

    def decide(self, scores: npt.ArrayLike, *, is_last: bool = True) -> Difference | None:
        """Return the decision at a look; None where the scores do not suffice."""
        error = self.error * (LAST if is_last else EARLY)
        return self._difference(partial(_bounds, scores), error)

    def decide_anytime(self, scores: npt.ArrayLike) -> Difference | None:
        """Return the decision by scores that are looked at as often as one likes."""
        return self._difference(partial(anytime_bounds, scores), self.error)

    def decide_once(self, scores: npt.ArrayLike) -> Difference | None:
        """Return the decision by scores that are looked at once, all of them together."""
        return self._difference(partial(_student_bounds, scores), self.error)

    def _difference(
        self, bounds: Callable[[float], tuple[float, float]], error: float
    ) -> Difference | None:
        """Decide by the bounds of the mean for an error, both sides together."""
        low, high = bounds(error)
        if low > EVEN or high < EVEN:
            return "better" if low > EVEN else "worse"
        # "Same" is wrong above or below the margin, not both: each side may use the whole error.
        low, high = bounds(2 * error)
        return "same" if EVEN - self.margin < low and high < EVEN + self.margin else None

    @property
    def level(self) -> float:
        """Probability with which ``interval`` holds the mean."""
        return 1 - self._last_error

    def interval(self, scores: npt.ArrayLike) -> tuple[float, float]:
        """Return the bounds of the mean by which the last look decides."""
        low, high = _bounds(scores, self._last_error)
        return max(low, 0.0), min(high, 1.0)

    def scores_needed(self, difference: float, variance: float, power: float = 0.8) -> int:
        """Return how many scores to plan so that a difference is found with a probability.

        Args:
            difference: Distance of the mean from one half.
            variance: Variance of a score.
            power: Probability of finding it.

        Raises:
            UsageError: For a number out of range.
        """
        if not 0 < abs(difference) <= EVEN or variance <= 0 or not 0 < power < 1:
            raise UsageError("difference and variance must be above 0, power between 0 and 1")
        return math.ceil((self._reach(power) / difference) ** 2 * variance)

    def difference_found(self, scores: int, variance: float, power: float = 0.8) -> float:
        """Return the difference that a number of scores finds; inverse of ``scores_needed``."""
        return min(EVEN, self._reach(power) * math.sqrt(variance / max(scores, 1)))

    def _reach(self, power: float) -> float:
        """Return the difference, in standard errors, that the last look finds with a power."""
        return float(ndtri(1 - self._last_error / 2) + ndtri(power))

    def anytime_interval(self, scores: npt.ArrayLike) -> tuple[float, float, float]:
        """Return the bounds of the mean by which ``decide_anytime`` decides, and their level."""
        low, high = anytime_bounds(scores, self._two_sided_error)
        return max(low, 0.0), min(high, 1.0), 1 - self._two_sided_error

    def once_interval(self, scores: npt.ArrayLike) -> tuple[float, float, float]:
        """Return the bounds of the mean by which ``decide_once`` decides, and their level."""
        low, high = _student_bounds(scores, self._two_sided_error)
        return max(low, 0.0), min(high, 1.0), 1 - self._two_sided_error

    @property
    def _two_sided_error(self) -> float:
        """Error of the interval, both sides together."""
        return self.error

    @property
    def _last_error(self) -> float:
        return self._two_sided_error * LAST


@dataclass(frozen=True)
class NotWorseTest(SequentialTest):
    """Decides whether a mean score is at most the margin below one half, after three looks.

    A test of non-inferiority: it compares with one half less the margin in both directions. ``not
    worse`` is wrong of a mean below that, ``worse`` of one above: never both, so that each side may
    use the whole error.
    """

    def _difference(
        self, bounds: Callable[[float], tuple[float, float]], error: float
    ) -> Difference | None:
        """Return ``not worse`` or ``worse``; None where the scores do not suffice."""
        low, high = bounds(2 * error)
        bound = EVEN - self.margin
        if low > bound:
            return "not worse"
        return "worse" if high < bound else None

    @property
    def _two_sided_error(self) -> float:
        return 2 * self.error


def anytime_bounds(scores: npt.ArrayLike, error: float) -> tuple[float, float]:
    """Return bounds that hold the mean at all numbers of scores at once.

    An asymptotic confidence sequence (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, 2024,
    Time-uniform central limit theory and asymptotic confidence sequences, Annals of Statistics 52,
    equation 11). With looks after each of 1,000 scores it missed the mean in 0.6% to 4% of 4,000
    simulations of error 5%: of fair coins, ties and uniform scores. From 50 scores on it is 1.6
    times as wide as an interval for one look.

    Args:
        scores: Shape (N,); their mean is that of scores between 0 and 1.
        error: Probability that the mean is ever outside.
    """
    tightest = 200  # number of scores at which no choice of the mixture's variance is narrower
    mean, deviation, size = _padded_moments(np.asarray(scores, dtype=np.float64))
    log_error = -2 * math.log(error)
    variance = (log_error + math.log(log_error + 1)) / tightest
    growth = size * variance + 1
    half_width = (
        deviation / size * math.sqrt(2 * growth / variance * math.log(math.sqrt(growth) / error))
    )
    return mean - half_width, mean + half_width


def _bounds(scores: npt.ArrayLike, error: float) -> tuple[float, float]:
    """Return the bounds of a mean by Student's t, with a total error probability."""
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise UsageError("scores must be a list of numbers from 0 to 1")
    return _student_bounds(values, error)


def _student_bounds(scores: npt.ArrayLike, error: float) -> tuple[float, float]:
    """Return the same of scores whose mean is that of numbers from 0 to 1, as they may lie out."""
    values = np.asarray(scores, dtype=np.float64)
    mean, deviation, size = _padded_moments(values)
    quantile = float(stdtrit(size - 1, 1 - error / 2))
    half_width = quantile * deviation / math.sqrt(size)
    return mean - half_width, mean + half_width


def _padded_moments(values: Floats) -> tuple[float, float, int]:
    """Return mean, standard deviation and number of values with one 0 and one 1 more.

    Without these, few equal scores would have no variance, and decide at once.
    """
    padded = np.append(values, [0.0, 1.0])
    return float(padded.mean()), float(padded.std(ddof=1)), len(padded)
