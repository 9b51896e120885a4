"""Ratings as observed in an arena, with their sampling covariance, and posteriors given these.

Formulas: docs/reference/formulas.md, "Verdicts and surrogate".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from arena.data.types import Floats
from arena.rating.bradley_terry import DEFAULT_RIDGE, NormalPrior
from arena.rating.likelihood import BattleLikelihood, DesignEffects
from arena.rating.posterior import RatingPosterior
from arena.rating.published import completed_variances
from surrogate.learning.estimation.process import fit_process
from surrogate.learning.training import TrainingRatings

UNKNOWN = 1e4
"""Sampling variance of a system without a verdict, in squared logits: as good as infinite."""


@dataclass(frozen=True)
class Observation:
    """Observed ratings of N systems of a language.

    Attributes:
        systems: Those with battles or a published rating, and any that are to be rated without.
        ratings: Logits, centered on 0, shape (N,).
        noise: Their sampling covariance over questions, shape (N, N).
    """

    systems: tuple[str, ...]
    ratings: Floats
    noise: Floats

    def among(self, systems: Collection[str]) -> Observation:
        """Keep some systems; their ratings still contain the battles with the others."""
        indices = [index for index, name in enumerate(self.systems) if name in systems]
        return Observation(
            systems=tuple(self.systems[index] for index in indices),
            ratings=self.ratings[indices],
            noise=self.noise[np.ix_(indices, indices)],
        )

    def with_unjudged(self, systems: Sequence[str]) -> Observation:
        """Append systems without an observed rating; those already here are skipped."""
        added = tuple(name for name in systems if name not in self.systems)
        unknown = UNKNOWN * np.eye(len(added))
        return Observation(
            systems=self.systems + added,
            ratings=np.pad(self.ratings, (0, len(added))),
            noise=np.asarray(scipy.linalg.block_diag(self.noise, unknown)),
        )

    def alone(self) -> RatingPosterior:
        """Take the observed ratings as the posterior, without any other information."""
        return RatingPosterior(
            systems=self.systems,
            ratings=self.ratings,
            covariance=self.noise,
            shares=np.ones(len(self.systems)),
        )


def observe(
    ratings: Mapping[str, TrainingRatings], around: float = DEFAULT_RIDGE
) -> dict[str, Observation]:
    """Observe each system's rating, by its battles or as published, in every language.

    The Bradley-Terry likelihood with the usual weak prior, as a normal density (Laplace's
    approximation). The covariance is the inverse information, with each system's score scaled to
    its design effect, since verdicts on one question depend on each other (Kish, 1965): the
    estimate by questions alone would be singular with few of them. Effects are drawn to the mean
    over systems and languages (``DesignEffects``). Published variances that are not known are
    assumed (``completed_variances``); where none is, ratings are exact.

    Args:
        ratings: Language to its training ratings.
        around: The density is that about the ratings that are most probable under a normal prior
            of this precision; by default about its own mode.
    """
    observations: dict[str, Observation] = {}
    likelihoods: dict[str, BattleLikelihood] = {}
    modes: dict[str, Floats] = {}
    effects: dict[str, DesignEffects] = {}
    for language, training in ratings.items():
        rated = _rated(training)
        observations[language] = _published(rated)
        if not len(rated.items):
            continue
        likelihood = BattleLikelihood(rated.items)
        mode = likelihood.mode(NormalPrior.ridge(len(rated.systems), around))
        n_systems = len(rated.systems)
        mode[:n_systems] -= mode[:n_systems].mean()
        likelihoods[language] = likelihood
        modes[language] = mode
        effects[language] = likelihood.design_effects(mode, around)
    all_effects = DesignEffects.of_all(list(effects.values()))
    by_system = all_effects.by_system
    start = 0
    for language, likelihood in likelihoods.items():
        systems = observations[language].systems
        end = start + len(systems)
        own_effects = np.append(by_system[start:end], effects[language].by_bias)
        observations[language] = _observed(
            systems, likelihood, modes[language], own_effects, all_effects.common
        )
        start = end
    return observations


def rating_reliability(ratings: Mapping[str, TrainingRatings]) -> float:
    """Return the share of the variance of ratings that is not sampling noise, from 0 to 1.

    Sampling variances are those of verdicts on questions (``observe``), mean over systems.

    Args:
        ratings: Language to its training ratings.
    """
    noise = 0.0
    total = 0.0
    for observation in observe(ratings).values():
        total += float(observation.ratings @ observation.ratings)
        noise += float(np.trace(observation.noise))
    return max(1 - noise / total, 0.0) if total > 0 else 0.0


def _rated(training: TrainingRatings) -> TrainingRatings:
    """Keep the systems that have a rating."""
    is_rated = np.isfinite(training.means)
    if is_rated.all():
        return training
    return training.take([training.systems[index] for index in np.flatnonzero(is_rated)])


def _published(rated: TrainingRatings) -> Observation:
    """Observe ratings as they were published."""
    variance = np.zeros(len(rated.systems)) if rated.variance is None else rated.variance
    noise = np.diag(np.nan_to_num(completed_variances(variance)))
    return Observation(rated.systems, rated.means, noise)


def _observed(
    systems: tuple[str, ...],
    likelihood: BattleLikelihood,
    mode: Floats,
    effects: Floats,
    common_effect: float,
) -> Observation:
    """Observe ratings by battles: the normal density with the likelihood's slope and curvature.

    Args:
        systems: The S systems.
        likelihood: Of their battles.
        mode: Ratings about which it is approximated, centered on 0, and biases, shape (K,).
        effects: Design effect of each parameter, shape (K,).
        common_effect: Design effect of the prior.
    """
    n_systems = len(systems)
    # The information is in units of verdicts, of which so many count for one.
    bias_precisions = common_effect * likelihood.bias_precisions
    precisions = np.append(np.full(n_systems, DEFAULT_RIDGE), bias_precisions)
    inverse = np.linalg.inv(likelihood.information(mode) + np.diag(precisions))
    # Battles tell differences only: no verdict informs the level, so it leaves the covariance.
    inverse = centering(n_systems) @ inverse[:n_systems]
    # One step of Newton's from the mode under the prior ``around`` to that under the weak one.
    means = mode[:n_systems] + inverse @ (likelihood.slope(mode) - precisions * mode)
    # The weak prior keeps the variance finite of systems that won, or lost, everything.
    middle = likelihood.clustered_information(mode, effects) + common_effect * np.diag(precisions)
    return Observation(systems, means, inverse @ middle @ inverse.T)


def centering(n_systems: int) -> Floats:
    """Return the matrix that subtracts the mean from ratings, shape (S, S)."""
    return np.eye(n_systems) - 1 / n_systems


@dataclass(frozen=True, eq=False)
class JointPosterior(Mapping[str, RatingPosterior]):
    """Ratings by language, and how they vary together across languages.

    Attributes:
        by_language: The ratings of each language.
        covariance: Of all N ratings, language by language in this order, shape (N, N).
    """

    by_language: Mapping[str, RatingPosterior]
    covariance: Floats

    def __getitem__(self, language: str) -> RatingPosterior:
        """Return the ratings of a language."""
        return self.by_language[language]

    def __iter__(self) -> Iterator[str]:
        """Iterate over languages."""
        return iter(self.by_language)

    def __len__(self) -> int:
        """Return the number of languages."""
        return len(self.by_language)

    @property
    def names(self) -> list[tuple[str, str]]:
        """Language and system of each rating."""
        return rating_keys(self.by_language)

    def covariance_table(self) -> pd.DataFrame:
        """Label the rows and columns of the covariance by language and system."""
        index = pd.MultiIndex.from_tuples(self.names, names=["language", "system"])
        return pd.DataFrame(self.covariance, index, index)

    @classmethod
    def independent(cls, by_language: Mapping[str, RatingPosterior]) -> JointPosterior:
        """Join languages whose ratings are independent of each other's."""
        blocks = [item.covariance for item in by_language.values()]
        return cls(by_language, np.asarray(scipy.linalg.block_diag(*blocks)))


