"""Naive-Bayes language identification of many texts at once.

The counts of n-grams are weighed text by text, since a matrix product over many texts rounds
differently with their number: a text has the same probabilities whatever it stands with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from features.byte_automaton import ByteAutomaton, IntArray

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
