"""Means of scores between 0 and 1, tested and bounded at any time: by betting.

Whoever bets a fraction c of a capital of 1 at fair odds on scores being above m on average
multiplies it by ``1 + c (x / m - 1)`` with every score x. If the mean is m or less, whatever came
before, the capital ever reaches 1 / a with probability a at most (Ville, 1939): one may look after
every score, and stop when one likes. The capital is split over several fractions, so that it grows
nearly as fast as by the best of them (Waudby-Smith and Ramdas, 2024, "Estimating means of bounded
random variables by betting", J. R. Stat. Soc. B 86: hedged capital, "diversified Kelly" bets).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import logsumexp, ndtri

from arena.data.errors import UsageError

Floats = npt.NDArray[np.float64]

FRACTIONS: Floats = np.geomspace(0.05, 0.9, 10)
"""Fractions that the capital is split over evenly, for means near to m and far from it."""

Difference = Literal["better", "same", "worse"]

SPLIT = 1.4
"""What it costs, as a logarithm, to split the capital over fractions of which few are good."""
EVEN = 0.5
"""Mean score of one who is as good as the other."""


def log_capitals(scores: npt.ArrayLike, mean: float) -> Floats:
    """Return the logarithm of the capital after every score, by bets on a larger mean.

    Args:
        scores: From 0 to 1, shape (..., N), in the order in which they came.
        mean: The mean under test, above 0.

    Returns:
        Shape (..., N). With fixed fractions the capital does not depend on the order so far.
    """
    gains = np.asarray(scores, dtype=np.float64)[..., None] / mean - 1.0
    grown = np.log1p(FRACTIONS * gains).cumsum(axis=-2)
    return np.asarray(logsumexp(grown, axis=-1) - math.log(len(FRACTIONS)))


def lower_bound(scores: npt.ArrayLike, error: float) -> float:
    """Return a bound that the mean is below with a given probability at most, at any time.

    Args:
        scores: From 0 to 1, shape (N,).
        error: The probability, over all times together.

    Returns:
        0 without scores.

    Raises:
        UsageError: For scores or an error out of range.
    """
    known = _checked(scores)
    if not 0 < error < 1:
        raise UsageError(f"error = {error:g} is out of range; use above 0 and below 1")
    if not known.any():
        return 0.0

    def excess(mean: float) -> float:
        return float(log_capitals(known, mean)[-1]) + math.log(error)

    least = float(known.mean()) * 1e-9
    return float(brentq(excess, least, float(known.mean()))) if excess(least) > 0 else 0.0


def upper_bound(scores: npt.ArrayLike, error: float) -> float:
    """Return a bound that the mean is above with a given probability at most, at any time."""
    return 1.0 - lower_bound(1.0 - _checked(scores), error)


def _exceeds(scores: Floats, mean: float, error: float) -> bool:
    """Tell whether the lower bound of the mean is above a number."""
    return float(log_capitals(scores, mean)[-1]) > -math.log(error)


def _checked(scores: npt.ArrayLike) -> Floats:
    known = np.asarray(scores, dtype=np.float64)
    if known.ndim != 1 or not ((known >= 0) & (known <= 1)).all():
        raise UsageError("scores must be a list of numbers from 0 to 1")
    return known


@dataclass(frozen=True)
class SequentialTest:
    """Says how a mean score differs from one half, after any number of scores.

    Scores must have the same expectation each, given those before: such as those of questions in
    random order. Whatever the mean is, and however often one looks, a wrong statement is made
    with probability ``error`` at most: ``better`` or ``worse`` of a mean of one half (each with
    half of it), ``same`` of one that is further from it than the margin.

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

    def decide(self, scores: npt.ArrayLike) -> Difference | None:
        """Return what the scores so far say; None where they say nothing yet."""
        known = _checked(scores)
        if not len(known):
            return None
        if _exceeds(known, EVEN, self.error / 2):
            return "better"
        if _exceeds(1.0 - known, EVEN, self.error / 2):
            return "worse"
        near = EVEN - self.margin
        is_near = _exceeds(known, near, self.error) and _exceeds(1.0 - known, near, self.error)
        return "same" if is_near else None

    def interval(self, scores: npt.ArrayLike) -> tuple[float, float]:
        """Return bounds that hold the mean with probability 1 - ``error`` at any time."""
        return lower_bound(scores, self.error / 2), upper_bound(scores, self.error / 2)

    def scores_needed(self, difference: float, variance: float, power: float = 0.8) -> int:
        """Return after how many scores a difference is found with some probability.

        The logarithm of the capital of the best bet grows by ``h / 2`` a score with a variance of
        ``h``, where ``h`` is the squared difference by the variance of scores; other bets cost
        ``SPLIT``. An approximation, held against simulations in ``benchmarks/gate.py``.

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
        quantile = float(ndtri(power))
        return quantile + math.sqrt(quantile**2 + 2 * (math.log(2 / self.error) + SPLIT))
