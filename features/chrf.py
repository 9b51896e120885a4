"""chrF2 as sacrebleu computes it, against a reference that is counted once.

M. Popović, chrF: character n-gram F-score for automatic MT evaluation, WMT 2015: n-grams of one to
six characters without white space, recall twice as important as precision. A test holds the score
to the bits of ``sacrebleu.CHRF``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from features.ngrams import character_ngrams_up_to, clipped_matches

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
