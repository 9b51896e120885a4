"""How much of the reference system's answer does an answer share?

Both features look at answer parts without citations and lie in 0..1; the reference system's own
answer scores 1. An empty answer scores 0 against a reference that says something.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapidfuzz.distance import LCSseq

from features.feature import Feature, Value
from features.missing import EMPTY_REFERENCE, NO_REFERENCE_ANSWER, NO_REFERENCE_SYSTEM, Missing
from features.sample import Question, Sample
from features.tokens import words, words_and_marks

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU


def bleu(sample: Sample) -> Value:
    """Return sentence-level SacreBLEU divided by 100, on words and punctuation marks.

    Exponential smoothing, up to four-grams, the order lowered for short answers.
    """
    scorer = _scorer(sample)
    if isinstance(scorer, Missing):
        return scorer
    score = scorer.corpus_score([" ".join(words_and_marks(sample.text))], None).score
    return min(float(score) / 100, 1.0)


def rouge_l(sample: Sample) -> Value:
    """Return the ROUGE-L F-measure on case-folded words."""
    reference = _reference_words(sample)
    if isinstance(reference, Missing):
        return reference
    return rouge_l_of_words(reference, [word.casefold() for word in sample.words])


def rouge_l_of_words(reference: list[str], answer: list[str]) -> float:
    """Return the F-measure of the longest common subsequence of two lists of words."""
    common = LCSseq.similarity(reference, answer)
    if not common:
        return 0.0
    recall, precision = common / len(reference), common / len(answer)
    return 2 * precision * recall / (precision + recall)


def _scorer(sample: Sample) -> BLEU | Missing:
    question = sample.question
    return sample.memo.get(
        ("bleu", question.language, question.query_id), lambda: _load_scorer(question)
    )


def _load_scorer(question: Question) -> BLEU | Missing:
    """Prepare SacreBLEU for one question: the reference is counted once for all systems."""
    text = question.reference_text
    if isinstance(text, Missing):
        return text
    tokens = words_and_marks(text)
    if not tokens:
        return EMPTY_REFERENCE
    from sacrebleu.metrics.bleu import BLEU

    references = [[" ".join(tokens)]]
    return BLEU(tokenize="none", effective_order=True, force=True, references=references)


def _reference_words(sample: Sample) -> list[str] | Missing:
    question = sample.question
    return sample.memo.get(
        ("rouge", question.language, question.query_id), lambda: _load_reference_words(question)
    )


def _load_reference_words(question: Question) -> list[str] | Missing:
    text = question.reference_text
    if isinstance(text, Missing):
        return text
    return [word.casefold() for word in words(text)] or EMPTY_REFERENCE


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
