"""How much of what an answer says stands in other texts, whatever was done to hide it.

A text is the vector of its pairs of words at most three apart: leaving words out, adding or
negating some, or taking sentences from several texts leaves most pairs as they are. What others
explain of a text is the share of its vector's squared length that the best combination of their
vectors reaches: a ridge regression in closed form, so that no number of words in a row decides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from arena.data.types import Flags, Floats, Indices
from surrogate.learning.estimation.answer_texts import FACTOR, mixed, unit_rows

Hashes = npt.NDArray[np.uint64]
Words = Sequence[str]

FURTHEST = 3
"""Words from the first to the second of a pair, at most: one or two between may be left out."""
DIMENSIONS = 2**16
NOISE = 0.05
"""Ridge, beside vectors of length 1: so that texts that are alike by chance explain little."""
FEWEST_JUDGED = 3
"""Judged answers to a question from which is known how far they explain each other."""


@dataclass(frozen=True)
class Likeness:
    """How far N answers consist of other answers.

    Attributes:
        answers: By answer: ``shared``, what judged answers to the same question explain of it, as
            if all questions were alike; ``repeated``, what its system's other answers explain;
            ``elsewhere``, its largest cosine to the judged answers to another question together.
            NaN where too few judged systems answered.
        nearest: By system without verdicts the judged system that explains most of its answers.
    """

    answers: pd.DataFrame
    nearest: pd.Series


def measure_likeness(texts: Sequence[Hashes], rows: pd.DataFrame, is_judged: Flags) -> Likeness:
    """Measure how far answers consist of other answers.

    Args:
        texts: Words of each of N answers, of ``word_hashes``.
        rows: By answer: ``system`` and the place of its ``question``.
        is_judged: Whether a judged system's, shape (N,).
    """
    systems, names = pd.factorize(rows["system"])
    questions = rows["question"].to_numpy()
    shared = np.full(len(rows), np.nan)
    usual = np.full(len(rows), np.nan)
    by_source = np.zeros((len(names), len(names)))
    kept: list[Indices] = []
    parts: list[sparse.csr_array] = []
    for places in rows.groupby("question").indices.values():
        judged = places[is_judged[places]]
        new = places[~is_judged[places]]
        if len(judged) < FEWEST_JUDGED:
            continue
        both = np.concatenate([judged, new])
        counts = pair_counts([texts[place] for place in both])
        vectors = local_vectors(counts, len(judged))
        sources = vectors[: len(judged)]
        explained = explained_by(vectors[len(judged) :], sources)
        shared[judged] = explained_by_others(sources)
        shared[new] = explained.sum(axis=1)
        usual[both] = np.median(shared[judged])
        by_source[np.ix_(systems[new], systems[judged])] += explained
        kept.append(both)
        parts.append(vectors)
    nearest = pd.Series(names[by_source.argmax(axis=1)], names)
    repeated = np.full(len(rows), np.nan)
    elsewhere = np.full(len(rows), np.nan)
    if parts:
        # As if all questions were alike: a system may have answered those with alike answers only.
        shared += np.nanmean(usual) - usual
        order = np.concatenate(kept)
        vectors = sparse.vstack(parts, format="csr")
        elsewhere[order] = _elsewhere(vectors, questions[order], is_judged[order])
        for places in pd.Series(order).groupby(systems[order]).indices.values():
            repeated[order[places]] = explained_by_others(vectors[places])
    columns = {"shared": shared, "repeated": repeated, "elsewhere": elsewhere}
    return Likeness(pd.DataFrame(columns, rows.index), nearest)


def _elsewhere(vectors: sparse.csr_array, questions: Indices, is_judged: Flags) -> Floats:
    """Return the largest cosine of N answers to the sums of other questions', shape (N,)."""
    answers = np.flatnonzero(is_judged)
    shape = (int(questions.max()) + 1, len(questions))
    entries = (np.ones(len(answers)), (questions[answers], answers))
    sums = unit_rows(sparse.csr_array(sparse.coo_array(entries, shape=shape)) @ vectors)
    cosines = (vectors @ sums.T).toarray()
    cosines[np.arange(len(questions)), questions] = 0.0
    return np.asarray(cosines.max(axis=1))


def word_hashes(texts: Sequence[Words]) -> list[Hashes]:
    """Return a hash of each word of each text, the same for the same word."""
    codes = defaultdict[str, int](count(1).__next__)
    numbers = np.fromiter(map(codes.__getitem__, chain.from_iterable(texts)), dtype=np.uint64)
    ends = np.cumsum([len(text) for text in texts])
    return np.split(mixed(numbers), ends[:-1])


def word_runs(texts: Sequence[Hashes], offsets: Sequence[int]) -> tuple[Hashes, Indices]:
    """Return a hash of the words at some offsets from each word, and the place of its text.

    The offsets are not part of the hash: a pair stays the same when a word between is left out.
    """
    words = np.concatenate([np.empty(0, np.uint64), *texts])
    owners = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    n_runs = max(len(words) - offsets[-1], 0)
    hashes = np.zeros(n_runs, np.uint64)
    for offset in offsets:
        hashes = hashes * FACTOR + words[offset : offset + n_runs]
    is_inside = owners[:n_runs] == owners[offsets[-1] :]
    return mixed(hashes[is_inside]), owners[:n_runs][is_inside]


def pair_counts(texts: Sequence[Hashes]) -> sparse.csr_array:
    """Count the hashed pairs of words of N texts by their logarithm, shape (N, D)."""
    cells = []
    for distance in range(1, FURTHEST + 1):
        hashes, owners = word_runs(texts, (0, distance))
        columns = (hashes % np.uint64(DIMENSIONS)).astype(np.intp)
        cells.append(owners * DIMENSIONS + columns)
    present, times = np.unique(np.concatenate(cells), return_counts=True)
    entries = (np.log1p(times), (present // DIMENSIONS, present % DIMENSIONS))
    return sparse.csr_array(entries, shape=(len(texts), DIMENSIONS))


def local_vectors(counts: sparse.csr_array, n_first: int) -> sparse.csr_array:
    """Weigh pairs by how few of the first texts have them, and bring each text's to length 1.

    The first texts are the judged answers to one question: what all answers to it must say weighs
    little.
    """
    present = np.bincount(counts[:n_first].indices, minlength=counts.shape[1])
    weights = np.log((1 + n_first) / (1 + present)) + 1
    return unit_rows(counts, weights)


def explained_by_others(vectors: sparse.csr_array) -> Floats:
    """Return what the other texts explain of each of N texts, shape (N,), between 0 and 1."""
    gram = _gram(vectors)
    # The leave-one-out residual of a ridge is in the inverse's diagonal.
    residuals = 1 / np.linalg.inv(gram).diagonal()
    return np.asarray(gram.diagonal() - residuals)


def explained_by(texts: sparse.csr_array, sources: sparse.csr_array) -> Floats:
    """Return what each of N sources adds to what all explain of each of M texts, shape (M, N)."""
    products = (texts @ sources.T).toarray()
    slopes = np.linalg.solve(_gram(sources), products.T).T
    return np.asarray(slopes * products)


def _gram(vectors: sparse.csr_array) -> Floats:
    return np.asarray((vectors @ vectors.T).toarray() + NOISE * np.eye(vectors.shape[0]))
