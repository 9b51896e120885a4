"""Ratings as observed in an arena, with their sampling covariance, and posteriors given these.

Formulas: docs/reference/surrogate.md, section 4.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy

from arena.data.types import Flags, Floats
from arena.rating.bradley_terry import DEFAULT_RIDGE, NormalPrior
from arena.rating.design_effects import DesignEffects
from arena.rating.likelihood import BattleLikelihood
from arena.statistics.significance import completed_variances
from surrogate.learning.gaussian_process import fit_process
from surrogate.learning.training_data import TrainingRatings, rating_keys

if TYPE_CHECKING:
    from arena.rating.posterior import RatingPosterior

UNKNOWN = 1e4
"""Sampling variance of a system without a verdict, in squared logits: as good as infinite."""


def _no_keys() -> pd.MultiIndex:
    return pd.MultiIndex.from_arrays([[], []], names=["language", "system"])


class Observation(NamedTuple):
    """Ratings of N systems (logits, centered on 0), and sampling covariance."""

    systems: tuple[str, ...]
    ratings: Floats
    noise: Floats

    def among(self, systems: Collection[str]) -> Observation:
        """Keep some systems; their ratings still contain battles with the others."""
        indices = [index for index, name in enumerate(self.systems) if name in systems]
        return Observation(
            systems=tuple(self.systems[index] for index in indices),
            ratings=self.ratings[indices],
            noise=self.noise[np.ix_(indices, indices)],
        )

    def with_unjudged(self, systems: Sequence[str]) -> Observation:
        """Append systems without an observed rating."""
        added = tuple(name for name in systems if name not in self.systems)
        unknown = UNKNOWN * np.eye(len(added))
        return Observation(
            systems=self.systems + added,
            ratings=np.pad(self.ratings, (0, len(added))),
            noise=np.asarray(scipy.linalg.block_diag(self.noise, unknown)),
        )


def observe(
    ratings: Mapping[str, TrainingRatings], around: float = DEFAULT_RIDGE
) -> dict[str, Observation]:
    """Observe ratings, by battles or as published, by language."""
    return RatingLikelihoods.of(ratings, around).observed()


@dataclass(frozen=True)
class RatingLikelihoods:
    """Likelihoods of ratings given battles, as normal densities.

    The Bradley-Terry likelihood with the weak prior (Laplace). The covariance is the inverse
    information, each system's score scaled to its design effect (Kish, 1965), drawn to the mean
    over systems and languages. Unknown published variances are assumed (``completed_variances``);
    where none is known, ratings are exact.
    """

    published: Mapping[str, Observation]
    fits: Mapping[str, _BattleFit]
    effects: DesignEffects

    @classmethod
    def of(cls, ratings: Mapping[str, TrainingRatings], around: float) -> RatingLikelihoods:
        """Fit battles about the modes under a prior of precision ``around``."""
        published: dict[str, Observation] = {}
        fits: dict[str, _BattleFit] = {}
        for language, training in ratings.items():
            rated = _rated(training)
            published[language] = _published(rated)
            if len(rated.items):
                fits[language] = _BattleFit.of(rated, around)
        effects = DesignEffects.of_all([fit.effects for fit in fits.values()])
        return cls(published, fits, effects)

    def observed(self) -> dict[str, Observation]:
        """Observe the ratings of every language."""
        observations = dict(self.published)
        by_system = self.effects.by_system
        start = 0
        for language, fit in self.fits.items():
            end = start + len(fit.systems)
            effects = np.append(by_system[start:end], fit.effects.by_bias)
            common = self.effects.common
            if np.isnan(fit.effects.estimates).all():
                # Questions too few to tell the effect: it is no smaller than in other languages.
                common = max(common, fit.effects.common)
                effects = np.full(len(effects), common)
            observations[language] = fit.observed(effects, common)
            start = end
        return observations

    def design_effect(self, language: str) -> float:
        """Return how far verdicts on a question depend on each other."""
        fit = self.fits.get(language)
        return self.effects.common if fit is None else fit.effects.common

    def about(self, posteriors: Mapping[str, RatingPosterior]) -> RatingLikelihoods:
        """Approximate about posterior ratings (Rasmussen and Williams, 2006, section 3.4)."""
        # At its own fit, a system that won nearly all of few battles would seem less sure.
        fits: dict[str, _BattleFit] = {}
        for language, fit in self.fits.items():
            fits[language] = fit.about(posteriors[language])
        return replace(self, fits=fits)


@dataclass(frozen=True)
class _BattleFit:
    """Battles of a language, with the mode of their fit (centered ratings, biases), shape (K,)."""

    systems: tuple[str, ...]
    likelihood: BattleLikelihood
    mode: Floats
    effects: DesignEffects

    @classmethod
    def of(cls, rated: TrainingRatings, around: float) -> _BattleFit:
        n_systems = len(rated.systems)
        likelihood = BattleLikelihood(rated.items)
        # Mean ratings over tournaments are close to it, which saves a step of Newton's.
        start = np.append(rated.means, np.zeros(len(likelihood.bias_precisions)))
        mode = likelihood.mode(NormalPrior.ridge(n_systems, around), start=start)
        mode[:n_systems] -= mode[:n_systems].mean()
        effects = likelihood.design_effects(mode, around)
        return cls(rated.systems, likelihood, mode, effects)

    def about(self, posterior: RatingPosterior) -> _BattleFit:
        rating_of = dict(zip(posterior.systems, posterior.ratings, strict=True))
        ratings = np.array([rating_of[name] for name in self.systems])
        biases = self.mode[len(self.systems) :]
        return replace(self, mode=np.append(ratings - ratings.mean(), biases))

    def observed(self, effects: Floats, common_effect: float) -> Observation:
        n_systems = len(self.systems)
        ratings = slice(n_systems)
        # The information is in units of verdicts, and several may count for one. The weak prior
        # keeps the variance finite of systems that won, or lost, everything.
        bias_precisions = common_effect * self.likelihood.bias_precisions
        precisions = np.append(np.full(n_systems, DEFAULT_RIDGE), bias_precisions)
        information = self.likelihood.information(self.mode)
        inverse = np.asarray(np.linalg.inv(information + np.diag(precisions)))
        # One step of Newton's from these ratings to the most probable ones under the weak prior.
        slope = self.likelihood.slope(self.mode) - precisions * self.mode
        step = (inverse @ slope)[ratings]
        noise = self.likelihood.covariance(information, precisions, inverse, effects, common_effect)
        means = self.mode[ratings] + step - step.mean()
        return Observation(self.systems, means, noise[ratings, ratings])


def rating_reliability(observations: Mapping[str, Observation]) -> float:
    """Return the share of variance that is not sampling noise."""
    noise = 0.0
    total = 0.0
    for observation in observations.values():
        total += float(observation.ratings @ observation.ratings)
        noise += float(np.trace(observation.noise))
    return max(1 - noise / total, 0.0) if total > 0 else 0.0


def _rated(training: TrainingRatings) -> TrainingRatings:
    is_rated = np.isfinite(training.means)
    if is_rated.all():
        return training
    return training.take([training.systems[index] for index in np.flatnonzero(is_rated)])


def _published(rated: TrainingRatings) -> Observation:
    variance = np.zeros(len(rated.systems)) if rated.variance is None else rated.variance
    noise = np.diag(np.nan_to_num(completed_variances(variance)))
    return Observation(rated.systems, rated.means, noise)


def centering(n_systems: int) -> Floats:
    """Return the matrix that centers ratings, shape (S, S)."""
    return np.eye(n_systems) - 1 / n_systems


@dataclass(frozen=True, eq=False)
class JointPosterior:
    """N ratings (logits) in languages, and their covariance, (N, N).

    ``shares`` are weights of systems' own verdicts, (N,); ``contradicted`` are systems whose
    verdicts contradict predictions; ``variances`` are the process's, if there was one.
    """

    keys: pd.MultiIndex
    ratings: Floats
    covariance: Floats
    shares: Floats
    contradicted: pd.MultiIndex = field(default_factory=_no_keys)
    variances: Floats | None = None

    @classmethod
    def by_verdicts(cls, observations: Mapping[str, Observation]) -> JointPosterior:
        """Take the observed ratings, without other information."""
        keys = observation_keys(observations)
        ratings, noise = _stacked(observations)
        return cls(keys, ratings, noise, np.ones(len(keys)))

    @property
    def languages(self) -> npt.NDArray[np.object_]:
        """Language of each rating, shape (N,)."""
        return np.asarray(self.keys.get_level_values("language"), dtype=object)

    def __getitem__(self, language: str) -> RatingPosterior:
        """Return the ratings in a language, perhaps of no system."""
        from arena.rating.posterior import RatingPosterior

        part = self.take(self.languages == language)
        systems = tuple(part.keys.get_level_values("system"))
        return RatingPosterior(systems, part.ratings, part.covariance, part.shares)

    def by_language(self) -> dict[str, RatingPosterior]:
        """Return the ratings in each language."""
        return {language: self[language] for language in dict.fromkeys(self.languages)}

    def joined(self, others: JointPosterior) -> JointPosterior:
        """Append independent ratings."""
        return JointPosterior(
            keys=self.keys.append(others.keys),
            ratings=np.concatenate([self.ratings, others.ratings]),
            covariance=np.asarray(scipy.linalg.block_diag(self.covariance, others.covariance)),
            shares=np.concatenate([self.shares, others.shares]),
            contradicted=self.contradicted.append(others.contradicted),
            variances=self.variances,
        )

    def take(self, rows: Flags) -> JointPosterior:
        """Keep some of the ratings, shape (N,)."""
        covariance = self.covariance[np.ix_(rows, rows)]
        keys = self.keys[rows]
        contradicted = keys[keys.isin(self.contradicted)]
        return JointPosterior(keys, self.ratings[rows], covariance, self.shares[rows], contradicted)


def observation_keys(observations: Mapping[str, Observation]) -> pd.MultiIndex:
    """Index the rated systems of every language."""
    return rating_keys({name: observation.systems for name, observation in observations.items()})


def _stacked(observations: Mapping[str, Observation]) -> tuple[Floats, Floats]:
    ratings = [np.empty(0)]
    noises = [np.empty((0, 0))]
    for observation in observations.values():
        ratings.append(observation.ratings)
        noises.append(observation.noise)
    return np.concatenate(ratings), np.asarray(scipy.linalg.block_diag(*noises))


def joint_posterior(
    observations: Mapping[str, Observation],
    kernels: Floats,
    expected: Floats | float = 0.0,
    start: Floats | None = None,
) -> JointPosterior:
    """Condition a process with kernels (K, N, N) on all ratings, its variances near ``start``."""
    keys = observation_keys(observations)
    ratings, noise = _stacked(observations)
    # Each language has a mean of its own: battles never compare systems across languages.
    groups = np.equal.outer(keys.codes[0], np.unique(keys.codes[0])).astype(np.float64)
    fitted = fit_process(kernels, ratings - expected, noise, groups, start)
    process = fitted.resolved(kernels, groups)
    residuals, covariance, shares = process.posterior()
    contradicted = keys[process.is_contradicted]
    return JointPosterior(
        keys, residuals + expected, covariance, shares, contradicted, process.variances
    )