def rating_keys(
    by_language: Mapping[str, Observation] | Mapping[str, RatingPosterior],
) -> list[tuple[str, str]]:
    """List the language and system of each rating, language by language."""
    keys: list[tuple[str, str]] = []
    for language, ratings in by_language.items():
        keys.extend((language, system) for system in ratings.systems)
    return keys


def joint_posterior(
    observations: Mapping[str, Observation], kernels: Floats, expected: Floats | float = 0.0
) -> JointPosterior:
    """Condition a Gaussian process on the observed ratings of all languages.

    Args:
        observations: Language to the observed ratings, N in all.
        kernels: K kernels among them, shape (K, N, N), in the order of ``rating_keys``.
        expected: Prior means of the ratings, shape (N,).
    """
    parts = list(observations.values())
    ratings = np.concatenate([observation.ratings for observation in parts])
    noise = np.asarray(scipy.linalg.block_diag(*[observation.noise for observation in parts]))
    sizes = [len(observation.systems) for observation in parts]
    # Each language has a mean of its own: battles never compare systems across languages.
    groups = np.repeat(np.eye(len(sizes)), sizes, axis=0)
    process = fit_process(kernels, ratings - expected, noise, groups)
    residuals, covariance, shares = process.posterior()
    means = residuals + expected
    posteriors: dict[str, RatingPosterior] = {}
    start = 0
    for language, observation in observations.items():
        rows = slice(start, start + len(observation.systems))
        posteriors[language] = RatingPosterior(
            systems=observation.systems,
            ratings=means[rows],
            covariance=covariance[rows, rows],
            shares=shares[rows],
        )
        start = rows.stop
    return JointPosterior(posteriors, covariance)
