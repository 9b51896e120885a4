"""The words of some passages, indexed once for all answers to a question."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from features.text.tokens import folded_words


class PassageIndex:
    """Finds words and runs of words in passages, each in time linear in what is looked up.

    A set of passages is an integer: bit i stands for passage i.

    Args:
        texts: The passages.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._words = [folded_words(text) for text in texts]
        self._weights = _inverse_document_frequencies(len(texts))
        self._holders: defaultdict[str, int] = defaultdict(int)
        self.with_words = 0
        """The passages that hold a word at all."""
        for number, words in enumerate(self._words):
            for word in set(words):
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
        return self._weights[self.holders(word).bit_count()]

    def longest_matches(self, answer: Sequence[str], allowed: int) -> list[int]:
        """Return how many words from each word on stand so in one of the allowed passages."""
        return self._runs.longest_matches(answer, allowed)

    def passage_weights(self, words: Iterable[str]) -> tuple[dict[int, float], float]:
        """Weigh what each passage holds of some words.

        Returns:
            The summed weights of the words in each passage that holds any, and of all words.
        """
        weights: defaultdict[int, float] = defaultdict(float)
        total = 0.0
        for word in words:
            holders = self.holders(word)
            weight = self._weights[holders.bit_count()]
            total += weight
            for passage in members(holders):
                weights[passage] += weight
        return weights, total

    @cached_property
    def _runs(self) -> _Runs:
        """Made when asked for: it takes far longer than all else here."""
        return _Runs(self._words)


class _Runs:
    """A suffix automaton of the texts' reversed words, whose states know the texts that hold them.

    Blumer et al. (1985), The smallest automaton recognizing the subwords of a text.
    """

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self._following: list[dict[str, int]] = [{}]
        self._shorter = [-1]
        self._lengths = [0]
        self._holders = [0]
        for number, words in enumerate(texts):
            self._add(1 << number, words)
        self._spread_holders()

    def longest_matches(self, answer: Sequence[str], allowed: int) -> list[int]:
        """Return how many words from each word on stand so in one of the allowed passages."""
        matches = [0] * len(answer)
        state = length = 0
        for first in range(len(answer) - 1, -1, -1):
            state, length = self._step(state, length, answer[first], allowed)
            matches[first] = length
        return matches

    def _step(self, state: int, length: int, word: str, allowed: int) -> tuple[int, int]:
        while state >= 0:
            following = self._following[state].get(word)
            if following is not None and self._holders[following] & allowed:
                return following, length + 1
            state = self._shorter[state]
            length = self._lengths[state]
        return 0, 0

    def _add(self, passage: int, text: Sequence[str]) -> None:
        state = 0
        for word in reversed(text):
            state = self._extend(state, word)
            self._holders[state] |= passage

    def _extend(self, last: int, word: str) -> int:
        """Append a word to the state of the text so far and return the new state."""
        following = self._following
        known = following[last].get(word)
        if known is not None:
            is_next = self._lengths[known] == self._lengths[last] + 1
            return known if is_next else self._split(last, word, known)
        added = self._new_state({}, self._lengths[last] + 1)
        while last >= 0 and word not in following[last]:
            following[last][word] = added
            last = self._shorter[last]
        if last < 0:
            self._shorter[added] = 0
            return added
        known = following[last][word]
        is_next = self._lengths[known] == self._lengths[last] + 1
        self._shorter[added] = known if is_next else self._split(last, word, known)
        return added

    def _split(self, last: int, word: str, known: int) -> int:
        """Split off the shorter runs of words that a state stands for."""
        clone = self._new_state(self._following[known].copy(), self._lengths[last] + 1)
        self._shorter[clone] = self._shorter[known]
        self._shorter[known] = clone
        while last >= 0 and self._following[last].get(word) == known:
            self._following[last][word] = clone
            last = self._shorter[last]
        return clone

    def _new_state(self, following: dict[str, int], length: int) -> int:
        self._following.append(following)
        self._shorter.append(0)
        self._lengths.append(length)
        self._holders.append(0)
        return len(self._lengths) - 1

    def _spread_holders(self) -> None:
        """Tell the passages of a run of words to its endings, longest runs first."""
        holders, shorter = self._holders, self._shorter
        longest_first = sorted(range(1, len(holders)), key=self._lengths.__getitem__, reverse=True)
        for state in longest_first:
            holders[shorter[state]] |= holders[state]


def members(passages: int) -> Iterator[int]:
    """Return the numbers of the passages in a set."""
    while passages:
        lowest = passages & -passages
        yield lowest.bit_length() - 1
        passages ^= lowest


def _inverse_document_frequencies(passages: int) -> list[float]:
    """Return the weight of a word by the number of passages that hold it."""
    return [math.log1p((passages - n + 0.5) / (n + 0.5)) for n in range(passages + 1)]
