"""How often the longer of two equally rated answers wins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit

from arena.rating.battles import Battles
from arena.rating.biases import TRAIT
from arena.rating.posterior import battle_posterior
from arena.rating.soft_verdicts import calibrated_judgments
from arena.rating.traits import LENGTH, with_traits
from arena.statistics.significance import NORMAL_95


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

    A better system may write more. Being longer, by however little, is therefore a bias of the
    judge, estimated with the ratings by the decided verdicts of each language; the coefficients of
    several languages are averaged, weighted by their precision.

    Args:
        judgments: Verdicts of one judge.
        answers: Columns ``ANSWER_KEY`` and ``answer``.
    """
    decided = calibrated_judgments(judgments[judgments["winner"] != "tie"], hard=True)
    table = with_traits(decided, answers, (LENGTH,))
    # A judge that looks at length alone may decide by a single word.
    is_longer = np.sign(table[f"{TRAIT}{LENGTH}"])
    is_unlike = is_longer.notna() & (is_longer != 0)
    table = table.assign(**{f"{TRAIT}{LENGTH}": is_longer})[is_unlike]
    if table.empty:
        return LengthEffect(share=np.nan, low=np.nan, high=np.nan, verdicts=0)
    coefficients = []
    precisions = []
    for _, rows in table.groupby("language"):
        for bias in battle_posterior(Battles.from_judgments(rows)).biases:
            if bias.trait == LENGTH:
                coefficients.append(bias.coefficient)
                precisions.append(1 / bias.standard_error**2)
    mean = float(np.average(coefficients, weights=precisions))
    half_width = NORMAL_95 / np.sqrt(sum(precisions))
    return LengthEffect(
        share=float(expit(mean)),
        low=float(expit(mean - half_width)),
        high=float(expit(mean + half_width)),
        verdicts=len(table),
    )


def nearly_all_longer(judgments: pd.DataFrame, answers: pd.DataFrame) -> tuple[int, int] | None:
    """Count decided verdicts that the longer answer won, where these are nearly all.

    Where one of two systems always writes more, no estimate tells its quality from a judge that
    likes length.

    Args:
        judgments: Verdicts of one judge.
        answers: Columns ``ANSWER_KEY`` and ``answer``.

    Returns:
        Verdicts that the longer answer won, and those decided on answers of different length; None
        if these are few or the shorter answer won more than one in twenty.
    """
    fewest_verdicts = 10
    decided = judgments[judgments["winner"] != "tie"]
    differences = with_traits(decided, answers, (LENGTH,))[f"{TRAIT}{LENGTH}"].to_numpy()
    is_unlike = np.isfinite(differences) & (differences != 0)
    is_longer_a = differences > 0
    is_won_by_a = (decided["winner"] == "a").to_numpy()
    n_decided = int(is_unlike.sum())
    n_won = int((is_unlike & (is_longer_a == is_won_by_a)).sum())
    if n_decided < fewest_verdicts or n_won < 0.95 * n_decided:
        return None
    return n_won, n_decided
