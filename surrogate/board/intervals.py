"""Intervals of a surrogate's predictions for systems that it has not seen.

With many judged systems, split conformal prediction (Lei et al., 2018, section 2): the interval is
as wide as the distances between predictions and the arena's ratings in cross-fitting. Where the
surrogate has standard errors, distances are measured in them (section 5.2), so that a system unlike
the others has a wider interval.

With few judged systems, n, the variance of the surrogate's error is 3.5/(n - 1) of that of their
ratings: with three or four, the surrogate knows no more than their mean. Other arenas show this
(``benchmarks/few_systems.py``), and the systems left out here correct it. As the variance of n
ratings is known with n - 1 degrees of freedom, so is the error's (docs/reference/formulas.md,
"New systems").
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri, stdtrit

from arena.data.types import Floats
from surrogate.board.summary import LEVEL, RatingInterval
from surrogate.checks.copies import Key
from surrogate.learning.outcomes import Outcome
from surrogate.learning.surrogate import ANSWER_MARK, FEWEST_SYSTEMS, Surrogate

NO_SURROGATE = "no surrogate could be trained"
ALL_EQUAL = "all judged systems have the same rating"
_DIGITS = 9
"""Digits to which (n + 1)(1 - a) is taken, so that 10 x 0.9 is 9."""
_PRIOR_RESIDUALS = 16.0
"""Left-out ratings that the other arenas are worth.

Those of eight judged systems or fewer hardly correlate (.1) with the error for a new one.
"""


def unseen_intervals(outcomes: Sequence[Outcome]) -> dict[str, RatingInterval]:
    """Calibrate the interval of an unseen system's rating in every language, by its first repeat.

    Returns:
        Language code to its interval, with the reason where there is none.
    """
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
        narrowing=_narrowing(width / spread, n_systems, len(residuals)),
    )


def _narrowing(relative_width: float, n_systems: int, n_residuals: int) -> str:
    n_needed = systems_for_half(relative_width, n_systems, n_residuals)
    if n_needed == n_systems:
        return ""
    return (
        f"with {n_systems} judged systems they span about {rank_share(relative_width):.0%} of the "
        f"ranks, with {n_needed} they would span about half"
    )


def _training_share(outcome: Outcome) -> float:
    if outcome.folds is None:
        return 1.0
    n_folds = 1 + int(outcome.folds[0].max(initial=0))
    return 1 - 1 / n_folds if n_folds > 1 else 1.0


def _unseen_residuals(outcome: Outcome) -> Floats:
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


def student_half_width(
    spread: float,
    n_systems: int,
    residuals: Floats,
    *,
    training_share: float = 1.0,
    is_informed: bool = True,
) -> float:
    """Return the half-width of the interval of an unseen system's rating (logits).

    Args:
        spread: Standard deviation of the judged ratings (logits).
        n_systems: Judged systems (n).
        residuals: Errors for systems left out, shape (M,); may be empty.
        training_share: Share of the systems that the surrogates of the residuals had learned from.
        is_informed: Whether the surrogate is the default one, of which other arenas tell; any
            other one is expected to know the mean of the ratings alone.
    """
    share = _error_share(n_systems) if is_informed else 1 + 1 / n_systems
    prior_residuals = _PRIOR_RESIDUALS if is_informed else 2.0
    # Error variances are inverse to the systems learned from: those left out were fewer.
    squares = float(residuals @ residuals) * training_share
    squares += prior_residuals * share * spread**2
    variance = squares / (prior_residuals + len(residuals))
    return float(stdtrit(n_systems - 1, (1 + LEVEL) / 2)) * math.sqrt(variance)


def _error_share(n_systems: int) -> float:
    """Return the error variance of an unseen system's rating, over the variance of ratings."""
    # The error's share of the variance of ratings, times n - 1
    error_factor = 3.5
    return error_factor / (n_systems - 1)


def rank_share(half_width: float) -> float:
    """Return the share of ranks that an interval spans, for a system like the judged ones.

    Ratings are taken as normal: |a - b| of two systems is below h with probability
    2 Φ(h / √2) - 1.

    Args:
        half_width: In standard deviations of the ratings.
    """
    return float(2 * ndtr(half_width / math.sqrt(2)) - 1)


def systems_for_half(half_width: float, n_systems: int, n_residuals: int) -> int:
    """Return how many judged systems would let the interval span half of the ranks.

    Args:
        half_width: In standard deviations of the ratings.
        n_systems: Judged systems now; they are enough where the interval spans half or less.
        n_residuals: Left-out ratings that the interval rests on.
    """
    widest = math.sqrt(2) * float(ndtri(0.75))
    ratio = half_width / _usual_half_width(n_systems, n_residuals)
    n_needed = n_systems
    # The width falls with every system, to 0 in the end.
    while half_width > widest:
        n_needed += 1
        half_width = ratio * _usual_half_width(n_needed, n_needed)
    return n_needed


def _usual_half_width(n_systems: int, n_residuals: int) -> float:
    """Half-width in standard deviations of the ratings, with errors as in other arenas."""
    # Left-out systems' squared errors exceed those for new ones, by their median over arenas.
    excess = 1.5
    weights = _PRIOR_RESIDUALS + n_residuals
    inflation = (_PRIOR_RESIDUALS + excess * n_residuals) / weights
    quantile = float(stdtrit(n_systems - 1, (1 + LEVEL) / 2))
    return quantile * math.sqrt(_error_share(n_systems) * inflation)


def variances_of_coverage(
    surrogate: Surrogate, X: pd.DataFrame, n_questions: Mapping[str, int]
) -> dict[Key, float]:
    """Return by how much ratings vary for want of answers to all questions, in squared logits.

    The delete-a-group jackknife (Kott, 2001) of what the surrogate predicts, times the finite
    population correction 1 - n / Q: a system that answered all Q questions has none.

    Args:
        surrogate: The board's.
        X: Feature table; with the column ``answer`` where the surrogate reads answers.
        n_questions: Language to its number of questions.

    Returns:
        Language and system to the variance; systems that answered every question, or one alone,
        are left out.
    """
    replicates = []
    corrections: dict[Key, float] = {}
    for (language, system), rows in X.groupby(["language", "system"]):
        total = n_questions.get(language, 0)
        if 1 < len(rows) < total:
            corrections[language, system] = 1 - len(rows) / total
            replicates += _replicates(rows)
    if not replicates:
        return {}
    predictions = surrogate.predict(pd.concat(replicates, ignore_index=True))
    systems = predictions["system"].str.rsplit(ANSWER_MARK, n=1).str[0]
    ratings = predictions.groupby(["language", systems])["rating"]
    # The jackknife's variance of G replicates: (G - 1) / G times their sum of squares.
    variances = (ratings.count() - 1) * ratings.var(ddof=0)
    return {key: float(variances[key]) * factor for key, factor in corrections.items()}


def _replicates(rows: pd.DataFrame) -> list[pd.DataFrame]:
    """Return a system's rows without each group of its answers, as systems of their own."""
    most_groups = 10
    n_groups = min(most_groups, len(rows))
    groups = np.arange(len(rows)) % n_groups
    rows = rows.sort_values("query_id", kind="stable")
    replicates = []
    for group in range(n_groups):
        # The mark keeps a replicate from being compared with its own system in the field.
        names = rows["system"] + f"{ANSWER_MARK}{group}"
        replicates.append(rows.assign(system=names)[groups != group])
    return replicates
