"""What an arena says of its systems' ratings: estimates, and how far these may be off together."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy.linalg import block_diag

from arena.rating.bradley_terry import DEFAULT_RIDGE, NormalPrior
from arena.rating.posterior import BattleLikelihood, RatingPosterior, mean_design_effect
from arena.rating.published import completed_variances
from surrogate.learning.estimation.process import GaussianProcess, fit_process
from surrogate.learning.training import TrainingRatings

Floats = npt.NDArray[np.float64]

UNKNOWN = 1e4
"""Sampling variance of a system without a verdict, in squared logits: as good as infinite."""


@dataclass(frozen=True)
class Observation:
    """Ratings of N systems of a language as observed.

    Attributes:
        systems: Those that have battles or a published rating, and others that are asked for.
        ratings: Logits, centered on 0, shape (N,).
        noise: Their sampling covariance over questions, shape (N, N).
    """

    systems: tuple[str, ...]
    ratings: Floats
    noise: Floats

    def among(self, systems: Collection[str]) -> Observation:
        """Keep some systems, whatever else is known; the others' battles still count."""
        kept = [place for place, name in enumerate(self.systems) if name in systems]
        names = tuple(self.systems[place] for place in kept)
        return Observation(names, self.ratings[kept], self.noise[np.ix_(kept, kept)])

    def with_unjudged(self, systems: Sequence[str]) -> Observation:
        """Put systems of which nothing is observed behind the others."""
        others = tuple(name for name in systems if name not in self.systems)
        noise = np.asarray(block_diag(self.noise, UNKNOWN * np.eye(len(others))))
        return Observation(self.systems + others, np.pad(self.ratings, (0, len(others))), noise)

    def alone(self) -> RatingPosterior:
        """Take it that nothing else is known of any system."""
        return RatingPosterior(self.systems, self.ratings, self.noise, np.ones(len(self.systems)))


def observe(
    ratings: Mapping[str, TrainingRatings], around: float = DEFAULT_RIDGE
) -> dict[str, Observation]:
    """Return what battles, or published ratings, say of each system, by language.

    The Bradley-Terry likelihood with the usual weak prior, as a normal density (Laplace's
    approximation). The covariance is the inverse information times the design effect
    of questions (Kish, 1965), since verdicts on one hang together: the ratio of the variance of
    a system's score by question to that of independent battles, its mean over systems and
    languages; for of few questions the sandwich estimator itself is singular. Published variances
    that are not known are assumed (``completed_variances``); where none is, ratings are exact.

    Args:
        ratings: Language to what is known.
        around: The density is that about the ratings that are most probable under a normal prior
            of this precision; by default about its own mode.
    """
    found, judged, modes, effects = {}, {}, {}, [np.empty(0)]
    for language, item in ratings.items():
        known = np.isfinite(item.means)
        names = [name for name, is_known in zip(item.systems, known, strict=True) if is_known]
        rated = item if known.all() else item.take(names)
        variance = np.zeros(len(names)) if rated.variance is None else rated.variance
        noise = np.diag(np.nan_to_num(completed_variances(variance)))
        found[language] = Observation(rated.systems, rated.means, noise)
        if len(rated.items):
            judged[language] = likelihood = BattleLikelihood(rated.items)
            mode = likelihood.mode(NormalPrior.ridge(len(names), around))
            modes[language] = mode - mode.mean()
            effects.append(likelihood.design_effects(modes[language], around))
    effect = mean_design_effect(np.concatenate(effects))
    for language, likelihood in judged.items():
        at, size = modes[language], len(modes[language])
        middle = np.eye(size) - 1 / size  # ratings are differences: their level is nobody's
        weak = DEFAULT_RIDGE * np.eye(size)
        inverse = middle @ np.linalg.inv(likelihood.information(at) + weak) @ middle
        means = at + inverse @ (likelihood.slope(at) - DEFAULT_RIDGE * at)
        found[language] = Observation(found[language].systems, means, effect * inverse)
    return found


@dataclass(frozen=True)
class Observations:
    """N observed ratings in L languages, that a process is conditioned on.

    Attributes:
        by_language: What is observed.
    """

    by_language: Mapping[str, Observation]

    @property
    def keys(self) -> list[tuple[str, str]]:
        """Language and system of each."""
        items = self.by_language.items()
        return [(name, system) for name, item in items for system in item.systems]

    def fitted(self, kernels: Floats, expected: Floats | float = 0.0) -> GaussianProcess:
        """Condition a process with K kernels, shape (K, N, N), on what is not expected, (N,)."""
        ratings = np.concatenate([item.ratings for item in self.by_language.values()])
        noise = np.asarray(block_diag(*[item.noise for item in self.by_language.values()]))
        sizes = [len(item.systems) for item in self.by_language.values()]
        groups = np.repeat(np.eye(len(sizes)), sizes, axis=0)
        return fit_process(kernels, ratings - expected, noise, groups)

    def posteriors(
        self, kernels: Floats, expected: Floats | float = 0.0
    ) -> dict[str, RatingPosterior]:
        """Return what such a process says of each language."""
        means, covariance, shares = self.fitted(kernels, expected).posterior()
        means = means + expected
        ends = np.cumsum([0, *(len(item.systems) for item in self.by_language.values())])
        return {
            name: RatingPosterior(
                item.systems, means[first:end], covariance[first:end, first:end], shares[first:end]
            )
            for (name, item), (first, end) in zip(
                self.by_language.items(), pairwise(ends), strict=True
            )
        }
