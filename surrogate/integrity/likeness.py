"""How much of an answer's wording other texts explain, even if the copying is disguised.

A text is the vector of its pairs of words at most three apart: leaving words out, adding or
negating some, or taking sentences from several texts leaves most pairs as they are. The share of a
text that others explain is the share of its vector's squared length that the best combination of
their vectors reaches: a ridge regression in closed form, so no number of words in a row decides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from arena.data.types import Flags, Floats, Indices
from surrogate.learning.estimation.answer_texts import (
    FACTOR,
    document_weights,
    mixed,
    unit_rows,
)

Hashes = npt.NDArray[np.uint64]

FURTHEST = 3
"""Maximum distance of the two words of a pair: one or two between may be left out."""
DIMENSIONS = 2**16
NOISE = 0.05
"""Ridge, for vectors of length 1: texts that are alike by chance explain little."""
FEWEST_JUDGED = 3
"""Minimum number of judged systems, or answers to a question, that show what is usual."""


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
        is_judged: Whether it is a judged system's, shape (N,).
    """
    systems, names = pd.factorize(rows["system"])
    shared = np.full(len(rows), np.nan)
    typical = np.full(len(rows), np.nan)
    by_source = np.zeros((len(names), len(names)))
    order = [np.empty(0, dtype=np.intp)]
    blocks = [sparse.csr_array((0, DIMENSIONS))]
    for judged, new, vectors in _vectors_by_question(texts, rows, is_judged):
        answers = np.concatenate([judged, new])
        sources = vectors[: len(judged)]
        explained = explained_by(vectors[len(judged) :], sources)
        shared[judged] = explained_by_others(sources)
        shared[new] = explained.sum(axis=1)
        typical[answers] = np.median(shared[judged])
        by_source[np.ix_(systems[new], systems[judged])] += explained
        order.append(answers)
        blocks.append(vectors)
    compared = np.concatenate(order)
    # Questions differ in how alike their answers are, and a system may have answered only those
    # with alike answers: each answer is measured from what is typical of its question.
    level = np.nanmean(typical) if len(compared) else np.nan
    across = _across_questions(
        sparse.vstack(blocks, format="csr"), rows.iloc[compared], is_judged[compared]
    )
    return Likeness(
        answers=across.reindex(rows.index).assign(shared=shared + (level - typical)),
        nearest=pd.Series(names[by_source.argmax(axis=1)], names),
    )


def _vectors_by_question(
    texts: Sequence[Hashes], rows: pd.DataFrame, is_judged: Flags
) -> Iterator[tuple[Indices, Indices, sparse.csr_array]]:
    """Yield places of judged and new answers to a question, and the vectors of both in this order.

    Questions that too few judged systems answered are left out.
    """
    for indices in rows.groupby("question").indices.values():
        judged = indices[is_judged[indices]]
        if len(judged) < FEWEST_JUDGED:
            continue
        new = indices[~is_judged[indices]]
        counts = pair_counts([texts[index] for index in (*judged, *new)])
        yield judged, new, local_vectors(counts, len(judged))


def _across_questions(
    vectors: sparse.csr_array, rows: pd.DataFrame, is_judged: Flags
) -> pd.DataFrame:
    """Compare answers with those to other questions: ``repeated`` and ``elsewhere``.

    Args:
        vectors: Of N answers, shape (N, D).
        rows: By answer: ``system`` and the place of its ``question``.
        is_judged: Whether it is a judged system's, shape (N,).
    """
    # A system's answers explain each other by an inverse, which takes the cube of their number.
    most_together = 200
    repeated = np.zeros(len(rows))
    for indices in rows.groupby("system").indices.values():
        for part in np.array_split(indices, -(-len(indices) // most_together)):
            repeated[part] = explained_by_others(vectors[part])
    elsewhere = _largest_cosines_elsewhere(vectors, rows["question"].to_numpy(), is_judged)
    return pd.DataFrame({"repeated": repeated, "elsewhere": elsewhere}, rows.index)


def _largest_cosines_elsewhere(
    vectors: sparse.csr_array, questions: Indices, is_judged: Flags
) -> Floats:
    """Return the largest cosine of N answers to the sums of other questions', shape (N,)."""
    # The cosines of so many answers are held at a time.
    batch_size = 10_000
    n_questions = questions.max(initial=-1) + 1
    sums = unit_rows(sums_by_question(vectors[is_judged], questions[is_judged], n_questions))
    largest = np.zeros(len(questions))
    for start in range(0, len(questions), batch_size):
        batch = slice(start, start + batch_size)
        cosines = (vectors[batch] @ sums.T).toarray()
        cosines[np.arange(len(cosines)), questions[batch]] = 0.0
        largest[batch] = cosines.max(axis=1)
    return largest


def sums_by_question(
    vectors: sparse.csr_array, questions: Indices, n_questions: int
) -> sparse.csr_array:
    """Add up the vectors of N answers by question, shape (Q, D)."""
    n_answers = len(questions)
    entries = (np.ones(n_answers), (questions, np.arange(n_answers)))
    return sparse.csr_array(entries, shape=(n_questions, n_answers)) @ vectors


def word_hashes(texts: Sequence[Sequence[str]]) -> list[Hashes]:
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
    # Texts follow each other without a gap: a run may not reach into the next one.
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
    return unit_rows(counts, document_weights(counts[:n_first]))


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
