"""How much of an answer stands in the passages that it cites, word by word?

Words are those of ``features.text.tokens``, case-folded, of the answer part without citations. The
passages cited count, since nearly any word stands somewhere in all that the systems of an arena
were given; what the reasoning cites counts as cited. An answer in another language than its
passages shares names and numbers with them at most.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from features.declare.feature import OWN, Value, cutoff, declared
from features.declare.sample import (
    EMPTY_ANSWER,
    EMPTY_PASSAGES,
    NO_CITED_PASSAGES,
    NO_KNOWN_QUERY_WORDS,
    NO_PASSAGES,
    SHORT_ANSWER,
    Missing,
    Sample,
    passage_text,
)
from features.text.passage_index import PassageIndex
from features.text.tokens import folded_words

_NEWSROOM = "Grusky et al. 2018, Newsroom"
_NEEDS = ("answer", "passages")


@dataclass(frozen=True)
class Evidence:
    """What an answer is held against.

    Attributes:
        index: The question's passages, titles included.
        cited: Those that the answer cites and that hold words, as a set of the index; not empty.
        said: The answer's words, case-folded; not none.
    """

    index: PassageIndex
    cited: int
    said: list[str]

    @cached_property
    def matches(self) -> list[int]:
        """How many words from each word of the answer on stand so in one passage cited."""
        return self.index.longest_matches(self.said, self.cited)

    @cached_property
    def fragments(self) -> list[int]:
        """The lengths in words of the answer's extractive fragments.

        Greedy, from left to right, each the longest run that stands in a passage (Grusky et al.,
        2018, Newsroom, section 3.2, with the passages for the article).
        """
        copied: list[int] = []
        word = 0
        while word < len(self.matches):
            if self.matches[word]:
                copied.append(self.matches[word])
            word += max(self.matches[word], 1)
        return copied


def passage_index(sample: Sample) -> PassageIndex:
    """Return the index of the question's passages; built once for all answers."""
    question = sample.question
    return sample.memo.get(
        ("passage index", question.key),
        lambda: PassageIndex([passage_text(passage) for passage in question.passages]),
    )


def evidence(sample: Sample) -> Evidence | Missing:
    """Return what to hold the answer against, or why there is nothing; found once an answer."""
    if not sample.question.passages:
        return NO_PASSAGES
    if not sample.citations.matched:
        return NO_CITED_PASSAGES
    key = ("evidence", sample.question.key, sample.output)
    return sample.memo.get(key, lambda: _evidence(sample))


def _evidence(sample: Sample) -> Evidence | Missing:
    index, numbers = passage_index(sample), sample.question.passage_ids
    cited = sum(1 << numbers.index(each) for each in sample.citations.matched) & index.with_words
    if not cited:
        return EMPTY_PASSAGES
    return Evidence(index, cited, sample.folded_words) if sample.folded_words else EMPTY_ANSWER


def query_words(sample: Sample) -> list[str]:
    """Return the distinct words of the question, case-folded, in their order."""
    query = sample.question.query
    return sample.memo.get(("words", query), lambda: list(dict.fromkeys(folded_words(query))))


@declared(OWN, _NEEDS, cutoff(2))
def ngram_coverage(sample: Sample, k: int) -> Value:
    """Share of the answer's runs of k words that stand in a passage.

    Runs are counted as often as they occur.
    """
    held = evidence(sample)
    if isinstance(held, Missing):
        return held
    runs = len(held.said) - k + 1
    return sum(length >= k for length in held.matches) / runs if runs > 0 else SHORT_ANSWER


@declared(OWN, _NEEDS)
def content_coverage(sample: Sample) -> Value:
    """Share of the answer's distinct words that stand in a passage, rare words first.

    Content is the distinct words, each weighted by its inverse document frequency among all
    passages of the question (``PassageIndex.weight``): words that most passages hold, function
    words among them, count little in any language, and no list of stop words is needed.
    """
    held = evidence(sample)
    if isinstance(held, Missing):
        return held
    said = list(dict.fromkeys(held.said))
    supported = [word for word in said if held.index.holders(word) & held.cited]
    return _weight(held.index, supported) / _weight(held.index, said)


@declared(OWN, ("answer", "query", "passages"))
def query_coverage(sample: Sample) -> Value:
    """Share of the question's distinct words that the answer takes up, rare words first.

    Content is the distinct words of the question that its passages hold, weighted as in
    ``content_coverage``; those that no passage holds are how a question is asked, or in another
    language.
    """
    if not sample.question.passages:
        return NO_PASSAGES
    index = passage_index(sample)
    if not index.with_words:
        return EMPTY_PASSAGES
    if not sample.folded_words:
        return EMPTY_ANSWER
    asked = [word for word in query_words(sample) if index.holders(word)]
    if not asked:
        return NO_KNOWN_QUERY_WORDS
    said = frozenset(sample.folded_words)
    return _weight(index, [word for word in asked if word in said]) / _weight(index, asked)


@declared(_NEWSROOM, _NEEDS)
def fragment_coverage(sample: Sample) -> Value:
    """Share of the answer's words that are copied from a passage.

    A single word is the shortest fragment, so that this equals ``ngram_coverage@1``.
    """
    held = evidence(sample)
    return held if isinstance(held, Missing) else sum(held.fragments) / len(held.said)


@declared(_NEWSROOM, _NEEDS)
def fragment_density(sample: Sample) -> Value:
    """Mean length in words of the copied fragment a word of the answer belongs to.

    A word that is not copied belongs to a fragment of length 0.
    """
    held = evidence(sample)
    if isinstance(held, Missing):
        return held
    return sum(length * length for length in held.fragments) / len(held.said)


@declared(OWN, _NEEDS)
def longest_common_span(sample: Sample) -> Value:
    """Words of the longest run that the answer shares with one passage."""
    held = evidence(sample)
    return held if isinstance(held, Missing) else float(max(held.matches))


def _weight(index: PassageIndex, words: Iterable[str]) -> float:
    return sum(map(index.weight, words))
