"""Texts as vectors of character n-grams, and how alike these are.

Formulas: docs/reference/surrogate.md, section 1; signed hashes: Weinberger et al., 2009.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from arena.data.types import Codes, Floats, Indices

DIMENSIONS = 4096
TEXTS_CACHED = 2**15
"""Texts whose hashed n-grams a process remembers, some 5 kB each."""
SHORTEST = 3
LONGEST = 5
"""Characters of the shortest and of the longest n-grams."""

_Row: TypeAlias = tuple[npt.NDArray[np.uint16], npt.NDArray[np.float16]]
_CACHE: dict[str, _Row] = {}
FACTOR = 0x100000001B3
_MIXERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


@dataclass(frozen=True)
class HashedTexts:
    """Damped counts of hashed n-grams of N texts, in few bytes: 3 kB per text of 600 characters.

    Each count has a column, shape (E,); the counts of a text lie between two ``ends``, (N + 1,).
    They are a sparse matrix, without scipy: loading it takes longer than ranking new systems.
    """

    values: npt.NDArray[np.floating[Any]]
    columns: npt.NDArray[np.integer[Any]]
    ends: npt.NDArray[np.integer[Any]]

    def __len__(self) -> int:
        """Count the texts."""
        return len(self.ends) - 1

    @property
    def document_weights(self) -> Floats:
        """Return the inverse document frequency of each column, shape (D,)."""
        present = np.bincount(self.columns, minlength=DIMENSIONS)
        return np.log((1 + len(self)) / (1 + present)) + 1

    @property
    def lengths(self) -> Codes:
        """Count the numbers of each text, shape (N,)."""
        return np.diff(self.ends)

    def take(self, texts: Indices) -> HashedTexts:
        """Take some texts, by place; -1 is a text without n-grams."""
        lengths = np.append(self.lengths, 0)[texts]
        ends = np.append(0, np.cumsum(lengths))
        entries = np.arange(ends[-1]) + np.repeat(self.ends[texts] - ends[:-1], lengths)
        return HashedTexts(self.values[entries], self.columns[entries], ends)

    def dense(self) -> Floats:
        """Return a row for each text, a column for each hash, (N, D)."""
        vectors = np.zeros((len(self), DIMENSIONS))
        vectors[np.repeat(np.arange(len(self)), self.lengths), self.columns] = self.values
        return vectors

    def unit_rows(self, weights: Floats | None = None) -> HashedTexts:
        """Weigh columns, then bring texts to length 1 (or 0)."""
        values = self.values.astype(np.float64)
        columns = self.columns.astype(np.int32)
        ends = self.ends.astype(np.int32)
        if weights is not None:
            values *= weights[columns]
        # The sum of an empty row is of other rows' squares, but nothing is divided by it.
        norms = np.sqrt(np.add.reduceat(np.append(values**2, 0.0), ends[:-1]))
        values /= np.repeat(np.where(norms > 0, norms, 1.0), np.diff(ends))
        return HashedTexts(values, columns, ends)


def hashed(texts: Sequence[str]) -> HashedTexts:
    """Count character n-grams by signed hash, damped by the logarithm."""
    texts_at_once = 64
    # Threads share the cache: none counts on an entry that another may throw out.
    rows_by_text = {}
    for text in texts:
        row = _CACHE.get(text)
        if row is not None:
            rows_by_text[text] = row
    new_texts = [text for text in dict.fromkeys(texts) if text not in rows_by_text]
    for start in range(0, len(new_texts), texts_at_once):
        batch = new_texts[start : start + texts_at_once]
        rows_by_text.update(zip(batch, _hashed(batch), strict=True))
    _CACHE.update(rows_by_text)
    n_excess = max(len(_CACHE) - TEXTS_CACHED, 0)
    for text in [*islice(_CACHE, n_excess)]:  # the oldest first
        _CACHE.pop(text, None)
    columns = [np.empty(0, np.uint16)]
    values = [np.empty(0, np.float16)]
    for text in texts:
        row_columns, row_values = rows_by_text[text]
        columns.append(row_columns)
        values.append(row_values)
    ends = np.cumsum([len(row) for row in columns], dtype=np.uint64)
    return HashedTexts(np.concatenate(values), np.concatenate(columns), ends)


def ngram_hashes(texts: Sequence[str]) -> tuple[npt.NDArray[np.uint64], Indices]:
    """Return each n-gram's hash and its text's index, shape (N,) each; none spans two words."""
    spaced = [f" {' '.join(text.lower().split())} " for text in texts]
    codes = np.frombuffer("".join(spaced).encode("utf-32-le", "surrogatepass"), np.uint32)
    text_indices = np.repeat(np.arange(len(texts)), [len(text) for text in spaced])
    is_letter = codes != ord(" ")
    hashes = [np.empty(0, np.uint64)]
    owners = [text_indices[:0]]
    # FNV's multiply-and-add, for all windows at once: each is a shorter one, and a character.
    values = np.zeros(len(codes), np.uint64)
    is_within_word = np.ones(len(codes), np.bool_)
    for size in range(1, min(LONGEST, len(codes)) + 1):
        n_windows = len(codes) - size + 1
        values = values[:n_windows] * FACTOR + codes[size - 1 :]
        is_within_word = is_within_word[:n_windows]
        if size >= SHORTEST:
            is_within_word &= is_letter[size - 2 : -1]
            windows = np.flatnonzero(is_within_word)
            # FNV's first value is the size here, so that sizes differ.
            start = np.uint64(size * FACTOR**size % 2**64)
            hashes.append(values.take(windows) + start)
            owners.append(text_indices.take(windows))
    return mixed(np.concatenate(hashes)), np.concatenate(owners)


def mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Spread few bits' differences over all (end of SplitMix64)."""
    for shift, mixer in zip((30, 27), _MIXERS, strict=True):
        values = (values ^ (values >> np.uint64(shift))) * mixer
    return values ^ (values >> np.uint64(31))


def _hashed(texts: Sequence[str]) -> Iterator[_Row]:
    hashes, owners = ngram_hashes(texts)
    cells = owners * DIMENSIONS + (hashes % np.uint64(DIMENSIONS)).astype(np.intp)
    signs = np.copysign(1.0, hashes.view(np.int64))
    counts = np.bincount(cells, signs, len(texts) * DIMENSIONS)
    present = np.flatnonzero(counts != 0)
    damped = np.sign(counts[present]) * np.log1p(np.abs(counts[present]))
    ends = np.searchsorted(present, np.arange(1, len(texts)) * DIMENSIONS)
    columns = np.split((present % DIMENSIONS).astype(np.uint16), ends)
    values = np.split(damped.astype(np.float16), ends)
    return zip(columns, values, strict=True)
