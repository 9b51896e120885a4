"""The words of some passages, indexed once for all answers to a question."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import accumulate
from operator import and_

from features.text.tokens import folded_line


class PassageIndex:
    """Finds words and runs of words in passages. A set of passages is an integer: bit i is one.

    Args:
        texts: The passages.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        # With spaces around, a run of words is found as a substring of the passage.
        self._lines = [f" {folded_line(text)} " for text in texts]
        self._holders: defaultdict[str, int] = defaultdict(int)
        n_passages = len(texts)
        self._weights = [
            math.log1p((n_passages - n + 0.5) / (n + 0.5)) for n in range(n_passages + 1)
        ]
        self.with_words = 0
        """The passages that hold a word at all."""
        for number, line in enumerate(self._lines):
            passage = 1 << number
            passage_words = line.split()
            if passage_words:
                self.with_words |= passage
            for word in set(passage_words):
                self._holders[word] |= passage

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
        """Return the length of the longest run from each word on that an allowed passage holds."""
        line = f" {' '.join(answer)} "
        starts = [0, *accumulate(len(word) + 1 for word in answer)]  # of the words in the line
        holders = [self.holders(word) & allowed for word in answer]
        holders.append(0)  # nothing holds a word after the last
        matches: list[int] = []
        # End of the run from this word on. It never moves back: the run from the word before is,
        # without its first word, a run from this one.
        end = 0
        for start in range(len(answer)):
            end = max(end, start + bool(holders[start]))
            # Passages that hold all words of a run one word longer; only these may hold the run.
            candidates = reduce(and_, holders[start : end + 1]) if start < end else 0
            while candidates:
                run = line[starts[start] : starts[end + 1] + 1]
                # Drop the lowest passage while it does not hold the words in a row.
                while candidates and run not in self._lines[_lowest(candidates)]:
                    candidates &= candidates - 1
                end += bool(candidates)
                candidates &= holders[end]
            matches.append(end - start)
        return matches


def members(passages: int) -> Iterator[int]:
    """Return the numbers of the passages in a set."""
    while passages:
        yield _lowest(passages)
        passages &= passages - 1  # without its lowest bit


def _lowest(passages: int) -> int:
    """Return the number of the first passage in a set: that of its lowest bit."""
    return (passages & -passages).bit_length() - 1
