"""Answers as vectors of character n-grams, and as hashes of words and runs of words.

N-grams within words (scikit-learn's ``char_wb``) are hashed with signs that keep inner products on
average (Weinberger et al., 2009), counted by their logarithm, weighted by their inverse document
frequency, and brought to unit length. Each text becomes one sparse vector
(docs/reference/formulas.md, "Surrogate").
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, count
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from arena.data.types import Flags, Floats, Indices

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
    """Weigh columns, then bring rows to length 1; a row of zeros stays as it is."""
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
    """Count character n-grams by signed hash, damped by the logarithm, shape (N, D).

    A process that trains many surrogates on the same answers does it once.
    """
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
    """Return the hash of every n-gram within the words of texts, and its text, shape (N,) each.

    An n-gram may begin or end with a space, but has none inside. Texts are joined with two spaces
    between them, so that no n-gram holds parts of two.
    """
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
    """Spread differences in few bits over all of them (the last steps of SplitMix64)."""
    for shift, mixer in zip((30, 27), _MIXERS, strict=True):
        values = (values ^ (values >> np.uint64(shift))) * mixer
    return values ^ (values >> np.uint64(31))


def _hashed(texts: Sequence[str]) -> Iterator[_Row]:
    """Hash some texts; return the columns that are not 0 of each, and their values."""
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


Hashes = npt.NDArray[np.uint64]


def word_hashes(texts: Sequence[Sequence[str]]) -> list[Hashes]:
    """Return a hash of each word of each text, the same for the same word."""
    codes = defaultdict[str, int](count(1).__next__)
    numbers = np.fromiter(map(codes.__getitem__, chain.from_iterable(texts)), dtype=np.uint64)
    ends = np.cumsum([len(text) for text in texts])
    return np.split(mixed(numbers), ends[:-1])


def word_runs(texts: Sequence[Hashes], offsets: Sequence[int]) -> tuple[Hashes, Indices]:
    """Return a hash of the words at some offsets from each word, and the index of its text.

    The offsets are not part of the hash: a pair stays the same when a word between is left out.
    """
    words = np.concatenate([np.empty(0, np.uint64), *texts])
    owners = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    return hashed_runs(words, owners, offsets)


def hashed_runs(units: Hashes, owners: Indices, offsets: Sequence[int]) -> tuple[Hashes, Indices]:
    """Return a hash of the units at some offsets from each unit, and the index of its text.

    Args:
        units: Hashes of the words, or codes of the letters, of all texts, one after another.
        owners: The index of each one's text.
        offsets: Rising from 0.
    """
    n_runs = max(len(units) - offsets[-1], 0)
    hashes = np.zeros(n_runs, np.uint64)
    for offset in offsets:
        hashes = hashes * FACTOR + units[offset : offset + n_runs]
    # Texts follow each other without a gap: a run may not reach into the next one.
    is_inside = owners[:n_runs] == owners[offsets[-1] :]
    return mixed(hashes[is_inside]), owners[:n_runs][is_inside]


def of_owners(hashes: Hashes, owners: Indices) -> Hashes:
    """Make a hash of a text's and its owner, which is the number of a text or a system."""
    return np.asarray(hashes ^ mixed(owners.astype(np.uint64) + np.uint64(1)))


def of_questions(hashes: Hashes, questions: Indices) -> Hashes:
    """Make a hash of a text's and its question: only answers to the same question are compared."""
    of_question = mixed(questions.astype(np.uint64) + np.uint64(1))
    return mixed(hashes * FACTOR + of_question)


def is_of_others(keys: Hashes, systems: Indices, by_judged: Flags) -> Flags:
    """Flag keys that an answer of another judged system has.

    Args:
        keys: Hashes of words, pairs or runs with their question, of ``of_questions``, shape (N,).
        systems: The system of each, shape (N,).
        by_judged: Whether that is a judged system, shape (N,).
    """
    judged = pd.DataFrame({"key": keys[by_judged], "system": systems[by_judged]})
    n_systems = judged.drop_duplicates()["key"].value_counts()
    n_holding = n_systems.reindex(keys, fill_value=0).to_numpy()
    # A judged system is itself one of those that have its words.
    return np.asarray(n_holding > by_judged)


def is_among(hashes: Hashes, among: Hashes) -> Flags:
    """Flag hashes that are among others; pandas looks them up faster than ``numpy.isin``."""
    return np.asarray(pd.Index(hashes).isin(among))


def largest_counts(flags: Flags, owners: Indices, window: int, n_texts: int) -> Floats:
    """Count the flagged of so many runs side by side, where they are most in each text.

    Args:
        flags: Of the N runs of all texts, one after another, shape (N,).
        owners: The text of each, shape (N,).
        window: Number of runs among which they are counted.
        n_texts: Number of texts.

    Returns:
        The number of each text, shape (n_texts,).
    """
    return largest_by_text(window_sums(flags, owners, window), owners, n_texts)


def window_sums(values: npt.NDArray[Any], owners: Indices, window: int) -> npt.NDArray[Any]:
    """Return of each value its sum with those before it in a window of its text, shape (N,)."""
    cumulative = np.concatenate([[0], np.cumsum(values)])
    ends = np.arange(len(values)) + 1
    text_starts = np.searchsorted(owners, owners)
    return np.asarray(cumulative[ends] - cumulative[np.maximum(ends - window, text_starts)])


def largest_by_text(values: npt.NDArray[Any], owners: Indices, n_texts: int) -> Floats:
    """Return the largest value of each text, shape (n_texts,); 0 without one."""
    largest = np.zeros(n_texts)
    np.maximum.at(largest, owners, values)
    return largest
