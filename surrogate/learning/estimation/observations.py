"""What an arena says of its systems' ratings: estimates, and how far these may be off together."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy.linalg import block_diag, cho_solve, cholesky

from arena.rating.bradley_terry import DEFAULT_RIDGE, NormalPrior
from arena.rating.posterior import BattleLikelihood, RatingPosterior, mean_design_effect
from arena.rating.published import completed_variances
from surrogate.learning.estimation.process import GaussianProcess
from surrogate.learning.training import TrainingRatings

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]

EXACT = 1e10
"""Precision of ratings that are given."""
UNKNOWN = 1e4
"""Sampling variance of a system without a verdict, in squared logits: as good as infinite."""


@dataclass(frozen=True)
class JudgedBattles:
    """Battles of a language, and how much they count.

    Attributes:
        likelihood: Of Bradley and Terry, of all S systems that met.
        effect: Design effect of the questions; the likelihood is to the power of one over it.
        fit: Ratings by the battles alone, with the usual weak prior, shape (S,).
    """

    likelihood: BattleLikelihood
    effect: float
    fit: Floats

    def everyone(self, ratings: Floats, places: Integers) -> Floats:
        """Rate those too that are not at the places: as is most likely beside these."""
        at = self.fit.copy()
        at[places] = ratings - ratings.mean() + self.fit[places].mean()
        if len(places) < len(at):
            means, precisions = np.zeros(len(at)), np.full(len(at), DEFAULT_RIDGE)
            means[places], precisions[places] = at[places], EXACT
            at = self.likelihood.mode(NormalPrior(means, precisions), start=at)
        return np.asarray(at - at.mean())  # ratings are differences: their level is nobody's


@dataclass(frozen=True)
class Observation:
    """Ratings of the N systems of a language as observed: a ``RatingLikelihood`` of a process.

    Attributes:
        systems: Those that have battles or a published rating, and others that are asked for.
        ratings: Logits, centered on 0, shape (N,).
        noise: Their sampling covariance over questions, shape (N, N).
        remainder: See ``RatingLikelihood``.
        verdicts: The battles they rest on; None where they are published.
        places: Where each stands among the systems of the battles, shape (N,).
        at: Ratings of those that it is approximated around, shape (S,).
        inverse: Of the battles' precision there, shape (S, S).
    """

    systems: tuple[str, ...]
    ratings: Floats
    noise: Floats
    remainder: float = 0.0
    verdicts: JudgedBattles | None = None
    places: Integers = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    at: Floats = field(default_factory=lambda: np.zeros(0))
    inverse: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    def around(self, ratings: Floats) -> Observation:
        """Approximate the likelihood of the battles, with the usual weak prior, around ratings."""
        if self.verdicts is None or not len(self.places):
            return self
        known = len(self.places)
        likelihood, effect = self.verdicts.likelihood, self.verdicts.effect
        at = self.verdicts.everyone(ratings[:known], self.places)
        slope = likelihood.slope(at) - DEFAULT_RIDGE * at
        precision = likelihood.information(at) + DEFAULT_RIDGE * np.eye(len(at))
        factor = cholesky(precision, lower=True)
        inverse = np.asarray(cho_solve((factor, True), np.eye(len(factor))))
        step = inverse @ slope
        mean = at + step - (at + step).mean()
        covariance = inverse - inverse.mean(axis=0)
        covariance = effect * (covariance - covariance.mean(axis=1, keepdims=True))
        found, noise = self.ratings.copy(), self.noise.copy()
        found[:known] = mean[self.places]
        noise[:known, :known] = covariance[np.ix_(self.places, self.places)]
        # Of differences alone: the level's precision is that of the weak prior.
        determinant = 2.0 * float(np.log(np.diag(factor)).sum()) - np.log(DEFAULT_RIDGE)
        value = likelihood.value(at) - 0.5 * DEFAULT_RIDGE * float(at @ at)
        touching = (value + 0.5 * slope @ step) / effect
        remainder = float(touching - 0.5 * (determinant - (len(at) - 1) * np.log(effect)))
        seen = replace(self, ratings=found, noise=noise, remainder=remainder)
        return replace(seen, at=at, inverse=inverse)

    def skewness(self, covariance: Floats) -> Floats:
        """Slopes of the posterior's precision; see ``RatingLikelihood.skewness``."""
        slopes = np.zeros(len(self.systems))
        if self.verdicts is None or not len(self.places):
            return slopes
        known = len(self.places)
        inverse = self.verdicts.effect * self.inverse
        # The others follow those that the posterior is of.
        follow = np.linalg.solve(inverse[np.ix_(self.places, self.places)], inverse[self.places]).T
        own = covariance[:known, :known]
        among = inverse - follow @ inverse[self.places] + follow @ own @ follow.T
        bent = self.verdicts.likelihood.third_derivatives(self.at, among) / self.verdicts.effect
        slopes[:known] = 0.5 * follow.T @ bent
        return slopes

    def among(self, systems: Collection[str]) -> Observation:
        """Keep some systems, whatever else is known; the others' battles still count."""
        kept = [place for place, name in enumerate(self.systems) if name in systems]
        return replace(
            self,
            systems=tuple(self.systems[place] for place in kept),
            ratings=self.ratings[kept],
            noise=self.noise[np.ix_(kept, kept)],
            places=self.places[[place for place in kept if place < len(self.places)]],
        )

    def with_unjudged(self, systems: Sequence[str]) -> Observation:
        """Put systems of which nothing is observed behind the others."""
        others = [name for name in systems if name not in self.systems]
        return replace(
            self,
            systems=self.systems + tuple(others),
            ratings=np.concatenate([self.ratings, np.zeros(len(others))]),
            noise=np.asarray(block_diag(self.noise, UNKNOWN * np.eye(len(others)))),
        )

    def alone(self) -> RatingPosterior:
        """Take it that nothing else is known of any system."""
        return RatingPosterior(self.systems, self.ratings, self.noise, np.ones(len(self.systems)))


