"""Ratings by a reference judge, predicted from other judges' verdicts.

A logistic regression on common pairs gives a prior mean; ratings by the others a kernel
(docs/reference/surrogate.md, section 4).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit

from arena.data.schema import QUESTION_KEY
from arena.data.types import Floats, Indices
from arena.quality.agreement import QUESTION_PAIR
from arena.rating.battles import Battles
from arena.rating.bradley_terry import DEFAULT_RIDGE, NormalPrior
from arena.rating.likelihood import BattleLikelihood


class OtherJudges(NamedTuple):
    """Ratings by J other judges, and how far they predict the reference's.

    ``slopes`` are logits that a judge's verdict adds to the reference's; 0 if unrelated. By
    language and system are judges' own ratings, and the ``expected`` one.
    """

    slopes: Mapping[str, float]
    ratings: pd.DataFrame
    expected: pd.Series

    def kernel(self, keys: pd.MultiIndex) -> Floats:
        """Return the covariance of ratings linear in these, diagonal 1."""
        ratings = self.ratings.reindex(keys).fillna(0.0).to_numpy()
        products = ratings @ ratings.T
        # Ratings that are all 0 have no scale; the smallest number keeps the kernel at 0.
        scale = max(float(np.diag(products).mean()), np.finfo(float).tiny)
        return np.asarray(products / scale)

    def prior(self, keys: pd.MultiIndex) -> Floats:
        """Return expected ratings, shape (N,), or 0."""
        return np.asarray(self.expected.reindex(keys).fillna(0.0), dtype=np.float64)


def learn_from_other_judges(reference: pd.DataFrame, others: pd.DataFrame) -> OtherJudges:
    """Learn how other judges' verdicts predict the reference's ratings."""
    targets = pd.concat([language.shares for language in _judged_languages(reference)])
    slopes: dict[str, float] = {}
    ratings: dict[str, pd.Series] = {}
    expected: dict[str, pd.Series] = {}
    for judge, judgments in others.groupby("judge"):
        languages = _judged_languages(judgments)
        slope = _slope(pd.concat([language.shares for language in languages]), targets)
        language_ratings = []
        language_expected = []
        for language in languages:
            shares = language.shares["share"].to_numpy()
            language_ratings.append(language.ratings(shares))
            language_expected.append(language.ratings(expit(slope * (2 * shares - 1))))
        slopes[str(judge)] = slope
        ratings[str(judge)] = pd.concat(language_ratings)
        expected[str(judge)] = pd.concat(language_expected)
    # Judges count by how closely the reference follows them.
    weights = np.abs(pd.Series(slopes))
    weights = weights / max(weights.sum(), 1e-9)
    weighted = pd.DataFrame(expected).fillna(0.0) * weights
    return OtherJudges(slopes, pd.DataFrame(ratings), weighted.sum(axis=1))


class _JudgedLanguage(NamedTuple):
    """One judge's battles in one language, and shares of points of each pair's first system."""

    language: str
    battles: Battles
    shares: pd.DataFrame

    @classmethod
    def of(cls, language: str, judgments: pd.DataFrame) -> _JudgedLanguage:
        battles = Battles.from_judgments(judgments)
        items = battles.items
        systems = np.array(battles.systems, dtype=object)
        shares = pd.DataFrame(
            {
                "language": language,
                "query_id": np.array(battles.questions, dtype=object)[items.question],
                "first": systems[items.pairs.first[items.pair]],
                "second": systems[items.pairs.second[items.pair]],
                "share": items.points / items.counts,
            }
        )
        return cls(language, battles, shares)

    def ratings(self, shares: Floats) -> pd.Series:
        items = self.battles.items
        replaced = replace(items, points=items.counts * shares)
        keys = pd.MultiIndex.from_product([[self.language], self.battles.systems])
        mode = BattleLikelihood(replaced).mode(NormalPrior.ridge(len(keys), DEFAULT_RIDGE))
        return pd.Series(mode - mode.mean(), keys)


def _judged_languages(judgments: pd.DataFrame) -> list[_JudgedLanguage]:
    groups = judgments.groupby("language")
    return [_JudgedLanguage.of(str(language), rows) for language, rows in groups]


def _slope(shares: pd.DataFrame, targets: pd.DataFrame) -> float:
    """Regress the reference's shares on another judge's; 0 where no relation is shown.

    Shares are scaled to -1 to 1, the likelihood is divided by its design effect (Kish, 1965); the
    prior is N(1, 1), as 50 pairs of judges had slopes of .5 to 2.1.
    """
    # Shared questions below which the variance between questions is not known
    fewest_questions = 2
    # Slope that is expected of two judges of an arena, with a standard deviation of 1
    prior_slope = 1.0
    shared = shares.merge(targets, on=QUESTION_PAIR, suffixes=("", "_target"))
    question = shared.groupby(QUESTION_KEY).ngroup().to_numpy()
    if len(np.unique(question)) < fewest_questions:
        return 0.0
    verdicts = 2 * shared["share"].to_numpy() - 1
    target = shared["share_target"].to_numpy()
    independent = _mode(verdicts, target, effect=1.0, prior_mean=0.0)
    effect = _design_effect(verdicts, target, question, independent)
    slope = _mode(verdicts, target, effect, prior_slope)
    variance = 1 / (1 + _information(verdicts, slope) / effect)
    # Within 1.4 standard errors of 0, which a slope of pure chance exceeds in 16% of cases.
    return slope if slope**2 > 2 * variance else 0.0


def _mode(verdicts: Floats, target: Floats, effect: float, prior_mean: float) -> float:
    """Find the most probable slope by Newton's method, in steps of at most 1."""
    most_steps = 1_000
    smallest_step = 1e-10
    slope = prior_mean
    for _ in range(most_steps):
        residuals = target - expit(slope * verdicts)
        gradient = float(verdicts @ residuals) / effect - (slope - prior_mean)
        step = gradient / (1 + _information(verdicts, slope) / effect)
        # A longer step might overshoot to where the likelihood is flat, as verdicts are at most 1.
        slope += min(max(step, -1.0), 1.0)
        if abs(step) <= smallest_step:
            break
    return slope


def _information(verdicts: Floats, slope: float) -> float:
    probabilities = expit(slope * verdicts)
    return float((verdicts**2 * probabilities * (1 - probabilities)).sum())


def _design_effect(verdicts: Floats, target: Floats, question: Indices, slope: float) -> float:
    """Return the score's variance over questions, relative to single verdicts; at least 1."""
    scores = np.bincount(question, verdicts * (target - expit(slope * verdicts)))
    n_questions = len(scores)
    variance = float(scores @ scores) * n_questions / (n_questions - 1)
    return max(variance / max(_information(verdicts, slope), 1e-9), 1.0)
