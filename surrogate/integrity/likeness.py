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
    batches = list(_batches(texts, rows, is_judged))
    for batch in batches:
        for (judged, new), products in zip(batch.questions, batch.products(), strict=True):
            among_judged = products[: len(judged), : len(judged)]
            explained = _explained_by(products[len(judged) :, : len(judged)], among_judged)
            shared[judged] = _explained_by_others(among_judged)
            shared[new] = explained.sum(axis=1)
            typical[[*judged, *new]] = np.median(shared[judged])
            by_source[np.ix_(systems[new], systems[judged])] += explained
    compared = np.concatenate([np.empty(0, dtype=np.intp), *(batch.answers for batch in batches)])
    # Questions differ in how alike their answers are, and a system may have answered only those
    # with alike answers: each answer is measured from what is typical of its question.
    level = np.nanmean(typical) if len(compared) else np.nan
    nothing = sparse.csr_array((0, DIMENSIONS))
    vectors = sparse.vstack([nothing, *(batch.vectors for batch in batches)], format="csr")
    across = _across_questions(vectors, rows.iloc[compared], is_judged[compared])
    return Likeness(
        answers=across.reindex(rows.index).assign(shared=shared + (level - typical)),
        nearest=pd.Series(names[by_source.argmax(axis=1)], names),
    )


@dataclass(frozen=True)
class _Batch:
    """Answers to some questions, judged ones first.

    Attributes:
        questions: Places of the judged and of the new answers to each question.
        vectors: Of all these answers, in this order, shape (N, D).
    """

    questions: Sequence[tuple[Indices, Indices]]
    vectors: sparse.csr_array

    @property
    def answers(self) -> Indices:
        """Places of the answers, shape (N,)."""
        return np.concatenate([np.concatenate(answers) for answers in self.questions])

    def products(self) -> Iterator[Floats]:
        """Yield the inner products of the n answers to each question, shape (n, n)."""
        n_answers = np.array([len(judged) + len(new) for judged, new in self.questions])
        question_of = np.repeat(np.arange(len(n_answers)), n_answers)
        # With columns of their own, answers to different questions have a product of 0: one
        # multiplication gives the products of all questions.
        apart = _with_columns_by(question_of, self.vectors)
        products = sparse.coo_array(apart @ apart.T)
        rows, others = products.coords
        question = question_of[rows]
        starts = np.cumsum(n_answers) - n_answers
        ends = np.cumsum(n_answers**2)
        places = (rows - starts[question]) * n_answers[question] + others - starts[question]
        flat = np.zeros(ends[-1])
        flat[(ends - n_answers**2)[question] + places] = products.data
        for size, end in zip(n_answers, ends, strict=True):
            yield flat[end - size**2 : end].reshape(size, size)


def _batches(texts: Sequence[Hashes], rows: pd.DataFrame, is_judged: Flags) -> Iterator[_Batch]:
    """Compare the answers to some questions at a time.

    Questions that too few judged systems answered are left out.
    """
    # Pairs of answers whose products are held at a time.
    most_pairs = 250_000
    questions: list[tuple[Indices, Indices]] = []
    n_pairs = 0
    for indices in rows.groupby("question").indices.values():
        judged = indices[is_judged[indices]]
        if len(judged) < FEWEST_JUDGED:
            continue
        if questions and n_pairs + len(indices) ** 2 > most_pairs:
            yield _batch_of(questions, texts, rows)
            questions = []
            n_pairs = 0
        questions.append((judged, indices[~is_judged[indices]]))
        n_pairs += len(indices) ** 2
    if questions:
        yield _batch_of(questions, texts, rows)


def _batch_of(
    questions: Sequence[tuple[Indices, Indices]], texts: Sequence[Hashes], rows: pd.DataFrame
) -> _Batch:
    answers = np.concatenate([np.concatenate(question) for question in questions])
    is_judged = np.concatenate([np.repeat([True, False], [*map(len, pair)]) for pair in questions])
    counts = pair_counts([texts[index] for index in answers])
    vectors = local_vectors(counts, rows["question"].to_numpy()[answers], is_judged)
    return _Batch(questions, vectors)


def _with_columns_by(groups: Indices, vectors: sparse.csr_array) -> sparse.csr_array:
    """Give the vectors of each group columns of their own, only those that are not empty."""
    owners = np.repeat(groups, np.diff(vectors.indptr))
    columns, distinct = pd.factorize(owners * DIMENSIONS + vectors.indices)
    shape = (vectors.shape[0], len(distinct))
    return sparse.csr_array((vectors.data, columns, vectors.indptr), shape=shape)


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


def local_vectors(
    counts: sparse.csr_array, questions: Indices, is_judged: Flags
) -> sparse.csr_array:
    """Weigh pairs by how few judged answers to the question have them; bring texts to length 1.

    What all answers to a question must say weighs little.

    Args:
        counts: Pairs of N answers, of ``pair_counts``.
        questions: The question of each, shape (N,).
        is_judged: Whether it is a judged system's, shape (N,).
    """
    codes, labels = pd.factorize(questions)
    n_judged = np.bincount(codes[is_judged], minlength=len(labels))
    owners = np.repeat(np.arange(len(codes)), np.diff(counts.indptr))
    # The same pair of words in answers to two questions is two.
    apart = _with_columns_by(codes, counts)
    n_holding = np.bincount(apart.indices[is_judged[owners]], minlength=apart.shape[1])
    # The inverse document frequency, as of ``document_weights``.
    n_answers = n_judged[codes[owners]]
    weights = np.log((1 + n_answers) / (1 + n_holding[apart.indices])) + 1
    weighted = (counts.data * weights, counts.indices, counts.indptr)
    return unit_rows(sparse.csr_array(weighted, shape=counts.shape))


def explained_by_others(vectors: sparse.csr_array) -> Floats:
    """Return what the other texts explain of each of N texts, shape (N,), between 0 and 1."""
    return _explained_by_others((vectors @ vectors.T).toarray())


def explained_by(texts: sparse.csr_array, sources: sparse.csr_array) -> Floats:
    """Return what each of N sources adds to what all explain of each of M texts, shape (M, N)."""
    return _explained_by((texts @ sources.T).toarray(), (sources @ sources.T).toarray())


def _explained_by_others(products: Floats) -> Floats:
    """Return the same from the inner products of N texts, shape (N, N)."""
    gram = _gram(products)
    # The leave-one-out residual of a ridge is in the inverse's diagonal.
    residuals = 1 / np.linalg.inv(gram).diagonal()
    return np.asarray(gram.diagonal() - residuals)


def _explained_by(with_sources: Floats, among_sources: Floats) -> Floats:
    """Return the same from inner products, shapes (M, N) and (N, N)."""
    slopes = np.linalg.solve(_gram(among_sources), with_sources.T).T
    return np.asarray(slopes * with_sources)


def _gram(products: Floats) -> Floats:
    return np.asarray(products + NOISE * np.eye(len(products)))
