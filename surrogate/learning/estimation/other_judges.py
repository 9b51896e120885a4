"""What other judges' verdicts let expect of a judge's ratings: machines beside people.

How far their verdicts go along is learned where they judged the same pairs on the same questions:
by the slope of a logistic regression of the one on the other, from which chance is taken (the
positive part of James and Stein, 1961, with the variance over questions). It turns all their
verdicts into probabilities of the judge's, and these into ratings: 0 where nothing is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import expit

from arena.data.schema import QUESTION_KEY
from arena.diagnostics.verdicts import QUESTION_PAIR
from arena.rating.battles import Battles
from arena.rating.bradley_terry import DEFAULT_RIDGE, NormalPrior
from arena.rating.posterior import BattleLikelihood

Floats = npt.NDArray[np.float64]

SURELY = 2.0
"""How often the slope's variance is taken from its square."""
FEWEST_QUESTIONS = 4
"""That a variance over questions can be had of."""
STEPS = 25


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
    """Return battles and items of each language: ``QUESTION_PAIR``, and the ``share`` of the first one."""
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
    if questions < FEWEST_QUESTIONS:
        return 0.0
    told, wanted = 2 * both["share"].to_numpy() - 1, both["share_wanted"].to_numpy()
    slope, precision = 0.0, 1.0
    for _ in range(STEPS):
        chance = expit(slope * told)
        precision = float((told**2 * chance * (1 - chance)).sum()) + 1.0  # of a wide prior
        slope += (float(told @ (wanted - chance)) - slope) / precision
    scores = np.bincount(asked, told * (wanted - expit(slope * told)))
    # Of few questions the variance itself is hardly known (Student).
    variance = float(scores @ scores) * questions / (questions - 3) / precision**2
    return slope * max(0.0, 1 - SURELY * variance / max(slope**2, 1e-9))
