"""How much of an answer stands in the passages, word by word?

Words are those of ``features.text.tokens``, case-folded, of the answer part without citations. By
default the passages cited count, since nearly any word stands somewhere in all that the systems
of an arena were given. An answer in another language than its passages shares names and numbers
with them at most.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal

from features.declare.feature import Value, choice, cutoff, declared
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

Passages = Literal["cited", "all"]
"""Which passages count: those that are cited, or all of the question's."""

CITED_OR_ALL = choice("passages", "cited", "all")
NO_EVIDENCE = (NO_PASSAGES, EMPTY_PASSAGES, NO_CITED_PASSAGES)
"""Why there may be no passages to hold an answer against."""


_OWN = "surrogate-arena"
_NEWSROOM = "Grusky et al. 2018, Newsroom"
_NEEDS = ("answer", "passages")
_MISSING = (*NO_EVIDENCE, EMPTY_ANSWER)
_UNASKED = (NO_PASSAGES, EMPTY_PASSAGES, EMPTY_ANSWER, NO_KNOWN_QUERY_WORDS)


def passage_index(sample: Sample) -> PassageIndex:
    """Return the index of the question's passages, titles included; built once for all answers."""
    question = sample.question
    return sample.memo.get(
        ("passage index", question.key),
        lambda: PassageIndex([passage_text(passage) for passage in question.passages]),
    )


def evidence(sample: Sample, passages: Passages) -> int | Missing:
    """Return the passages to hold the whole answer against, as a set of the index.

    What the reasoning cites counts as cited. Passages without words are left out.
    """
    if not sample.question.passages:
        return NO_PASSAGES
    if passages == "all":
        return passage_index(sample).with_words or EMPTY_PASSAGES
    cited = sample.citations("output").known
    return with_words(sample, cited) or EMPTY_PASSAGES if cited else NO_CITED_PASSAGES


def with_words(sample: Sample, passage_ids: Collection[str]) -> int:
    """Return those of some passages that hold words, as a set of the index."""
    numbers = _passage_numbers(sample)
    chosen = 0
    for passage_id in passage_ids:
        chosen |= 1 << numbers[passage_id]
    return chosen & passage_index(sample).with_words


def matches(sample: Sample, passages: Passages) -> list[int] | Missing:
    """Return how many words from each word of the answer on stand so in one passage.

    Returns:
        One number for each of ``sample.folded_words``, which are not none.
    """
    allowed = evidence(sample, passages)
    if isinstance(allowed, Missing):
        return allowed
    if not sample.folded_words:
        return EMPTY_ANSWER
    question = sample.question
    return sample.memo.get(
        ("matches", question.key, sample.text, allowed),
        lambda: passage_index(sample).longest_matches(sample.folded_words, allowed),
    )


def query_words(sample: Sample) -> list[str]:
    """Return the distinct words of the question, case-folded, in their order."""
    question = sample.question
    return sample.memo.get(
        ("query words", question.key),
        lambda: distinct(folded_words(question.query)),
    )


def distinct(words: Iterable[str]) -> list[str]:
    """Return words without repetitions, in order of first occurrence."""
    return list(dict.fromkeys(words))


def _passage_numbers(sample: Sample) -> dict[str, int]:
    question = sample.question
    return sample.memo.get(
        ("passage numbers", question.key),
        lambda: {passage_id: number for number, passage_id in enumerate(question.passage_ids)},
    )


@declared(_OWN, _NEEDS, (*_MISSING, SHORT_ANSWER), cutoff(2), CITED_OR_ALL)
def ngram_coverage(sample: Sample, k: int, passages: Passages) -> Value:
    """Share of the answer's runs of k words that stand in a passage.

    Runs are counted as often as they occur.
    """
    lengths = matches(sample, passages)
    if isinstance(lengths, Missing):
        return lengths
    runs = len(lengths) - k + 1
    return sum(length >= k for length in lengths) / runs if runs > 0 else SHORT_ANSWER


@declared(_OWN, _NEEDS, _MISSING, CITED_OR_ALL)
def content_coverage(sample: Sample, passages: Passages) -> Value:
    """Share of the answer's distinct words that stand in a passage, rare words first.

    Content is the distinct words, each weighted by its inverse document frequency among all
    passages of the question (``PassageIndex.weight``): words that most passages hold, function
    words among them, count little in any language, and no list of stop words is needed.
    """
    allowed = evidence(sample, passages)
    if isinstance(allowed, Missing):
        return allowed
    if not sample.folded_words:
        return EMPTY_ANSWER
    index = passage_index(sample)
    said = distinct(sample.folded_words)
    supported = [word for word in said if index.holders(word) & allowed]
    return _weight(index, supported) / _weight(index, said)


@declared(
    _OWN,
    ("answer", "query", "passages"),
    _UNASKED,
)
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


@declared(_NEWSROOM, _NEEDS, _MISSING, CITED_OR_ALL)
def fragment_coverage(sample: Sample, passages: Passages) -> Value:
    """Share of the answer's words that are copied from a passage.

    A single word is the shortest fragment, so that this equals ``ngram_coverage@1``.
    """
    lengths = fragments(sample, passages)
    return lengths if isinstance(lengths, Missing) else sum(lengths) / len(sample.folded_words)


@declared(_NEWSROOM, _NEEDS, _MISSING, CITED_OR_ALL)
def fragment_density(sample: Sample, passages: Passages) -> Value:
    """Mean length in words of the copied fragment a word of the answer belongs to.

    A word that is not copied belongs to a fragment of length 0.
    """
    lengths = fragments(sample, passages)
    if isinstance(lengths, Missing):
        return lengths
    return sum(length * length for length in lengths) / len(sample.folded_words)


@declared(_OWN, _NEEDS, _MISSING, CITED_OR_ALL)
def longest_common_span(sample: Sample, passages: Passages) -> Value:
    """Words of the longest run that the answer shares with one passage."""
    lengths = matches(sample, passages)
    return lengths if isinstance(lengths, Missing) else float(max(lengths))


def fragments(sample: Sample, passages: Passages) -> list[int] | Missing:
    """Return the lengths in words of the answer's extractive fragments.

    Greedy, from left to right, each the longest run that stands in a passage (Grusky et al.,
    2018, Newsroom, section 3.2, with the passages for the article).
    """
    lengths = matches(sample, passages)
    if isinstance(lengths, Missing):
        return lengths
    copied: list[int] = []
    word = 0
    while word < len(lengths):
        if lengths[word]:
            copied.append(lengths[word])
        word += max(lengths[word], 1)
    return copied


def _weight(index: PassageIndex, words: Iterable[str]) -> float:
    return sum(map(index.weight, words))
