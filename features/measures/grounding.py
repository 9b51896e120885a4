"""How much of an answer occurs, word by word, in the passages that it cites?

Words are case-folded, of the answer part without citations. Only cited passages count, as nearly
any word occurs somewhere in all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from features.declare.feature import THIS_PACKAGE, Value, cutoff, declared
from features.declare.sample import (
    EMPTY_ANSWER,
    EMPTY_PASSAGES,
    NO_CITED_PASSAGES,
    NO_KNOWN_QUERY_WORDS,
    NO_PASSAGES,
    SHORT_ANSWER,
    Missing,
    Sample,
)
from features.text.tokens import folded_line, folded_words


class PassageIndex:
    """Finds words in passages; a set of passages has a bit each."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._words = [folded_line(text).split() for text in texts]
        self._holders: dict[str, int] = {}
        n_passages = len(texts)
        self._weights = [
            math.log1p((n_passages - n + 0.5) / (n + 0.5)) for n in range(n_passages + 1)
        ]
        self.with_words = 0
        """The passages that hold a word at all."""
        for number, passage_words in enumerate(self._words):
            passage = 1 << number
            if passage_words:
                self.with_words |= passage
            for word in set(passage_words):
                self._holders[word] = self._holders.get(word, 0) | passage

    def holders(self, word: str) -> int:
        """Return the passages that hold a word."""
        return self._holders.get(word, 0)

    def weight(self, word: str) -> float:
        """Return the inverse document frequency of a word among all passages.

        ``log(1 + (N - n + 0.5) / (n + 0.5))`` for n of N passages (Robertson and Zaragoza, 2009,
        The Probabilistic Relevance Framework).
        """
        return self._weights[self._holders.get(word, 0).bit_count()]

    def longest_matches(self, answer: Sequence[str], allowed: int) -> list[int]:
        """Return each word's longest run that an allowed passage holds."""
        # Where the allowed passages hold each word of the answer: a bit for each of their words.
        places = dict.fromkeys(answer, 0)
        first_place = 0
        for passage in members(allowed):
            for place, word in enumerate(self._words[passage], start=first_place):
                if word in places:
                    places[word] |= 1 << place
            first_place += len(self._words[passage]) + 1  # one of no word ends every run
        held = [*map(places.__getitem__, answer), 0]  # nothing follows the last word
        matches: list[int] = []
        end = 0  # of the longest run that has begun
        previous = 0
        for start in range(len(answer)):
            end = max(end, start)
            # Runs that go on from the word before have been followed to their ends, and of those
            # that begin here only a longer one counts: it holds the word at the end, too.
            runs = held[start] & ~(previous << 1) & (held[end] >> (end - start))
            previous = held[start]
            run_end = start
            while runs:
                run_end += 1
                runs = (runs << 1) & held[run_end]
            end = max(end, run_end)
            matches.append(end - start)
        return matches


def members(passages: int) -> Iterator[int]:
    """Yield the numbers of the passages in a set."""
    while passages:
        yield (passages & -passages).bit_length() - 1  # its lowest bit
        passages &= passages - 1


_NEWSROOM = "Grusky et al. 2018, Newsroom"
_NEEDS = ("answer", "passages")


@dataclass(frozen=True)
class Evidence:
    """An answer's case-folded words, and cited passages with words."""

    index: PassageIndex
    cited: int
    words: list[str]

    @cached_property
    def matches(self) -> list[int]:
        """Return each word's longest run in a cited passage."""
        return self.index.longest_matches(self.words, self.cited)

    @cached_property
    def fragments(self) -> list[int]:
        """Return the lengths in words of the answer's extractive fragments.

        Greedy from the left, each the longest that a passage holds (Grusky et al., 2018, Newsroom,
        section 3.2).
        """
        lengths: list[int] = []
        start = 0
        while start < len(self.matches):
            length = self.matches[start]
            if length:
                lengths.append(length)
            start += max(length, 1)
        return lengths


def _passage_index(sample: Sample) -> PassageIndex:
    question = sample.question
    return sample.memo.get(
        ("passage index", question.key),
        lambda: PassageIndex(question.passage_texts),
    )


