"""What grounding features share: the passages that count, and where the answer matches them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal

from features.feature import choice
from features.grounding.index import PassageIndex, folded_words
from features.missing import EMPTY_ANSWER, EMPTY_PASSAGES, NO_CITED_PASSAGES, NO_PASSAGES, Missing
from features.passage_texts import passage_text
from features.sample import Sample

Passages = Literal["cited", "all"]
"""Which passages count: those that are cited, or all of the question's."""

CITED_OR_ALL = choice("passages", "cited", "all")
NO_EVIDENCE = (NO_PASSAGES, EMPTY_PASSAGES, NO_CITED_PASSAGES)
"""Why there may be no passages to hold an answer against."""


def passage_index(sample: Sample) -> PassageIndex:
    """Return the index of the question's passages, titles included; built once for all answers."""
    question = sample.question
    return sample.memo.get(
        ("passage index", question.language, question.query_id),
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
    places = _places(sample)
    chosen = 0
    for passage_id in passage_ids:
        chosen |= 1 << places[passage_id]
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
        ("matches", question.language, question.query_id, sample.text, allowed),
        lambda: passage_index(sample).longest_matches(sample.folded_words, allowed),
    )


def query_words(sample: Sample) -> list[str]:
    """Return the distinct words of the question, case-folded, in their order."""
    question = sample.question
    return sample.memo.get(
        ("query words", question.language, question.query_id),
        lambda: distinct(folded_words(question.query)),
    )


def distinct(words: Iterable[str]) -> list[str]:
    """Return words without repetitions, in order of first occurrence."""
    return list(dict.fromkeys(words))


def _places(sample: Sample) -> dict[str, int]:
    question = sample.question
    return sample.memo.get(
        ("passage places", question.language, question.query_id),
        lambda: {passage_id: place for place, passage_id in enumerate(question.passage_ids)},
    )
