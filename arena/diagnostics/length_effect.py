"""How often the longer of two equally rated answers wins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit

from arena.data.types import Floats
from arena.diagnostics.bias import answer_lengths, length_differences
from arena.diagnostics.verdicts import verdicts
from arena.rating.bradley_terry import DEFAULT_RIDGE, NormalPrior, PenalizedLikelihood, newton
from arena.rating.pairs import Pairs
from arena.statistics.significance import NORMAL_QUANTILE


@dataclass(frozen=True)
class LengthEffect:
    """How often the longer of two equally rated answers wins.

    Attributes:
        share: The share, 0 to 1; NaN without decided verdicts on answers of different length.
        low: Lower bound of its 95% interval over questions.
        high: Upper bound.
        verdicts: Number of decided verdicts that it is estimated from.
    """

    share: float
    low: float
    high: float
    verdicts: int


def length_effect(judgments: pd.DataFrame, answers: pd.DataFrame) -> LengthEffect:
    """Estimate how often the longer answer wins where ratings are equal.

    A better system may write more. Length is therefore one more coefficient, next to the systems'
    ratings, in a Bradley-Terry model of the decided verdicts of each language; the coefficients of
    several languages are averaged, weighted by their precision.

    Args:
        judgments: Verdicts of one judge.
        answers: Columns ``ANSWER_KEY`` and ``answer``.
    """
    table = verdicts(judgments)
    table = table[table["outcome"] != 0]
    longer = np.sign(length_differences(table, answer_lengths(answers)))
    is_unlike = np.isfinite(longer) & (longer != 0)
    table = table[is_unlike]
    longer = longer[is_unlike]
    if table.empty:
        return LengthEffect(share=np.nan, low=np.nan, high=np.nan, verdicts=0)
    coefficients = []
    precisions = []
    for rows in table.groupby("language").indices.values():
        coefficient, error = _length_coefficient(table.iloc[rows], longer[rows])
        coefficients.append(coefficient)
        precisions.append(1 / error**2)
    mean = float(np.average(coefficients, weights=precisions))
    half_width = NORMAL_QUANTILE / np.sqrt(sum(precisions))
    return LengthEffect(
        share=float(expit(mean)),
        low=float(expit(mean - half_width)),
        high=float(expit(mean + half_width)),
        verdicts=len(table),
    )


def _length_coefficient(table: pd.DataFrame, longer: Floats) -> tuple[float, float]:
    """Return the coefficient of being longer (logits), and its standard error.

    The error is the larger of the model's and of the sandwich over questions, since verdicts on
    one question depend on each other.

    Args:
        table: N decided verdicts of one language, in the form of ``verdicts``.
        longer: 1 if the first system's answer is the longer one, else -1, shape (N,).
    """
    pairs = _longer_first(table, longer)
    longer_wins = (table["outcome"].to_numpy() * longer > 0).astype(np.float64)
    # With the longer answer first, its advantage is what the model calls that of a position.
    problem = PenalizedLikelihood(
        pairs=pairs,
        points=longer_wins[:, None],
        counts=np.ones((len(table), 1)),
        prior=NormalPrior.ridge(pairs.n_systems, DEFAULT_RIDGE),
        position=True,
        position_precision=DEFAULT_RIDGE,
    )
    parameters = newton(problem, problem.start())
    ratings = parameters[:-1, 0]
    coefficient = float(parameters[-1, 0])
    unit = np.zeros_like(parameters)
    unit[-1] = 1.0
    # The coefficient's column of the inverse information: its covariance with each parameter.
    covariances = problem.solver(parameters)(unit)[:, 0]
    residuals = longer_wins - expit(pairs.differences(ratings) + coefficient)
    influences = residuals * (pairs.differences(covariances[:-1]) + covariances[-1])
    question, _ = pd.factorize(table["query_id"])
    by_question = np.bincount(question, influences)
    variance = max(float(covariances[-1]), float(by_question @ by_question))
    return coefficient, float(np.sqrt(variance))


def _longer_first(table: pd.DataFrame, longer: Floats) -> Pairs:
    """Pair the systems of each verdict, that of the longer answer first."""
    codes, systems = pd.factorize(pd.concat([table["first"], table["second"]]), sort=True)
    first, second = np.split(codes, 2)
    is_first_longer = longer > 0
    return Pairs(
        first=np.where(is_first_longer, first, second),
        second=np.where(is_first_longer, second, first),
        n_systems=len(systems),
    )
