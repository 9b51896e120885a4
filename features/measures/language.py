"""Is the answer in the language it should be in?"""

from __future__ import annotations

from importlib.util import find_spec

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
from features.text.language_identification import LANGID, PY3LANGID, identify

_IDENTIFIER = choice("identifier", PY3LANGID, LANGID)
_PART = choice("part", "answer", "reason", "output")


_MISSING = (EMPTY_ANSWER, NO_LETTERS, NO_REASON)
_SOURCE = "MIRAGE-Bench, section 4.1, language detection"


def require_identifier(identifier: str, part: Part = "answer") -> None:  # noqa: ARG001
    """Check that a language identifier is installed.

    Raises:
        MissingDependencyError: If it is not.
    """
    if find_spec(identifier) is None:
        raise MissingDependencyError("identifier=langid", identifier, LANGID)


@declared(
    _SOURCE,
    ("answer",),
    (*_MISSING, LANGUAGE_NOT_COVERED),
    _IDENTIFIER,
    _PART,
    requirement=require_identifier,
)
def target_language(sample: Sample, identifier: str, part: Part) -> Value:
    """Probability that the answer is in the language of the question."""
    return _probability(sample, sample.question.language, identifier, part)


@declared(_SOURCE, ("answer",), _MISSING, _IDENTIFIER, _PART, requirement=require_identifier)
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
