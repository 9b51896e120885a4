"""Systems kept out of training: R² of single tournaments, and the intervals that they give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.metrics import r2_score

from arena.data.errors import UsageError
from arena.data.seeds import generator
from surrogate.board.summary import RatingInterval
from surrogate.learning.languages import LanguageData
from surrogate.learning.surrogate import FEWEST_SYSTEMS, Surrogate, reseeded
from surrogate.learning.training import one_tournament

Floats = npt.NDArray[np.float64]

DEFAULT_HOLDOUT_SIZE = 2
FEWEST_HELD_OUT = 2
SMALLEST_SPREAD = 1e-6
"""Held-out coefficients (logits) closer than this are equal: R² is not defined."""


@dataclass(frozen=True)
class TournamentFit:
    """A surrogate trained on a single tournament of one language.

    Attributes:
        ratings: Rating of each judged system by its answers in the tournament, shape (S,).
        shares: Share of each feature in the surrogate's decisions, shape (F,); 0 for one that
            could not be used.
        coefficients: Coefficient of each system in the tournament, shape (S,).
        is_held: Which systems were held out, shape (S,).
    """

    ratings: Floats
    shares: Floats
    coefficients: Floats
    is_held: npt.NDArray[np.bool_]

    @property
    def holdout_r2(self) -> float:
        """R² on the held-out systems; see ``r2``."""
        return r2(self.coefficients[self.is_held], self.ratings[self.is_held])

    @property
    def train_r2(self) -> float:
        """R² on the systems trained on."""
        return r2(self.coefficients[~self.is_held], self.ratings[~self.is_held])


def choose_holdout(
    systems: Sequence[str], seed: int, size: int = DEFAULT_HOLDOUT_SIZE, *keys: str
) -> tuple[str, ...]:
    """Draw the systems to hold out.

    Args:
        systems: Judged systems.
        seed: The user's seed.
        size: How many to draw.
        keys: What they are drawn for.

    Returns:
        Systems, sorted; none where fewer than three would be left to train on.
    """
    names = sorted(systems)
    if len(names) < size + FEWEST_SYSTEMS:
        return ()
    drawn = generator(seed, "holdout", *keys).choice(len(names), size, replace=False)
    return tuple(names[index] for index in sorted(drawn))


def check_holdout(holdout: Sequence[str], judged: Sequence[str]) -> tuple[str, ...]:
    """Check the systems a user wants held out.

    Raises:
        UsageError: If one is not judged, stands twice, or too few are left to train on.
    """
    unknown = [system for system in holdout if system not in judged]
    if unknown:
        raise UsageError(
            f"cannot hold out {', '.join(unknown)}: not judged; "
            f"the judged systems are {', '.join(sorted(judged))}"
        )
    chosen = tuple(sorted(set(holdout)))
    if len(chosen) < len(holdout):
        raise UsageError("a held-out system is named twice")
    if len(set(judged) - set(chosen)) < FEWEST_SYSTEMS:
        raise UsageError(f"holding out {len(chosen)} systems leaves fewer than 3 to train on")
    return chosen


def fit_tournament(
    languages: Sequence[LanguageData],
    surrogate: Surrogate,
    holdout: Sequence[str],
    index: int,
    seed: int,
    quick: bool = True,
) -> list[TournamentFit]:
    """Train a surrogate on one tournament, some systems held out, and rate all of them by it.

    Lines 1 to 7 of Algorithm 1 of MIRAGE-Bench.

    Args:
        languages: One, or those a pooled surrogate learns from together.
        surrogate: What to train.
        holdout: Held-out systems.
        index: Which tournament.
        seed: Seed of the surrogate.
        quick: Whether few trees do.

    Raises:
        UsageError: If too few systems can be trained on, or no feature has a value.
    """
    ratings = {data.language: one_tournament(data.tournaments, index) for data in languages}
    fitted = reseeded(surrogate, seed, quick=quick, n_jobs=1).fit(
        pd.concat([data.hiding(holdout).X for data in languages]), ratings
    )
    drawn = pd.concat([data.drawn(index) for data in languages])
    rated = fitted.predict(drawn).set_index(["language", "system"])["rating"]
    shares = fitted.importances().set_index("language")["importance"]
    fits = []
    for data in languages:
        places = pd.MultiIndex.from_product([[data.language], data.systems])
        fits.append(
            TournamentFit(
                rated.reindex(places).to_numpy(np.float64),
                shares.loc[[data.language]].fillna(0.0).to_numpy(np.float64),
                data.tournaments.coefficients[index],
                np.isin(data.systems, list(holdout)),
            )
        )
    return fits


def r2(truth: Floats, predicted: Floats) -> float:
    """R² of predicted coefficients, both of shape (H,).

    Returns:
        NaN where fewer than two systems have both, or their coefficients are equal.
    """
    both = np.isfinite(truth) & np.isfinite(predicted)
    if both.sum() < FEWEST_HELD_OUT or np.ptp(truth[both]) < SMALLEST_SPREAD:
        return float("nan")
    return float(r2_score(truth[both], predicted[both]))


LEVEL = 0.9
NO_SURROGATE = "no surrogate could be trained"
_DIGITS = 9
"""Digits to which (n + 1)(1 - a) is taken, so that 10 x 0.9 is 9."""


@dataclass(frozen=True)
class UnseenRatings:
    """Systems of one language rated by the arena, and by surrogates that did not see them.

    Attributes:
        language: Language code.
        arena: Arena ratings, shape (S,); NaN where there is none.
        unseen: Ratings by surrogates trained without the system, shape (S,); NaN likewise.
    """

    language: str
    arena: Floats
    unseen: Floats

    @property
    def residuals(self) -> Floats:
        """Distances between the two ratings, where there are both, shape (N,)."""
        distances = np.abs(self.arena - self.unseen)
        return np.asarray(distances[np.isfinite(distances)])

    @property
    def spread(self) -> float:
        """Standard deviation of the arena's ratings; 0 with fewer than two."""
        rated = self.arena[np.isfinite(self.arena)]
        return float(rated.std()) if rated.size else 0.0


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
    place = math.ceil(round((len(residuals) + 1) * level, _DIGITS))
    if place > len(residuals):
        return float("nan")
    return float(np.sort(residuals)[place - 1])


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
    return {item.language: _interval(item, pooled, level) for item in ratings}


def _interval(item: UnseenRatings, pooled: Floats, level: float) -> RatingInterval:
    own = item.residuals
    if not own.size:
        return RatingInterval(level=level, reason=NO_SURROGATE)
    width = half_width(own, level)
    if np.isfinite(width):
        return RatingInterval(level=level, half_width=width, residuals=len(own))
    width = item.spread * half_width(pooled, level) if item.spread > 0 else float("nan")
    if np.isfinite(width):
        return RatingInterval(level=level, half_width=width, residuals=len(pooled), pooled=True)
    reason = (
        f"{len(pooled)} ratings of systems unseen in training; an interval of {level:.0%} needs "
        f"{fewest_residuals(level)}"
    )
    return RatingInterval(level=level, residuals=len(pooled), reason=reason)
