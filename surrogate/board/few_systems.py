"""How wide the interval of an unseen system's rating is where few systems are judged.

With n judged systems, the variance of the surrogate's error is 3.5/(n - 1) of that of their
ratings: with three or four, the surrogate knows no more than their mean. Other arenas show this
(``benchmarks/few_systems.py``), and the systems left out here correct it. As the variance of n
ratings is known with n - 1 degrees of freedom, so is the error's (docs/reference/formulas.md,
"New systems").
"""

from __future__ import annotations

import math

from scipy.special import ndtr, ndtri, stdtrit

from arena.data.types import Floats
from surrogate.board.summary import LEVEL

FEWEST_FOR_CONFORMAL = 20
"""Left-out ratings from which conformal intervals need nothing of other arenas."""
_ERROR_FACTOR = 3.5
"""The error's share of the variance of ratings, times n - 1."""
_PRIOR_RESIDUALS = 16.0
"""Left-out ratings that the other arenas are worth.

Those of eight judged systems or fewer hardly correlate (.1) with the error for a new one.
"""


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
    share = error_share(n_systems) if is_informed else 1 + 1 / n_systems
    prior_residuals = _PRIOR_RESIDUALS if is_informed else 2.0
    # Error variances are inverse to the systems learned from: those left out were fewer.
    squares = float(residuals @ residuals) * training_share
    squares += prior_residuals * share * spread**2
    variance = squares / (prior_residuals + len(residuals))
    return float(stdtrit(n_systems - 1, (1 + LEVEL) / 2)) * math.sqrt(variance)


def error_share(n_systems: int) -> float:
    """Return the error variance of an unseen system's rating, over the variance of ratings."""
    return _ERROR_FACTOR / (n_systems - 1)


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
    return quantile * math.sqrt(error_share(n_systems) * inflation)
