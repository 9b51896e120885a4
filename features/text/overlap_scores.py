"""BLEU, chrF and cosines of two texts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from features.models.model_folder import Scores
from features.text.tokens import character_ngrams_up_to, clipped_matches, word_ngrams_up_to

LONGEST = 6
"""Characters of the longest n-grams."""

_RECALL_WEIGHT = 2**2


@dataclass(frozen=True)
class ReferenceCharacters:
    """A reference, counted.

    Attributes:
        length: Its number of characters that are no white space.
        counts: How often each of its character n-grams stands there.
    """

    length: int
    counts: Counter[str]

    @classmethod
    def of(cls, text: str) -> ReferenceCharacters:
        """Count the character n-grams of a reference."""
        bare = _without_white_space(text)
        return cls(len(bare), Counter(character_ngrams_up_to(bare, LONGEST)))


def chrf(text: str, reference: ReferenceCharacters) -> float:
    """Return chrF2 of an answer against one reference, 0 to 100 up to rounding.

    Args:
        text: The answer.
        reference: The reference, counted.
    """
    bare = _without_white_space(text)
    longest = min(len(bare), reference.length, LONGEST)
    if not longest:
        return 0.0
    matches = clipped_matches(character_ngrams_up_to(bare, longest), reference.counts)
    precision = recall = 0.0
    for order in range(1, longest + 1):
        precision += matches[order] / (len(bare) - order + 1)
        recall += matches[order] / (reference.length - order + 1)
    return 100 * _weighted_mean(precision / longest, recall / longest)


def _weighted_mean(precision: float, recall: float) -> float:
    if not precision + recall:
        return 0.0
    mean = (1 + _RECALL_WEIGHT) * precision * recall
    return mean / (_RECALL_WEIGHT * precision + recall)


def _without_white_space(text: str) -> str:
    return "".join(text.split())


LONGEST_SENTENCE_BLEU = 4
"""Words of the longest n-grams."""


@dataclass(frozen=True)
class ReferenceNgrams:
    """A reference, counted.

    Attributes:
        length: Its number of tokens.
        counts: How often each of its n-grams stands there.
    """

    length: int
    counts: Counter[tuple[str, ...]]

    @classmethod
    def of(cls, tokens: Sequence[str]) -> ReferenceNgrams:
        """Count the n-grams of a reference."""
        return cls(len(tokens), Counter(word_ngrams_up_to(tokens, LONGEST_SENTENCE_BLEU)))


def sentence_bleu(tokens: Sequence[str], reference: ReferenceNgrams) -> float:
    """Return BLEU of an answer against one reference, 0 to 100 up to rounding.

    Args:
        tokens: Tokens of the answer.
        reference: The reference, counted.
    """
    matches = clipped_matches(word_ngrams_up_to(tokens, LONGEST_SENTENCE_BLEU), reference.counts)
    if not matches:
        return 0.0
    logarithms = list(map(math.log, _precisions(len(tokens), matches)))
    penalty = min(1.0, math.exp(1 - reference.length / len(tokens)))
    return penalty * math.exp(sum(logarithms) / len(logarithms))


def _precisions(length: int, matches: Mapping[int, int]) -> list[float]:
    """Return the share of n-grams shared, in percent, for the orders the answer is long enough for.

    Where none is shared, half of the share that one would be, then a quarter, and so on.
    """
    precisions: list[float] = []
    smoothing = 1.0
    for order in range(1, min(LONGEST_SENTENCE_BLEU, length) + 1):
        total = length - order + 1
        shared = matches.get(order, 0)
        if not shared:
            smoothing *= 2
        precisions.append(100.0 * shared / total if shared else 100.0 / (smoothing * total))
    return precisions


def cosines(vectors: Scores) -> npt.NDArray[np.float64]:
    """Return the cosine of the first vector with each of the others, shape (vectors - 1,)."""
    exact = vectors.astype(np.float64)
    lengths = np.sqrt((exact**2).sum(axis=1))
    products = (exact[1:] * exact[0]).sum(axis=1)
    near: npt.NDArray[np.float64] = np.clip(products / (lengths[1:] * lengths[0]), -1.0, 1.0)
    return near
