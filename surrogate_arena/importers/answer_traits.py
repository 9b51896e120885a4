"""Traits counted in texts of answers: length and style.

Style is Chatbot Arena's (Li, Angelopoulos and Chiang, 2024, "Does style matter?").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from arena.data.schema import ANSWER_KEY
from arena.data.types import Floats
from arena.rating.biases import LENGTH, TRAIT, length_difference, values_of_side
from arena.text.answers import parse_answer

_LIST_ITEM = re.compile(r"^[ \t]{0,12}(?:[-*+•]|\d{1,3}[.)])[ \t]", re.MULTILINE)
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]", re.MULTILINE)
_BOLD = re.compile(r"\*\*[^*\n]{1,500}\*\*|(?<!\w)__[^_\n]{1,500}__(?!\w)")
COUNTED: Mapping[str, Callable[[str], int]] = {
    LENGTH: len,
    "lists": lambda text: len(_LIST_ITEM.findall(text)),
    "headings": lambda text: len(_HEADING.findall(text)),
    "bold": lambda text: len(_BOLD.findall(text)),
}
"""Trait to how often it is in the text of an answer; of ``length`` the characters."""


def count_trait(trait: str, answer: str) -> float:
    """Count a trait in an answer without its reasons."""
    return float(COUNTED[trait](parse_answer(answer).text))


def with_traits(
    judgments: pd.DataFrame, answers: pd.DataFrame, traits: Sequence[str]
) -> pd.DataFrame:
    """Add A's excess over B in each trait; NaN without answers."""
    index = pd.MultiIndex.from_frame(answers[ANSWER_KEY])
    added: dict[str, Floats] = {}
    for trait in traits:
        counts = pd.Series([count_trait(trait, text) for text in answers["answer"]], index)
        of_a, of_b = (values_of_side(judgments, side, counts) for side in ("system_a", "system_b"))
        added[f"{TRAIT}{trait}"] = relative_difference(trait, of_a, of_b)
    return judgments.assign(**added)


def relative_difference(trait: str, of_a: Floats, of_b: Floats) -> Floats:
    """Return A's excess over B in a trait, shape (N,).

    It is the log ratio of lengths, (a - b) / (a + b) of counts, and of numbers that may be below 0,
    a - b over its root mean square.
    """
    if trait == LENGTH:
        return length_difference(of_a, of_b)
    differences = of_a - of_b
    totals = of_a + of_b
    if (of_a < 0).any() or (of_b < 0).any():
        totals = np.full(len(differences), np.sqrt(np.nanmean(differences**2)))
    return np.divide(differences, totals, out=differences.copy(), where=totals > 0)
