"""What a board's judge likes besides quality: the side and the length of an answer, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict
from scipy.special import expit

from arena.rating.biases import SIDE, SIDE_PRECISION, TRAIT_PRECISION, JudgeBias
from arena.rating.traits import LENGTH
from arena.statistics.significance import NORMAL_95

SENTENCES = {
    SIDE: "of two otherwise equal answers the one on side A wins {share}; ratings are free of it",
    # A longer answer of an equally rated system may say more: length itself is not all it has.
    LENGTH: "of two answers by equally rated systems the one twice as long wins {share}, for its "
    "length or for what it says; ratings are not free of it, at_equal_length in arena.csv is",
}
UNITS = {SIDE: 1.0, LENGTH: math.log(2.0)}
"""By how much the answer exceeds the other one; lengths are logarithms."""
PRIOR_PRECISIONS = {SIDE: SIDE_PRECISION, LENGTH: TRAIT_PRECISION}


class JudgePreference(BaseModel):
    """How often a judge prefers an answer with a trait, in a mean over languages.

    Attributes:
        trait: ``side`` (being on side A) or ``length`` (being twice as long).
        share: Verdicts that such an answer wins against one of an equally rated system, 0 to 1.
        low: Lower bound of the share's 95% interval.
        high: Upper bound.
        languages: Number of languages.
    """

    model_config = ConfigDict(frozen=True)

    trait: str
    share: float
    low: float
    high: float
    languages: int

    @property
    def sentence(self) -> str:
        """The preference in words, without a full stop."""
        share = f"{self.share:.0%} (95% interval {self.low:.0%} to {self.high:.0%})"
        text = SENTENCES[self.trait].format(share=share)
        if self.languages == 1:
            return text
        return f"in the mean over {self.languages} languages, {text}"


def judge_preferences(biases: Sequence[JudgeBias]) -> tuple[JudgePreference, ...]:
    """Put a judge's biases in all languages together.

    Args:
        biases: Of one judge, one per language and trait. One about which the verdicts say nothing,
            so that its error is the prior's, is left out.
    """
    # Of the prior's standard deviation.
    most_uncertain = 0.95
    preferences = []
    for trait, unit in UNITS.items():
        prior_deviation = PRIOR_PRECISIONS[trait] ** -0.5
        estimated = []
        for bias in biases:
            is_learned = bias.standard_error < most_uncertain * prior_deviation
            if bias.trait == trait and is_learned:
                estimated.append(bias)
        if not estimated:
            continue
        preferences.append(_mean_preference(trait, unit, estimated))
    return tuple(preferences)


def _mean_preference(trait: str, unit: float, biases: Sequence[JudgeBias]) -> JudgePreference:
    """Average the biases of several languages, which are independent of each other."""
    n_languages = len(biases)
    mean = sum(bias.coefficient for bias in biases) / n_languages
    error = math.hypot(*(bias.standard_error for bias in biases)) / n_languages
    half_width = NORMAL_95 * error
    low, share, high = expit([unit * (mean + shift) for shift in (-half_width, 0, half_width)])
    return JudgePreference(
        trait=trait,
        share=float(share),
        low=float(low),
        high=float(high),
        languages=n_languages,
    )
