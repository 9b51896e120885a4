"""Answers as vectors of character n-grams, and how alike these are.

Formulas: docs/reference/surrogate.md, section 1; signed hashes: Weinberger et al., 2009.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from arena.data.types import Flags, Floats, Indices
from surrogate.learning.training import mean_of

DIMENSIONS = 4096
TEXTS_CACHED = 2**15
"""Texts whose hashed n-grams a process remembers, some 5 kB each."""
SHORTEST = 3
LONGEST = 5
"""Characters of the shortest and of the longest n-grams."""

_Row: TypeAlias = tuple[npt.NDArray[np.uint16], npt.NDArray[np.float16]]
_CACHE: dict[str, _Row] = {}
FACTOR = np.uint64(0x100000001B3)
_MIXERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def document_weights(counts: sparse.csr_array) -> Floats:
    """Return the inverse document frequency of each of D columns in N texts, shape (D,)."""
    present = np.bincount(counts.indices, minlength=counts.shape[1])
    return np.asarray(np.log((1 + counts.shape[0]) / (1 + present)) + 1)


def unit_rows(rows: sparse.csr_array, weights: Floats | None = None) -> sparse.csr_array:
    """Weigh columns, then bring rows to length 1 (or 0)."""
    values = rows.data
    if weights is not None:
        values = values * weights[rows.indices]
    # The product with ones adds up each row.
    norms = np.sqrt(_with_values(rows, values**2) @ np.ones(rows.shape[1]))
    scaled = values / np.repeat(np.where(norms > 0, norms, 1.0), np.diff(rows.indptr))
    return _with_values(rows, scaled)


def _with_values(rows: sparse.csr_array, values: Floats) -> sparse.csr_array:
    return sparse.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)


def hashed(texts: Sequence[str]) -> sparse.csr_array:
    """Count character n-grams by signed hash, damped by the logarithm, shape (N, D)."""
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
    for text in [*_CACHE][:n_excess]:  # the oldest first
        _CACHE.pop(text, None)
    columns = [np.empty(0, np.uint16)]
    values = [np.empty(0, np.float16)]
    for text in texts:
        row_columns, row_values = rows_by_text[text]
        columns.append(row_columns)
        values.append(row_values)
    ends = np.cumsum([len(row) for row in columns], dtype=np.int32)
    return sparse.csr_array(
        (np.concatenate(values).astype(np.float64), np.concatenate(columns).astype(np.int32), ends),
        shape=(len(texts), DIMENSIONS),
    )


def ngram_hashes(texts: Sequence[str]) -> tuple[npt.NDArray[np.uint64], Indices]:
    """Return each n-gram's hash and its text's index, shape (N,) each; none spans two words."""
    spaced = [f" {' '.join(text.lower().split())} " for text in texts]
    codes = np.frombuffer("".join(spaced).encode("utf-32-le", "surrogatepass"), np.uint32)
    text_indices = np.repeat(np.arange(len(texts)), [len(text) for text in spaced])
    is_space = codes == ord(" ")
    hashes = [np.empty(0, np.uint64)]
    owners = [text_indices[:0]]
    for size in range(SHORTEST, min(LONGEST, len(codes)) + 1):
        # FNV's multiply-and-add, for all windows of this size at once.
        n_windows = len(codes) - size + 1
        value = np.full(n_windows, size, np.uint64)
        is_within_word = np.ones(n_windows, np.bool_)
        for offset in range(size):
            value = value * FACTOR + codes[offset : offset + n_windows]
            if 0 < offset < size - 1:
                is_within_word &= ~is_space[offset : offset + n_windows]
        hashes.append(value[is_within_word])
        owners.append(text_indices[:n_windows][is_within_word])
    return mixed(np.concatenate(hashes)), np.concatenate(owners)


def mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Spread few bits' differences over all (end of SplitMix64)."""
    for shift, mixer in zip((30, 27), _MIXERS, strict=True):
        values = (values ^ (values >> np.uint64(shift))) * mixer
    return values ^ (values >> np.uint64(31))


