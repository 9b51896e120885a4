"""Answers of systems to questions as vectors of n-grams, and how alike these are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from arena.data.types import Flags, Floats, Indices
from arena.statistics.significance import mean_of
from arena.text.ngrams import DIMENSIONS, HashedTexts


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
            nothing = np.zeros(answered.size + 1, dtype=np.intp)
            return AnswerVectors(HashedTexts(np.empty(0), nothing[:0], nothing), answered, 0)
        rows = self.texts.unit_rows(self.weights)
        return AnswerVectors(rows.take(self.places.T.ravel()), answered)


class AnswerVectors(NamedTuple):
    """Vectors of answers of M systems to Q questions, one question after another, (Q M, D).

    They are 0 where there is no answer; ``answered`` says where there is one, shape (M, Q).
    """

    rows: HashedTexts
    answered: Flags
    n_columns: int = DIMENSIONS

    def on(self, questions: slice) -> _Entries:
        """Return the entries of the answers to some questions."""
        n_systems, n_questions = self.answered[:, questions].shape
        first = questions.start * n_systems
        ends = self.rows.ends[first : first + n_questions * n_systems + 1]
        entries = slice(ends[0], ends[-1])
        firsts = np.repeat(np.arange(n_questions) * self.n_columns, np.diff(ends[::n_systems]))
        return _Entries(
            values=self.rows.values[entries],
            answers=np.repeat(np.arange(n_questions * n_systems), np.diff(ends)),
            cells=firsts + self.rows.columns[entries],
            shape=(n_questions, n_systems, self.n_columns),
        )


class _Entries(NamedTuple):
    """Numbers other than 0 in vectors of answers, (Q, M, D), shape (E,) each."""

    values: npt.NDArray[np.floating[Any]]
    answers: Indices  # of M systems to Q questions
    cells: Indices  # columns of Q questions
    shape: tuple[int, int, int]

    @property
    def used_columns(self) -> Flags:
        """Return which columns answers to a question use, (Q, D)."""
        n_questions, _, n_dimensions = self.shape
        is_used = np.zeros(n_questions * n_dimensions, dtype=bool)
        is_used[self.cells] = True
        return is_used.reshape(n_questions, n_dimensions)

    def dense(self, column_numbers: Indices) -> Floats:
        """Return a dense array, (Q, M, C), of columns numbered from 1, (Q, D); 0 leaves one out."""
        n_questions, n_systems, _ = self.shape
        n_columns = int(column_numbers.max(initial=0)) + 1
        vectors = np.zeros((n_questions, n_systems, n_columns))
        vectors.ravel()[self.answers * n_columns + column_numbers.ravel()[self.cells]] = self.values
        return vectors[:, :, 1:]


def cosines_between(own: AnswerVectors, peers: AnswerVectors) -> Floats:
    """Return cosines of M systems' answers with N peers' to a question, (Q, M, N), or 0."""
    # Vectors are made dense in blocks that a processor's cache holds.
    block_size = 250_000
    n_peers, n_questions = peers.answered.shape
    n_systems = len(own.answered)
    cosines = np.zeros((n_questions, n_systems, n_peers))
    n_columns = min(peers.n_columns, len(peers.rows.values) // max(n_questions, 1))
    step = max(block_size // max(n_columns * max(n_systems, n_peers), 1), 1)
    for start in range(0, n_questions, step):
        questions = slice(start, start + step)
        own_here = own.on(questions)
        peers_here = own_here if own is peers else peers.on(questions)
        # Columns that only one of them uses add nothing; few are left where answers are short.
        is_shared = own_here.used_columns & peers_here.used_columns
        numbers = is_shared.cumsum(axis=1, dtype=np.int32) * is_shared
        dense = own_here.dense(numbers)
        dense_peers = dense if own is peers else peers_here.dense(numbers)
        np.matmul(dense, dense_peers.transpose(0, 2, 1), out=cosines[questions])
    return cosines


def profiles_of(vectors: AnswerVectors) -> Floats:
    """Return systems' mean vectors, shape (M, D); zeros without."""
    n_systems, n_questions = vectors.answered.shape
    systems = np.tile(np.arange(n_systems), n_questions)
    sums = sums_of_rows(vectors, systems, n_systems)
    return np.asarray(sums / np.maximum(vectors.answered.sum(axis=1, keepdims=True), 1))


def sums_of_rows(vectors: AnswerVectors, owners: Indices, n_owners: int) -> Floats:
    """Add vectors by owner, shape (M, D)."""
    rows = vectors.rows
    cells = np.repeat(owners, rows.lengths) * vectors.n_columns + rows.columns
    sums = np.bincount(cells, rows.values, n_owners * vectors.n_columns)
    return np.asarray(sums.reshape(n_owners, vectors.n_columns), np.float64)


def consensus_of(cosines: Floats, answered: Flags, is_self: Flags) -> Floats:
    """Return mean cosines, of (Q, M, N), to the other peers that ``answered``, (M, Q), or NaN."""
    is_other = (~is_self).astype(np.float64)
    totals = np.einsum("qmn,mn->mq", cosines, is_other)
    # Rounded, so that equal answers are equal whatever the order in which cosines are added.
    return mean_of(totals, is_other @ answered).round(9)
