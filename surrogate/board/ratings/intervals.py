"""How far what a surrogate expects of a system it has not seen lies from the arena's rating.

The interval is as wide as the distances of systems it had not seen: split conformal prediction
(Lei et al., 2018, section 2) on the ratings of cross-fitting; where the surrogate knows a standard
error, distances are measured in it (section 5.2), so that a system unlike the others has a wider
interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from surrogate.board.summary import RatingInterval
from surrogate.learning.outcomes import Outcome

Floats = npt.NDArray[np.float64]

LEVEL = 0.9
NO_SURROGATE = "no surrogate could be trained"
FALSE_ALARMS = 0.1
"""Share of ordinary systems that may be taken for better than all judged ones."""
FEWEST_GAPS = 4
_DIGITS = 9
"""Digits to which (n + 1)(1 - a) is taken, so that 10 x 0.9 is 9."""


@dataclass(frozen=True)
class UnseenRatings:
    """Systems of one language rated by the arena, and by surrogates that did not see them.

    Attributes:
        language: Language code.
        arena: Arena ratings, shape (S,); NaN where there is none.
        unseen: Ratings by surrogates trained without the system, shape (S,); NaN likewise.
        standard_errors: Of these, shape (S,); None where the surrogate has none.
        reasons: Why ratings by surrogates trained without the system are missing.
    """

    language: str
    arena: Floats
    unseen: Floats
    standard_errors: Floats | None = None
    reasons: tuple[str, ...] = ()

    @property
    def residuals(self) -> Floats:
        """Distances between the two ratings, where there are both, shape (N,).

        In logits, or in standard errors where these are known.
        """
        distances = np.abs(self.arena - self.unseen) / self._unit
        return np.asarray(distances[np.isfinite(distances)])

    @property
    def gaps(self) -> Floats:
        """How far each predicted rating but the best system's lies above the best arena rating.

        Shape (N,), in the units of the residuals: what ordinary systems look like beside the best.
        """
        gaps = ((self.unseen - self.best) / self._unit)[self.arena < self.best]
        return np.asarray(gaps[np.isfinite(gaps)])

    @property
    def best(self) -> float:
        """The highest of the arena's ratings; NaN without any."""
        rated = self.arena[np.isfinite(self.arena)]
        return float(rated.max()) if rated.size else float("nan")

    @property
    def _unit(self) -> Floats:
        return np.ones(len(self.arena)) if self.standard_errors is None else self.standard_errors

    @property
    def spread(self) -> float:
        """What residuals of several languages are divided by to be compared.

        The standard deviation of the arena's ratings, 0 with fewer than two; 1 for residuals in
        standard errors.
        """
        if self.standard_errors is not None:
            return 1.0
        rated = self.arena[np.isfinite(self.arena)]
        return float(rated.std()) if rated.size else 0.0


def unseen_ratings(outcomes: Sequence[Outcome]) -> list[UnseenRatings]:
    """Take the ratings of the first repeat of leaving systems out, one a language."""
    return [
        UnseenRatings(
            outcome.language,
            outcome.truth[0],
            outcome.predicted[0],
            None if outcome.standard_errors is None else outcome.standard_errors[0],
            outcome.reasons,
        )
        for outcome in outcomes
    ]


def fewest_residuals(level: float = LEVEL) -> int:
    """Return how many residuals an interval of a level needs."""
    return math.ceil(round(level / (1 - level), _DIGITS))


def half_width(residuals: Floats, level: float = LEVEL) -> float:
    """Return the half-width of a conformal interval.

    Args:
        residuals: Absolute residuals, shape (N,).
        level: Share of new systems the interval is to hold.

    Returns:
        The ceil((N + 1) level)-th smallest residual; NaN where there are too few.
    """
    rank = _conformal_rank(len(residuals), level)
    return float(np.sort(residuals)[rank - 1]) if rank <= len(residuals) else float("nan")


def _conformal_rank(count: int, level: float) -> int:
    return math.ceil(round((count + 1) * level, _DIGITS))


def conformal_intervals(
    ratings: Sequence[UnseenRatings], level: float = LEVEL
) -> dict[str, RatingInterval]:
    """Find how wide the interval of a rating is in every language.

    Args:
        ratings: One a language.
        level: Share of new systems an interval is to hold.

    Returns:
        Language code to its interval, with the reason where there is none.
    """
    scaled = [item.residuals / item.spread for item in ratings if item.spread > 0]
    pooled = np.concatenate([np.empty(0), *scaled])
    return {
        item.language: _interval(item, pooled, level).model_copy(update=_frontier(item))
        for item in ratings
    }


def _frontier(item: UnseenRatings) -> dict[str, float]:
    """From where a system may be better than every judged one; nothing where too few are judged.

    One in ten of the ordinary systems lies there too.
    """
    gaps = np.sort(item.gaps)
    if len(gaps) < FEWEST_GAPS:
        return {}
    rank = min(_conformal_rank(len(gaps), 1 - FALSE_ALARMS), len(gaps))
    return {"best": item.best, "frontier": float(gaps[rank - 1])}


def _interval(item: UnseenRatings, pooled: Floats, level: float) -> RatingInterval:
    own, scaled = item.residuals, item.standard_errors is not None
    if not own.size:
        return RatingInterval(level=level, reason="; ".join(item.reasons) or NO_SURROGATE)
    width = half_width(own, level)
    if np.isfinite(width):
        return RatingInterval(
            level=level, half_width=width, in_standard_errors=scaled, residuals=len(own)
        )
    width = item.spread * half_width(pooled, level) if item.spread > 0 else float("nan")
    if np.isfinite(width):
        return RatingInterval(
            level=level,
            half_width=width,
            in_standard_errors=scaled,
            residuals=len(pooled),
            pooled=True,
        )
    reason = (
        f"{len(pooled)} ratings of systems unseen in training; an interval of {level:.0%} needs "
        f"{fewest_residuals(level)}"
    )
    return RatingInterval(level=level, residuals=len(pooled), reason=reason)
