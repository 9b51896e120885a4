"""How the verdicts of other judges inform the ratings by the reference judge.

Another judge's verdicts become probabilities of the reference's by a logistic regression on the
questions and pairs that both judged. The ratings from these probabilities are the prior mean; the
ratings by the other judges alone are a kernel, with a variance that the reference's verdicts set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import scipy
from scipy.special import expit

from arena.data.schema import QUESTION_KEY
from arena.data.types import Floats
from arena.diagnostics.verdicts import QUESTION_PAIR
from arena.rating.battles import Battles
from arena.rating.bradley_terry import DEFAULT_RIDGE, NormalPrior
from arena.rating.likelihood import BattleLikelihood

FEWEST_QUESTIONS = 4
"""Shared questions below which a slope has no variance, since Student's t of 2 degrees has none."""


@dataclass(frozen=True)
class OtherJudges:
    """Ratings by J other judges, and how far they predict the reference's.

    Attributes:
        slopes: Judge to the logit that a verdict of it adds to the reference's; 0 if the two are
            not shown to be related.
        ratings: By language and system, one column per judge: rating by its verdicts alone
            (logits, centered on 0).
        expected: By language and system: the reference's rating as all of them predict it.
    """

    slopes: Mapping[str, float]
    ratings: pd.DataFrame
    expected: pd.Series

    def kernel(self, keys: Sequence[tuple[str, str]]) -> Floats:
        """Covariance of ratings that are linear in these judges', shape (N, N).

        Its mean diagonal is 1, like that of the other kernels.

        Args:
            keys: Language and system of the N ratings.
        """
        rows = self.ratings.reindex(pd.MultiIndex.from_tuples(keys))
        ratings = rows.fillna(0.0).to_numpy()
        products = ratings @ ratings.T
        # Ratings that are all 0 have no scale; the smallest number keeps the kernel at 0.
        scale = max(float(np.diag(products).mean()), np.finfo(float).tiny)
        return np.asarray(products / scale)

    def prior(self, keys: Sequence[tuple[str, str]]) -> Floats:
        """Expected ratings, shape (N,); 0 for systems that these judges did not judge."""
        expected = self.expected.reindex(pd.MultiIndex.from_tuples(keys))
        return np.asarray(expected.fillna(0.0), dtype=np.float64)


def learn_from_other_judges(reference: pd.DataFrame, others: pd.DataFrame) -> OtherJudges | None:
    """Learn how other judges' verdicts predict the reference's ratings; None without verdicts.

    Args:
        reference: Judgments that the ratings are wanted of, all counted as one judge's.
        others: Judgments of other judges.
    """
    if others.empty:
        return None
    targets = pd.concat([language.shares for language in _judged_languages(reference)])
    slopes: dict[str, float] = {}
    ratings: dict[str, pd.Series] = {}
    expected: dict[str, pd.Series] = {}
    for judge, judgments in others.groupby("judge"):
        languages = _judged_languages(judgments)
        slope = _shrunken_slope(pd.concat([language.shares for language in languages]), targets)
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


@dataclass(frozen=True)
class _JudgedLanguage:
    """One judge's verdicts in one language.

    Attributes:
        language: Language code.
        battles: The verdicts.
        shares: ``QUESTION_PAIR`` and ``share`` of the points that the pair's first system won; one
            row per question and pair.
    """

    language: str
    battles: Battles
    shares: pd.DataFrame

    @classmethod
    def of(cls, language: str, judgments: pd.DataFrame) -> _JudgedLanguage:
        """Read the judgments of one language."""
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
        """Rate the systems with other shares of the points, with the usual weak prior."""
        items = self.battles.items
        replaced = replace(items, points=items.counts * shares)
        keys = pd.MultiIndex.from_product([[self.language], self.battles.systems])
        mode = BattleLikelihood(replaced).mode(NormalPrior.ridge(len(keys), DEFAULT_RIDGE))
        return pd.Series(mode - mode.mean(), keys)


def _judged_languages(judgments: pd.DataFrame) -> list[_JudgedLanguage]:
    groups = judgments.groupby("language")
    return [_JudgedLanguage.of(str(language), rows) for language, rows in groups]


def _shrunken_slope(shares: pd.DataFrame, targets: pd.DataFrame) -> float:
    """Regress the reference's shares on another judge's, and shrink the slope by its error.

    Logistic regression without intercept, on shares scaled to -1 to 1, with prior N(0, 1). The
    positive part of James and Stein's (1961) estimator then takes from the slope what may be
    chance; its variance is the sandwich over questions.

    Args:
        shares: Another judge's, one row per question and pair.
        targets: The reference's, in the same form.
    """
    shared = shares.merge(targets, on=QUESTION_PAIR, suffixes=("", "_target"))
    question = shared.groupby(QUESTION_KEY).ngroup().to_numpy()
    n_questions = len(np.unique(question))
    if n_questions < FEWEST_QUESTIONS:
        return 0.0
    verdicts = 2 * shared["share"].to_numpy() - 1
    target = shared["share_target"].to_numpy()

    def gradient(slope: float) -> float:
        """Slope of the log posterior; the prior adds -slope."""
        return float(verdicts @ (target - expit(slope * verdicts)) - slope)

    # No residual is above 1, so the root is no further from 0 than this.
    bound = float(np.abs(verdicts).sum()) + 1.0
    slope = float(scipy.optimize.brentq(gradient, -bound, bound))
    probabilities = expit(slope * verdicts)
    precision = float((verdicts**2 * probabilities * (1 - probabilities)).sum()) + 1.0
    scores = np.bincount(question, verdicts * (target - probabilities))
    # n / (n - 1) for n clusters, times (n - 1) / (n - 3), the variance of Student's t: from few
    # questions the variance itself is hardly known.
    variance = float(scores @ scores) * n_questions / (n_questions - 3) / precision**2
    # Twice the variance: with one, a slope of pure chance would survive in 32% of cases, not 16%.
    return slope * max(0.0, 1 - 2.0 * variance / max(slope**2, 1e-9))
