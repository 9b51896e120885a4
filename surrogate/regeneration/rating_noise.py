"""Is the change of a rating more than noise? Welch's t tests on differences, Holm-corrected.

A standard error is read off a published 95% percentile interval over T tournaments. The interval
of a finite sample is narrower than that of the normal distribution, the more so the fewer
tournaments there are; its expected width in standard deviations is by Blom's (1958)
approximation of normal order statistics. The spread between two quantiles says less than a
standard deviation of T draws does: it is given 0.55 T degrees of freedom, its efficiency in large
samples.

The two boards are taken as independent. Boards that share questions have errors that go up and
down together, so that the true error of the difference is smaller: the test then misses changes
rather than making them up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import norm, t

Floats = npt.NDArray[np.float64]

LEVEL = 0.05
FEWEST_TOURNAMENTS = 5
"""With fewer, an interval says next to nothing of the error."""

_TAIL = 0.025
_EFFICIENCY = 0.55


def interval_width(tournaments: int) -> float:
    """Return the expected width of a 95% percentile interval of T normal draws.

    Args:
        tournaments: Draws T.

    Returns:
        In standard deviations: below, and with T towards, 2 x 1.96.
    """
    place = _TAIL * (tournaments - 1)  # where numpy's percentile falls among the ordered draws
    below = int(place)
    ranks = np.array([below + 1, min(below + 2, tournaments)])
    scores = norm.ppf((ranks - 0.375) / (tournaments + 0.25))
    return float(-2 * np.interp(place - below, [0, 1], scores))


@dataclass(frozen=True)
class Errors:
    """How uncertain ratings are.

    Attributes:
        standard: Standard error of each rating, shape (S,); NaN where it is not known.
        freedom: Degrees of freedom it rests on.
    """

    standard: Floats
    freedom: float


def bootstrap_errors(low: Floats, high: Floats, tournaments: int) -> Errors:
    """Read errors off 95% percentile intervals over tournaments."""
    return Errors((high - low) / interval_width(tournaments), _EFFICIENCY * tournaments)


def conformal_errors(low: Floats, high: Floats, level: float) -> Errors:
    """Read errors off conformal intervals of a level, taking the surrogate's errors as normal."""
    return Errors((high - low) / (2 * norm.ppf((1 + level) / 2)), np.inf)


def difference_errors(old: Errors, new: Errors) -> tuple[Floats, Floats]:
    """Return standard errors of independent differences, and Welch's degrees of freedom."""
    parts = np.array([old.standard**2, new.standard**2])
    variance = parts.sum(axis=0)
    spread = (parts**2 / np.array([[old.freedom], [new.freedom]])).sum(axis=0)
    endless = np.full_like(spread, np.inf)
    freedom = np.divide(variance**2, spread, out=endless, where=spread > 0)
    return np.sqrt(variance), np.asarray(freedom)


def chances(changes: Floats, errors: Floats, freedom: Floats) -> Floats:
    """Return two-sided p-values of changes; 1 for none at all, NaN where the error is not known.

    A change beside an error of 0 has no p-value: an interval without width says nothing.
    """
    known = errors > 0
    ratio = np.divide(np.abs(changes), errors, out=np.full_like(errors, np.nan), where=known)
    return np.asarray(np.where(changes == 0, 1.0, 2 * t.sf(ratio, freedom)))


def holm_adjusted(chances: Floats) -> Floats:
    """Adjust p-values for testing several at once (Holm, 1979); NaN stays, and does not count."""
    adjusted = np.full(len(chances), np.nan)
    known = np.flatnonzero(np.isfinite(chances))
    order = known[np.argsort(chances[known], kind="stable")]
    factors = len(order) - np.arange(len(order))
    adjusted[order] = np.maximum.accumulate(np.minimum(chances[order] * factors, 1.0))
    return adjusted
