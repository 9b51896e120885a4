"""Language identification of many texts at once."""

from __future__ import annotations
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, Protocol
import numpy as np
import numpy.typing as npt
import pandas as pd


IntArray = npt.NDArray[np.integer[Any]]
ByteArray = npt.NDArray[np.uint8]
BoolArray = npt.NDArray[np.bool_]

BLOCK = 32
"""Bytes of a block."""

WARM_UP = 8
"""Bytes before a block that are read to find its first state; at most ``BLOCK``."""


@dataclass(frozen=True)
class ByteAutomaton:
    """A finite-state machine over bytes; texts start in state 0.

    Attributes:
        moves: Next state, by row and byte, shape (rows * 256,).
        offsets: Where the row of each state starts in ``moves``, shape (states,).
    """

    moves: IntArray
    offsets: IntArray

    def states(self, texts: Sequence[bytes]) -> tuple[IntArray, IntArray]:
        """Return the state after each byte of each text.

        Returns:
            Of each byte, text after text: the place of its text and the state; shapes (bytes,).
        """
        blocks = _cut(texts)
        states = self._walk(blocks)
        texts_of_bytes = np.broadcast_to(blocks.text[:, None], states.shape)
        return texts_of_bytes[blocks.filled], states[blocks.filled]

    def _walk(self, blocks: _Blocks) -> IntArray:
        """Return the state after each byte of each block, shape (blocks, BLOCK)."""
        starts = np.zeros(len(blocks.content), dtype=np.intp)
        later = np.flatnonzero(~blocks.is_first)
        starts[later] = self._steps(blocks.content[later - 1, -WARM_UP:], starts[later])[:, -1]
        states = self._steps(blocks.content, starts)
        while len(wrong := later[states[later - 1, -1] != starts[later]]):
            starts[wrong] = states[wrong - 1, -1]
            states[wrong] = self._steps(blocks.content[wrong], starts[wrong])
        return states

    def _steps(self, content: ByteArray, starts: IntArray) -> IntArray:
        """Walk rows of bytes from given states; return the state after each byte."""
        steps = content.T.astype(np.intp)
        state = starts
        for step in steps:
            step += self.offsets.take(state)
            step[:] = self.moves.take(step)
            state = step
        return np.ascontiguousarray(steps.T)


@dataclass(frozen=True)
class _Blocks:
    """Texts cut into blocks, text after text; the last block of a text is filled up.

    Attributes:
        content: Bytes, shape (blocks, BLOCK).
        filled: Which of them are bytes of the text, of the same shape.
        text: Place of the text of each block.
        is_first: Whether a block is the first of its text.
    """

    content: ByteArray
    filled: BoolArray
    text: IntArray
    is_first: BoolArray


