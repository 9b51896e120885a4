"""How much of the reference system's answer does an answer share?

Features compare answer parts without citations, from 0 to 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple, TypeVar

from arena.data.errors import MissingDependencyError
from features.declare.feature import Value, choice, declared
from features.declare.sample import EMPTY_REFERENCE, Missing, Sample
from features.text.tokens import folded_words, word_ngrams, words_and_marks

Reference = TypeVar("Reference")

OWN_TOKENS = "own"
ROUGE_SCORE = "rouge-score"
LONGEST_NGRAM = 4
"""Tokens of the longest n-grams of BLEU."""

_SOURCE = "MIRAGE-Bench, section 4.1, answer overlap"
_COMPARED = ("answer", "reference answer")


@declared(
    source=f"{_SOURCE}; sacrebleu",
    needs=_COMPARED,
    parameters=(
        choice("tokenize", OWN_TOKENS, "13a", "intl", "char", "zh"),
        choice("order", "effective", "full"),
    ),
)
def bleu(sample: Sample, tokenize: str, order: str) -> Value:
    """SacreBLEU of the answer against the reference answer, 0 to 1.

    Args:
        sample: The answer.
        tokenize: ``own``: words and punctuation marks, in any script; else a sacrebleu tokenizer.
        order: ``effective``, as ``sacrebleu.sentence_bleu``: no longer n-grams than the answer
            holds. ``full``, as MIRAGE-Bench's features: fewer than four tokens score 0.
    """

    def read_reference(text: str) -> _ReferenceNgrams | None:
        tokens = _tokens(text, tokenize)
        if not tokens:
            return None
        counts: Counter[tuple[str, ...]] = Counter()
        for n in range(1, LONGEST_NGRAM + 1):
            counts.update(word_ngrams(tokens, n))
        return _ReferenceNgrams(len(tokens), counts)

    def score(reference: _ReferenceNgrams) -> float:
        from sacrebleu.metrics.bleu import BLEU

        tokens = _tokens(sample.text, tokenize)
        totals = [max(len(tokens) - n, 0) for n in range(LONGEST_NGRAM)]
        matches = _ngram_matches(tokens, reference)
        result = BLEU.compute_bleu(
            correct=matches,
            total=totals,
            sys_len=len(tokens),
            ref_len=reference.n_tokens,
            smooth_method="exp",
            effective_order=order == "effective",
        )
        # Rounding may bring an answer that equals the reference above 100.
        return min(float(result.score) / 100, 1.0)

    return _score(sample, f"bleu {tokenize}", read_reference, score)


class _ReferenceNgrams(NamedTuple):
    n_tokens: int
    counts: Counter[tuple[str, ...]]


def _ngram_matches(tokens: Sequence[str], reference: _ReferenceNgrams) -> list[int]:
    """Count n-grams shared with a reference, clipped as in BLEU."""
    matches = [0] * LONGEST_NGRAM
    unmatched = dict(reference.counts)
    for n in range(LONGEST_NGRAM):
        for ngram in word_ngrams(tokens, n + 1):
            if unmatched.get(ngram):
                unmatched[ngram] -= 1
                matches[n] += 1
        if not matches[n]:  # then no longer n-gram is shared either
            break
    return matches


def _tokens(text: str, tokenize: str) -> list[str]:
    if tokenize == OWN_TOKENS:
        return words_and_marks(text)
    return list(_tokenizer(tokenize)(text.rstrip()).split())


@cache
def _tokenizer(tokenize: str) -> Callable[[str], str]:
    from sacrebleu.metrics.bleu import BLEU

    cut: Callable[[str], str] = BLEU(tokenize=tokenize).tokenizer
    return cut


def _require_rouge(tokens: str, stem: str = "no") -> None:
    if (tokens, stem) != (OWN_TOKENS, "no") and find_spec("rouge_score") is None:
        feature = f"rouge_l(stem={stem},tokens={tokens})"
        raise MissingDependencyError(feature, ROUGE_SCORE, "rouge")


@declared(
    source=f"{_SOURCE}; rouge-score",
    needs=_COMPARED,
    parameters=(
        choice("tokens", OWN_TOKENS, ROUGE_SCORE),
        choice("stem", "no", "yes"),
    ),
    requirement=_require_rouge,
)
def rouge_l(sample: Sample, tokens: str, stem: str) -> Value:
    """ROUGE-L F-measure against the reference answer.

    Args:
        sample: The answer.
        tokens: ``own``: case-folded words, in any script; ``rouge-score``: that library's
            lower-case ASCII letters and digits.
        stem: Whether English words of four letters or more are stemmed by Porter's algorithm.
    """
    is_stemmed = stem == "yes" and sample.question.language == "en"

    def cut(text: str) -> list[str]:
        if tokens == OWN_TOKENS and not is_stemmed and text == sample.text:
            return sample.folded_text  # cut once for all features
        return _rouge_tokens(text, tokens, is_stemmed)

    def score(reference: list[str]) -> float:
        from rapidfuzz.distance import LCSseq  # needed where there are references

        answer = cut(sample.text)
        common = LCSseq.similarity(reference, answer)
        if not common:
            return 0.0
        recall = common / len(reference)
        precision = common / len(answer)
        return 2 * precision * recall / (precision + recall)

    return _score(sample, f"rouge_l {tokens} {stem}", cut, score)


def _rouge_tokens(text: str, tokens: str, is_stemmed: bool) -> list[str]:
    # Letters of the shortest word that rouge-score stems
    shortest_stemmed = 4
    stemmer = _stemmer() if is_stemmed else None
    if tokens == ROUGE_SCORE:
        from rouge_score.tokenize import tokenize

        return list(tokenize(text, stemmer))
    words = folded_words(text)
    if stemmer is None:
        return words
    return [stemmer.stem(word) if len(word) >= shortest_stemmed else word for word in words]


@cache
def _stemmer() -> Any:  # noqa: ANN401 - nltk's, which has no types
    from nltk.stem import PorterStemmer  # what rouge-score installs

    return PorterStemmer()


def _score(
    sample: Sample,
    name: str,
    read: Callable[[str], Reference | None],
    score: Callable[[Reference], float],
) -> Value:
    text = sample.question.reference_text
    if isinstance(text, Missing):
        return text
    key = (name, sample.question.language, sample.question.query_id)
    reference = sample.memo.get(key, lambda: read(text))
    if not reference:
        return EMPTY_REFERENCE
    return score(reference)
