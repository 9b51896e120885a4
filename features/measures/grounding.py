"""How much of an answer stands in the passages, word by word?

Words are those of ``features.text.tokens``, case-folded, of the answer part without citations. By
default the passages cited count, since nearly any word stands somewhere in all that the systems
of an arena were given. An answer in another language than its passages shares names and numbers
with them at most.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal

from features.declare.feature import Feature, Value, choice, cutoff
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


def ngram_coverage(sample: Sample, k: int, passages: Passages) -> Value:
    """Return the share of the answer's runs of k words that stand in a passage.

    Runs are counted as often as they occur.
    """
    lengths = matches(sample, passages)
    if isinstance(lengths, Missing):
        return lengths
    runs = len(lengths) - k + 1
    return sum(length >= k for length in lengths) / runs if runs > 0 else SHORT_ANSWER


def content_coverage(sample: Sample, passages: Passages) -> Value:
    """Return the share of the answer's content that stands in the passages.

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


def query_coverage(sample: Sample) -> Value:
    """Return the share of the question's content that the answer takes up.

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


def fragment_coverage(sample: Sample, passages: Passages) -> Value:
    """Return the share of the answer's words that belong to extractive fragments.

    A single word is the shortest fragment, so that this equals ``ngram_coverage@1``.
    """
    lengths = fragments(sample, passages)
    return lengths if isinstance(lengths, Missing) else sum(lengths) / len(sample.folded_words)


def fragment_density(sample: Sample, passages: Passages) -> Value:
    """Return the mean, over the answer's words, of the length of the fragment each belongs to.

    A word that is not copied belongs to a fragment of length 0.
    """
    lengths = fragments(sample, passages)
    if isinstance(lengths, Missing):
        return lengths
    return sum(length * length for length in lengths) / len(sample.folded_words)


def longest_common_span(sample: Sample, passages: Passages) -> Value:
    """Return the number of words of the longest run that answer and one passage share."""
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


_OWN = "surrogate-arena"
_NEWSROOM = "Grusky et al. 2018, Newsroom"
_NEEDS = ("answer", "passages")
_MISSING = (*NO_EVIDENCE, EMPTY_ANSWER)

NGRAM_COVERAGE = Feature(
    name="ngram_coverage",
    summary="Share of the answer's runs of k words that stand in a passage",
    source=_OWN,
    needs=_NEEDS,
    measurement=ngram_coverage,
    parameters=(cutoff(2), CITED_OR_ALL),
    missing=(*_MISSING, SHORT_ANSWER),
)
CONTENT_COVERAGE = Feature(
    name="content_coverage",
    summary="Share of the answer's distinct words that stand in a passage, rare words first",
    source=_OWN,
    needs=_NEEDS,
    measurement=content_coverage,
    parameters=(CITED_OR_ALL,),
    missing=_MISSING,
)
QUERY_COVERAGE = Feature(
    name="query_coverage",
    summary="Share of the question's distinct words that the answer takes up, rare words first",
    source=_OWN,
    needs=("answer", "query", "passages"),
    measurement=query_coverage,
    missing=(NO_PASSAGES, EMPTY_PASSAGES, EMPTY_ANSWER, NO_KNOWN_QUERY_WORDS),
)
FRAGMENT_COVERAGE = Feature(
    name="fragment_coverage",
    summary="Share of the answer's words that are copied from a passage",
    source=_NEWSROOM,
    needs=_NEEDS,
    measurement=fragment_coverage,
    parameters=(CITED_OR_ALL,),
    missing=_MISSING,
)
FRAGMENT_DENSITY = Feature(
    name="fragment_density",
    summary="Mean length in words of the copied fragment a word of the answer belongs to",
    source=_NEWSROOM,
    needs=_NEEDS,
    measurement=fragment_density,
    parameters=(CITED_OR_ALL,),
    missing=_MISSING,
)
LONGEST_COMMON_SPAN = Feature(
    name="longest_common_span",
    summary="Words of the longest run that the answer shares with one passage",
    source=_OWN,
    needs=_NEEDS,
    measurement=longest_common_span,
    parameters=(CITED_OR_ALL,),
    missing=_MISSING,
)
