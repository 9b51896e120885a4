"""Agreement of the arena's ratings with those by surrogates that did not see the systems.

Only systems held out together are compared (leave-pair-out: Airola et al., 2011).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.types import Floats, Indices
from arena.statistics.agreement import concordance, kendall_taus, resampled_taus
from arena.statistics.bootstrap import bootstrap_weights, generator
from arena.statistics.significance import NORMAL_90, finite_means

RESAMPLES = 1000
MANY_SYSTEMS = 300
"""Above it resamples are fewer by the square, as the time of each one's taus grows."""


@dataclass(frozen=True)
class Outcome:
    """Predicted and arena ratings of S systems in R repeats, (R, S).

    ``folds`` says which were held out together; None if one surrogate rates all. ``r2`` is NaN for
    ratings on another scale; None for that of ``predicted``.
    """

    language: str
    systems: tuple[str, ...]
    predicted: Floats
    arena_ratings: Floats
    folds: Indices | None = None
    standard_errors: Floats | None = None
    r2: float | None = None
    reasons: tuple[str, ...] = ()

    @property
    def groups(self) -> Indices:
        """Return predictions' fold and repeat, shape (R * S,)."""
        # Across folds, a surrogate that knows nothing would rank systems upside down: the training
        # systems of a strong one are weaker.
        folds = np.zeros(self.predicted.shape, np.intp) if self.folds is None else self.folds
        repeats = np.arange(len(self.predicted))[:, None]
        n_folds = 1 + folds.max(initial=0)
        return np.asarray((folds + repeats * n_folds).ravel(), dtype=np.intp)

    @property
    def tau(self) -> float:
        """Return Kendall's tau-b of systems held out together.

        0 with equal predictions; NaN where no two systems can be compared.
        """
        predicted = self.predicted.ravel()[None]
        arena_ratings = self.arena_ratings.ravel()[None]
        tau = float(kendall_taus(predicted, arena_ratings, groups=self.groups)[0, 0])
        if np.isnan(tau) and np.isfinite(self.pairwise_accuracy):
            return 0.0
        return tau

    @property
    def pairwise_accuracy(self) -> float:
        """Return the share of pairs held out together in the arena's order.

        Predicted ties count half; pairs that the arena ties are left out.
        """
        return concordance(self.predicted.ravel(), self.arena_ratings.ravel(), self.groups)

    @property
    def explained(self) -> float:
        """Return predictions' R², 0 for the training mean."""
        if self.r2 is not None:
            return self.r2
        groups = self.groups.reshape(self.arena_ratings.shape)
        means = np.zeros_like(self.arena_ratings)
        for repeat, ratings in enumerate(self.arena_ratings):
            means[repeat] = _training_means(ratings, groups[repeat])
        is_known = np.isfinite(self.predicted + self.arena_ratings)
        total_squares = np.sum((self.arena_ratings - means)[is_known] ** 2)
        residual_squares = np.sum((self.arena_ratings - self.predicted)[is_known] ** 2)
        if not total_squares > 0:
            return float("nan")
        return float(1 - residual_squares / total_squares)

    @property
    def coverage(self) -> float:
        """Return the share of ratings inside 90% prediction intervals; NaN without errors."""
        if self.standard_errors is None:
            return float("nan")
        errors = np.abs(self.predicted - self.arena_ratings)
        is_rated = np.isfinite(errors) & np.isfinite(self.standard_errors)
        if not is_rated.any():
            return float("nan")
        is_inside = errors <= NORMAL_90 * self.standard_errors
        return float(np.mean(is_inside[is_rated]))

    def resampled(self, times: Floats) -> Floats:
        """Return tau in resamples, (B,), that hold each system ``times``, (B, S)."""
        weights = np.tile(times, (1, len(self.predicted)))
        taus = resampled_taus(
            self.predicted.ravel(), self.arena_ratings.ravel(), weights, self.groups
        )
        if np.isnan(taus).all() and self.tau == 0:
            return np.zeros(len(times))
        return taus


def _training_means(ratings: Floats, groups: Indices) -> Floats:
    """Return the mean rating of other folds' systems, shape (S,); of all with a single fold."""
    is_other_fold = groups[:, None] != groups
    if not is_other_fold.any():
        is_other_fold[:] = True
    return finite_means(np.where(is_other_fold, ratings, np.nan).T)


def resample_outcomes(outcomes: Sequence[Outcome], seed: int) -> dict[str, Floats]:
    """Bootstrap tau-b over systems, the same in every language."""
    times = system_draws(outcomes, seed)
    taus = {}
    for outcome in outcomes:
        own_times = times[list(outcome.systems)].to_numpy(np.float64)
        taus[outcome.language] = outcome.resampled(own_times)
    return taus


def system_draws(outcomes: Sequence[Outcome], seed: int) -> pd.DataFrame:
    """Draw the systems of all languages at once."""
    systems = np.concatenate([np.array(outcome.systems, dtype=object) for outcome in outcomes])
    ratings = np.concatenate([finite_means(outcome.arena_ratings) for outcome in outcomes])
    return resampled_systems(systems, ratings, generator(seed, "validation resamples"))


def resampled_systems(
    names: npt.ArrayLike, ratings: npt.ArrayLike, random: np.random.Generator
) -> pd.DataFrame:
    """Draw systems with replacement; count each in each resample.

    Systems are ordered by mean ratings.
    """
    fewest_resamples = 100
    by_system = pd.Series(np.asarray(ratings), np.asarray(names, dtype=object))
    means = by_system.groupby(level=0).mean()
    ordered = means.index[np.argsort(means.to_numpy(), kind="stable")]
    n_affordable = int(RESAMPLES * (MANY_SYSTEMS / max(len(ordered), 1)) ** 2)
    n_resamples = min(max(n_affordable, fewest_resamples), RESAMPLES)
    return pd.DataFrame(bootstrap_weights(len(ordered), n_resamples, random), columns=ordered)
