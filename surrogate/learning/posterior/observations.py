"""What an arena says of its systems' ratings: estimates, and how far these may be off together."""

from __future__ import annotations

from collections.abc import Collection, Mapping
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


@dataclass(frozen=True)
class Observation:
    """Ratings of the S systems of a language as observed.

    Attributes:
        systems: Those that have battles, or a published rating.
        ratings: Logits, centered on 0, shape (S,).
        covariance: Their sampling covariance over questions, shape (S, S).
    """

    systems: tuple[str, ...]
    ratings: Floats
    covariance: Floats

    def among(self, systems: Collection[str]) -> Observation:
        """Keep some systems, whatever else is known; the others' battles still count."""
        kept = [place for place, name in enumerate(self.systems) if name in systems]
        return replace(
            self,
            systems=tuple(self.systems[place] for place in kept),
            ratings=self.ratings[kept],
            covariance=self.covariance[np.ix_(kept, kept)],
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
    fits = {language: _fit(rated) for language, rated in ratings.items()}
    battled = [fit for fit in fits.values() if isinstance(fit, _Fit)]
    independent = sum(float(np.trace(fit.information)) for fit in battled)
    effect = sum(fit.variance_by_question for fit in battled) / independent if battled else 1.0
    return {
        language: fit.observation(effect) if isinstance(fit, _Fit) else fit
        for language, fit in fits.items()
    }


@dataclass(frozen=True)
class _Fit:
    """A Bradley-Terry fit with the usual prior.

    Attributes:
        systems: The S systems.
        coefficients: Shape (S,).
        information: Of the battles alone, shape (S, S).
        scores: Of each of Q questions, shape (Q, S).
    """

    systems: tuple[str, ...]
    coefficients: Floats
    information: Floats
    scores: Floats

    @property
    def variance_by_question(self) -> float:
        """Sum of the variances of the systems' scores, questions being drawn."""
        questions = len(self.scores)
        if questions < 2:
            return float(np.trace(self.information))
        return float(np.sum(self.scores**2) * questions / (questions - 1))

    def observation(self, effect: float) -> Observation:
        """Widen by a design effect."""
        size = len(self.systems)
        inverse = np.linalg.inv(self.information + DEFAULT_RIDGE * np.eye(size))
        centered = np.eye(size) - 1 / size  # ratings are differences: their level is nobody's
        covariance = effect * centered @ inverse @ centered
        return Observation(self.systems, centered @ self.coefficients, covariance)


def _fit(rated: TrainingRatings) -> _Fit | Observation:
    known = np.isfinite(rated.means)
    systems = tuple(name for name, is_known in zip(rated.systems, known, strict=True) if is_known)
    if len(systems) < len(rated.systems):
        rated = rated.take(systems)
    if not len(rated.first):
        variance = rated.variance if rated.variance is not None else np.zeros(len(systems))
        return Observation(systems, rated.means, np.diag(np.nan_to_num(variance)))
    size, totals, pairs = len(systems), rated.counts.sum(axis=0), np.arange(len(rated.first))
    coefficients = fit_bradley_terry(
        rated.points.sum(axis=0), totals, rated.first, rated.second, size, DEFAULT_RIDGE
    ).coefficients[0]
    expected = expit(coefficients[rated.first] - coefficients[rated.second])
    incidence = np.zeros((size, len(pairs)))
    incidence[rated.first, pairs], incidence[rated.second, pairs] = 1.0, -1.0
    information = (incidence * (totals * expected * (1 - expected))) @ incidence.T
    scores = (rated.points - rated.counts * expected) @ incidence.T
    return _Fit(systems, coefficients, information, scores)


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
