"""Eleven features that take an afternoon to write: what a surrogate is to be better than."""

from __future__ import annotations

import re

from arena.text.answers import Citations, cited_passages
from features.declare.feature import Feature, Value
from features.declare.sample import EMPTY_ANSWER, Sample
from features.text.tokens import words

SENTENCE_END = re.compile(r"[.!?。！？।]+")


def characters(sample: Sample) -> Value:
    return float(len(sample.text))


def word_count(sample: Sample) -> Value:
    return float(len(sample.folded_words))


def word_length(sample: Sample) -> Value:
    if not sample.folded_words:
        return EMPTY_ANSWER
    return len(sample.text) / len(sample.folded_words)


def sentence_count(sample: Sample) -> Value:
    return float(len(SENTENCE_END.findall(sample.text)))


def distinct_words(sample: Sample) -> Value:
    if not sample.folded_words:
        return EMPTY_ANSWER
    return len(set(sample.folded_words)) / len(sample.folded_words)


def citations_of(sample: Sample) -> Citations:
    return cited_passages(sample.part("answer"), sample.question.passage_ids)


def cited(sample: Sample) -> Value:
    return float(len(citations_of(sample).ranking))


def mentions(sample: Sample) -> Value:
    return float(citations_of(sample).mentions)


def cited_per_word(sample: Sample) -> Value:
    if not sample.folded_words:
        return EMPTY_ANSWER
    return len(citations_of(sample).ranking) / len(sample.folded_words)


def overlap_with_cited(sample: Sample) -> Value:
    """Share of the answer's words that stand in a passage it cites."""
    if not sample.folded_words:
        return EMPTY_ANSWER
    passage_words = cited_words(sample)
    n_shared = sum(word in passage_words for word in sample.folded_words)
    return n_shared / len(sample.folded_words)


def cited_overlap(sample: Sample) -> Value:
    """Share of the distinct words of the cited passages that stand in the answer."""
    return share_in_answer(cited_words(sample), sample)


def question_overlap(sample: Sample) -> Value:
    """Share of the question's words that stand in the answer."""
    question_words = {word.casefold() for word in words(sample.question.query)}
    return share_in_answer(question_words, sample)


def share_in_answer(folded_words: set[str], sample: Sample) -> float:
    if not folded_words:
        return 0.0
    return len(folded_words & set(sample.folded_words)) / len(folded_words)


def cited_words(sample: Sample) -> set[str]:
    """Return the distinct words of the cited passages, case-folded."""
    cited_ids = set(citations_of(sample).matched)
    folded = set[str]()
    for passage in sample.question.passages:
        if passage.passage_id in cited_ids:
            folded.update(word.casefold() for word in words(passage.text))
    return folded


CRUDE_FEATURES = tuple(
    Feature(
        name=f"crude_{measurement.__name__}",
        summary=f"Crude: {measurement.__name__.replace('_', ' ')}",
        source="benchmark",
        needs=("answer", "passages"),
        measurement=measurement,
    )
    for measurement in (
        *(characters, word_count, word_length, sentence_count, distinct_words, cited, mentions),
        *(cited_per_word, overlap_with_cited, cited_overlap, question_overlap),
    )
)
