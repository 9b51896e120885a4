"""How much of the reference system's answer does an answer share?

All features look at answer parts without citations and lie in 0..1; the reference system's own
answer scores 1. An empty answer scores 0 against a reference that says something.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from rapidfuzz.distance import LCSseq

from arena.data.errors import MissingDependencyError
from features.declare.feature import Value, choice, declared
from features.declare.sample import EMPTY_REFERENCE, Missing, Sample
from features.text.tokens import folded_words, words_and_marks

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric

Reference = TypeVar("Reference")

OWN_TOKENS = "own"
ROUGE_SCORE = "rouge-score"
SNOWBALL = "snowball"
STEMMERS = MappingProxyType(
    {"yes": {"en": "porter"}}
    | {
        SNOWBALL: {
            **{"ar": "arabic", "de": "german", "en": "english", "es": "spanish", "fi": "finnish"},
            **{"fr": "french", "ru": "russian"},
        }
    }
)
"""Languages whose words are cut to stems, and by which of nltk's algorithms: rouge-score has one,
Porter's; Snowball's are those of multilingual ROUGE."""
SHORTEST_STEMMED = 4
"""Letters of the shortest word that rouge-score stems."""

_SOURCE = "MIRAGE-Bench, section 4.1, answer overlap"
_COMPARED = ("answer", "reference answer")


@declared(
    f"{_SOURCE}; sacrebleu",
    _COMPARED,
    choice("tokenize", OWN_TOKENS, "13a", "intl", "char", "zh"),
    choice("order", "effective", "full"),
)
def bleu(sample: Sample, tokenize: str, order: str) -> Value:
    """SacreBLEU of the answer against the reference answer, 0 to 1.

    Args:
        sample: The answer.
        tokenize: ``own``: words and punctuation marks, in any script; else a tokenizer of
            sacrebleu, by its name there.
        order: ``effective``, as ``sacrebleu.sentence_bleu`` has it: no longer n-grams than the
            answer holds. ``full``, as a corpus of one sentence has it, by which MIRAGE-Bench's
            features were published: an answer of fewer than four tokens scores 0.
    """

    def against(reference: str) -> Metric | None:
        from sacrebleu.metrics.bleu import BLEU

        scheme, effective = "none" if tokenize == OWN_TOKENS else tokenize, order == "effective"
        metric = BLEU(
            tokenize=scheme, effective_order=effective, references=[[_spaced(reference, tokenize)]]
        )
        return metric if metric.tokenizer(_spaced(reference, tokenize)).split() else None

    return _score(
        sample,
        f"bleu {tokenize} {order}",
        against,
        lambda metric: _share(metric, _spaced(sample.text, tokenize)),
    )


def _spaced(text: str, tokenize: str) -> str:
    return " ".join(words_and_marks(text)) if tokenize == OWN_TOKENS else text.rstrip()


@declared("Popović 2015, chrF; sacrebleu", _COMPARED)
def chrf(sample: Sample) -> Value:
    """chrF2 against the reference answer, on characters, 0 to 1."""
    return _score(sample, "chrf", _chrf_against, lambda metric: _share(metric, sample.text))


def require_rouge(tokens: str, stem: str = "no") -> None:
    """Check that rouge-score is installed, where it is asked for.

    Raises:
        MissingDependencyError: If it is not.
    """
    if (tokens, stem) != (OWN_TOKENS, "no") and find_spec("rouge_score") is None:
        feature = f"rouge_l(stem={stem},tokens={tokens})"
        raise MissingDependencyError(feature, ROUGE_SCORE, "rouge")


@declared(
    f"{_SOURCE}; rouge-score",
    _COMPARED,
    choice("tokens", OWN_TOKENS, ROUGE_SCORE),
    choice("stem", "no", "yes", SNOWBALL),
    requirement=require_rouge,
)
def rouge_l(sample: Sample, tokens: str, stem: str) -> Value:
    """ROUGE-L F-measure against the reference answer.

    Args:
        sample: The answer.
        tokens: ``own``: case-folded words, in any script; ``rouge-score``: those of that library,
            lower-case ASCII letters and digits, all else being space.
        stem: Whether words of four letters or more are cut to their stems: ``yes``, English ones by
            Porter's algorithm, as rouge-score does with ``use_stemmer``; ``snowball``, those of
            the languages in ``STEMMERS``, as multilingual ROUGE does.
    """
    stems = STEMMERS.get(stem, {}).get(sample.question.language)
    return _score(
        sample,
        f"rouge_l {tokens} {stems}",
        lambda text: _rouge_tokens(text, tokens, stems),
        lambda wanted: rouge_l_of_words(wanted, _rouge_tokens(sample.text, tokens, stems)),
    )


def _rouge_tokens(text: str, tokens: str, stems: str | None) -> list[str]:
    stemmer = _stemmer(stems) if stems else None
    if tokens == ROUGE_SCORE:
        from rouge_score.tokenize import tokenize

        return list(tokenize(text, stemmer))
    cut = folded_words(text)
    if stemmer is None:
        return cut
    return [stemmer.stem(word) if len(word) >= SHORTEST_STEMMED else word for word in cut]


@cache
def _stemmer(algorithm: str) -> Any:  # noqa: ANN401 - nltk's, which has no types
    from nltk.stem import PorterStemmer, SnowballStemmer  # what rouge-score installs

    return PorterStemmer() if algorithm == "porter" else SnowballStemmer(algorithm)


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
    """Score an answer against its reference, which is read once for all answers."""
    text = sample.question.reference_text
    if isinstance(text, Missing):
        return text
    key = (name, sample.question.language, sample.question.query_id)
    reference = sample.memo.get(key, lambda: read(text))
    return score(reference) if reference else EMPTY_REFERENCE


def _chrf_against(reference: str) -> Metric | None:
    from sacrebleu.metrics.chrf import CHRF

    return CHRF(references=[[reference]]) if reference.strip() else None


def _share(metric: Metric, answer: str) -> float:
    """Score against the reference that a metric of sacrebleu holds, 0 to 1."""
    return min(float(metric.corpus_score([answer], None).score) / 100, 1.0)
