"""What an arena says of its systems' ratings: estimates, and how far these may be off together."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.linalg import block_diag
from scipy.special import expit

from arena.rating.bradley_terry import DEFAULT_RIDGE, fit_bradley_terry
from surrogate.learning.posterior.process import GaussianProcess
from surrogate.learning.training import TrainingRatings

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]


@dataclass(frozen=True)
class BattleCounts:
    """Battles of the S systems of a language, and the design effect of their questions.

    Attributes:
        first: First system of each pair, shape (P,).
        second: Second system of each pair, shape (P,).
        points: Points of the first system of each pair, shape (Q, P).
        counts: Number of battles, shape (Q, P).
        size: Number of systems S.
        effect: By what factor verdicts on a question, which hang together, make variances larger
            than those of as many independent battles.
    """

    first: Integers
    second: Integers
    points: Floats
    counts: Floats
    size: int
    effect: float = 1.0

    def mode(self) -> Floats:
        """Bradley-Terry coefficients with the usual weak prior, shape (S,)."""
        points, counts = self.points.sum(axis=0), self.counts.sum(axis=0)
        pairs = (self.first, self.second)
        fit = fit_bradley_terry(points, counts, *pairs, self.size, DEFAULT_RIDGE)
        return np.asarray(fit.coefficients[0])

    def scores(self, ratings: Floats) -> Floats:
        """Gradient of each question's log-likelihood, shape (Q, S)."""
        return np.asarray((self.points - self.counts * self._expected(ratings)) @ self._incidence.T)

    def information(self, ratings: Floats) -> Floats:
        """Of the battles as if they were independent, shape (S, S)."""
        expected = self._expected(ratings)
        weights = self.counts.sum(axis=0) * expected * (1 - expected)
        return np.asarray((self._incidence * weights) @ self._incidence.T)

    def around(self, ratings: Floats) -> tuple[Floats, Floats]:
        """Return the normal density that is like the likelihood and its prior around ratings.

        Returns:
            Mean, shape (S,), and covariance, shape (S, S), both centered: ratings are differences,
            and their level is nobody's.
        """
        centered = np.eye(self.size) - 1 / self.size
        at = centered @ ratings
        prior = DEFAULT_RIDGE * np.eye(self.size)
        inverse = np.linalg.inv(self.information(at) + prior)
        mean = at + inverse @ (self.scores(at).sum(axis=0) - DEFAULT_RIDGE * at)
        return centered @ mean, self.effect * centered @ inverse @ centered

    def _expected(self, ratings: Floats) -> Floats:
        return np.asarray(expit(ratings[self.first] - ratings[self.second]))

    @cached_property
    def _incidence(self) -> Floats:
        pairs = np.arange(len(self.first))
        incidence = np.zeros((self.size, len(pairs)))
        incidence[self.first, pairs], incidence[self.second, pairs] = 1.0, -1.0
        return incidence


@dataclass(frozen=True)
class Observation:
    """Ratings of the S systems of a language as observed.

    Attributes:
        systems: Those that have battles, or a published rating.
        ratings: Logits, centered on 0, shape (S,).
        covariance: Their sampling covariance over questions, shape (S, S).
        battles: What they rest on; None where they are published.
    """

    systems: tuple[str, ...]
    ratings: Floats
    covariance: Floats
    battles: BattleCounts | None = None

    def around(self, ratings: Floats) -> Observation:
        """Approximate the likelihood of the battles around other ratings than its own mode."""
        if self.battles is None:
            return self
        return Observation(self.systems, *self.battles.around(ratings), self.battles)

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
    modes = {
        language: battles.mode() for language, (_, battles) in rated.items() if battles is not None
    }
    effect = _design_effect([(rated[language][1], mode) for language, mode in modes.items()])
    found = {}
    for language, (item, battles) in rated.items():
        if battles is None:
            variance = np.zeros(len(item.systems)) if item.variance is None else item.variance
            covariance = np.diag(np.nan_to_num(variance))
            found[language] = Observation(item.systems, item.means, covariance)
        else:
            widened = replace(battles, effect=effect)
            around = widened.around(modes[language])
            found[language] = Observation(item.systems, *around, widened)
    return found


def _known(rated: TrainingRatings) -> tuple[TrainingRatings, BattleCounts | None]:
    """Keep the systems that have a rating, and their battles."""
    known = np.isfinite(rated.means)
    if not known.all():
        names = zip(rated.systems, known, strict=True)
        rated = rated.take([name for name, is_known in names if is_known])
    if not len(rated.first):
        return rated, None
    parts = (rated.first, rated.second, rated.points, rated.counts)
    return rated, BattleCounts(*parts, len(rated.systems))


def _design_effect(fits: Sequence[tuple[BattleCounts | None, Floats]]) -> float:
    by_question = independent = 0.0
    for battles, mode in fits:
        if battles is None:
            continue
        scores, information = battles.scores(mode), float(np.trace(battles.information(mode)))
        questions = len(scores)
        known = questions > 1
        spread = float(np.sum(scores**2)) * questions / (questions - 1) if known else information
        by_question, independent = by_question + spread, independent + information
    return by_question / independent if independent else 1.0


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
