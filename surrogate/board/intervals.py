"""Intervals of a surrogate's predictions for systems that it has not seen.

Split conformal prediction (Lei et al., 2018, section 2): the interval is as wide as the distances
between predictions and the arena's ratings in cross-fitting. Where the surrogate has standard
errors, distances are measured in them (section 5.2), so that a system unlike the others has a wider
interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import stdtrit

from arena.data.types import Floats
from surrogate.board.summary import LEVEL, RatingInterval
from surrogate.learning.outcomes import Outcome

NO_SURROGATE = "no surrogate could be trained"
PRIOR_SYSTEMS = 2.0
"""Systems that the prior of a wide interval is worth; it expects nothing of the surrogate."""
_DIGITS = 9
"""Digits to which (n + 1)(1 - a) is taken, so that 10 x 0.9 is 9."""


def conformal_intervals(outcomes: Sequence[Outcome]) -> dict[str, RatingInterval]:
    """Calibrate the interval of a rating in every language, by its first repeat.

    Languages with too few ratings by surrogates trained without the system use those of all, scaled
    by the spread of the arena's ratings.

    Returns:
        Language code to its interval, with the reason where there is none.
    """
    scaled = [np.empty(0)]
    for outcome in outcomes:
        spread = _spread(outcome)
        if spread > 0:
            scaled.append(unseen_distances(outcome) / spread)
    pooled = np.concatenate(scaled)
    return {outcome.language: _interval(outcome, pooled) for outcome in outcomes}


def _interval(outcome: Outcome, pooled: Floats) -> RatingInterval:
    """Calibrate the interval of one language.

    Args:
        outcome: The language.
        pooled: Scaled distances of all languages.
    """
    best, frontier = _frontier(outcome)
    distances = unseen_distances(outcome)
    interval = RatingInterval(
        in_standard_errors=outcome.standard_errors is not None,
        best=best,
        frontier=frontier,
        residuals=len(distances),
    )
    if not len(distances):
        reason = "; ".join(outcome.reasons) or NO_SURROGATE
        return interval.model_copy(update={"in_standard_errors": False, "reason": reason})
    width = half_width(distances)
    if np.isfinite(width):
        return interval.model_copy(update={"half_width": width})
    width = (_spread(outcome) or math.nan) * half_width(pooled)
    if np.isfinite(width):
        is_pooled = len(pooled) > len(distances)
        update = {"half_width": width, "residuals": len(pooled), "pooled": is_pooled}
        return interval.model_copy(update=update)
    width = wide_half_width(outcome)
    if np.isfinite(width):
        return interval.model_copy(update={"half_width": width, "is_wide": True})
    n_needed = math.ceil(round(LEVEL / (1 - LEVEL), _DIGITS))
    reason = (
        f"{len(pooled)} ratings of systems unseen in training; an interval of {LEVEL:.0%} "
        f"needs {n_needed}"
    )
    return interval.model_copy(update={"in_standard_errors": False, "reason": reason})


def unseen_distances(outcome: Outcome) -> Floats:
    """Distances of unseen systems' ratings from the arena's, in standard errors where known."""
    distances = np.abs(outcome.truth[0] - outcome.predicted[0]) / _unit(outcome)
    return np.asarray(distances[np.isfinite(distances)])


def half_width(residuals: Floats, level: float = LEVEL) -> float:
    """Return the half-width of a conformal interval that is to hold a share of new systems.

    It is the ceil((N + 1) level)-th smallest of N absolute residuals; NaN where there are too few.
    """
    rank = math.ceil(round((len(residuals) + 1) * level, _DIGITS))
    return float(np.sort(residuals)[rank - 1]) if rank <= len(residuals) else math.nan


def wide_half_width(outcome: Outcome, level: float = LEVEL) -> float:
    """Return the half-width of an interval from a few residuals, where a quantile needs more.

    Residuals are taken as normal. Their variance combines theirs with a prior worth
    ``PRIOR_SYSTEMS``: a surrogate that says nothing, whose residuals are the systems' distances
    from their mean. The interval is Student's for one more system.

    Returns:
        NaN with fewer than three residuals.
    """
    residuals = unseen_distances(outcome)
    n_residuals = len(residuals)
    if n_residuals < 3:
        return math.nan
    truth = outcome.truth[0]
    prior_deviation = float(truth[np.isfinite(truth)].std(ddof=1))
    prior_deviation /= float(np.nanmean(_unit(outcome)))
    freedom = n_residuals + PRIOR_SYSTEMS
    squares = float(residuals @ residuals) + PRIOR_SYSTEMS * prior_deviation**2
    quantile = float(stdtrit(freedom, (1 + level) / 2))
    return quantile * math.sqrt(squares / freedom * (1 + 1 / n_residuals))


def _unit(outcome: Outcome) -> Floats:
    """Return the unit of distances, shape (S,); NaN where an error of 0 says nothing."""
    errors = outcome.standard_errors
    if errors is None:
        return np.ones(outcome.truth.shape[1])
    return np.where(errors[0] > 0, errors[0], np.nan)


def _spread(outcome: Outcome) -> float:
    """Return the divisor that makes distances of several languages comparable."""
    if outcome.standard_errors is not None:
        return 1.0
    ratings = outcome.truth[0][np.isfinite(outcome.truth[0])]
    return float(ratings.std()) if ratings.size else 0.0


def _frontier(outcome: Outcome) -> tuple[float, float]:
    """Return the best rating, and how far from it a system may be better than every judged one.

    The threshold flags about one ordinary system in ten; NaN where too few are judged.
    """
    false_alarms = 0.1
    fewest_gaps = 4
    truth = outcome.truth[0]
    ratings = truth[np.isfinite(truth)]
    best = float(ratings.max()) if ratings.size else math.nan
    gaps = ((outcome.predicted[0] - best) / _unit(outcome))[truth < best]
    gaps = np.sort(gaps[np.isfinite(gaps)])
    n_gaps = len(gaps)
    if n_gaps < fewest_gaps:
        return math.nan, math.nan
    rank = min(math.ceil(round((n_gaps + 1) * (1 - false_alarms), _DIGITS)), n_gaps)
    return best, float(gaps[rank - 1])
