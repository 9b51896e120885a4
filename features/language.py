"""Is the answer in the language it should be in?"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.util import find_spec

import numpy as np

from arena.errors import MissingDependencyError
from features.feature import Feature, Value, choice
from features.missing import EMPTY_ANSWER, LANGUAGE_NOT_COVERED, NO_LETTERS
from features.sample import Sample

PY3LANGID = "py3langid"
LANGID = "langid"

_IDENTIFIER = choice("identifier", PY3LANGID, LANGID)
_SURROGATE = re.compile("[\ud800-\udfff]")

Probabilities = Mapping[str, float]


def target_language(sample: Sample, identifier: str) -> Value:
    """Return the probability that the answer is in the language of the question."""
    return _probability(sample, sample.question.language, identifier)


def english(sample: Sample, identifier: str) -> Value:
    """Return the probability that the answer is in English."""
    return _probability(sample, "en", identifier)


def require_identifier(identifier: str) -> None:
    """Check that a language identifier is installed.

    Raises:
        MissingDependencyError: If it is not.
    """
    if find_spec(identifier) is None:
        raise MissingDependencyError("identifier=langid", identifier, LANGID)


def identify(text: str, identifier: str = PY3LANGID) -> Probabilities:
    """Return the probability of every language the identifier knows; they sum to 1.

    Args:
        text: Any text.
        identifier: ``py3langid``, or ``langid`` for the probabilities of the paper.
    """
    return _identifier(identifier)(_SURROGATE.sub("\ufffd", text))


def _probability(sample: Sample, language: str, identifier: str) -> Value:
    if not sample.text:
        return EMPTY_ANSWER
    if not any(map(str.isalpha, sample.text)):
        return NO_LETTERS
    probabilities = sample.memo.get(
        ("language", identifier, sample.text), lambda: identify(sample.text, identifier)
    )
    return probabilities.get(language, LANGUAGE_NOT_COVERED)


@lru_cache(maxsize=2)
def _identifier(identifier: str) -> Callable[[str], Probabilities]:
    return _load_langid() if identifier == LANGID else _load_py3langid()


def _load_py3langid() -> Callable[[str], Probabilities]:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    model = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    return lambda text: dict(model.rank(text))


def _load_langid() -> Callable[[str], Probabilities]:
    from langid.langid import LanguageIdentifier, model

    loaded = LanguageIdentifier.from_modelstring(model, norm_probs=False)
    return lambda text: _normalized(dict(loaded.rank(text)))


def _normalized(logarithms: Mapping[str, float]) -> Probabilities:
    values = np.array(list(logarithms.values()), dtype=np.float64)
    weights = np.exp(values - values.max())
    return dict(zip(logarithms, (weights / weights.sum()).tolist(), strict=True))


_MISSING = (EMPTY_ANSWER, NO_LETTERS, LANGUAGE_NOT_COVERED)
_SOURCE = "MIRAGE-Bench, section 4.1, language detection"

TARGET_LANGUAGE = Feature(
    name="target_language",
    summary="Probability that the answer is in the language of the question",
    source=_SOURCE,
    needs=("answer",),
    measurement=target_language,
    parameters=(_IDENTIFIER,),
    missing=_MISSING,
    requirement=require_identifier,
)
ENGLISH = Feature(
    name="english",
    summary="Probability that the answer is in English",
    source=_SOURCE,
    needs=("answer",),
    measurement=english,
    parameters=(_IDENTIFIER,),
    missing=(EMPTY_ANSWER, NO_LETTERS),
    requirement=require_identifier,
)
