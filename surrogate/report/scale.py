"""Positions of marks on a line that is as wide as its cell."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from surrogate.report.formats import Number, finite

MARGIN = 4.0
"""Per cent kept free at both ends, so that a mark at the end is whole."""


@dataclass(frozen=True)
class Scale:
    """Numbers to per cent of the width.

    Attributes:
        low: Number at the left end.
        high: Number at the right end.
    """

    low: float
    high: float

    def at(self, value: Number) -> float | None:
        """Return the position of a number in per cent, or None where it is missing."""
        number = finite(value)
        if number is None:
            return None
        span = self.high - self.low
        share = (number - self.low) / span if span > 0 else 0.5
        return round(MARGIN + (100 - 2 * MARGIN) * min(max(share, 0.0), 1.0), 1)


def scale_over(values: Iterable[Number]) -> Scale:
    """Return the scale that just holds all values."""
    found = [number for value in values if (number := finite(value)) is not None]
    return Scale(min(found), max(found)) if found else Scale(0.0, 1.0)


@dataclass(frozen=True)
class Span:
    """A point with its interval, as positions in per cent; None where missing."""

    point: float | None
    low: float | None
    high: float | None


def span(scale: Scale, point: Number, low: Number, high: Number) -> Span:
    """Place a point and its interval; an interval that lacks an end is not drawn."""
    left, right = scale.at(low), scale.at(high)
    if left is None or right is None:
        left = right = None
    return Span(scale.at(point), left, right)
