"""The field: the systems of a language beside which answers are seen, judged or not.

Whatever is said of a system is said by comparing its answers with those of the field to the same
questions: which have the higher value of a feature, and which are alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from arena.data.errors import UsageError
from arena.data.types import Flags, Floats, Indices
from surrogate.learning.estimation.answer_texts import (
    DIMENSIONS,
    document_weights,
    hashed,
    unit_vectors,
)
from surrogate.learning.surrogate import ANSWER_MARK
from surrogate.learning.training import FeatureTensor, feature_tensor, finite_means, mean_of

ANSWER = "answer"
DIGITS = 9
BLOCK = 250_000
"""Numbers of vectors that are dense at a time: some that a processor's cache holds."""
CONSENSUS = "consensus"
"""Feature made here: an answer's mean cosine to the field's answers to its question."""


@dataclass(frozen=True)
class AnswerVectors:
    """Vectors of the answers of M systems to Q questions.

    Attributes:
        rows: Unit vector of each of A answers, shape (A, D); no columns without texts.
        places: Row of each system's answer to each question, shape (M, Q); -1 where there is none.
    """

    rows: sparse.csr_array
    places: Indices

    @cached_property
    def answered(self) -> Flags:
        """Who answered which question, shape (M, Q)."""
        return np.asarray(self.places >= 0)

    @cached_property
    def spread(self) -> sparse.csr_array:
        """The same with columns of their own for each question, shape (A, Q D)."""
        count, (answers, width) = self.places.shape[1], self.rows.shape
        question = np.zeros(answers, dtype=np.int32)
        question[self.places[self.answered]] = np.nonzero(self.answered)[1]
        columns = self.rows.indices + np.repeat(question * width, np.diff(self.rows.indptr))
        shape = (answers, count * width)
        return sparse.csr_array((self.rows.data, columns, self.rows.indptr), shape=shape)

    def sums(self, weights: Floats) -> Floats:
        """Weigh the answers, shape (M, Q), and add them up on each question, shape (Q D,)."""
        own = np.zeros(self.spread.shape[0])
        own[self.places[self.answered]] = weights[self.answered]
        return np.asarray(self.spread.T @ own)

    def products(self, sums: Floats) -> Floats:
        """Inner product of each answer with such sums, shape (M, Q); 0 where there is none."""
        found = np.append(self.spread @ sums, 0.0)
        return np.asarray(found[self.places])


