"""Is the answer in the language it should be in? By py3langid, or langid as in MIRAGE-Bench."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from arena.data.errors import MissingDependencyError
from arena.text.citations import strip_citations
from features.declare.feature import Value, choice, declared
from features.declare.sample import (
    EMPTY_ANSWER,
    LANGUAGE_NOT_COVERED,
    NO_LETTERS,
    NO_REASON,
    Part,
    Sample,
)

PY3LANGID = "py3langid"
LANGID = "langid"

_SURROGATE = re.compile("[\ud800-\udfff]")
_IDENTIFIER = choice("identifier", PY3LANGID, LANGID)
_PART = choice("part", "answer", "reason", "output")
_SOURCE = "MIRAGE-Bench, section 4.1, language detection"


def identify(text: str, identifier: str = PY3LANGID) -> Mapping[str, float]:
    """Return the probability of every language that an identifier knows, by its code.

    Lone surrogates, which langid refuses, count as U+FFFD.
    """
    return dict(_ranker(identifier)(_SURROGATE.sub("\ufffd", text)))


@lru_cache(maxsize=2)
def _ranker(identifier: str) -> Callable[[str], Any]:
    if identifier == LANGID:
        from langid.langid import LanguageIdentifier, model

        return LanguageIdentifier.from_modelstring(model, norm_probs=True).rank  # type: ignore[no-any-return]
    from py3langid.langid import MODEL_FILE
    from py3langid.langid import LanguageIdentifier as Identifier

    return Identifier.from_model_file(MODEL_FILE, norm_probs=True).rank  # type: ignore[no-any-return]


def require_identifier(identifier: str, **_: object) -> None:
    """Check that a language identifier is installed.

    Raises:
        MissingDependencyError: If it is not.
    """
    if find_spec(identifier) is None:
        raise MissingDependencyError("identifier=langid", identifier, LANGID)


@declared(_SOURCE, ("answer",), _IDENTIFIER, _PART, requirement=require_identifier)
def target_language(sample: Sample, identifier: str, part: Part) -> Value:
    """Probability that the answer is in the language of the question."""
    return _probability(sample, sample.question.language, identifier, part)


@declared(_SOURCE, ("answer",), _IDENTIFIER, _PART, requirement=require_identifier)
def english(sample: Sample, identifier: str, part: Part) -> Value:
    """Probability that the answer is in English."""
    return _probability(sample, "en", identifier, part)


def _probability(sample: Sample, language: str, identifier: str, part: Part) -> Value:
    text = sample.text
    if part != "answer":
        text = strip_citations(sample.part(part), sample.question.passage_ids)
    if not text:
        return NO_REASON if part == "reason" else EMPTY_ANSWER
    if not any(map(str.isalpha, text)):
        return NO_LETTERS
    known = sample.memo.get(("languages", identifier, text), lambda: identify(text, identifier))
    return known.get(language, LANGUAGE_NOT_COVERED)
