"""What an arena says of its systems' ratings: estimates, and how far these may be off together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pandas as pd
import scipy
from scipy.special import expit

from arena.data.schema import QUESTION_KEY
from arena.data.types import Floats
from arena.diagnostics.verdicts import QUESTION_PAIR
from arena.rating.battles import Battles
from arena.rating.bradley_terry import DEFAULT_RIDGE, NormalPrior
from arena.rating.likelihood import BattleLikelihood, DesignEffects
from arena.rating.posterior import RatingPosterior
from arena.rating.published import completed_variances
from surrogate.learning.estimation.process import fit_process
from surrogate.learning.training import TrainingRatings

UNKNOWN = 1e4
"""Sampling variance of a system without a verdict, in squared logits: as good as infinite."""
TIMES_CHANCE = 2.0
"""How often the slope's variance is taken from its square."""
FEWEST_SHARED = 4
"""That a variance over questions can be had of."""


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
        noise = np.asarray(scipy.linalg.block_diag(self.noise, UNKNOWN * np.eye(len(others))))
        return Observation(self.systems + others, np.pad(self.ratings, (0, len(others))), noise)

    def alone(self) -> RatingPosterior:
        """Take it that nothing else is known of any system."""
        return RatingPosterior(self.systems, self.ratings, self.noise, np.ones(len(self.systems)))


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
    effects: list[DesignEffects] = []
    for language, training in ratings.items():
        rated = _rated(training)
        observations[language] = _published(rated)
        if not len(rated.items):
            continue
        likelihood = BattleLikelihood(rated.items)
        mode = likelihood.mode(NormalPrior.ridge(len(rated.systems), around))
        likelihoods[language] = likelihood
        modes[language] = mode - mode.mean()
        effects.append(likelihood.design_effects(modes[language], around))
    all_effects = DesignEffects.of_all(effects)
    by_system = all_effects.by_system
    start = 0
    for language, likelihood in likelihoods.items():
        end = start + len(modes[language])
        systems = observations[language].systems
        observations[language] = _observed(
            systems, likelihood, modes[language], by_system[start:end], all_effects.common
        )
        start = end
    return observations


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
        mode: Ratings about which it is approximated, centered on 0, shape (S,).
        effects: Design effect of each system, shape (S,).
        common_effect: Design effect of the weak prior.
    """
    n_systems = len(systems)
    # Ratings are differences: their level is nobody's, and is taken out of the covariance.
    centering = np.eye(n_systems) - 1 / n_systems
    weak = DEFAULT_RIDGE * np.eye(n_systems)
    inverse = centering @ np.linalg.inv(likelihood.information(mode) + weak) @ centering
    # One step of Newton's from the mode under the prior ``around`` to that under the weak one.
    means = mode + inverse @ (likelihood.slope(mode) - DEFAULT_RIDGE * mode)
    # The weak prior keeps the variance finite of systems that won, or lost, everything.
    middle = likelihood.clustered_information(mode, effects) + common_effect * weak
    return Observation(systems, means, inverse @ middle @ inverse)


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

    def posteriors(self, kernels: Floats, expected: Floats | float = 0.0) -> JointPosterior:
        """Return what a process with K kernels, shape (K, N, N), says of all languages.

        Args:
            kernels: How alike the ratings are.
            expected: What is expected of them, shape (N,): it is conditioned on the rest.
        """
        known = self.by_language.values()
        ratings = np.concatenate([item.ratings for item in known])
        noise = np.asarray(scipy.linalg.block_diag(*[item.noise for item in known]))
        sizes = [len(item.systems) for item in known]
        groups = np.repeat(np.eye(len(sizes)), sizes, axis=0)
        process = fit_process(kernels, ratings - expected, noise, groups)
        means, covariance, shares = process.posterior()
        means = means + expected
        ends = np.cumsum([0, *sizes])
        by_language = {
            name: RatingPosterior(
                item.systems, means[first:end], covariance[first:end, first:end], shares[first:end]
            )
            for (name, item), (first, end) in zip(
                self.by_language.items(), pairwise(ends), strict=True
            )
        }
        return JointPosterior(by_language, covariance)


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
        items = self.by_language.items()
        return [(name, system) for name, item in items for system in item.systems]

    def covariance_table(self) -> pd.DataFrame:
        """Return the covariance with rows and columns named by language and system."""
        index = pd.MultiIndex.from_tuples(self.names, names=["language", "system"])
        return pd.DataFrame(self.covariance, index, index)

    @classmethod
    def independent(cls, by_language: Mapping[str, RatingPosterior]) -> JointPosterior:
        """Take ratings of different languages for independent of each other."""
        blocks = [item.covariance for item in by_language.values()]
        return cls(by_language, np.asarray(scipy.linalg.block_diag(*blocks)))


@dataclass(frozen=True)
class OtherJudges:
    """What J other judges tell of systems in languages.

    Attributes:
        slopes: Judge to what a whole verdict of it adds to the logit of one of the reference; 0
            where their verdicts are not shown to go along.
        ratings: By language and system, a column a judge: by its verdicts alone (logits, about 0).
        expected: By language and system: what all of them let expect of the reference's ratings.
    """

    slopes: Mapping[str, float]
    ratings: pd.DataFrame
    expected: pd.Series

    def kernel(self, keys: Sequence[tuple[str, str]]) -> Floats:
        """Covariance of ratings that go along with theirs, mean diagonal 1, shape (N, N)."""
        known = self.ratings.reindex(pd.MultiIndex.from_tuples(keys)).fillna(0.0).to_numpy()
        spread = known @ known.T
        return np.asarray(spread / max(float(np.diag(spread).mean()), np.finfo(float).tiny))

    def prior(self, keys: Sequence[tuple[str, str]]) -> Floats:
        """What is expected of the ratings, shape (N,); 0 of a system that they did not judge."""
        known = self.expected.reindex(pd.MultiIndex.from_tuples(keys))
        return np.asarray(known.fillna(0.0), dtype=np.float64)


def told_by_others(reference: pd.DataFrame, others: pd.DataFrame) -> OtherJudges | None:
    """Learn what other judges' verdicts tell of the reference's ratings; None without any.

    How far their verdicts go along is learned where they judged the same pairs on the same
    questions: by the slope of a logistic regression of the one on the other, from which chance is
    taken (the positive part of James and Stein, 1961, with the variance over questions). It turns
    all their verdicts into probabilities of the reference's, and these into ratings.

    Args:
        reference: Judgments whose ratings are wanted, all as of one judge.
        others: Judgments of other judges.
    """
    if others.empty:
        return None
    labels = pd.concat([table for _, _, table in _judged(reference)])
    slopes, ratings, weighted = {}, {}, {}
    for judge, own in others.groupby("judge"):
        judged = _judged(own)
        slope = _slope(pd.concat([table for _, _, table in judged]), labels)
        by_itself: list[pd.Series] = []
        expected: list[pd.Series] = []
        for language, battles, table in judged:
            keys = pd.MultiIndex.from_product([[language], battles.systems])
            share = table["share"].to_numpy()
            for found, points in ((by_itself, share), (expected, expit(slope * (2 * share - 1)))):
                items = replace(battles.items, points=battles.items.counts * points)
                prior = NormalPrior.ridge(len(keys), DEFAULT_RIDGE)
                mode = BattleLikelihood(items).mode(prior)
                found.append(pd.Series(mode - mode.mean(), keys))
        slopes[str(judge)] = slope
        ratings[str(judge)], weighted[str(judge)] = pd.concat(by_itself), pd.concat(expected)
    weights = np.abs(pd.Series(slopes))
    known = pd.DataFrame(weighted).fillna(0.0) * (weights / max(weights.sum(), 1e-9))
    return OtherJudges(slopes, pd.DataFrame(ratings), known.sum(axis=1))


def _judged(judgments: pd.DataFrame) -> list[tuple[str, Battles, pd.DataFrame]]:
    """Return battles and items of each language: ``QUESTION_PAIR``, ``share`` of the first."""
    found = []
    for language, rows in judgments.groupby("language"):
        battles = Battles.from_judgments(rows)
        items, names = battles.items, np.array(battles.systems, dtype=object)
        first, second = items.pairs.first[items.pair], items.pairs.second[items.pair]
        asked = np.array(battles.questions, dtype=object)[items.question]
        columns = {"language": language, "query_id": asked, "first": names[first]}
        columns |= {"second": names[second], "share": items.points / items.counts}
        found.append((str(language), battles, pd.DataFrame(columns)))
    return found


def _slope(items: pd.DataFrame, labels: pd.DataFrame) -> float:
    """Regress the labels of items on another judge's shares; less what may be chance."""
    both = items.merge(labels, on=QUESTION_PAIR, suffixes=("", "_wanted"))
    asked = both.groupby(QUESTION_KEY).ngroup().to_numpy()
    questions = len(np.unique(asked))
    if questions < FEWEST_SHARED:
        return 0.0
    told, wanted = 2 * both["share"].to_numpy() - 1, both["share_wanted"].to_numpy()
    # The most probable one under a wide normal prior, which is no further from 0 than this.
    far = float(np.abs(told).sum()) + 1.0
    slope = float(scipy.optimize.brentq(lambda w: told @ (wanted - expit(w * told)) - w, -far, far))
    chance = expit(slope * told)
    precision = float((told**2 * chance * (1 - chance)).sum()) + 1.0
    scores = np.bincount(asked, told * (wanted - chance))
    # Of few questions the variance itself is hardly known (Student).
    variance = float(scores @ scores) * questions / (questions - 3) / precision**2
    return slope * max(0.0, 1 - TIMES_CHANCE * variance / max(slope**2, 1e-9))