def _hashed(texts: Sequence[str]) -> Iterator[_Row]:
    hashes, owners = ngram_hashes(texts)
    cells = owners * DIMENSIONS + (hashes % np.uint64(DIMENSIONS)).astype(np.intp)
    signs = np.where(hashes >> np.uint64(63), -1.0, 1.0)
    counts = np.bincount(cells, signs, len(texts) * DIMENSIONS)
    present = np.flatnonzero(counts)
    damped = np.sign(counts[present]) * np.log1p(np.abs(counts[present]))
    ends = np.searchsorted(present, np.arange(1, len(texts)) * DIMENSIONS)
    columns = np.split((present % DIMENSIONS).astype(np.uint16), ends)
    values = np.split(damped.astype(np.float16), ends)
    return zip(columns, values, strict=True)


@dataclass(frozen=True)
class AnswerVectors:
    """Unit vectors of A answers of M systems to Q questions, shape (A, D).

    ``places`` is each answer's row, shape (M, Q); -1 where there is none.
    """

    rows: sparse.csr_array
    places: Indices

    @cached_property
    def answered(self) -> Flags:
        """Return who answered which question, shape (M, Q)."""
        return np.asarray(self.places >= 0)

    @cached_property
    def by_question(self) -> sparse.csr_array:
        """Return vectors with own columns for each question, (A, Q D)."""
        n_answers, n_dimensions = self.rows.shape
        n_questions = self.places.shape[1]
        question = np.zeros(n_answers, dtype=np.int32)
        question[self.places[self.answered]] = np.nonzero(self.answered)[1]
        n_entries = np.diff(self.rows.indptr)
        columns = self.rows.indices + np.repeat(question * n_dimensions, n_entries)
        return sparse.csr_array(
            (self.rows.data, columns, self.rows.indptr),
            shape=(n_answers, n_questions * n_dimensions),
        )

    def sums(self, weights: Floats) -> Floats:
        """Sum each question's vectors, weighted (M, Q), shape (Q D,)."""
        by_row = np.zeros(self.rows.shape[0])
        by_row[self.places[self.answered]] = weights[self.answered]
        return np.asarray(self.by_question.T @ by_row)

    @cached_property
    def membership(self) -> sparse.csr_array:
        """Return 1 where an answer is the system's, else 0, shape (M, A)."""
        systems = np.nonzero(self.answered)[0]
        entries = (np.ones(len(systems)), (systems, self.places[self.answered]))
        return sparse.csr_array(entries, shape=(len(self.places), self.rows.shape[0]))

    def products(self, sums: Floats) -> Floats:
        """Return answers' inner products with such sums, shape (M, Q)."""
        products = np.append(self.by_question @ sums, 0.0)  # place -1 takes the last one
        return np.asarray(products[self.places])


def dense_vectors(vectors: sparse.csr_array, places: Indices) -> Floats:
    """Return answers' vectors, shape (Q, M, D); zeros without."""
    n_dimensions = vectors.shape[1]
    rows = places.T.ravel()
    is_answer = rows >= 0
    if is_answer.all():
        dense: Floats = vectors[rows].toarray()
    else:
        dense = np.zeros((len(rows), n_dimensions))
        dense[is_answer] = vectors[rows[is_answer]].toarray()
    return dense.reshape(*places.T.shape, n_dimensions)


def profiles_of(vectors: AnswerVectors) -> Floats:
    """Return systems' mean vectors, shape (M, D); zeros without."""
    sums = vectors.membership @ vectors.rows
    n_answers = np.maximum(vectors.answered.sum(axis=1), 1)
    return np.asarray(sums.toarray() / n_answers[:, None])


def consensus_with(vectors: AnswerVectors, peers: AnswerVectors, is_self: Flags) -> Floats:
    """Return mean cosines to the other peers, (M, Q), or NaN."""
    answered = peers.answered
    totals = vectors.products(peers.sums(answered.astype(np.float64)))
    n_compared = np.tile(answered.sum(axis=0), (len(totals), 1))
    # A system's cosine with itself is taken out again.
    rows, selves = np.nonzero(is_self)
    have_both = vectors.answered[rows] & answered[selves]
    answers = vectors.rows[vectors.places[rows][have_both]]
    peer_answers = peers.rows[peers.places[selves][have_both]]
    self_cosines = np.zeros(have_both.shape)
    self_cosines[have_both] = answers.multiply(peer_answers).sum(axis=1)
    totals[rows] -= self_cosines
    n_compared[rows] -= answered[selves]
    # Rounded, so that equal answers are equal whatever the order in which cosines are added.
    return mean_of(totals, n_compared).round(9)