def _cut(texts: Sequence[bytes]) -> _Blocks:
    lengths = np.array([len(text) for text in texts], dtype=np.intp)
    counts = -(-lengths // BLOCK)
    content = b"".join(
        text.ljust(count * BLOCK, b"\0") for text, count in zip(texts, counts.tolist(), strict=True)
    )
    text = np.repeat(np.arange(len(texts)), counts)
    place = np.arange(len(text)) - np.repeat(np.cumsum(counts) - counts, counts)
    remaining = lengths[text] - place * BLOCK
    return _Blocks(
        np.frombuffer(content, dtype=np.uint8).reshape(-1, BLOCK),
        np.arange(BLOCK) < remaining[:, None],
        text,
        place == 0,
    )


FloatArray = npt.NDArray[np.floating[Any]]

BATCH_BYTES = 1 << 18
"""Bytes read together, unless one text is longer; bounds the memory needed."""


@dataclass(frozen=True)
class NaiveBayes:
    """A naive-Bayes model over n-grams found by a finite-state machine.

    Attributes:
        automaton: Finds the n-grams.
        outputs: The n-gram that ends in each state, -1 for none, shape (states,).
        weights: Log-probability of each n-gram in each language, shape (n-grams, languages).
        prior: Log-probability of each language, shape (languages,).
        unknown: Score of each language for a text without n-grams, shape (languages,).
        damped: What a vector of counts is turned into before it is weighed.
        normalized: Turns scores, shape (texts, languages), into probabilities; takes the lengths
            of the texts in bytes, shape (texts,), as well.
    """

    automaton: ByteAutomaton
    outputs: IntArray
    weights: FloatArray
    prior: FloatArray
    unknown: FloatArray
    damped: Callable[[IntArray], FloatArray]
    normalized: Callable[[FloatArray, IntArray], FloatArray]

    def probabilities(self, texts: Sequence[bytes]) -> FloatArray:
        """Return the probability of each language, shape (texts, languages)."""
        return np.concatenate([self._batch(batch) for batch in _batches(texts)])

    def _batch(self, texts: Sequence[bytes]) -> FloatArray:
        scores = np.tile(self.unknown, (len(texts), 1))
        for place, (ngrams, counts) in enumerate(self._counts(texts)):
            if len(ngrams):
                scores[place] = self.damped(counts) @ self.weights.take(ngrams, axis=0) + self.prior
        return self.normalized(scores, np.array([len(text) for text in texts], dtype=np.intp))

    def _counts(self, texts: Sequence[bytes]) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the n-grams of each text, in order of their first occurrence, and their counts."""
        text, states = self.automaton.states(texts)
        found = self.outputs.take(states)
        is_ngram = found >= 0
        codes, distinct = pd.factorize(text[is_ngram] * len(self.weights) + found[is_ngram])
        counts = np.bincount(codes, minlength=len(distinct))
        places, ngrams = np.divmod(distinct, len(self.weights))
        bounds = np.searchsorted(places, np.arange(len(texts) + 1)).tolist()
        for start, end in pairwise(bounds):
            yield ngrams[start:end], counts[start:end]


def _batches(texts: Sequence[bytes]) -> Iterator[list[bytes]]:
    """Split texts into parts of at most ``BATCH_BYTES`` or one text; one empty part for none."""
    batch: list[bytes] = []
    size = 0
    for text in texts:
        if batch and size + len(text) > BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    yield batch


PY3LANGID = "py3langid"
LANGID = "langid"

_SURROGATE = re.compile("[\ud800-\udfff]")
_PROBE = "A probe in English, по-русски, हिन्दी, 中文 and 日本語: ẹ̀kọ́."
_TOLERANCE = 1e-5
"""Products on several threads differ by less; another model or formula by more."""


class _Py3langid(Protocol):
    """What is read of py3langid's ``LanguageIdentifier``."""

    nb_classes: list[str]
    nb_pc: npt.NDArray[np.float32]
    nb_ptc: npt.NDArray[np.float16]
    tk_nextmove: Sequence[int]
    tk_output: Sequence[int]
    tk_row: Sequence[int]
    _alias_pairs: Sequence[tuple[int, int]]

    @staticmethod
    def _encode(text: str) -> bytes: ...


class _Langid(Protocol):
    """What is read of langid's ``LanguageIdentifier``."""

    nb_classes: list[str]
    nb_pc: npt.NDArray[np.float32]
    nb_ptc: npt.NDArray[np.float32]
    tk_nextmove: Sequence[int]
    tk_output: Mapping[int, Sequence[int]]


@dataclass(frozen=True)
class Identifier:
    """Tells the languages of texts.

    Attributes:
        labels: Codes of the languages it knows, distinct.
        identify: Returns the probability of each language, shape (texts, languages).
    """

    labels: tuple[str, ...]
    identify: Callable[[Sequence[str]], FloatArray]


def identify_many(texts: Sequence[str], identifier: str = PY3LANGID) -> FloatArray:
    """Return the probability of every language for every text.

    The probabilities are those of the library: of py3langid to the last bit on one thread, of
    langid, normalized, to 1e-9. Lone surrogates, which langid refuses, count as U+FFFD there.

    Args:
        texts: Any texts.
        identifier: ``py3langid``, or ``langid`` for the probabilities of the paper.

    Returns:
        Shape (texts, languages), languages in the order of ``languages_of(identifier)``; a row
        sums to 1 and depends on its text alone.
    """
    return load_identifier(identifier).identify(texts)


def languages_of(identifier: str = PY3LANGID) -> tuple[str, ...]:
    """Return the codes of the languages an identifier knows."""
    return load_identifier(identifier).labels


@lru_cache(maxsize=2)
def load_identifier(identifier: str) -> Identifier:
    """Load an identifier: the batched one if it agrees with its library, else the library."""
    library, batched = _LOADERS[identifier]()
    try:
        model = batched()
        agrees = _agree(library, model)
    except (AttributeError, IndexError, TypeError, ValueError):
        return library
    return model if agrees else library


def _agree(library: Identifier, batched: Identifier) -> bool:
    if sorted(library.labels) != sorted(batched.labels):
        return False
    order = [batched.labels.index(label) for label in library.labels]
    expected, found = library.identify([_PROBE]), batched.identify([_PROBE])[:, order]
    return np.allclose(expected, found, rtol=0, atol=_TOLERANCE)


def _load_py3langid() -> tuple[Identifier, Callable[[], Identifier]]:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    model = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    return _ranking(model.rank), lambda: _batched_py3langid(model)


def _load_langid() -> tuple[Identifier, Callable[[], Identifier]]:
    from langid.langid import LanguageIdentifier
    from langid.langid import model as model_text

    model = LanguageIdentifier.from_modelstring(model_text, norm_probs=True)
    library = _ranking(lambda text: model.rank(_without_surrogates(text)))
    return library, lambda: _batched_langid(model)


_LOADERS = {PY3LANGID: _load_py3langid, LANGID: _load_langid}


def _ranking(rank: Callable[[str], Iterable[tuple[str, float]]]) -> Identifier:
    """Wrap a library that ranks languages by probability, one text at a time."""
    labels = tuple(sorted(dict(rank(_PROBE))))

    def row(probabilities: Mapping[str, float]) -> list[float]:
        return [probabilities[label] for label in labels]

    def identify(texts: Sequence[str]) -> FloatArray:
        rows = [row(dict(rank(text))) for text in texts]
        return np.array(rows, dtype=np.float64).reshape(len(texts), len(labels))

    return Identifier(labels, identify)


def _batched_py3langid(model: _Py3langid) -> Identifier:
    labels = tuple(dict.fromkeys(model.nb_classes))
    columns = [model.nb_classes.index(label) for label in labels]
    aliases = tuple(model._alias_pairs)

    def normalized(scores: FloatArray, lengths: IntArray) -> FloatArray:
        """Soften by the root of the length, as the library does, in single precision."""
        scores *= (1.0 / np.sqrt(np.maximum(lengths, 1))).astype(scores.dtype)[:, None]
        np.exp(scores - scores.max(axis=1, keepdims=True), out=scores)
        scores /= scores.sum(axis=1, keepdims=True)
        for first, other in aliases:
            scores[:, first] += scores[:, other]
        return scores[:, columns].astype(np.float64)

    bayes = NaiveBayes(
        ByteAutomaton(np.asarray(model.tk_nextmove), _row_starts(model.tk_row)),
        np.asarray(model.tk_output, dtype=np.intp),
        # Stored in half precision; widening every row of every text would cost most of the time.
        weights=model.nb_ptc.astype(np.float32),
        prior=model.nb_pc,
        unknown=np.zeros_like(model.nb_pc),
        damped=lambda counts: np.log1p(counts.astype(np.float32)),
        normalized=normalized,
    )
    encode = model._encode
    return Identifier(labels, lambda texts: bayes.probabilities([encode(text) for text in texts]))


def _batched_langid(model: _Langid) -> Identifier:
    """Read langid, where several n-grams may end in a state: the states themselves are counted."""
    states = len(model.tk_nextmove) // 256
    weights = np.zeros((states, len(model.nb_pc)))
    for state, ngrams in model.tk_output.items():
        weights[state] = model.nb_ptc[list(ngrams)].sum(axis=0, dtype=np.float64)
    prior = model.nb_pc.astype(np.float64)
    bayes = NaiveBayes(
        ByteAutomaton(np.asarray(model.tk_nextmove), _row_starts(range(states))),
        np.where(weights.any(axis=1), np.arange(states), -1),
        weights=weights,
        prior=prior,
        unknown=prior,
        damped=lambda counts: counts.astype(np.float64),
        normalized=_softmax,
    )
    return Identifier(
        tuple(map(str, model.nb_classes)),
        lambda texts: bayes.probabilities([_without_surrogates(text).encode() for text in texts]),
    )


def _softmax(scores: FloatArray, _lengths: IntArray) -> FloatArray:
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: FloatArray = weights / weights.sum(axis=1, keepdims=True)
    return shares


def _row_starts(rows: Iterable[int]) -> IntArray:
    return np.asarray(rows, dtype=np.intp) * 256


def _without_surrogates(text: str) -> str:
    return _SURROGATE.sub("\ufffd", text)
