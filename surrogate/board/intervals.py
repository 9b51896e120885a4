"""Intervals of a surrogate's predictions for systems that it has not seen.

With many judged systems, split conformal prediction (Lei et al., 2018, section 2) on errors in
cross-fitting, in standard errors where there are some (section 5.2).

With few, n, the error variance is 3.5/(n - 1) of the ratings', as in other arenas
(``benchmarks/few_systems.py``), with n - 1 degrees of freedom, corrected by systems left out here
(docs/reference/formulas.md, "New systems").
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from arena.data.types import Floats
from surrogate.board.summary import LEVEL, RatingInterval
from surrogate.learning.surrogate import FEWEST_SYSTEMS

if TYPE_CHECKING:
    from surrogate.learning.outcomes import Outcome

NO_SURROGATE = "no surrogate could be trained"
ALL_EQUAL = "all judged systems have the same rating"
_DIGITS = 9
"""Digits to which (n + 1)(1 - a) is taken, so that 10 x 0.9 is 9."""
_PRIOR_RESIDUALS = 16.0
"""Left-out ratings that the other arenas are worth.

Those of eight judged systems or fewer hardly correlate (.1) with the error for a new one.
"""


def unseen_intervals(outcomes: Sequence[Outcome]) -> dict[str, RatingInterval]:
    """Calibrate unseen intervals in every language, by the first repeat."""
    return {outcome.language: _interval(outcome) for outcome in outcomes}


def _interval(outcome: Outcome) -> RatingInterval:
    # Left-out ratings from which conformal intervals need nothing of other arenas
    fewest_for_conformal = 20
    residuals = _unseen_residuals(outcome)
    if len(residuals) >= fewest_for_conformal:
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
        return RatingInterval(limit=f"no interval of ratings by a surrogate: {reason}")
    spread = float(ratings.std(ddof=1))
    if not spread > 0:
        return RatingInterval(limit=f"no interval of ratings by a surrogate: {ALL_EQUAL}")
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
        limit=_limit(width / spread, n_systems, len(residuals)),
    )


def _limit(relative_width: float, n_systems: int, n_residuals: int) -> str:
    n_needed = systems_for_half(relative_width, n_systems, n_residuals)
    if n_needed == n_systems:
        return ""
    return (
        f"intervals are wide: with {n_systems} judged systems they span about "
        f"{rank_share(relative_width):.0%} of the ranks, with {n_needed} they would span about half"
    )


def _training_share(outcome: Outcome) -> float:
    if outcome.folds is None:
        return 1.0
    n_folds = 1 + int(outcome.folds[0].max(initial=0))
    return 1 - 1 / n_folds if n_folds > 1 else 1.0


def _unseen_residuals(outcome: Outcome) -> Floats:
    residuals = outcome.predicted[0] - outcome.arena_ratings[0]
    return np.asarray(residuals[np.isfinite(residuals)])


def unseen_distances(outcome: Outcome) -> Floats:
    """Return unseen distances from the arena, in standard errors if known."""
    distances = np.abs(outcome.arena_ratings[0] - outcome.predicted[0]) / _units(outcome)
    return np.asarray(distances[np.isfinite(distances)])


def half_width(residuals: Floats, level: float = LEVEL) -> float:
    """Return the half-width of a conformal interval that holds a share of new systems.

    It is the ceil((N + 1) level)-th smallest of N absolute residuals; NaN with too few.
    """
    rank = math.ceil(round((len(residuals) + 1) * level, _DIGITS))
    return float(np.sort(residuals)[rank - 1]) if rank <= len(residuals) else math.nan


def _units(outcome: Outcome) -> Floats:
    errors = outcome.standard_errors
    if errors is None:
        return np.ones(outcome.arena_ratings.shape[1])
    return np.where(errors[0] > 0, errors[0], np.nan)


def _frontier(outcome: Outcome, units: Floats) -> tuple[float, float]:
    """Return the best rating, and from how near a system may be better.

    It flags about one ordinary system in ten; NaN where too few are judged.
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


def student_half_width(
    spread: float,
    n_systems: int,
    residuals: Floats,
    *,
    training_share: float = 1.0,
    is_informed: bool = True,
) -> float:
    """Return an unseen interval's half-width (logits).

    Args:
        spread: Standard deviation of the judged ratings (logits).
        n_systems: Judged systems (n).
        residuals: Errors for systems left out, shape (M,); may be empty.
        training_share: Share of systems that residuals' surrogates had learned from.
        is_informed: Whether other arenas tell of the surrogate.
    """
    share = _error_share(n_systems) if is_informed else 1 + 1 / n_systems
    prior_residuals = _PRIOR_RESIDUALS if is_informed else 2.0
    # Error variances are inverse to the systems learned from: those left out were fewer.
    squares = float(residuals @ residuals) * training_share
    squares += prior_residuals * share * spread**2
    variance = squares / (prior_residuals + len(residuals))
    return float(stdtrit(n_systems - 1, (1 + LEVEL) / 2)) * math.sqrt(variance)


def _error_share(n_systems: int) -> float:
    # The error's share of the variance of ratings, times n - 1
    error_factor = 3.5
    return error_factor / (n_systems - 1)


def rank_share(half_width: float) -> float:
    """Return the share of ranks within a half-width h in deviations: 2 Φ(h / √2) - 1."""
    return float(2 * ndtr(half_width / math.sqrt(2)) - 1)


def systems_for_half(half_width: float, n_systems: int, n_residuals: int) -> int:
    """Return how many judged systems would let the interval span half of the ranks."""
    widest = math.sqrt(2) * float(ndtri(0.75))
    ratio = half_width / _usual_half_width(n_systems, n_residuals)
    n_needed = n_systems
    # The width falls with every system, to 0 in the end.
    while half_width > widest:
        n_needed += 1
        half_width = ratio * _usual_half_width(n_needed, n_needed)
    return n_needed


def _usual_half_width(n_systems: int, n_residuals: int) -> float:
    # Left-out systems' squared errors exceed those for new ones, by their median over arenas.
    excess = 1.5
    weights = _PRIOR_RESIDUALS + n_residuals
    inflation = (_PRIOR_RESIDUALS + excess * n_residuals) / weights
    quantile = float(stdtrit(n_systems - 1, (1 + LEVEL) / 2))
    return quantile * math.sqrt(_error_share(n_systems) * inflation)
