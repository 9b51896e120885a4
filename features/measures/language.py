"""Is the answer in the language it should be in?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.util import find_spec

from arena.data.errors import MissingDependencyError
from arena.text.citations import strip_citations
from features.declare.feature import Feature, Value, choice
from features.declare.sample import (
    EMPTY_ANSWER,
    LANGUAGE_NOT_COVERED,
    NO_LETTERS,
    NO_REASON,
    Memo,
    Missing,
    Part,
    Sample,
)
from features.text.language_identification import (
    LANGID,
    PY3LANGID,
    Probabilities,
    identify_many,
    languages_of,
)

_IDENTIFIER = choice("identifier", PY3LANGID, LANGID)
_PART = choice("part", "answer", "reason", "output")

_Known = dict[str, Probabilities | Missing]


def target_language(sample: Sample, identifier: str, part: Part) -> Value:
    """Return the probability that a part is in the language of the question."""
    return _probability(sample, sample.question.language, identifier, part)


def english(sample: Sample, identifier: str, part: Part) -> Value:
    """Return the probability that a part is in English."""
    return _probability(sample, "en", identifier, part)


def require_identifier(identifier: str, part: Part = "answer") -> None:  # noqa: ARG001
    """Check that a language identifier is installed.

    Raises:
        MissingDependencyError: If it is not.
    """
    if find_spec(identifier) is None:
        raise MissingDependencyError("identifier=langid", identifier, LANGID)


def prepare_languages(samples: Sequence[Sample], identifier: str, part: Part) -> None:
    """Identify the languages of many samples at once and keep them in their memos.

    Args:
        samples: Samples that are measured next; they may share a memo.
        identifier: ``py3langid`` or ``langid``.
        part: The part whose language is asked for.
    """
    waiting: dict[str, list[_Known]] = {}
    for sample in samples:
        text, known = _text(sample, part), _known(sample.memo, identifier)
        if text not in known:
            waiting.setdefault(text, []).append(known)
    for text, identified in zip(waiting, _identified(list(waiting), identifier), strict=True):
        for known in waiting[text]:
            known[text] = identified


def _probability(sample: Sample, language: str, identifier: str, part: Part) -> Value:
    text, known = _text(sample, part), _known(sample.memo, identifier)
    if not text:
        return NO_REASON if part == "reason" else EMPTY_ANSWER
    if text not in known:
        known[text] = _identified([text], identifier)[0]
    identified = known[text]
    if isinstance(identified, Missing):
        return identified
    column = _columns(identifier).get(language)
    return LANGUAGE_NOT_COVERED if column is None else float(identified[column])


def _text(sample: Sample, part: Part) -> str:
    """Return a part without citations."""
    if part == "answer":
        return sample.text
    return strip_citations(sample.part(part), sample.question.passage_ids)


def _known(memo: Memo, identifier: str) -> _Known:
    """Return what is known so far of the texts of samples that share a memo."""
    nothing: _Known = {}
    return memo.get(("languages", identifier), lambda: nothing)


def _identified(texts: Sequence[str], identifier: str) -> list[Probabilities | Missing]:
    """Return the probabilities of the languages of each text, or why there are none."""
    written = [text for text in texts if any(map(str.isalpha, text))]
    identified = dict(zip(written, identify_many(written, identifier), strict=True))
    return [identified.get(text, NO_LETTERS) for text in texts]


@lru_cache(maxsize=2)
def _columns(identifier: str) -> Mapping[str, int]:
    return {label: column for column, label in enumerate(languages_of(identifier))}


_MISSING = (EMPTY_ANSWER, NO_LETTERS, NO_REASON)
_SOURCE = "MIRAGE-Bench, section 4.1, language detection"

TARGET_LANGUAGE = Feature(
    name="target_language",
    summary="Probability that the answer is in the language of the question",
    source=_SOURCE,
    needs=("answer",),
    measurement=target_language,
    parameters=(_IDENTIFIER, _PART),
    missing=(*_MISSING, LANGUAGE_NOT_COVERED),
    requirement=require_identifier,
    prepare=prepare_languages,
)
ENGLISH = Feature(
    name="english",
    summary="Probability that the answer is in English",
    source=_SOURCE,
    needs=("answer",),
    measurement=english,
    parameters=(_IDENTIFIER, _PART),
    missing=_MISSING,
    requirement=require_identifier,
    prepare=prepare_languages,
)