@dataclass(frozen=True)
class FieldView:
    """M systems beside a field of N systems, on its Q questions.

    Attributes:
        systems: The M systems.
        answered: Who answered which question, shape (M, Q).
        values: Of each of F features, the consensus last, shape (M, Q, F).
        field: Likewise of the field's answers, shape (N, Q, F).
        is_self: Who of the field each system is, shape (M, N).
        means: Mean of each feature less the field's mean on the question, shape (M, F); NaN
            without values.
        errors: Squared standard error of each mean, shape (M, F); NaN with fewer than two values.
        profiles: Mean vector of a system's answers, shape (M, D); no columns without texts.
        vectors: Vectors of the systems' answers.
        others: Likewise of the field's.
    """

    systems: tuple[str, ...]
    answered: Flags
    values: Floats
    field: Floats
    is_self: Flags
    means: Floats
    errors: Floats
    profiles: Floats
    vectors: AnswerVectors
    others: AnswerVectors

    @cached_property
    def cosines(self) -> Floats:
        """Of answers to the field's to the same question, shape (Q, M, N); 0 without one."""
        mine, theirs = self.vectors.places, self.others.places
        cosines = np.zeros((mine.shape[1], len(mine), len(theirs)))
        step = max(BLOCK // (DIMENSIONS * max(len(mine), len(theirs), 1)), 1)
        for start in range(0, len(cosines), step):
            there = slice(start, start + step)
            other = _dense(self.others.rows, theirs[:, there])
            own = other
            if self.vectors is not self.others:
                own = _dense(self.vectors.rows, mine[:, there])
            np.matmul(own, other.transpose(0, 2, 1), out=cosines[there])
        return cosines

    def likeness(self, weights: Floats) -> Floats:
        """Sum of each answer's cosines to the field's, these weighted, shape (M, Q).

        Cosines are linear in the vectors: the weighted sum of the field's is all that is needed.

        Args:
            weights: Of the field's answers, shape (N, Q).
        """
        return self.vectors.products(self.others.sums(weights))

    @cached_property
    def ranks(self) -> Floats:
        """Mean sign of the difference of features from the field's other answers to a question.

        Shape (M, Q, F): 1 above all of them, -1 below; 0 where there is no value.
        """
        size, shape = len(self.field), self.values.shape
        both = np.concatenate([self.field, self.values]).reshape(size + shape[0], -1)
        known, cells = np.isfinite(both), np.arange(both.shape[1]) * both.size
        # Each value's place among all, of one cell after the other: those of a cell are compared.
        keys = np.unique(both, return_inverse=True)[1].reshape(both.shape) + cells
        others = np.sort(keys[:size][known[:size]])
        first, last = (np.searchsorted(others, keys[size:], side) for side in ("left", "right"))
        times = known[:size].sum(axis=0)
        signs = first + last - 2 * np.searchsorted(others, cells) - times
        counts = np.tile(times, (shape[0], 1))
        own, itself = np.nonzero(self.is_self)
        signs[own] -= np.sign(np.nan_to_num(both[size + own] - both[itself])).astype(np.intp)
        counts[own] -= known[itself]
        ranks = np.where(known[size:], signs / np.maximum(counts, 1), 0.0)
        return np.asarray(ranks.reshape(shape))


@dataclass(frozen=True)
class Field:
    """Answers of the N systems of a language to Q questions.

    Attributes:
        names: The F features, the consensus last where there are texts.
        tensor: Their values, without the consensus.
        counts: Hashed n-grams of the answers, a row each, mostly zeros; None without texts.
        places: Row of each system's answer to each question, shape (N, Q); -1 where there is none.
    """

    names: tuple[str, ...]
    tensor: FeatureTensor
    counts: sparse.csr_array | None
    places: Indices

    @classmethod
    def of(
        cls,
        rows: pd.DataFrame,
        language: str,
        features: Sequence[str],
        kept: Mapping[str, npt.NDArray[Any]] | None = None,
    ) -> Field:
        """Take the field from a table.

        Args:
            rows: Answers of the language, one a system and question: ``language, system,
                query_id``, the features, and the ``answer`` where there are texts.
            language: The language.
            features: Feature columns.
            kept: What ``arrays`` gave, in place of the texts.

        Raises:
            UsageError: If these are not of as many answers.
        """
        counts = _counts_from(kept, len(rows)) if kept else _hashed_answers(rows)
        names = tuple(features) if counts is None else (*features, CONSENSUS)
        tensor = feature_tensor(rows, language, features)
        return cls(names, tensor, counts, _places(rows, tensor))

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """What stands for the texts, in the order of the rows: some 2 kB an answer."""
        if self.counts is None:
            return {}
        return {
            "values": self.counts.data.astype(np.float16),
            "columns": self.counts.indices.astype(np.uint16),
            "ends": self.counts.indptr.astype(np.uint64),
        }

    @cached_property
    def own(self) -> FieldView:
        """The field's own systems beside each other."""
        return self._seen(self.tensor, self.vectors)

    @cached_property
    def vectors(self) -> AnswerVectors:
        """Vectors of the answers, in the order of the rows."""
        return self._vectors(self.counts, self.places)

    def seen(self, rows: pd.DataFrame) -> FieldView:
        """Look at other systems beside the field.

        Args:
            rows: As of ``of``; answers to other questions are not looked at. A system of the
                field is not compared with itself, nor is a part of its answers, whose name is the
                system's, ``ANSWER_MARK`` and anything.
        """
        rows = rows[rows["query_id"].isin(set(self.tensor.questions))]
        features = [name for name in self.names if name != CONSENSUS]
        asked = self.tensor.questions
        tensor = feature_tensor(rows, self.tensor.language, features, questions=asked)
        counts = None
        if self.counts is not None:
            counts = _hashed_answers(rows.assign(**{ANSWER: rows.get(ANSWER, "")}))
        return self._seen(tensor, self._vectors(counts, _places(rows, tensor)))

    def _vectors(self, counts: sparse.csr_array | None, places: Indices) -> AnswerVectors:
        if counts is None or self.counts is None:
            return AnswerVectors(sparse.csr_array(((places >= 0).sum(), 0)), places)
        return AnswerVectors(unit_vectors(counts, document_weights(self.counts)), places)

    def _seen(self, tensor: FeatureTensor, vectors: AnswerVectors) -> FieldView:
        owners = np.array([name.split(ANSWER_MARK)[0] for name in tensor.systems], dtype=object)
        is_self = np.equal.outer(owners, np.array(self.tensor.systems, dtype=object))
        values = self._values_of(tensor, vectors, is_self)
        away = (values - finite_means(self._values)).transpose(1, 0, 2)
        means, times = finite_means(away), np.isfinite(away).sum(axis=0)
        errors = mean_of(finite_means((away - means) ** 2), times - 1)
        beside = (tensor.systems, tensor.answered, values, self._values, is_self)
        return FieldView(*beside, means, errors, _profiles(vectors), vectors, self.vectors)

    @cached_property
    def _values(self) -> Floats:
        return self._values_of(
            self.tensor, self.vectors, np.eye(len(self.tensor.systems), dtype=bool)
        )

    def _values_of(self, tensor: FeatureTensor, vectors: AnswerVectors, is_self: Flags) -> Floats:
        """Features of answers, the consensus last where there are texts, shape (M, Q, F)."""
        if self.counts is None:
            return tensor.values
        consensus = _consensus(vectors, self.vectors, is_self)
        consensus[~tensor.answered] = np.nan
        return np.concatenate([tensor.values, consensus[:, :, None]], axis=2)


def _hashed_answers(rows: pd.DataFrame) -> sparse.csr_array | None:
    if ANSWER not in rows:
        return None
    return hashed(rows[ANSWER].fillna("").astype(str).tolist())


def _counts_from(kept: Mapping[str, npt.NDArray[Any]], answers: int) -> sparse.csr_array:
    """Undo ``Field.arrays``, which a file may have held."""
    shapes = {name: array.shape for name, array in kept.items()}
    if set(shapes) != {"values", "columns", "ends"} or shapes["ends"] != (answers + 1,):
        raise UsageError(f"the vectors of its answers are not those of {answers} answers")
    values, columns, ends = kept["values"], kept["columns"], kept["ends"]
    is_sound = (
        columns.dtype.kind == ends.dtype.kind == "u"
        and shapes["values"] == shapes["columns"] == (int(ends[-1]),)
        and ends[0] == 0
        and (ends[1:] >= ends[:-1]).all()
        and (columns < DIMENSIONS).all()
        and np.isfinite(values).all()
    )
    if not is_sound:
        raise UsageError("the vectors of its answers are not finite")
    numbers = values.astype(np.float64), columns.astype(np.int32), ends.astype(np.int32)
    return sparse.csr_array(numbers, shape=(answers, DIMENSIONS))


def _places(rows: pd.DataFrame, tensor: FeatureTensor) -> Indices:
    """Row of each system's answer to each question, shape (N, Q); -1 where there is none."""
    places = np.full(tensor.answered.shape, -1, dtype=np.intp)
    system = pd.Index(tensor.systems).get_indexer(pd.Index(rows["system"]))
    question = pd.Index(tensor.questions).get_indexer(pd.Index(rows["query_id"]))
    places[system, question] = np.arange(len(rows))
    return places


def _dense(vectors: sparse.csr_array, places: Indices) -> Floats:
    """Vectors of answers at the places, question by question, shape (Q, M, D); else zeros."""
    rows = places.T.ravel()
    found = np.zeros((len(rows), vectors.shape[1]))
    found[rows >= 0] = vectors[rows[rows >= 0]].toarray()
    return found.reshape(*places.T.shape, vectors.shape[1])


def _profiles(vectors: AnswerVectors) -> Floats:
    """Mean vector of each system's answers, shape (M, D); zeros without any."""
    answered, places = vectors.answered, vectors.places
    entries = (np.ones(answered.sum()), (np.nonzero(answered)[0], places[answered]))
    shape = (len(places), vectors.rows.shape[0])
    sums = sparse.csr_array(entries, shape=shape) @ vectors.rows
    return np.asarray(sums.toarray() / np.maximum(answered.sum(axis=1), 1)[:, None])


def _consensus(mine: AnswerVectors, theirs: AnswerVectors, is_self: Flags) -> Floats:
    """Mean cosine of answers to the field's others, shape (M, Q); NaN where there is none."""
    answered = theirs.answered
    totals = mine.products(theirs.sums(answered.astype(np.float64)))
    times = np.tile(answered.sum(axis=0), (len(totals), 1))
    own, itself = np.nonzero(is_self)
    both = mine.answered[own] & answered[itself]
    rows = mine.rows[mine.places[own][both]], theirs.rows[theirs.places[itself][both]]
    cosines = np.zeros(both.shape)
    cosines[both] = rows[0].multiply(rows[1]).sum(axis=1)
    totals[own] -= cosines
    times[own] -= answered[itself]
    # Equal answers are equal, whatever the order in which cosines are added.
    return mean_of(totals, times).round(DIGITS)
