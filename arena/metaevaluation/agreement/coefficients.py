"""One coefficient of agreement with its interval, or the reason why there is none."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from arena.errors import UsageError
from arena.metaevaluation.agreement.ratings import FloatArray, Ratings
from arena.seeds import generator

NO_RATINGS = "there are no ratings"
NO_PAIRS = "no item has two ratings"
ONE_CATEGORY = "only one category was chosen, so agreement by chance is certain"

_CELLS_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Resampling:
    """How intervals are made: items are drawn with replacement, with all their ratings.

    Attributes:
        replicates: Number of draws; 0 for no interval.
        level: Share of the replicates that the interval holds.
        seed: Seed of the draws.
    """

    replicates: int = 1000
    level: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        if self.replicates < 0 or not 0 < self.level < 1:
            raise UsageError("give 0 replicates or more, and a level between 0 and 1")


DEFAULT_RESAMPLING = Resampling()


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of agreement.

    Attributes:
        name: Such as ``Gwet's AC1``.
        value: The coefficient; NaN where it is not defined.
        low: Lower end of its percentile interval; NaN without one.
        high: Upper end.
        reason: Why ``value`` is NaN; None if it is a number.
        replicates: Replicates in which the coefficient was defined: the interval is theirs.
    """

    name: str
    value: float
    low: float = math.nan
    high: float = math.nan
    reason: str | None = None
    replicates: int = 0


@dataclass(frozen=True)
class ItemSums:
    """A coefficient as a function of sums over items, so that resampling is a matrix product.

    Attributes:
        parts: What each item adds, shape (items, parts).
        value: From sums of shape (replicates, parts) to coefficients of shape (replicates,), NaN
            where undefined.
    """

    parts: FloatArray
    value: Callable[[FloatArray], FloatArray]


def estimate(
    name: str,
    ratings: Ratings,
    sums: ItemSums,
    resampling: Resampling,
    reason_if_undefined: str = ONE_CATEGORY,
) -> Coefficient:
    """Compute a coefficient and its interval."""
    if not ratings.given.any():
        return Coefficient(name, math.nan, reason=NO_RATINGS)
    if not ratings.items_with_pairs:
        return Coefficient(name, math.nan, reason=NO_PAIRS)
    value = float(sums.value(sums.parts.sum(axis=0, keepdims=True))[0])
    if math.isnan(value):
        return Coefficient(name, value, reason=reason_if_undefined)
    replicates = _replicates(name, sums, resampling)
    if not len(replicates):
        return Coefficient(name, value)
    tail = (1 - resampling.level) / 2
    low, high = np.quantile(replicates, [tail, 1 - tail])
    return Coefficient(name, value, float(low), float(high), replicates=len(replicates))


def _replicates(name: str, sums: ItemSums, resampling: Resampling) -> FloatArray:
    """Return the coefficient in each replicate where it is defined."""
    items = len(sums.parts)
    draws = generator(resampling.seed, "agreement", name)
    chances = np.full(items, 1 / items)
    at_once = max(1, _CELLS_AT_ONCE // items)
    chunks = []
    for start in range(0, resampling.replicates, at_once):
        size = min(at_once, resampling.replicates - start)
        times = draws.multinomial(items, chances, size=size).astype(np.float64)
        chunks.append(sums.value(times @ sums.parts))
    found = np.concatenate(chunks) if chunks else np.empty(0)
    return found[~np.isnan(found)]


def quotient(above: FloatArray, below: FloatArray) -> FloatArray:
    """Divide; NaN where the divisor is 0, up to rounding."""
    sound = np.abs(below) > 1e-12
    return np.divide(above, below, out=np.full_like(above, np.nan), where=sound)
