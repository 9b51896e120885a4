"""Answers of systems to questions as vectors of n-grams, and how alike these are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy import sparse

from arena.data.types import Flags, Floats, Indices
from arena.text.ngrams import DIMENSIONS, HashedTexts
from surrogate.learning.training_data import mean_of


@dataclass(frozen=True, eq=False)
class HashedAnswers:
    """Hashed texts of A answers of M systems to Q questions, or none, and weights of columns.

    ``places`` is each answer's row, shape (M, Q); -1 where there is none.
    """

    texts: HashedTexts | None
    weights: Floats
    places: Indices

    # As many as are compared at a time: those of a language's systems, and of its peers.
    @lru_cache(maxsize=2)  # noqa: B019 - two are held, whatever becomes of their answers
    def vectors(self) -> AnswerVectors:
        """Make unit vectors; without texts, they have no columns."""
        answered = self.places >= 0
        if self.texts is None:
            return AnswerVectors(sparse.csr_array((answered.size, 0)), answered)
        rows = self.texts.unit_rows(self.weights)
        # Place -1, which is no answer, takes the last row, which is empty.
        rows.resize(len(self.texts) + 1, DIMENSIONS)
        return AnswerVectors(rows[self.places.T.ravel()], answered)


@dataclass(frozen=True)
class AnswerVectors:
    """Vectors of answers of M systems to Q questions, one question after another, (Q M, D).

    They are 0 where there is no answer; ``answered`` says where there is one, shape (M, Q).
    """

    rows: sparse.csr_array
    answered: Flags

    @cached_property
    def by_question(self) -> sparse.csr_array:
        """Return vectors with own columns for each question, (Q M, Q D)."""
        n_rows, n_dimensions = self.rows.shape
        n_systems, n_questions = self.answered.shape
        firsts = np.arange(n_questions, dtype=np.int32) * n_dimensions
        n_entries = np.diff(self.rows.indptr)
        columns = self.rows.indices + np.repeat(np.repeat(firsts, n_systems), n_entries)
        shape = (n_rows, n_questions * n_dimensions)
        return sparse.csr_array((self.rows.data, columns, self.rows.indptr), shape=shape)

    def on(self, questions: slice) -> AnswerVectors:
        """Keep the answers to some questions."""
        n_systems = len(self.answered)
        rows = self.rows[questions.start * n_systems : questions.stop * n_systems]
        return AnswerVectors(rows, self.answered[:, questions])

    def column_numbers(self) -> Indices | None:
        """Number the columns that answers to a question use, (Q, D), 0 for others; None if most."""
        n_columns = self.by_question.shape[1]
        if self.rows.nnz >= n_columns:
            return None
        is_used = np.zeros(n_columns, dtype=bool)
        is_used[self.by_question.indices] = True
        is_used = is_used.reshape(self.answered.shape[1], -1)
        return np.asarray(is_used.cumsum(axis=1, dtype=np.int32) * is_used)

    def dense(self, column_numbers: Indices | None) -> Floats:
        """Return the vectors as a dense array, (Q, M, D); columns with one number are added."""
        rows = self.rows
        if column_numbers is not None:
            columns = column_numbers.ravel()[self.by_question.indices]
            shape = (rows.shape[0], int(column_numbers.max()) + 1)
            rows = sparse.csr_array((rows.data, columns, rows.indptr), shape=shape)
        return np.asarray(rows.toarray().reshape(*self.answered.T.shape, rows.shape[1]))


def cosines_between(own: AnswerVectors, peers: AnswerVectors) -> Floats:
    """Return cosines of M systems' answers with N peers' to a question, (Q, M, N), or 0."""
    # Vectors are made dense in blocks that a processor's cache holds.
    block_size = 250_000
    n_peers, n_questions = peers.answered.shape
    n_systems = len(own.answered)
    cosines = np.zeros((n_questions, n_systems, n_peers))
    n_columns = min(peers.rows.shape[1], peers.rows.nnz // max(n_questions, 1))
    step = max(block_size // max(n_columns * max(n_systems, n_peers), 1), 1)
    for start in range(0, n_questions, step):
        questions = slice(start, start + step)
        peers_here = peers.on(questions)
        # Columns that no peer uses add nothing; few are left where answers are short.
        numbers = peers_here.column_numbers()
        dense_peers = peers_here.dense(numbers)
        dense = dense_peers if own is peers else own.on(questions).dense(numbers)
        np.matmul(dense, dense_peers.transpose(0, 2, 1), out=cosines[questions])
    return cosines


def profiles_of(vectors: AnswerVectors) -> Floats:
    """Return systems' mean vectors, shape (M, D); zeros without."""
    n_systems, n_questions = vectors.answered.shape
    answers = np.arange(n_systems * n_questions)
    membership = sparse.csr_array((np.ones(len(answers)), (answers % n_systems, answers)))
    n_answers = np.maximum(vectors.answered.sum(axis=1), 1)
    return np.asarray((membership @ vectors.rows).toarray() / n_answers[:, None])


def consensus_with(vectors: AnswerVectors, peers: AnswerVectors, is_self: Flags) -> Floats:
    """Return mean cosines to the other peers, (M, Q), or NaN."""
    answered = peers.answered
    # The sum of cosines with several answers is the product with their sum.
    sums = peers.by_question.T @ np.ones(answered.size)
    totals = (vectors.by_question @ sums).reshape(vectors.answered.T.shape).T
    n_compared = np.tile(answered.sum(axis=0), (len(totals), 1))
    # A system's cosine with itself is taken out again.
    rows, selves = np.nonzero(is_self)
    if vectors is peers:
        products = vectors.rows.power(2)
    else:
        questions = np.arange(answered.shape[1])[:, None]
        answers = vectors.rows[(questions * len(vectors.answered) + rows).ravel()]
        peer_answers = peers.rows[(questions * len(answered) + selves).ravel()]
        products = answers.multiply(peer_answers)
    totals[rows] -= products.sum(axis=1).reshape(answered.shape[1], len(rows)).T
    n_compared[rows] -= answered[selves]
    # Rounded, so that equal answers are equal whatever the order in which cosines are added.
    return mean_of(totals, n_compared).round(9)
