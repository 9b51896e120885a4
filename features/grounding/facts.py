"""Do the numbers and names of an answer stand in the passages?"""

from __future__ import annotations

from collections.abc import Collection

from features.feature import SENTENCES, Feature, Value
from features.grounding.evidence import (
    CITED_OR_ALL,
    NO_EVIDENCE,
    Passages,
    evidence,
    passage_index,
    query_words,
)
from features.grounding.index import members
from features.grounding.numbers import numbers_in
from features.missing import EMPTY_ANSWER, NO_CAPITALS, NO_NAMES, NO_NUMBERS, Missing
from features.passage_texts import passage_text
from features.sample import Question, Sample
from features.tokens import words


def unsupported_numbers(sample: Sample, passages: Passages) -> Value:
    """Return the share of the answer's distinct numbers that no passage and no question holds.

    Numbers compare by value, however they are written; see ``numbers_in``.
    """
    allowed = evidence(sample, passages)
    if isinstance(allowed, Missing):
        return allowed
    if not sample.folded_words:
        return EMPTY_ANSWER
    numbers = frozenset(numbers_in(sample.text))
    if not numbers:
        return NO_NUMBERS
    return _share(numbers, numbers - _known_numbers(sample, allowed))


def unsupported_names(sample: Sample, passages: Passages) -> Value:
    """Return the share of the answer's distinct names that no passage and no question holds.

    A name is a word of two characters or more with a capital that does not begin its sentence;
    in German every noun is one. A name is held whatever its case.

    Raises:
        MissingDependencyError: See ``features.sentences.split_sentences``.
    """
    allowed = evidence(sample, passages)
    if isinstance(allowed, Missing):
        return allowed
    if not sample.folded_words:
        return EMPTY_ANSWER
    if not any(letter.islower() or letter.isupper() for letter in sample.text):
        return NO_CAPITALS
    names = _names(sample)
    if not names:
        return NO_NAMES
    index, asked = passage_index(sample), frozenset(query_words(sample))
    unknown = [name for name in names if not index.holders(name) & allowed and name not in asked]
    return _share(names, unknown)


def _share(things: Collection[str], unknown: Collection[str]) -> float:
    return len(unknown) / len(things)


def _known_numbers(sample: Sample, allowed: int) -> frozenset[str]:
    question = sample.question
    asked, by_passage = sample.memo.get(
        ("numbers", question.language, question.query_id), lambda: _numbers(question)
    )
    return asked.union(*(by_passage[place] for place in members(allowed)))


def _numbers(question: Question) -> tuple[frozenset[str], list[frozenset[str]]]:
    """Return the numbers of a question, and those of each of its passages."""
    held = [frozenset(numbers_in(text)) for text in map(passage_text, question.passages)]
    return frozenset(numbers_in(question.query)), held


def _names(sample: Sample) -> frozenset[str]:
    return frozenset(
        word.casefold()
        for statement in sample.statements("answer")
        for word in words(statement.text)[1:]
        if len(word) > 1 and word[0].isupper()
    )


_NEEDS = ("answer", "query", "passages")

UNSUPPORTED_NUMBERS = Feature(
    name="unsupported_numbers",
    summary="Share of the answer's numbers that no passage holds",
    source="surrogate-arena",
    needs=_NEEDS,
    measurement=unsupported_numbers,
    parameters=(CITED_OR_ALL,),
    missing=(*NO_EVIDENCE, EMPTY_ANSWER, NO_NUMBERS),
)
UNSUPPORTED_NAMES = Feature(
    name="unsupported_names",
    summary="Share of the capitalised words within the answer's sentences that no passage holds",
    source="surrogate-arena",
    needs=(*_NEEDS, SENTENCES),
    measurement=unsupported_names,
    parameters=(CITED_OR_ALL,),
    missing=(*NO_EVIDENCE, EMPTY_ANSWER, NO_CAPITALS, NO_NAMES),
)
