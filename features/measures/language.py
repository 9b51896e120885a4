"""Is the answer in the language it should be in? By py3langid, or langid as in MIRAGE-Bench."""

from __future__ import annotations

import lzma
import re
import struct
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

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
WINDOW = 6
"""Bytes of the longest n-gram of py3langid's model."""

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
    return _quick_identifier().rank  # type: ignore[no-any-return]


def _quick_identifier() -> Any:  # noqa: ANN401 - of py3langid, which has no types
    """Load py3langid's model, with the states of its automaton found for all bytes at once.

    Each depends on the last ``WINDOW`` bytes alone, since no n-gram of the model is longer. Nor is
    its ranking sorted.
    """
    from py3langid.langid import MODEL_DIR, MODEL_FILE, LanguageIdentifier

    class Identifier(LanguageIdentifier):  # type: ignore[misc]
        def _raw_score(self, text: bytes) -> Any:  # noqa: ANN401
            padded = np.frombuffer(bytes([255] * (WINDOW - 1)) + text, np.uint8)
            states = np.zeros(len(text), np.intp)
            for first in range(WINDOW):
                states = following[rows[states] + padded[first : first + len(text)]]
            features = found[states]
            visits = Counter(features[features >= 0].tolist())
            return self._sparse_score(visits, self.nb_ptc) if visits else super()._raw_score(b"")

        def rank(self, text: str) -> list[tuple[str, float]]:
            # Of columns with one label the first holds the score: here it comes last.
            return list(zip(self.nb_classes[::-1], self._decide(text).tolist()[::-1], strict=True))

    held = _packed_arrays(MODEL_DIR / MODEL_FILE)
    following, found = held["nextmove"], held["out_feat"]
    rows = held["nextmove_row"].astype(np.intp) << 8
    told = (held["ptc"], held["pc"], held["classes"].tolist(), following, found)
    return Identifier(*told, norm_probs=True, tk_row=())


def _packed_arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Read the arrays of an ``.npz.xz`` as it is unpacked, without a copy of the whole."""
    held = {}
    with lzma.open(path) as stream:
        while (head := stream.read(30)).startswith(b"PK\3\4"):  # of a member, stored as it is
            name, extra = struct.unpack("<HH", head[26:])
            key = stream.read(name).decode().removesuffix(".npy")
            stream.read(extra)
            held[key] = np.lib.format.read_array(stream)
    return held


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
