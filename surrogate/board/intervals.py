"""Intervals of a surrogate's predictions for systems that it has not seen.

With many judged systems, split conformal prediction (Lei et al., 2018, section 2): the interval is
as wide as the distances between predictions and the arena's ratings in cross-fitting. Where the
surrogate has standard errors, distances are measured in them (section 5.2), so that a system unlike
the others has a wider interval. With few judged systems, ``surrogate.board.few_systems``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from arena.data.types import Floats
from surrogate.board.few_systems import (
    FEWEST_FOR_CONFORMAL,
    rank_share,
    student_half_width,
    systems_for_half,
)
from surrogate.board.summary import LEVEL, RatingInterval
from surrogate.learning.outcomes import Outcome
from surrogate.learning.surrogate import FEWEST_SYSTEMS

NO_SURROGATE = "no surrogate could be trained"
ALL_EQUAL = "all judged systems have the same rating"
_DIGITS = 9
"""Digits to which (n + 1)(1 - a) is taken, so that 10 x 0.9 is 9."""


def unseen_intervals(outcomes: Sequence[Outcome]) -> dict[str, RatingInterval]:
    """Calibrate the interval of an unseen system's rating in every language, by its first repeat.

    Returns:
        Language code to its interval, with the reason where there is none.
    """
    return {outcome.language: _interval(outcome) for outcome in outcomes}


def _interval(outcome: Outcome) -> RatingInterval:
    """Calibrate the interval of one language."""
    residuals = unseen_residuals(outcome)
    if len(residuals) >= FEWEST_FOR_CONFORMAL:
        units = _units(outcome)
        best, frontier = _frontier(outcome, units)
        return RatingInterval(
            half_width=half_width(unseen_distances(outcome)),
            in_standard_errors=outcome.standard_errors is not None,
            best=best,
            frontier=frontier,
            residuals=len(residuals),
        )
    ratings = outcome.arena_ratings[0][np.isfinite(outcome.arena_ratings[0])]
    # What other arenas show is of the default surrogate, which has standard errors.
    is_informed = outcome.standard_errors is not None
    if len(ratings) < FEWEST_SYSTEMS or not (len(residuals) or is_informed):
        reason = "; ".join(outcome.reasons) or NO_SURROGATE
        return RatingInterval(reason=reason)
    spread = float(ratings.std(ddof=1))
    if not spread > 0:
        return RatingInterval(reason=ALL_EQUAL)
    n_systems = len(ratings)
    width = student_half_width(
        spread,
        n_systems,
        residuals,
        training_share=_training_share(outcome),
        is_informed=is_informed,
    )
    best, frontier = _frontier(outcome, np.ones(len(outcome.systems)))
    return RatingInterval(
        half_width=width,
        best=best,
        frontier=frontier,
        residuals=len(residuals),
        freedom=n_systems - 1,
        systems=n_systems,
        rank_share=rank_share(width / spread),
        systems_for_half=systems_for_half(width / spread, n_systems, len(residuals)),
    )


def _training_share(outcome: Outcome) -> float:
    """Share of the systems that cross-fitting trains on."""
    if outcome.folds is None:
        return 1.0
    n_folds = 1 + int(outcome.folds[0].max(initial=0))
    return 1 - 1 / n_folds if n_folds > 1 else 1.0


def unseen_residuals(outcome: Outcome) -> Floats:
    """Ratings of unseen systems less the arena's, in logits."""
    residuals = outcome.predicted[0] - outcome.arena_ratings[0]
    return np.asarray(residuals[np.isfinite(residuals)])


def unseen_distances(outcome: Outcome) -> Floats:
    """Distances of unseen systems' ratings from the arena's, in standard errors where known."""
    distances = np.abs(outcome.arena_ratings[0] - outcome.predicted[0]) / _units(outcome)
    return np.asarray(distances[np.isfinite(distances)])


def half_width(residuals: Floats, level: float = LEVEL) -> float:
    """Return the half-width of a conformal interval that is to hold a share of new systems.

    It is the ceil((N + 1) level)-th smallest of N absolute residuals; NaN where there are too few.
    """
    rank = math.ceil(round((len(residuals) + 1) * level, _DIGITS))
    return float(np.sort(residuals)[rank - 1]) if rank <= len(residuals) else math.nan


def _units(outcome: Outcome) -> Floats:
    """Return the unit of distances, shape (S,); NaN where an error of 0 says nothing."""
    errors = outcome.standard_errors
    if errors is None:
        return np.ones(outcome.arena_ratings.shape[1])
    return np.where(errors[0] > 0, errors[0], np.nan)


def _frontier(outcome: Outcome, units: Floats) -> tuple[float, float]:
    """Return the best rating, and how far from it a system may be better than every judged one.

    The threshold flags about one ordinary system in ten; NaN where too few are judged.
    """
    false_alarms = 0.1
    fewest_gaps = 4
    arena_ratings = outcome.arena_ratings[0]
    ratings = arena_ratings[np.isfinite(arena_ratings)]
    best = float(ratings.max()) if ratings.size else math.nan
    gaps = ((outcome.predicted[0] - best) / units)[arena_ratings < best]
    gaps = np.sort(gaps[np.isfinite(gaps)])
    n_gaps = len(gaps)
    if n_gaps < fewest_gaps:
        return math.nan, math.nan
    rank = min(math.ceil(round((n_gaps + 1) * (1 - false_alarms), _DIGITS)), n_gaps)
    return best, float(gaps[rank - 1])
