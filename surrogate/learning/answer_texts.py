"""Answers of systems to questions as vectors of n-grams, and how alike these are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy import sparse

from arena.data.types import Flags, Floats, Indices
from arena.text.ngrams import HashedTexts
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
        if self.texts is None:
            n_answers = (self.places >= 0).sum()
            return AnswerVectors(sparse.csr_array((n_answers, 0)), self.places)
        return AnswerVectors(self.texts.unit_rows(self.weights), self.places)


@dataclass(frozen=True)
class AnswerVectors:
    """Vectors of A answers of M systems to Q questions, shape (A, D).

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
