"""How much of the reference system's answer does an answer share?

All features look at answer parts without citations and lie in 0..1; the reference system's own
answer scores 1. An empty answer scores 0 against a reference that says something.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from rapidfuzz.distance import LCSseq

from features.declare.feature import Feature, Value
from features.declare.sample import (
    EMPTY_REFERENCE,
    NO_REFERENCE_ANSWER,
    NO_REFERENCE_SYSTEM,
    Missing,
    Sample,
)
from features.text.tokens import folded_words, words_and_marks

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric

Reference = TypeVar("Reference")
Ngram: TypeAlias = tuple[str, ...]

LONGEST_NGRAM = 4
"""Words of the longest n-grams of BLEU."""


def bleu(sample: Sample) -> Value:
    """Return sentence-level SacreBLEU divided by 100, on words and punctuation marks.

    Exponential smoothing, up to four-grams, the order lowered for short answers.
    """
    return _score(
        sample, "bleu", _counted, lambda wanted: _bleu(wanted, words_and_marks(sample.text))
    )


def chrf2(sample: Sample) -> Value:
    """Return SacreBLEU's chrF2 divided by 100, on characters other than white space."""
    return _score(sample, "chrf", _chrf_against, lambda metric: _chrf(metric, sample.text))


def rouge_l(sample: Sample) -> Value:
    """Return the ROUGE-L F-measure on case-folded words."""
    return _score(
        sample, "rouge_l", folded_words, lambda words: rouge_l_of_words(words, sample.folded_words)
    )


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
    read: Callable[[str], Reference | None],
    score: Callable[[Reference], float],
) -> Value:
    """Score an answer against its reference, which is read once; equal answers are scored once."""
    text = sample.question.reference_text
    if isinstance(text, Missing):
        return text
    key = (name, sample.question.language, sample.question.query_id)
    reference = sample.memo.get((*key, None), lambda: read(text))
    if not reference:
        return EMPTY_REFERENCE
    return sample.memo.get((*key, sample.text), lambda: score(reference))


def _counted(reference: str) -> list[Counter[Ngram]] | None:
    """Count the n-grams of a reference, by their length."""
    tokens = words_and_marks(reference)
    if not tokens:
        return None
    return [Counter(_ngrams(tokens, order)) for order in range(1, LONGEST_NGRAM + 1)]


def _ngrams(tokens: Sequence[str], order: int) -> Iterator[Ngram]:
    return zip(*(tokens[start:] for start in range(order)), strict=False)


def _bleu(wanted: Sequence[Counter[Ngram]], tokens: Sequence[str]) -> float:
    """Return sacrebleu's BLEU of n-grams counted here, which is faster: only shared ones are."""
    from sacrebleu.metrics.bleu import BLEU

    correct, total = [], []
    for order, counts in enumerate(wanted, start=1):
        shared = Counter(filter(counts.__contains__, _ngrams(tokens, order)))
        correct.append(sum(min(times, counts[ngram]) for ngram, times in shared.items()))
        total.append(max(len(tokens) - order + 1, 0))
    score = BLEU.compute_bleu(
        correct,
        total,
        sys_len=len(tokens),
        ref_len=wanted[0].total(),
        smooth_method="exp",
        effective_order=True,
    ).score
    return min(float(score) / 100, 1.0)


def _chrf_against(reference: str) -> Metric | None:
    from sacrebleu.metrics.chrf import CHRF

    return CHRF(references=[[reference]]) if reference.strip() else None


def _chrf(metric: Metric, answer: str) -> float:
    """Score against the reference that a metric holds."""
    return min(float(metric.corpus_score([answer], None).score) / 100, 1.0)


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
    measurement=chrf2,
    missing=_UNREFERENCED,
)
