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
from arena.statistics.significance import NORMAL_95, wilson_interval

DIFFERENCE = f"{TRAIT}{LENGTH}"
"""Column of the logarithm of the ratio of two lengths, A's to B's."""
SLIGHT_DIFFERENCE = 0.1
"""Logarithm of the ratio of two lengths below which the longer answer hardly says more."""
NEARLY_ALWAYS = 0.75
"""Share of verdicts on slight differences from which length itself decides. Of 24 judges in eight
arenas of real answers the longer one wins 45% to 58% of them; a judge of length wins all."""


@dataclass(frozen=True)
class LengthEffect:
    """How often the longer of two equally rated answers wins.

    Attributes:
        share: The share, 0 to 1; NaN without decided verdicts on answers of different length.
        low: Lower bound of its 95% interval over questions.
        high: Upper bound.
        verdicts: Number of decided verdicts that it is estimated from.
        is_by_length: Whether length itself decides: the same answer wins nearly always where the
            lengths differ slightly, too. Elsewhere the longer answer may win because it says more.
    """

    share: float
    low: float
    high: float
    verdicts: int
    is_by_length: bool = False


def length_effect(judgments: pd.DataFrame, answers: pd.DataFrame) -> LengthEffect:
    """Estimate how often the longer answer wins where ratings are equal.

    A better system may write more. Being longer, by however little, is therefore estimated as a
    bias of the judge, with the ratings by the decided verdicts of each language; the coefficients
    of several languages are averaged, weighted by their precision.

    Args:
        judgments: Verdicts of one judge.
        answers: Columns ``ANSWER_KEY`` and ``answer``.
    """
    measured = with_traits(judgments, answers, (LENGTH,))
    table = calibrated_judgments(measured[measured["winner"] != "tie"], hard=True)
    # A judge that looks at length alone may decide by a single word.
    is_longer = np.sign(table[DIFFERENCE])
    is_unlike = is_longer.notna() & (is_longer != 0)
    table = table.assign(**{DIFFERENCE: is_longer})[is_unlike]
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
        is_by_length=_decides_slight_differences(measured, wants_longer=mean > 0),
    )


def _decides_slight_differences(measured: pd.DataFrame, *, wants_longer: bool) -> bool:
    """Return whether the longer (or shorter) answer nearly always wins by a slight difference.

    Args:
        measured: All verdicts, with the difference of lengths; a tie is won by neither.
        wants_longer: Whether the longer answer wins more often.
    """
    differences = measured[DIFFERENCE].to_numpy()
    # NaN, where an answer is absent, is no slight difference.
    is_slight = (differences != 0) & (np.abs(differences) < SLIGHT_DIFFERENCE)
    is_wanted_a = (differences > 0) == wants_longer
    wanted = np.where(is_wanted_a, "a", "b")
    n_won = int((is_slight & (measured["winner"].to_numpy() == wanted)).sum())
    (low,), _ = wilson_interval([n_won], [int(is_slight.sum())])
    return bool(low > NEARLY_ALWAYS)


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
    differences = with_traits(decided, answers, (LENGTH,))[DIFFERENCE].to_numpy()
    is_unlike = np.isfinite(differences) & (differences != 0)
    is_longer_a = differences > 0
    is_won_by_a = (decided["winner"] == "a").to_numpy()
    n_decided = int(is_unlike.sum())
    n_won = int((is_unlike & (is_longer_a == is_won_by_a)).sum())
    if n_decided < fewest_verdicts or n_won < 0.95 * n_decided:
        return None
    return n_won, n_decided
