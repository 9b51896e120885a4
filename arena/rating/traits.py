"""Traits of answers that judges may like besides quality: their length and their style.

Style is what Chatbot Arena controls for: length, lists, headings and bold text (Li, Angelopoulos
and Chiang, 2024, "Does style matter? Disentangling style and substance in Chatbot Arena").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from arena.data.schema import ANSWER_KEY, QUESTION_KEY
from arena.data.types import Floats
from arena.rating.biases import TRAIT
from arena.text.answers import parse_answer

LENGTH = "length"
EQUAL: Mapping[str, tuple[str, ...]] = {
    "length": (LENGTH,),
    "style": (LENGTH, "lists", "headings", "bold"),
}
"""In what answers are made equal, and the traits of each."""

_LIST_ITEM = re.compile(r"^[ \t]{0,12}(?:[-*+•]|\d{1,3}[.)])[ \t]", re.MULTILINE)
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]", re.MULTILINE)
_BOLD = re.compile(r"\*\*[^*\n]{1,500}\*\*|(?<!\w)__[^_\n]{1,500}__(?!\w)")
_COUNTED: Mapping[str, Callable[[str], int]] = {
    LENGTH: len,
    "lists": lambda text: len(_LIST_ITEM.findall(text)),
    "headings": lambda text: len(_HEADING.findall(text)),
    "bold": lambda text: len(_BOLD.findall(text)),
}


def answer_traits(answers: pd.DataFrame, traits: Sequence[str] = (LENGTH,)) -> pd.DataFrame:
    """Count each trait of each answer without its reason: a column per trait, by ``ANSWER_KEY``.

    Args:
        answers: Columns ``ANSWER_KEY`` and ``answer``.
        traits: ``length`` (characters), ``lists`` (their entries), ``headings`` and ``bold``.
    """
    texts = [parse_answer(answer).text for answer in answers["answer"]]
    counts = {name: [float(_COUNTED[name](text)) for text in texts] for name in traits}
    index = pd.MultiIndex.from_frame(answers[ANSWER_KEY])
    return pd.DataFrame(counts, index=index, dtype=np.float64)


def with_traits(
    judgments: pd.DataFrame, answers: pd.DataFrame, traits: Sequence[str]
) -> pd.DataFrame:
    """Add by how much A's answer exceeds B's in each trait, for ``Battles.from_judgments``.

    Of lengths it is the logarithm of their ratio, between -1 and 1, so that a factor above 2.7
    counts no further; of counts it is (a - b) / (a + b). NaN where an answer is absent.

    Args:
        judgments: Columns ``language, query_id, system_a, system_b``.
        answers: See ``answer_traits``.
        traits: Their names.
    """
    counts = answer_traits(answers, traits)
    counts = counts[~counts.index.duplicated()]
    of_a, of_b = (_counts_of(judgments, side, counts) for side in ("system_a", "system_b"))
    added: dict[str, Floats] = {}
    for column, name in enumerate(traits):
        a, b = of_a[:, column], of_b[:, column]
        if name == LENGTH:
            # An answer without text counts as one character.
            difference = np.clip(np.log(np.maximum(a, 1.0) / np.maximum(b, 1.0)), -1.0, 1.0)
        else:
            difference = (a - b) / np.maximum(a + b, 1.0)
        added[f"{TRAIT}{name}"] = difference
    return judgments.assign(**added)


def _counts_of(judgments: pd.DataFrame, side: str, counts: pd.DataFrame) -> Floats:
    """Return the counts of the answers on one side, shape (N, F)."""
    keys = pd.MultiIndex.from_frame(judgments[[*QUESTION_KEY, side]], names=ANSWER_KEY)
    return np.asarray(counts.reindex(keys), dtype=np.float64)