def evidence(sample: Sample) -> Evidence | Missing:
    """Return the answer's evidence, or why there is none."""
    if not sample.question.passages:
        return NO_PASSAGES
    if not sample.citations.matched:
        return NO_CITED_PASSAGES
    key = ("evidence", sample.question.key, sample.output)
    return sample.memo.get(key, lambda: _evidence(sample))


def _evidence(sample: Sample) -> Evidence | Missing:
    index = _passage_index(sample)
    passage_ids = sample.question.passage_ids
    cited = sum(1 << passage_ids.index(cited_id) for cited_id in sample.citations.matched)
    cited &= index.with_words
    if not cited:
        return EMPTY_PASSAGES
    if not sample.folded_words:
        return EMPTY_ANSWER
    return Evidence(index, cited, sample.folded_words)


def query_words(sample: Sample) -> list[str]:
    """Return the question's distinct words, case-folded, in order."""
    query = sample.question.query
    return sample.memo.get(("words", query), lambda: list(dict.fromkeys(folded_words(query))))


@declared(source=THIS_PACKAGE, needs=_NEEDS, parameters=(cutoff(2),))
def ngram_coverage(sample: Sample, k: int) -> Value:
    """Share of the answer's runs of k words that occur in a passage.

    A run counts as often as it occurs.
    """
    support = evidence(sample)
    if isinstance(support, Missing):
        return support
    n_runs = len(support.words) - k + 1
    if n_runs <= 0:
        return SHORT_ANSWER
    # The longest match from a word on contains the run of k words from there, if it is as long.
    n_matched = sum(length >= k for length in support.matches)
    return n_matched / n_runs


@declared(source=THIS_PACKAGE, needs=_NEEDS)
def content_coverage(sample: Sample) -> Value:
    """Share of the answer's distinct words that occur in a passage, weighted toward rare words.

    Weights are inverse document frequencies among the question's passages: function words count
    little in any language, without lists of stop words.
    """
    support = evidence(sample)
    if isinstance(support, Missing):
        return support
    distinct = list(dict.fromkeys(support.words))
    held = [word for word in distinct if support.index.holders(word) & support.cited]
    return _weight(support.index, held) / _weight(support.index, distinct)


@declared(source=THIS_PACKAGE, needs=("answer", "query", "passages"))
def query_coverage(sample: Sample) -> Value:
    """Share of the question's distinct words in the answer, weighted toward rare words.

    Words that no passage holds are how a question is asked, or in another language; they do not
    count. Weights as in ``content_coverage``.
    """
    if not sample.question.passages:
        return NO_PASSAGES
    index = _passage_index(sample)
    if not index.with_words:
        return EMPTY_PASSAGES
    if not sample.folded_words:
        return EMPTY_ANSWER
    content = [word for word in query_words(sample) if index.holders(word)]
    if not content:
        return NO_KNOWN_QUERY_WORDS
    in_answer = frozenset(sample.folded_words)
    covered = [word for word in content if word in in_answer]
    return _weight(index, covered) / _weight(index, content)


@declared(source=_NEWSROOM, needs=_NEEDS)
def fragment_coverage(sample: Sample) -> Value:
    """Share of the answer's words that are copied from a passage.

    It equals ``ngram_coverage@1``.
    """
    support = evidence(sample)
    if isinstance(support, Missing):
        return support
    return sum(support.fragments) / len(support.words)


@declared(source=_NEWSROOM, needs=_NEEDS)
def fragment_density(sample: Sample) -> Value:
    """Mean length in words of the copied fragments that the answer's words belong to.

    A word that is not copied belongs to a fragment of length 0.
    """
    support = evidence(sample)
    if isinstance(support, Missing):
        return support
    # Each of a fragment's words counts the fragment's length, hence the square.
    return sum(length * length for length in support.fragments) / len(support.words)


@declared(source=THIS_PACKAGE, needs=_NEEDS)
def longest_common_span(sample: Sample) -> Value:
    """Words of the longest run that the answer shares with one passage."""
    support = evidence(sample)
    if isinstance(support, Missing):
        return support
    return float(max(support.matches))


def _weight(index: PassageIndex, words: Iterable[str]) -> float:
    return sum(map(index.weight, words))
