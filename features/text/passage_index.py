"""The words of some passages, indexed once for all answers to a question."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate

from features.text.tokens import folded_words


class PassageIndex:
    """Finds words and runs of words in passages. A set of passages is an integer: bit i is one.

    Args:
        texts: The passages.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        words = [folded_words(text) for text in texts]
        self._lines = [f" {' '.join(each)} " for each in words]
        self._joined: dict[int, str] = {}
        self._holders: defaultdict[str, int] = defaultdict(int)
        self.with_words = 0
        """The passages that hold a word at all."""
        for number, each in enumerate(words):
            for word in set(each):
                self._holders[word] |= 1 << number
                self.with_words |= 1 << number

    def holders(self, word: str) -> int:
        """Return the passages that hold a word."""
        return self._holders.get(word, 0)

    def weight(self, word: str) -> float:
        """Return the inverse document frequency of a word among all passages.

        ``log(1 + (N - n + 0.5) / (n + 0.5))`` for n of N passages (Robertson and Zaragoza, 2009,
        The Probabilistic Relevance Framework, with the 1 that keeps it positive).
        """
        n = self.holders(word).bit_count()
        return math.log1p((len(self._lines) - n + 0.5) / (n + 0.5))

    def longest_matches(self, answer: Sequence[str], allowed: int) -> list[int]:
        """Return how many words from each word on stand so in one of the allowed passages."""
        passages, line = self._text(allowed), f" {' '.join(answer)} "
        starts = [0, *accumulate(len(word) + 1 for word in answer)]
        is_held = [bool(self.holders(word) & allowed) for word in answer]
        matches: list[int] = []
        end = 0  # of the run that starts here: at least where the one before ended
        for start in range(len(answer)):
            end = max(end, start + is_held[start])
            while (
                start < end < len(answer)
                and is_held[end]
                and line[starts[start] : starts[end + 1] + 1] in passages
            ):
                end += 1
            matches.append(end - start)
        return matches

    def _text(self, allowed: int) -> str:
        if allowed not in self._joined:
            self._joined[allowed] = "\n".join(self._lines[number] for number in members(allowed))
        return self._joined[allowed]


def members(passages: int) -> Iterator[int]:
    """Return the numbers of the passages in a set."""
    while passages:
        lowest = passages & -passages
        yield lowest.bit_length() - 1
        passages ^= lowest
