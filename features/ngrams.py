"""N-grams of words or characters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Sized
from itertools import chain
from typing import Protocol, TypeVar


class _Gram(Sized, Protocol):
    def __hash__(self) -> int: ...


Gram = TypeVar("Gram", bound=_Gram)


def word_ngrams(words: Sequence[str], order: int) -> Iterator[tuple[str, ...]]:
    """Return an iterator over the runs of so many words, from left to right."""
    return zip(*[words[start:] for start in range(order)], strict=False)


def word_ngrams_up_to(words: Sequence[str], longest: int) -> Iterator[tuple[str, ...]]:
    """Return an iterator over the runs of 1 to ``longest`` words, the short ones first."""
    return chain.from_iterable([word_ngrams(words, order) for order in range(1, longest + 1)])


def character_ngrams_up_to(text: str, longest: int) -> list[str]:
    """Return the runs of 1 to ``longest`` characters, the short ones first."""
    return [
        text[start : start + order]
        for order in range(1, longest + 1)
        for start in range(len(text) - order + 1)
    ]


def clipped_matches(grams: Iterator[Gram] | list[Gram], wanted: Counter[Gram]) -> Counter[int]:
    """Count the n-grams two texts share, each as often as it stands in both.

    Args:
        grams: N-grams of a text.
        wanted: Those of the other, counted.

    Returns:
        Their number by their length.
    """
    matches: Counter[int] = Counter()
    for gram, times in Counter(filter(wanted.__contains__, grams)).items():
        matches[len(gram)] += min(times, wanted[gram])
    return matches
