"""How much of the reference system's answer does an answer share?

All features look at answer parts without citations and lie in 0..1; the reference system's own
answer scores 1. An empty answer scores 0 against a reference that says something.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from rapidfuzz.distance import LCSseq

from features.declare.feature import Feature, Value
from features.declare.sample import (
    EMPTY_REFERENCE,
    NO_REFERENCE_ANSWER,
    NO_REFERENCE_SYSTEM,
    Missing,
    Sample,
)
from features.text.overlap_scores import ReferenceCharacters, ReferenceNgrams, sentence_bleu
from features.text.overlap_scores import chrf as chrf_of_texts
from features.text.tokens import words, words_and_marks

Reference = TypeVar("Reference")


def bleu(sample: Sample) -> Value:
    """Return sentence-level SacreBLEU divided by 100, on words and punctuation marks.

    Exponential smoothing, up to four-grams, the order lowered for short answers.
    """
    return _score(sample, "bleu", _counted_tokens, _bleu)


def chrf(sample: Sample) -> Value:
    """Return SacreBLEU's chrF2 divided by 100, on characters other than white space."""
    return _score(sample, "chrf", _counted_characters, _chrf)


def rouge_l(sample: Sample) -> Value:
    """Return the ROUGE-L F-measure on case-folded words."""
    return _score(sample, "rouge_l", _folded_words, _rouge_l)


def rouge_l_of_words(reference: Sequence[str], answer: Sequence[str]) -> float:
    """Return the F-measure of the longest common subsequence of two lists of words."""
    common = LCSseq.similarity(reference, answer)
    if not common:
        return 0.0
    recall, precision = common / len(reference), common / len(answer)
    return 2 * precision * recall / (precision + recall)


def _score(
    sample: Sample,
    name: str,
    read: Callable[[str], Reference | Missing],
    score: Callable[[Sample, Reference], float],
) -> Value:
    """Score an answer against its reference, which is read once; equal answers are scored once."""
    key = (name, sample.question.language, sample.question.query_id)
    text = sample.question.reference_text
    reference = (
        text if isinstance(text, Missing) else sample.memo.get((*key, None), lambda: read(text))
    )
    if isinstance(reference, Missing):
        return reference
    return sample.memo.get((*key, sample.text), lambda: score(sample, reference))


def _counted_tokens(text: str) -> ReferenceNgrams | Missing:
    tokens = words_and_marks(text)
    return ReferenceNgrams.of(tokens) if tokens else EMPTY_REFERENCE


def _bleu(sample: Sample, reference: ReferenceNgrams) -> float:
    return min(sentence_bleu(words_and_marks(sample.text), reference) / 100, 1.0)


def _counted_characters(text: str) -> ReferenceCharacters | Missing:
    counted = ReferenceCharacters.of(text)
    return counted if counted.length else EMPTY_REFERENCE


def _chrf(sample: Sample, reference: ReferenceCharacters) -> float:
    return min(chrf_of_texts(sample.text, reference) / 100, 1.0)


def _folded_words(text: str) -> list[str] | Missing:
    return [word.casefold() for word in words(text)] or EMPTY_REFERENCE


def _rouge_l(sample: Sample, reference: list[str]) -> float:
    return rouge_l_of_words(reference, sample.folded_words)


_SOURCE = "MIRAGE-Bench, section 4.1, answer overlap"
_UNREFERENCED = (NO_REFERENCE_SYSTEM, NO_REFERENCE_ANSWER, EMPTY_REFERENCE)

BLEU_SCORE = Feature(
    name="bleu",
    summary="Sentence-level SacreBLEU against the reference answer, 0 to 1",
    source=f"{_SOURCE}; sacrebleu",
    needs=("answer", "reference answer"),
    measurement=bleu,
    missing=_UNREFERENCED,
)
ROUGE_L = Feature(
    name="rouge_l",
    summary="ROUGE-L F-measure against the reference answer",
    source=_SOURCE,
    needs=("answer", "reference answer"),
    measurement=rouge_l,
    missing=_UNREFERENCED,
)
CHRF = Feature(
    name="chrf",
    summary="chrF2 against the reference answer, on characters, 0 to 1",
    source="Popović 2015, chrF; sacrebleu",
    needs=("answer", "reference answer"),
    measurement=chrf,
    missing=_UNREFERENCED,
)
