"""Is the answer in the language it should be in? By py3langid, or langid as in MIRAGE-Bench."""

from __future__ import annotations

import io
import lzma
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.data.errors import MissingDependencyError
from arena.data.files import cache_folder
from arena.data.languages import MIRACL_LANGUAGES
from arena.data.writing import replaced_folder
from arena.text.answers import strip_citations
from features.declare.feature import Value, choice, declared
from features.declare.sample import (
    EMPTY_ANSWER,
    LANGUAGE_NOT_COVERED,
    NO_LETTERS,
    NO_REASON,
    Part,
    Sample,
)
from features.text.tokens import TEXTS_CACHED, without_surrogates

PY3LANGID = "py3langid"
LANGID = "langid"
WINDOW = 6
"""Bytes of the longest n-gram of py3langid's model."""
MODEL_ARRAYS = ("ptc", "pc", "classes", "nextmove", "nextmove_row", "out_feat")


def identify(text: str, identifier: str = PY3LANGID) -> Mapping[str, float]:
    """Return every known language's probability, by code.

    Lone surrogates, which langid refuses, count as U+FFFD.
    """
    return dict(_ranker(identifier)(without_surrogates(text)))


SUPPORTED = frozenset(
    {*MIRACL_LANGUAGES, "it", "pt", "nl", "pl", "tr", "uk", "vi", "cs", "sv", "he"}
)
"""Languages that questions are expected in."""


def likeliest_language(text: str) -> str | None:
    """Return the likeliest of the supported languages; None without letters."""
    if not any(map(str.isalpha, text)):
        return None
    probabilities = identify(text)
    supported = {code: value for code, value in probabilities.items() if code in SUPPORTED}
    return max(supported, key=lambda code: (supported[code], code))


def supported_share(text: str, language: str) -> float | None:
    """Return a language's probability among the supported ones; None if it is not known."""
    identifier = _quick_identifier()
    if language not in identifier.nb_classes:
        return None
    scores = identifier.scores(without_surrogates(text))
    supported = scores[_supported_columns(language)].sum()
    own = scores[identifier.nb_classes.index(language)]
    return float(own / supported) if supported > 0 else None


@cache
def _supported_columns(language: str) -> list[int]:
    labels = _quick_identifier().nb_classes
    # Of columns with one label, the first holds the score.
    return [labels.index(code) for code in sorted(SUPPORTED | {language}) if code in labels]


@lru_cache(maxsize=2)
def _ranker(identifier: str) -> Callable[[str], Any]:
    if identifier == LANGID:
        from langid.langid import LanguageIdentifier, model

        return LanguageIdentifier.from_modelstring(model, norm_probs=True).rank  # type: ignore[no-any-return]
    return _quick_identifier().rank  # type: ignore[no-any-return]


@cache
def _quick_identifier() -> Any:  # noqa: ANN401 - of py3langid, which has no types
    """Load py3langid, and run its automaton on whole texts."""
    from py3langid.langid import LanguageIdentifier

    class Identifier(LanguageIdentifier):  # type: ignore[misc]
        def _raw_score(self, text: bytes) -> Any:  # noqa: ANN401
            # Byte 255 occurs in no text, so that no n-gram starts before the text.
            padded = np.frombuffer(bytes([255] * (WINDOW - 1)) + text, np.uint8)
            states = np.zeros(len(text), np.intp)
            for first in range(WINDOW):  # each state after one more of its last bytes
                rows = row_starts.take(states) + padded[first : first + len(text)]
                states = next_states.take(rows)
            features = state_features.take(states)
            counts = Counter(features[features >= 0].tolist())
            if not counts:
                return super()._raw_score(b"")
            return self._sparse_score(counts, self.nb_ptc)

        # Features and checks ask for the same texts.
        scores = lru_cache(maxsize=TEXTS_CACHED)(LanguageIdentifier._decide)

        def rank(self, text: str) -> Iterator[tuple[str, float]]:
            # Reversed, the first column with a label comes last, and wins in a dictionary.
            return zip(self.nb_classes[::-1], self.scores(text)[::-1].tolist(), strict=True)

    arrays = _model_arrays()
    next_states = arrays["nextmove"]
    state_features = arrays["out_feat"]
    row_starts = arrays["nextmove_row"].astype(np.intp) << 8  # rows of 256 bytes
    return Identifier(
        arrays["ptc"],
        arrays["pc"],
        arrays["classes"].tolist(),
        next_states,
        state_features,
        norm_probs=True,
        tk_row=(),
    )


def _model_arrays() -> dict[str, npt.NDArray[Any]]:
    """Read py3langid's model; it is unpacked once, which takes half a second."""
    import py3langid
    from py3langid.langid import MODEL_DIR, MODEL_FILE

    folder = cache_folder(f"py3langid-{py3langid.__version__}")
    with suppress(OSError, EOFError, ValueError):  # absent, or cut short
        return {name: np.asarray(np.load(folder / f"{name}.npy", "r")) for name in MODEL_ARRAYS}
    packed = np.load(io.BytesIO(lzma.decompress((MODEL_DIR / MODEL_FILE).read_bytes())))
    arrays = {name: packed[name] for name in MODEL_ARRAYS}
    # Quicker to multiply with than half precision, and the result is the same.
    arrays["ptc"] = arrays["ptc"].astype(np.float32)
    with suppress(OSError), replaced_folder(folder) as new:
        for name, array in arrays.items():
            np.save(new / f"{name}.npy", array)
    return arrays


def _require_identifier(identifier: str, **_: object) -> None:
    if find_spec(identifier) is None:
        raise MissingDependencyError("identifier=langid", identifier, LANGID)


_in_language = declared(
    source="MIRAGE-Bench, section 4.1, language detection",
    needs=("answer",),
    parameters=(
        choice("identifier", PY3LANGID, LANGID),
        choice("part", "answer", "reason", "output"),
    ),
    requirement=_require_identifier,
)


@_in_language
def target_language(sample: Sample, identifier: str, part: Part) -> Value:
    """Probability that the answer is in the question's language."""
    return _probability(sample, sample.question.language, identifier, part)


@_in_language
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
    # One identification per text serves both features.
    probabilities = sample.memo.get(
        ("languages", identifier, text), lambda: identify(text, identifier)
    )
    return probabilities.get(language, LANGUAGE_NOT_COVERED)
