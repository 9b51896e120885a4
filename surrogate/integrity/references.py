"""What the judged systems' answers to the same questions say of how an answer should look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize

from surrogate.integrity.texts import FOLDED, AnswerBatch, Floats, Hashes, Integers, keyed

PAIR = 2
FREQUENT = 512
"""Words of a language, the most frequent, whose order is learned."""
PRIOR = 20.0
"""Pairs of frequent words that are seen as often as their frequencies say, added to each row."""


@dataclass(frozen=True)
class References:
    """What is known of judged answers in one language.

    Attributes:
        weights: Inverse document frequency of each dimension, shape (D,).
        sums: Sum of the answers' vectors of each question, shape (Q, D).
        words: Hashes of the frequent words, sorted, shape (V,).
        pairs: How often each of them follows each, shape (V, V).
        numbers: Hashes of the numbers in answers to each question, sorted.
        lengths: Sum of the logarithms of the answers' lengths, shape (Q,).
        answers: Number of answers, shape (Q,).
    """

    weights: Floats
    sums: Floats
    words: Hashes
    pairs: sparse.csr_array
    numbers: Hashes
    lengths: Floats
    answers: Floats

    def vectors(self, batch: AnswerBatch) -> Floats:
        """Return the unit vectors of answers, shape (N, D); zeros of an empty one."""
        return np.asarray(unit_vectors(batch, self.weights).toarray())

    def nearer(self, vectors: Floats, questions: Integers) -> Floats:
        """Return the share of other questions whose answers are more like each answer, shape (N,).

        Half of those that are equally like it count: of an empty answer, one half. NaN where
        nobody else answered the question or any other.
        """
        known = self.answers > 0
        cosines = np.where(known, vectors @ self._centers.T, np.nan)
        own = cosines[np.arange(len(questions)), questions][:, None]
        above = (cosines > own).sum(axis=1) + ((cosines == own).sum(axis=1) - 1) / 2
        others = known.sum() - 1
        usable = known[questions] & (others > 0)
        return np.where(usable, above / max(others, 1), np.nan)

    @cached_property
    def _centers(self) -> Floats:
        return np.asarray(normalize(self.sums))

    @cached_property
    def order(self) -> Floats:
        """How much oftener each frequent word follows each than by chance, shape (V * V,).

        The logarithm of the ratio (pointwise mutual information), shrunk to 0 where pairs are few.
        """
        counts = self.pairs.toarray()
        first, second = counts.sum(axis=1) + 1, counts.sum(axis=0) + 1
        expected = np.outer(first, second / second.sum())
        prior = PRIOR * expected / first[:, None]
        return np.asarray(np.log((counts + prior) / (expected + prior))).ravel()

    def pair_codes(self, batch: AnswerBatch) -> tuple[Integers, Integers]:
        """Return the codes of an answer's pairs of frequent words, and whose they are."""
        return pair_codes(self.words, batch)


def unit_vectors(batch: AnswerBatch, weights: Floats) -> sparse.csr_array:
    """Weight n-grams by their inverse document frequency, and scale to unit length."""
    counts = batch.counts
    weighted = sparse.csr_array(
        (counts.data * weights[counts.indices], counts.indices, counts.indptr), shape=counts.shape
    )
    return sparse.csr_array(normalize(weighted))


def pair_codes(words: Hashes, batch: AnswerBatch) -> tuple[Integers, Integers]:
    """Return ``first * V + second`` of each pair of frequent words in a row, and whose it is."""
    hashes, owners = batch.words.hashes, batch.words.owners
    if len(hashes) < PAIR or not len(words):
        return np.empty(0, np.intp), np.empty(0, np.intp)
    places = np.minimum(np.searchsorted(words, hashes), len(words) - 1)
    places = np.where(words[places] == hashes, places, -1)
    first, second = places[:-1], places[1:]
    kept = (first >= 0) & (second >= 0) & (owners[:-1] == owners[1:])
    return (first * len(words) + second)[kept], owners[:-1][kept]


@dataclass(frozen=True)
class JudgedAnswers:
    """Answers of S judged systems in one language, and what each of them adds to the references.

    Attributes:
        batches: Answers of each system.
        all: What all of them say.
        own_pairs: Pairs of each system, shape (S, V * V).
        number_counts: In how many systems' answers each of the numbers is, shape of ``numbers``.
    """

    batches: tuple[AnswerBatch, ...]
    all: References
    own_pairs: sparse.csr_array
    number_counts: Integers

    def without(self, place: int) -> References:
        """What the other systems say."""
        batch, known = self.batches[place], self.all
        sums, lengths, answers = known.sums.copy(), known.lengths.copy(), known.answers.copy()
        np.subtract.at(sums, batch.questions, known.vectors(batch))
        np.subtract.at(lengths, batch.questions, batch.log_lengths)
        np.subtract.at(answers, batch.questions, 1.0)
        own = np.unique(_question_numbers(batch))
        counts = self.number_counts - np.isin(known.numbers, own, assume_unique=True)
        size = len(known.words)
        return replace(
            known,
            sums=np.where(answers[:, None] > 0, sums, 0.0),
            lengths=lengths,
            answers=answers,
            pairs=known.pairs - self.own_pairs[[place]].reshape((size, size)),
            numbers=known.numbers[counts > 0],
        )


def learn_references(batches: Sequence[AnswerBatch], questions: int) -> JudgedAnswers:
    """Learn from the answers of the judged systems of one language.

    Args:
        batches: One a system.
        questions: Number of questions Q.
    """
    counts = sparse.vstack([batch.counts for batch in batches])
    present = np.bincount(counts.indices, minlength=FOLDED)
    weights = np.log((1 + counts.shape[0]) / (1 + present)) + 1
    hashes, times = np.unique(
        np.concatenate([batch.words.hashes for batch in batches]), return_counts=True
    )
    words = np.sort(hashes[np.argsort(-times, kind="stable")[:FREQUENT]])
    own_pairs = sparse.vstack(
        [_counted(pair_codes(words, batch)[0], len(words) ** 2) for batch in batches], format="csr"
    )
    numbers, systems = np.unique(
        np.concatenate([np.unique(_question_numbers(batch)) for batch in batches]),
        return_counts=True,
    )
    sums, lengths, answers = np.zeros((questions, FOLDED)), np.zeros(questions), np.zeros(questions)
    for batch in batches:
        np.add.at(sums, batch.questions, unit_vectors(batch, weights).toarray())
        np.add.at(lengths, batch.questions, batch.log_lengths)
        np.add.at(answers, batch.questions, 1.0)
    total = sparse.csr_array(own_pairs.sum(axis=0).reshape(len(words), len(words)))
    known = References(weights, sums, words, total, numbers, lengths, answers)
    return JudgedAnswers(tuple(batches), known, own_pairs, systems)


def _question_numbers(batch: AnswerBatch) -> Hashes:
    hashes, owners = batch.numbers
    return keyed(hashes, batch.questions[owners])


def _counted(codes: Integers, size: int) -> sparse.csr_array:
    places, times = np.unique(codes, return_counts=True)
    rows = np.zeros(len(places), np.intp)
    return sparse.csr_array((times.astype(np.float64), (rows, places)), shape=(1, size))
