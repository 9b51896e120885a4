"""Agreement of two rankings of the same systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import kendalltau

Floats = npt.NDArray[np.float64]

INTERVAL = (2.5, 97.5)


@dataclass(frozen=True)
class Agreement:
    """Kendall tau-b with its bootstrap replicates; NaN where it is not defined.

    Attributes:
        tau: Agreement of the two ratings.
        replicates: Agreement in each bootstrap replicate.
    """

    tau: float
    replicates: Floats

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% percentile interval of the replicates, centerd on tau and cut at -1 and 1.

        Each replicate holds the noise of one tournament, which the mean over tournaments does
        not, so replicates lie lower than tau; the interval takes their spread, not their place.
        NaN where nothing is defined.
        """
        low, high = percentile_interval(self.replicates)
        shift = self.tau - percentile_interval(self.replicates, (50.0, 50.0))[0]
        return float(np.clip(low + shift, -1, 1)), float(np.clip(high + shift, -1, 1))


def percentile_interval(
    values: Floats, percentiles: tuple[float, float] = INTERVAL
) -> tuple[float, float]:
    """Return two percentiles of the finite values; NaN without any."""
    defined = values[np.isfinite(values)]
    if not defined.size:
        return float("nan"), float("nan")
    low, high = np.percentile(defined, percentiles)
    return float(low), float(high)


def macro_agreement(agreements: Sequence[Agreement]) -> Agreement:
    """Average agreements over languages, each language with the same weight.

    Languages where tau is not defined are left out.
    """
    defined = [item for item in agreements if np.isfinite(item.tau)]
    if not defined:
        return Agreement(float("nan"), np.empty(0))
    replicates = np.vstack([item.replicates for item in defined])
    complete = replicates[:, np.isfinite(replicates).all(axis=0)]
    return Agreement(float(np.mean([item.tau for item in defined])), complete.mean(axis=0))


def kendall_tau(first: Floats, second: Floats) -> float:
    """Kendall tau-b of two ratings; systems that miss either are left out.

    Returns:
        A value in [-1, 1]; NaN with fewer than two systems or where a rating is constant.
    """
    both = np.isfinite(first) & np.isfinite(second)
    if both.sum() < 2:
        return float("nan")
    return float(kendalltau(first[both], second[both]).statistic)


def agreement(
    rating: Floats,
    arena_rating: Floats,
    tournaments: Floats,
    random: np.random.Generator,
) -> Agreement:
    """Compare a rating with the arena's, with an interval over systems and questions.

    Each replicate resamples the systems and takes one tournament's coefficients (one resample of
    the questions): the Boot-Both procedure of Deutsch et al., 2021, "A statistical analysis of
    summarization evaluation metrics using resampling methods", section 4.

    Args:
        rating: Rating to validate, shape (S,).
        arena_rating: Mean coefficients, shape (S,).
        tournaments: Coefficients of each tournament, shape (T, S).
        random: Generator of the resamples.
    """
    systems = rating.size
    resamples = random.integers(systems, size=(len(tournaments), systems))
    taus = np.array(
        [
            kendall_tau(rating[drawn], coefficients[drawn])
            for drawn, coefficients in zip(resamples, tournaments, strict=True)
        ]
    )
    return Agreement(kendall_tau(rating, arena_rating), taus)
