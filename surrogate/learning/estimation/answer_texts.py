"""What answers say, as vectors of character n-grams.

N-grams within words (scikit-learn's ``char_wb``) are hashed with signs that keep inner products on
average (Weinberger et al., 2009), counted by their logarithm, weighted by their inverse document
frequency, and brought to unit length: a vector a text, mostly zeros, instead of the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from arena.data.types import Floats, Indices

DIMENSIONS = 4096
TEXTS_KEPT = 2**15
"""Texts whose hashed n-grams a process remembers, some 5 kB each."""
AT_ONCE = 64
"""Texts that are hashed together."""
NGRAMS = (3, 5)
"""Characters of the shortest and of the longest n-grams."""

_Row: TypeAlias = tuple[npt.NDArray[np.uint16], npt.NDArray[np.float16]]
_KEPT: dict[str, _Row] = {}
_SPACE = ord(" ")
FACTOR = np.uint64(0x100000001B3)
_MIXERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def document_weights(counts: sparse.csr_array) -> Floats:
    """Return the inverse document frequency of each hashed n-gram in N texts, shape (D,)."""
    present = np.bincount(counts.indices, minlength=DIMENSIONS)
    return np.asarray(np.log((1 + counts.shape[0]) / (1 + present)) + 1)


def unit_vectors(counts: sparse.csr_array, weights: Floats) -> sparse.csr_array:
    """Weigh the counts of texts, and bring each text's to length 1; of an empty text, zeros."""
    return unit_rows(counts, weights)


def unit_rows(rows: sparse.csr_array, weights: Floats | None = None) -> sparse.csr_array:
    """Bring rows, their columns weighed, to length 1; a row of zeros stays as it is."""
    values = rows.data if weights is None else rows.data * weights[rows.indices]
    own = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    sizes = np.sqrt(np.bincount(own, values**2, rows.shape[0]))
    scaled = values / np.where(sizes > 0, sizes, 1.0)[own]
    return sparse.csr_array((scaled, rows.indices, rows.indptr), shape=rows.shape)


def mean_cosines(texts: Sequence[str], questions: Indices) -> Floats:
    """Return each answer's mean cosine to the other answers to its question.

    Args:
        texts: N answers.
        questions: Number of each one's question, shape (N,).

    Returns:
        Shape (N,); NaN where nobody else answered.
    """
    counts = hashed(texts)
    vectors = unit_vectors(counts, document_weights(counts))
    cosines = np.full(len(texts), np.nan)
    order = np.argsort(questions, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(questions[order])) + 1):
        if len(rows) > 1:
            own = vectors[rows]
            sums = own @ np.asarray(own.sum(axis=0))
            cosines[rows] = (sums - np.asarray(own.power(2).sum(axis=1))) / (len(rows) - 1)
    return cosines


def hashed(texts: Sequence[str]) -> sparse.csr_array:
    """Count character n-grams by signed hash, damped by the logarithm, shape (N, D).

    A process that trains many surrogates on the same answers does it once.
    """
    # Threads share what is kept: none counts on what another may throw out.
    known = {text: row for text in texts if (row := _KEPT.get(text)) is not None}
    unknown = [text for text in dict.fromkeys(texts) if text not in known]
    for start in range(0, len(unknown), AT_ONCE):
        some = unknown[start : start + AT_ONCE]
        known.update(zip(some, _hashed(some), strict=True))
    _KEPT.update(known)
    for text in [*_KEPT][: max(len(_KEPT) - TEXTS_KEPT, 0)]:
        _KEPT.pop(text, None)
    rows = [known[text] for text in texts]
    ends = np.cumsum([0, *(len(columns) for columns, _ in rows)], dtype=np.int32)
    columns = np.concatenate([columns for columns, _ in rows]) if rows else np.empty(0)
    values = np.concatenate([values for _, values in rows]) if rows else np.empty(0)
    matrix = values.astype(np.float64), columns.astype(np.int32), ends
    return sparse.csr_array(matrix, shape=(len(rows), DIMENSIONS))


def ngram_hashes(texts: Sequence[str]) -> tuple[npt.NDArray[np.uint64], Indices]:
    """Return the hash of every n-gram within the words of texts, and whose it is, shape (N,) each.

    Words stand between spaces; an n-gram may begin or end with one, but has none inside: so none
    holds parts of two texts, which stand with two spaces between.
    """
    spaced = [f" {' '.join(text.lower().split())} " for text in texts]
    codes = np.frombuffer("".join(spaced).encode("utf-32-le", "surrogatepass"), np.uint32)
    owners = np.repeat(np.arange(len(texts)), list(map(len, spaced)))
    is_space = codes == _SPACE
    hashes, whose = [np.empty(0, np.uint64)], [owners[:0]]
    for size in range(NGRAMS[0], min(NGRAMS[1], len(codes)) + 1):
        windows = len(codes) - size + 1
        value = np.full(windows, size, np.uint64)
        within = np.ones(windows, np.bool_)
        for offset in range(size):
            value = value * FACTOR + codes[offset : offset + windows]
            if 0 < offset < size - 1:
                within &= ~is_space[offset : offset + windows]
        hashes.append(value[within])
        whose.append(owners[:windows][within])
    return mixed(np.concatenate(hashes)), np.concatenate(whose)


def mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Spread what differs in few bits over all of them (the last steps of SplitMix64)."""
    for shift, mixer in zip((30, 27), _MIXERS, strict=True):
        values = (values ^ (values >> np.uint64(shift))) * mixer
    return values ^ (values >> np.uint64(31))


def _hashed(texts: Sequence[str]) -> Iterator[_Row]:
    """Hash some texts: of each the columns that are not 0, and what stands there."""
    hashes, whose = ngram_hashes(texts)
    cells = whose * DIMENSIONS + (hashes % np.uint64(DIMENSIONS)).astype(np.intp)
    signs = np.where(hashes >> np.uint64(63), -1.0, 1.0)
    counts = np.bincount(cells, signs, len(texts) * DIMENSIONS)
    present = np.flatnonzero(counts)
    damped = np.sign(counts[present]) * np.log1p(np.abs(counts[present]))
    ends = np.searchsorted(present, np.arange(1, len(texts)) * DIMENSIONS)
    columns = np.split((present % DIMENSIONS).astype(np.uint16), ends)
    return zip(columns, np.split(damped.astype(np.float16), ends), strict=True)