def observe(ratings: Mapping[str, TrainingRatings]) -> dict[str, Observation]:
    """Return what battles, or published ratings, say of each system, by language.

    The Bradley-Terry likelihood as a normal density around its fit with the usual weak prior
    (Laplace's approximation). The covariance is the inverse information times the design effect
    of questions (Kish, 1965), since verdicts on one hang together: the ratio of the variance of
    a system's score by question to that of independent battles, its mean over systems and
    languages; for of few questions the sandwich estimator itself is singular. Published variances
    that are not known are assumed (``completed_variances``); where none is, ratings are exact.
    """
    rated = {language: _rated_only(item) for language, item in ratings.items()}
    judged = {name: BattleLikelihood(item.items) for name, item in rated.items() if len(item.items)}
    modes = {}
    for language, one in judged.items():
        mode = one.mode(NormalPrior.ridge(one.pairs.n_systems, DEFAULT_RIDGE))
        modes[language] = mode - mode.mean()
    effects = [one.design_effects(modes[name], DEFAULT_RIDGE) for name, one in judged.items()]
    effect = mean_design_effect(np.concatenate([np.empty(0), *effects]))
    found = {}
    for language, item in rated.items():
        variance = np.zeros(len(item.systems)) if item.variance is None else item.variance
        noise = np.diag(np.nan_to_num(completed_variances(variance)))
        seen = Observation(item.systems, item.means, noise)
        if language in judged:
            verdicts = JudgedBattles(judged[language], effect, modes[language])
            everyone = np.arange(len(item.systems))
            seen = replace(seen, verdicts=verdicts, places=everyone).around(modes[language])
        found[language] = seen
    return found


def _rated_only(ratings: TrainingRatings) -> TrainingRatings:
    known = np.isfinite(ratings.means)
    names = [name for name, is_known in zip(ratings.systems, known, strict=True) if is_known]
    return ratings if known.all() else ratings.take(names)


def completed(known: RatingPosterior, observed: Observation) -> RatingPosterior:
    """Put systems behind others of which only the verdicts are known."""
    missing = observed.among(set(observed.systems) - set(known.systems)).alone()
    if not missing.systems:
        return known
    return RatingPosterior(
        known.systems + missing.systems,
        np.concatenate([known.ratings, missing.ratings]),
        np.asarray(block_diag(known.covariance, missing.covariance)),
        np.concatenate([known.shares, missing.shares]),
    )


@dataclass(frozen=True)
class Observations:
    """N observed ratings in L languages: a ``RatingLikelihood`` for a process to be conditioned on.

    Attributes:
        by_language: What is observed.
        expected: What is expected of each rating by others than the process, shape (N,); the
            process is of what they miss. By default nothing is.
    """

    by_language: Mapping[str, Observation]
    expected: Floats | None = None

    @cached_property
    def keys(self) -> list[tuple[str, str]]:
        """Language and system of each."""
        items = self.by_language.items()
        return [(name, system) for name, item in items for system in item.systems]

    @cached_property
    def ratings(self) -> Floats:
        """Less what is expected, shape (N,)."""
        return np.concatenate([item.ratings for item in self.by_language.values()]) - self._prior

    @cached_property
    def noise(self) -> Floats:
        """Their sampling covariance, shape (N, N); languages have different questions."""
        return np.asarray(block_diag(*[item.noise for item in self.by_language.values()]))

    @property
    def remainder(self) -> float:
        """Of all languages; see ``RatingLikelihood``."""
        return sum(item.remainder for item in self.by_language.values())

    def around(self, ratings: Floats) -> Observations:
        """Approximate each language's likelihood around its part, shape (N,)."""
        at = ratings + self._prior
        items = zip(self.by_language.items(), self._rows, strict=True)
        found = {name: item.around(at[rows]) for (name, item), rows in items}
        if all(found[name] is item for name, item in self.by_language.items()):
            return self
        return replace(self, by_language=found)

    def skewness(self, covariance: Floats) -> Floats:
        """Slopes of the posterior's precision; see ``RatingLikelihood.skewness``."""
        items = zip(self.by_language.values(), self._rows, strict=True)
        return np.concatenate([item.skewness(covariance[rows, rows]) for item, rows in items])

    @property
    def _prior(self) -> Floats:
        return np.zeros(len(self.keys)) if self.expected is None else self.expected

    @cached_property
    def _rows(self) -> list[slice]:
        """Where each language's ratings are."""
        ends = np.cumsum([0, *(len(item.systems) for item in self.by_language.values())])
        return [slice(first, end) for first, end in pairwise(ends)]

    @property
    def groups(self) -> Floats:
        """Which language each is of, shape (N, L)."""
        sizes = [len(item.systems) for item in self.by_language.values()]
        return np.repeat(np.eye(len(sizes)), sizes, axis=0)

    def posteriors(self, process: GaussianProcess) -> dict[str, RatingPosterior]:
        """Return what a process that is conditioned on them says of each language."""
        means, covariance, shares = process.posterior()
        means = means + self._prior
        found = {}
        for (language, item), rows in zip(self.by_language.items(), self._rows, strict=True):
            own = means[rows], covariance[rows, rows], shares[rows]
            found[language] = RatingPosterior(item.systems, *own)
        return found
