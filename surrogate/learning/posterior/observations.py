"""What an arena says of its systems' ratings: estimates, and how far these may be off together."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.linalg import block_diag

from arena.rating.bradley_terry import DEFAULT_RIDGE, fit_bradley_terry
from arena.rating.pairs import BattleLikelihood, Pairs
from surrogate.learning.posterior.process import GaussianProcess
from surrogate.learning.training import TrainingRatings

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Observation:
    """Ratings of the S systems of a language as observed.

    Attributes:
        systems: Those that have battles, or a published rating.
        ratings: Logits, centered on 0, shape (S,).
        covariance: Their sampling covariance over questions, shape (S, S).
        likelihood: Of the battles they rest on; None where they are published.
        effect: Design effect of the battles' questions.
    """

    systems: tuple[str, ...]
    ratings: Floats
    covariance: Floats
    likelihood: BattleLikelihood | None = None
    effect: float = 1.0

    def around(self, ratings: Floats) -> Observation:
        """Approximate the likelihood of the battles, with the usual weak prior, around ratings."""
        if self.likelihood is None:
            return self
        size = len(self.systems)
        centered = np.eye(size) - 1 / size  # ratings are differences: their level is nobody's
        at = centered @ ratings
        precision = self.likelihood.information(at) + DEFAULT_RIDGE * np.eye(size)
        inverse = np.linalg.inv(precision)
        mean = at + inverse @ (self.likelihood.scores(at).sum(axis=0) - DEFAULT_RIDGE * at)
        covariance = self.effect * centered @ inverse @ centered
        return replace(self, ratings=centered @ mean, covariance=covariance)

    def among(self, systems: Collection[str]) -> Observation:
        """Keep some systems, whatever else is known; the others' battles still count."""
        kept = [place for place, name in enumerate(self.systems) if name in systems]
        return Observation(
            tuple(self.systems[place] for place in kept),
            self.ratings[kept],
            self.covariance[np.ix_(kept, kept)],
        )

    def alone(self) -> Posterior:
        """Return the same where nothing else is known of any system."""
        return Posterior(self.systems, self.ratings, self.covariance, np.ones(len(self.systems)))


def observe(ratings: Mapping[str, TrainingRatings]) -> dict[str, Observation]:
    """Return what battles, or published ratings, say of each system, by language.

    The Bradley-Terry likelihood as a normal density around its fit with the usual weak prior
    (Laplace's approximation). The covariance is the inverse information times the design effect
    of questions (Kish, 1965), since verdicts on one hang together: the ratio of the variance of
    the scores by question to that of independent battles. It is that of the sandwich estimator on
    average over systems and languages, for of few questions the sandwich itself is singular.
    """
    rated = {language: _known(item) for language, item in ratings.items()}
    modes = {language: _mode(one) for language, (_, one) in rated.items() if one is not None}
    variances = [
        one.score_variances(modes[language])
        for language, (_, one) in rated.items()
        if one is not None
    ]
    by_question = sum(drawn for drawn, _ in variances)
    independent = sum(alone for _, alone in variances)
    effect = by_question / independent if independent else 1.0
    found = {}
    for language, (item, one) in rated.items():
        variance = np.zeros(len(item.systems)) if item.variance is None else item.variance
        published = np.diag(np.nan_to_num(variance))
        seen = Observation(item.systems, item.means, published, one, effect)
        found[language] = seen if one is None else seen.around(modes[language])
    return found


def _known(rated: TrainingRatings) -> tuple[TrainingRatings, BattleLikelihood | None]:
    """Keep the systems that have a rating, and their battles."""
    known = np.isfinite(rated.means)
    if not known.all():
        names = zip(rated.systems, known, strict=True)
        rated = rated.take([name for name, is_known in names if is_known])
    if not len(rated.first):
        return rated, None
    pairs = Pairs(rated.first, rated.second, len(rated.systems))
    return rated, BattleLikelihood(pairs, rated.points, rated.counts)


def _mode(likelihood: BattleLikelihood) -> Floats:
    """Bradley-Terry coefficients with the usual weak prior, shape (S,)."""
    pairs = likelihood.pairs
    points, counts = likelihood.points.sum(axis=0), likelihood.counts.sum(axis=0)
    fit = fit_bradley_terry(points, counts, pairs.first, pairs.second, pairs.n_systems)
    return np.asarray(fit.coefficients[0])


@dataclass(frozen=True)
class Posterior:
    """Ratings of the S systems of a language by their answers and verdicts together.

    Attributes:
        systems: The systems.
        ratings: Logits, shape (S,).
        covariance: What is not known of them, shape (S, S).
        shares: How much of each rating rests on the system's own verdicts, shape (S,): by how
            much it moves where these move by 1; 0 without any.
    """

    systems: tuple[str, ...]
    ratings: Floats
    covariance: Floats
    shares: Floats

    def completed(self, observed: Observation) -> Posterior:
        """Put systems behind these of which only the verdicts are known."""
        missing = observed.among(set(observed.systems) - set(self.systems)).alone()
        if not missing.systems:
            return self
        return Posterior(
            self.systems + missing.systems,
            np.concatenate([self.ratings, missing.ratings]),
            np.asarray(block_diag(self.covariance, missing.covariance)),
            np.concatenate([self.shares, missing.shares]),
        )

    @property
    def standard_errors(self) -> Floats:
        """Of the ratings, shape (S,)."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))


@dataclass(frozen=True)
class Observations:
    """N observed ratings in L languages, as a process is conditioned on them."""

    by_language: Mapping[str, Observation]

    @cached_property
    def keys(self) -> list[tuple[str, str]]:
        """Language and system of each."""
        return [
            (name, system) for name, item in self.by_language.items() for system in item.systems
        ]

    @property
    def ratings(self) -> Floats:
        """Shape (N,)."""
        return np.concatenate([item.ratings for item in self.by_language.values()])

    @property
    def noise(self) -> Floats:
        """Their sampling covariance, shape (N, N); languages have different questions."""
        return np.asarray(block_diag(*[item.covariance for item in self.by_language.values()]))

    @property
    def groups(self) -> Floats:
        """Which language each is of, shape (N, L)."""
        sizes = [len(item.systems) for item in self.by_language.values()]
        return np.repeat(np.eye(len(sizes)), sizes, axis=0)

    def posteriors(self, process: GaussianProcess) -> dict[str, Posterior]:
        """Return what a process that is conditioned on them says of each language."""
        means, covariance, shares = process.posterior()
        found, first = {}, 0
        for language, item in self.by_language.items():
            rows = slice(first, first + len(item.systems))
            found[language] = Posterior(
                item.systems, means[rows], covariance[rows, rows], shares[rows]
            )
            first = rows.stop
        return found
