"""Character n-grams of texts, hashed into vectors.

Those within words (scikit-learn's ``char_wb``), in arrays rather than one by one: every answer of
an arena is read so. Signs keep inner products on average (Weinberger et al., 2009), and no
vocabulary is needed: a few thousand numbers a system stand for all its answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy import sparse

DIMENSIONS = 4096
TEXTS_KEPT = 2**16
"""Texts whose hashed n-grams a process remembers, some 5 kB each."""
NGRAMS = (3, 5)
"""Characters of the shortest and of the longest n-grams."""

_SPACE = ord(" ")
_FACTOR = np.uint64(0x100000001B3)
_MIXERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def hashed(texts: Sequence[str]) -> sparse.csr_array:
    """Count character n-grams by signed hash, damped by the logarithm, shape (N, D)."""
    rows = [_hashed(text) for text in texts]
    ends = np.cumsum([0, *(len(columns) for columns, _ in rows)])
    columns = np.concatenate([columns for columns, _ in rows]) if rows else np.empty(0)
    values = np.concatenate([values for _, values in rows]) if rows else np.empty(0)
    matrix = values.astype(np.float64), columns.astype(np.int32), ends
    return sparse.csr_array(matrix, shape=(len(rows), DIMENSIONS))


def ngram_hashes(text: str) -> npt.NDArray[np.uint64]:
    """Return the hash of every n-gram within the words of a text, shape (N,).

    Words stand between spaces; an n-gram may begin or end with one, but has none inside.
    """
    spaced = f" {' '.join(text.lower().split())} "
    codes = np.frombuffer(spaced.encode("utf-32-le", "surrogatepass"), np.uint32)
    if len(codes) <= len("  "):
        return np.empty(0, np.uint64)
    is_space = codes == _SPACE
    hashes = []
    for size in range(NGRAMS[0], NGRAMS[1] + 1):
        windows = len(codes) - size + 1
        if windows < 1:
            break
        value = np.full(windows, size, np.uint64)
        within = np.ones(windows, np.bool_)
        for offset in range(size):
            value = value * _FACTOR + codes[offset : offset + windows]
            if 0 < offset < size - 1:
                within &= ~is_space[offset : offset + windows]
        hashes.append(value[within])
    return _mixed(np.concatenate(hashes))


def _mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Spread what differs in few bits over all of them (the last steps of SplitMix64)."""
    for shift, mixer in zip((30, 27), _MIXERS, strict=True):
        values = (values ^ (values >> np.uint64(shift))) * mixer
    return values ^ (values >> np.uint64(31))


@lru_cache(maxsize=TEXTS_KEPT)
def _hashed(text: str) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.float16]]:
    """Hash one text; a process that trains many surrogates on the same answers does it once."""
    hashes = ngram_hashes(text)
    columns = (hashes % np.uint64(DIMENSIONS)).astype(np.intp)
    signs = np.where(hashes >> np.uint64(63), -1.0, 1.0)
    counts = np.bincount(columns, signs, DIMENSIONS)
    present = np.flatnonzero(counts)
    damped = np.sign(counts[present]) * np.log1p(np.abs(counts[present]))
    return present.astype(np.uint16), damped.astype(np.float16)
