"""Sentence-level BLEU as sacrebleu computes it, against a reference that is counted once.

Exponential smoothing and effective order (``smooth_method="exp", effective_order=True``) on
tokens that are given; a test holds the two to the same bits. sacrebleu spends most of its time on
objects that a single score does not need.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from features.ngrams import clipped_matches, word_ngrams_up_to

LONGEST = 4
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
        return cls(len(tokens), Counter(word_ngrams_up_to(tokens, LONGEST)))


def sentence_bleu(tokens: Sequence[str], reference: ReferenceNgrams) -> float:
    """Return BLEU of an answer against one reference, 0 to 100 up to rounding.

    Args:
        tokens: Tokens of the answer.
        reference: The reference, counted.
    """
    matches = clipped_matches(word_ngrams_up_to(tokens, LONGEST), reference.counts)
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
    for order in range(1, min(LONGEST, length) + 1):
        total = length - order + 1
        shared = matches.get(order, 0)
        if not shared:
            smoothing *= 2
        precisions.append(100.0 * shared / total if shared else 100.0 / (smoothing * total))
    return precisions
