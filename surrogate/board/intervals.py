"""How far what a surrogate expects of a system it has not seen lies from the arena's rating.

The interval is as wide as the distances of systems it had not seen: split conformal prediction
(Lei et al., 2018, section 2) on the ratings of cross-fitting; where the surrogate knows a standard
error, distances are measured in it (section 5.2), so that a system unlike the others has a wider
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
TOO_FEW = "{} ratings of systems unseen in training; an interval of {:.0%} needs {}"
FALSE_ALARMS = 0.1
"""Share of ordinary systems that may be taken for better than all judged ones."""
FEWEST_GAPS = 4
FEWEST_RESIDUALS = 3
PRIOR_SYSTEMS = 2.0
"""How many systems the prior of a wide interval is worth: that nothing is told of them."""
_DIGITS = 9
"""Digits to which (n + 1)(1 - a) is taken, so that 10 x 0.9 is 9."""


def conformal_intervals(outcomes: Sequence[Outcome]) -> dict[str, RatingInterval]:
    """Find how wide the interval of a rating is in every language, by its first repeat.

    Languages with too few ratings by surrogates trained without the system use those of all, scaled
    by the spread of the arena's ratings.

    Returns:
        Language code to its interval, with the reason where there is none.
    """
    distances = [unseen_distances(item) for item in outcomes]
    spreads = [_spread(item) for item in outcomes]
    scaled = [own / spread for own, spread in zip(distances, spreads, strict=True) if spread > 0]
    pooled = np.concatenate([np.empty(0), *scaled])
    found = {}
    for item, own, spread in zip(outcomes, distances, spreads, strict=True):
        width, residuals, reason, is_wide = half_width(own), len(own), None, False
        if not own.size:
            reason = "; ".join(item.reasons) or NO_SURROGATE
        elif not np.isfinite(width):
            width, residuals = (spread or math.nan) * half_width(pooled), len(pooled)
            if not np.isfinite(width):
                width, residuals, is_wide = wide_half_width(item), len(own), True
            if not np.isfinite(width):
                is_wide = False
                needed = math.ceil(round(LEVEL / (1 - LEVEL), _DIGITS))
                reason = TOO_FEW.format(len(pooled), LEVEL, needed)
        best, frontier = _frontier(item)
        found[item.language] = RatingInterval(
            half_width=None if reason else width,
            in_standard_errors=reason is None and item.standard_errors is not None,
            best=best,
            frontier=frontier,
            residuals=residuals,
            pooled=reason is None and residuals > len(own),
            is_wide=is_wide,
            reason=reason,
        )
    return found


def unseen_distances(item: Outcome) -> Floats:
    """Distances of unseen systems' ratings from the arena's, in standard errors where known."""
    distances = np.abs(item.truth[0] - item.predicted[0]) / _unit(item)
    return np.asarray(distances[np.isfinite(distances)])


def half_width(residuals: Floats, level: float = LEVEL) -> float:
    """Return the half-width of a conformal interval that is to hold a share of new systems.

    It is the ceil((N + 1) level)-th smallest of N absolute residuals; NaN where there are too few.
    """
    rank = math.ceil(round((len(residuals) + 1) * level, _DIGITS))
    return float(np.sort(residuals)[rank - 1]) if rank <= len(residuals) else math.nan


def wide_half_width(item: Outcome, level: float = LEVEL) -> float:
    """Return the half-width of an interval from a few residuals, where a quantile needs more.

    Residuals are taken as normal. Their variance is that of the residuals, together with
    ``PRIOR_SYSTEMS`` for which the surrogate tells nothing, so that they are as far off as judged
    systems are from their mean; the interval is Student's for one more system.

    Returns:
        NaN with fewer than ``FEWEST_RESIDUALS``.
    """
    residuals = unseen_distances(item)
    if len(residuals) < FEWEST_RESIDUALS:
        return math.nan
    rated = item.truth[0][np.isfinite(item.truth[0])]
    unit = _unit(item)
    away = float(rated.std(ddof=1)) / float(np.nanmean(unit))
    freedom = len(residuals) + PRIOR_SYSTEMS
    variance = (float(residuals @ residuals) + PRIOR_SYSTEMS * away**2) / freedom
    quantile = float(stdtrit(freedom, (1 + level) / 2))
    return quantile * math.sqrt(variance * (1 + 1 / len(residuals)))


def _unit(item: Outcome) -> Floats:
    """What distances are measured in, shape (S,); NaN where an error of 0 says nothing."""
    if item.standard_errors is None:
        return np.ones(item.truth.shape[1])
    return np.where(item.standard_errors[0] > 0, item.standard_errors[0], np.nan)


def _spread(item: Outcome) -> float:
    """What distances of several languages are divided by to be compared."""
    rated = item.truth[0][np.isfinite(item.truth[0])]
    return 1.0 if item.standard_errors is not None else float(rated.std()) if rated.size else 0.0


def _frontier(item: Outcome) -> tuple[float, float]:
    """Best rating, and how far from it a system may be better than every judged one.

    One in ten of the ordinary systems lies there too; NaN where too few are judged.
    """
    rated = item.truth[0][np.isfinite(item.truth[0])]
    best = float(rated.max()) if rated.size else math.nan
    gaps = ((item.predicted[0] - best) / _unit(item))[item.truth[0] < best]
    gaps = np.sort(gaps[np.isfinite(gaps)])
    if len(gaps) < FEWEST_GAPS:
        return math.nan, math.nan
    rank = min(math.ceil(round((len(gaps) + 1) * (1 - FALSE_ALARMS), _DIGITS)), len(gaps))
    return best, float(gaps[rank - 1])
