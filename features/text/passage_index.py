"""The words of some passages, indexed once for all answers to a question."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import accumulate
from operator import and_

from features.text.tokens import folded_words


class PassageIndex:
    """Finds words and runs of words in passages. A set of passages is an integer: bit i is one.

    Args:
        texts: The passages.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        words = [folded_words(text) for text in texts]
        self._lines = [f" {' '.join(each)} " for each in words]
        self._holders: defaultdict[str, int] = defaultdict(int)
        self._weights = [
            math.log1p((len(texts) - n + 0.5) / (n + 0.5)) for n in range(len(texts) + 1)
        ]
        self.with_words = sum(1 << number for number, each in enumerate(words) if each)
        """The passages that hold a word at all."""
        for number, each in enumerate(words):
            for word in set(each):
                self._holders[word] |= 1 << number

    def holders(self, word: str) -> int:
        """Return the passages that hold a word."""
        return self._holders.get(word, 0)

    def weight(self, word: str) -> float:
        """Return the inverse document frequency of a word among all passages.

        ``log(1 + (N - n + 0.5) / (n + 0.5))`` for n of N passages (Robertson and Zaragoza, 2009,
        The Probabilistic Relevance Framework, with the 1 that keeps it positive).
        """
        return self._weights[self._holders.get(word, 0).bit_count()]

    def longest_matches(self, answer: Sequence[str], allowed: int) -> list[int]:
        """Return how many words from each word on stand so in one of the allowed passages."""
        line = f" {' '.join(answer)} "
        starts = [0, *accumulate(len(word) + 1 for word in answer)]
        held = [*(self.holders(word) & allowed for word in answer), 0]
        matches: list[int] = []
        end = 0  # of the run that starts here: at least where the one before ended
        for start in range(len(answer)):
            end = max(end, start + bool(held[start]))
            common = reduce(and_, held[start : end + 1]) if start < end else 0
            while common:  # passages that hold all the words, and that may hold the run
                run = line[starts[start] : starts[end + 1] + 1]
                while common and run not in self._lines[(common & -common).bit_length() - 1]:
                    common &= common - 1
                end += bool(common)
                common &= held[end]
            matches.append(end - start)
        return matches


def members(passages: int) -> Iterator[int]:
    """Return the numbers of the passages in a set."""
    while passages:
        lowest = passages & -passages
        yield lowest.bit_length() - 1
        passages ^= lowest
