"""Answers as the integrity check reads them: words, n-grams and numbers by hash, and vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from arena.text.citations import find_citations, strip_citations
from features.measures.facts import numbers_in
from features.text.sentences import breaks_off
from features.text.tokens import folded_words
from surrogate.learning.gaussian_process.ngrams import hashed

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]
Hashes = npt.NDArray[np.uint64]

LONGEST = 20_000
"""Characters of an answer that are read."""
FOLDED = 1024
"""Dimensions of an answer's vector."""
_FACTOR, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)


@dataclass(frozen=True)
class Words:
    """The words of N texts, one text after the other.

    Attributes:
        hashes: Of each word, shape (W,).
        owners: Which text it is in, shape (W,).
        texts: The number N.
    """

    hashes: Hashes
    owners: Integers
    texts: int

    def ngrams(self, size: int) -> tuple[Hashes, Integers]:
        """Return the hashes of n-grams that lie within one text, and where each begins."""
        count = len(self.hashes) - size + 1
        if count < 1:
            return np.empty(0, np.uint64), np.empty(0, np.intp)
        value = np.zeros(count, np.uint64)
        for offset in range(size):
            value = value * _FACTOR + self.hashes[offset : offset + count]
            value ^= value >> _SHIFT
        starts = np.flatnonzero(self.owners[:count] == self.owners[size - 1 :])
        return value[starts], starts

    def shares(self, marked: npt.NDArray[np.bool_]) -> Floats:
        """Return the share of each text's words that are marked, shape (N,); 0 without words."""
        return mean_of(marked.astype(np.float64), self.owners, self.texts)


def read_words(texts: Sequence[str]) -> Words:
    """Cut texts into words, their case folded."""
    cut = [folded_words(text) for text in texts]
    owners = np.repeat(np.arange(len(cut)), [len(words) for words in cut])
    return Words(hash_texts([word for words in cut for word in words]), owners, len(cut))


def hash_texts(texts: Sequence[str]) -> Hashes:
    """Hash words or numbers, the same on any machine."""
    if not texts:
        return np.empty(0, np.uint64)
    words = np.array(texts, dtype=object)
    return np.asarray(pd.util.hash_array(words, categorize=False), np.uint64)


def keyed(hashes: Hashes, places: Integers) -> Hashes:
    """Make hashes distinct between questions, or texts, by their places."""
    mixed = hashes ^ ((places.astype(np.uint64) + np.uint64(1)) * _FACTOR)
    return np.asarray((mixed ^ (mixed >> _SHIFT)) * _FACTOR)


def among(values: Hashes, known: Hashes) -> npt.NDArray[np.bool_]:
    """Tell which values are among known ones, which are sorted."""
    if not len(known):
        return np.zeros(len(values), np.bool_)
    places = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.asarray(known[places] == values)


def mean_of(values: Floats, owners: Integers, size: int, missing: float = 0.0) -> Floats:
    """Return the mean of each owner's values, shape (size,); what is missing where it has none."""
    times = np.bincount(owners, minlength=size)
    totals = np.bincount(owners, values, size)
    return np.asarray(np.divide(totals, times, out=np.full(size, missing), where=times > 0))


@dataclass(frozen=True)
class AnswerBatch:
    """Answers of one system in one language.

    Attributes:
        texts: N answers.
        questions: Place of each one's question, shape (N,).
        citable: Ids of the passages of each one's question, N tuples; without them, ids that look
            like words are no citations.
    """

    texts: tuple[str, ...]
    questions: Integers
    citable: tuple[tuple[str, ...], ...]

    @classmethod
    def of(
        cls, texts: Sequence[str], questions: Integers, passage_ids: Sequence[tuple[str, ...]]
    ) -> AnswerBatch:
        """Read answers, no further than ``LONGEST`` characters.

        Args:
            texts: N answers.
            questions: Place of each one's question, shape (N,).
            passage_ids: Ids of the passages of each of the Q questions.
        """
        citable = tuple(passage_ids[place] for place in questions)
        return cls(tuple(text[:LONGEST] for text in texts), questions, citable)

    @cached_property
    def plain(self) -> tuple[str, ...]:
        """The answers without citations and outer space."""
        return tuple(map(strip_citations, self.texts, self.citable))

    @cached_property
    def words(self) -> Words:
        """Words of the plain answers."""
        return read_words(self.plain)

    @cached_property
    def counts(self) -> sparse.csr_array:
        """Character n-grams by signed hash, damped, shape (N, D)."""
        found = sparse.coo_array(hashed(self.texts))
        shape = (len(self.texts), FOLDED)
        return sparse.csr_array((found.data, (found.row, found.col % FOLDED)), shape=shape)

    @cached_property
    def numbers(self) -> tuple[Hashes, Integers]:
        """Hashes of each answer's distinct numbers of two digits or more, and whose they are."""
        found = [sorted(set(long_numbers(text))) for text in self.plain]
        owners = np.repeat(np.arange(len(found)), [len(own) for own in found])
        return hash_texts([number for own in found for number in own]), owners

    @property
    def log_lengths(self) -> Floats:
        """Logarithm of each answer's characters and one more, shape (N,)."""
        return np.array([math.log1p(len(text)) for text in self.plain])

    @property
    def citations(self) -> Floats:
        """How many ids each answer cites, repetitions included, shape (N,)."""
        found = map(find_citations, self.texts, self.citable)
        return np.array([float(sum(len(marker.ids) for marker in markers)) for markers in found])

    @property
    def broken_off(self) -> Floats:
        """1 for each answer that breaks off, else 0, shape (N,); NaN where that cannot be said."""
        found = map(breaks_off, self.plain)
        return np.array(
            [np.nan if is_broken_off is None else is_broken_off for is_broken_off in found],
            np.float64,
        )


def long_numbers(text: str) -> list[str]:
    """Return the numbers of a text that have two digits or more: 3 is found anywhere."""
    return [number for number in numbers_in(text) if len(number) > 1]
