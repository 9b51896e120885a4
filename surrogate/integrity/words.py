"""Runs of words of many texts at once, by hash."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from features.text.tokens import folded_words

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]
Hashes = npt.NDArray[np.uint64]
Flags = npt.NDArray[np.bool_]

LONGEST = 20_000
"""Characters of a text that are read."""
_FACTOR, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)


@dataclass(frozen=True)
class Words:
    """The words of N texts, one text after the other.

    Attributes:
        hashes: Of each word, shape (W,).
        owners: Which text it is in, shape (W,).
        counts: Number of words of each text, shape (N,).
    """

    hashes: Hashes
    owners: Integers
    counts: Integers

    @classmethod
    def of(cls, texts: Sequence[str]) -> Words:
        """Cut texts into words, their case folded."""
        cut = [folded_words(text[:LONGEST]) for text in texts]
        counts = np.array([len(words) for words in cut], np.intp)
        words = np.array([word for words in cut for word in words], dtype=object)
        hashes = pd.util.hash_array(words) if len(words) else np.empty(0)
        return cls(np.asarray(hashes, np.uint64), np.repeat(np.arange(len(cut)), counts), counts)

    def runs(self, size: int) -> tuple[Hashes, Integers]:
        """Return the runs of so many words within one text, by hash, and which text each is in."""
        count = max(len(self.hashes) - size + 1, 0)
        value = np.zeros(count, np.uint64)
        for offset in range(size):
            value = value * _FACTOR + self.hashes[offset : offset + count]
            value ^= value >> _SHIFT
        within = self.owners[:count] == self.owners[size - 1 :][:count]
        return value[within], self.owners[:count][within]


def keyed(hashes: Hashes, places: Integers) -> Hashes:
    """Make hashes distinct between questions, texts or systems, by their places."""
    mixed = hashes ^ ((places.astype(np.uint64) + np.uint64(1)) * _FACTOR)
    return np.asarray((mixed ^ (mixed >> _SHIFT)) * _FACTOR)


def mean_of(values: Flags, owners: Integers, size: int) -> Floats:
    """Return the share of each owner's values that are true, shape (size,); 0 where it has none."""
    times = np.bincount(owners, minlength=size)
    return np.asarray(np.bincount(owners, values, size) / np.maximum(times, 1))
