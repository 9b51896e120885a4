"""How well ratings of systems by surrogates that did not see them agree with the arena's.

Only systems that were held out together are compared with each other (leave-pair-out: Airola et
al., 2011): both are rated by one surrogate that knows neither. Ratings of different folds are by
surrogates whose training systems differ by the very systems compared: those that the stronger one
is held out of are weaker, and a surrogate that knows nothing would rank them upside down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.seeds import generator
from arena.data.types import Floats, Indices
from arena.statistics.bootstrap import bootstrap_weights
from arena.statistics.rank_agreement import kendall_taus, resampled_taus
from arena.statistics.significance import NORMAL_90
from surrogate.learning.training import finite_means

RESAMPLES, FEWEST_RESAMPLES = 1000, 100
MANY_SYSTEMS = 300
"""Beyond so many, resamples are fewer by the square: so does the time of each one's taus grow."""


@dataclass(frozen=True)
class Outcome:
    """Predicted and arena ratings of the systems of one language, several times over.

    Attributes:
        predicted: Ratings of S systems in each repeat, shape (R, S); NaN where there is none.
        truth: The arena's ratings to compare with, shape (R, S).
        folds: Which systems were held out together in each repeat, shape (R, S); None where all
            are rated by one surrogate.
        standard_errors: Of the predicted ratings, shape (R, S); None where the surrogate has none.
        r2: R² where a protocol defines its own; None for that of ``predicted``.
        reasons: Why predictions are missing, without duplicates.
    """

    language: str
    systems: tuple[str, ...]
    predicted: Floats
    truth: Floats
    folds: Indices | None = None
    standard_errors: Floats | None = None
    r2: float | None = None
    reasons: tuple[str, ...] = ()

    @property
    def groups(self) -> Indices:
        """What is compared with each other, over all repeats, shape (R * S,)."""
        repeats = np.arange(len(self.predicted))[:, None]
        folds = np.zeros(self.predicted.shape, np.intp) if self.folds is None else self.folds
        return np.asarray((folds + repeats * (1 + folds.max(initial=0))).ravel(), dtype=np.intp)

    @property
    def tau(self) -> float:
        """Kendall tau-b of the systems held out together, all repeats at once.

        It is 0 without signal, and where all predictions are the same; NaN where no two systems
        with different ratings have a prediction.
        """
        both = self.predicted.ravel()[None], self.truth.ravel()[None]
        tau = float(kendall_taus(*both, groups=self.groups)[0, 0])
        return 0.0 if np.isnan(tau) and np.isfinite(self.pairwise_accuracy) else tau

    @property
    def pairwise_accuracy(self) -> float:
        """Share of pairs of systems held out together in the arena's order.

        A predicted tie counts half, pairs that the arena ties are left out.
        """
        groups, predicted, truth = self.groups, self.predicted.ravel(), self.truth.ravel()
        order = np.argsort(groups, kind="stable")
        right: list[Floats] = []
        for own in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
            first, second = own[np.array(np.triu_indices(len(own), 1))]
            true = np.sign(truth[first] - truth[second])
            agrees = (1 + true * np.sign(predicted[first] - predicted[second])) / 2
            right.append(agrees[np.isfinite(agrees) & (true != 0)])
        every = np.concatenate(right)
        return float(every.mean()) if every.size else float("nan")

    @property
    def explained(self) -> float:
        """R² of the predictions: 0 for the mean rating of the systems trained on."""
        if self.r2 is not None:
            return self.r2
        repeats = zip(self.truth, self.groups.reshape(self.truth.shape), strict=True)
        means = np.array([_training_means(*repeat) for repeat in repeats])
        both = np.isfinite(self.predicted + self.truth)
        spread = np.sum((self.truth - means)[both] ** 2)
        missed = np.sum((self.truth - self.predicted)[both] ** 2)
        return float(1 - missed / spread) if spread > 0 else float("nan")

    @property
    def coverage(self) -> float:
        """Share of the arena's ratings inside the 90% intervals of their predictions.

        NaN where the surrogate has no standard errors. The noise of the arena's ratings counts as
        an error of the prediction.
        """
        if self.standard_errors is None:
            return float("nan")
        errors = np.abs(self.predicted - self.truth)
        is_rated = np.isfinite(errors) & np.isfinite(self.standard_errors)
        if not is_rated.any():
            return float("nan")
        is_inside = errors <= NORMAL_90 * self.standard_errors
        return float(np.mean(is_inside[is_rated]))

    def resampled(self, times: Floats) -> Floats:
        """Tau of resamples of the systems, shape (B, S) to (B,); NaN where one has none."""
        weights = np.tile(times, (1, len(self.predicted)))
        taus = resampled_taus(self.predicted.ravel(), self.truth.ravel(), weights, self.groups)
        return np.zeros(len(times)) if np.isnan(taus).all() and self.tau == 0 else taus


def _training_means(truth: Floats, groups: Indices) -> Floats:
    """Mean rating of the systems of other folds, shape (S,); of all where there is one fold."""
    others = groups[:, None] != groups
    others |= ~others.any()
    return finite_means(np.where(others, truth, np.nan).T)


def on_common_systems(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Keep the predictions of systems that all of them rate, but for those that rate none."""
    rated = np.array([np.isfinite(item.predicted).any(axis=0) for item in outcomes])
    common = rated[rated.any(axis=1)].all(axis=0)
    return [replace(item, predicted=np.where(common, item.predicted, np.nan)) for item in outcomes]


def resample_outcomes(outcomes: Sequence[Outcome], seed: int) -> dict[str, Floats]:
    """Say how far Kendall's tau-b hangs on the systems: its bootstrap over these.

    Every resample holds the same systems in every language, so that means over languages, and
    differences between outcomes on the same systems, are of the same resamples.

    Returns:
        Language code to tau of each resample, shape (B,); NaN where a resample has none.
    """
    names = np.concatenate([np.array(item.systems, dtype=object) for item in outcomes])
    truth = np.concatenate([finite_means(item.truth) for item in outcomes])
    times = resampled_systems(names, truth, generator(seed, "validation resamples"))
    return {
        item.language: item.resampled(times[list(item.systems)].to_numpy(np.float64))
        for item in outcomes
    }


def resampled_systems(
    names: npt.ArrayLike, truth: npt.ArrayLike, random: np.random.Generator
) -> pd.DataFrame:
    """Draw systems with replacement: how often each stands in each resample.

    Args:
        names: System of each rating, shape (N,).
        truth: The ratings, shape (N,): by their means systems are drawn, not by their names.
        random: Generator of the draws.

    Returns:
        ``RESAMPLES`` rows, or fewer of very many systems; a column a system.
    """
    means = pd.Series(np.asarray(truth), np.asarray(names, dtype=object)).groupby(level=0).mean()
    ordered = means.index[np.argsort(means.to_numpy(), kind="stable")]
    fewer = int(RESAMPLES * (MANY_SYSTEMS / max(len(ordered), 1)) ** 2)
    rounds = min(max(fewer, FEWEST_RESAMPLES), RESAMPLES)
    return pd.DataFrame(bootstrap_weights(len(ordered), rounds, random), columns=ordered)
