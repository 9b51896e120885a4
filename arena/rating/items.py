"""Outcomes of battles summed by pair, question and voter: what likelihoods and bootstraps count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array

from arena.data.types import Flags, Floats, Indices
from arena.rating.biases import Biases
from arena.rating.pairs import Pairs
from arena.statistics.bootstrap import bootstrap_weights
from arena.statistics.codes import distinct

BLOCK_ENTRIES = 2_000_000
"""Counts (replicates x pairs, or x questions) held at a time while resampling."""


@dataclass(frozen=True)
class JudgedItems:
    """Outcomes of the N items that were judged: one of P pairs on one of Q questions, by one voter.

    Of many systems few pairs are judged on a question, so that a table of all would be mostly
    zeros, and the largest thing in memory.

    Attributes:
        pairs: The P pairs of S systems.
        question: Question of each item, shape (N,).
        pair: Pair of each item, shape (N,); those of ``Battles`` are sorted by question, then pair.
        points: Points of the pair's first system, shape (N,): 1 a win, 0.5 a tie.
        counts: Number of battles, shape (N,).
        n_questions: Number of questions Q.
        soft_counts: Number of battles with probabilities, shape (N,). None if there are none.
        voter: Who voted, shape (N,); None where that does not count, or nobody is named.
        biases: What the judges of the pairs like besides quality; None where pairs do not tell
            judges and sides apart.
    """

    pairs: Pairs
    question: Indices
    pair: Indices
    points: Floats
    counts: Floats
    n_questions: int
    soft_counts: Floats | None = None
    voter: Indices | None = None
    biases: Biases | None = None

    @classmethod
    def of(
        cls,
        pairs: Pairs,
        pair: Indices,
        question: Indices,
        n_questions: int,
        points: Floats,
        weight: Floats | None = None,
        is_soft: Flags | None = None,
        voter: Indices | None = None,
    ) -> JudgedItems:
        """Sum M battles by question and pair, and by voter if there are any.

        Args:
            pairs: The P pairs.
            pair: Pair of each battle, shape (M,).
            question: Question of each battle, shape (M,).
            n_questions: Number of questions.
            points: Of the pair's first system, shape (M,).
            weight: How many battles each counts for, shape (M,).
            is_soft: Which have probabilities, shape (M,).
            voter: Who voted, shape (M,); -1 where no one is named.
        """
        n_pairs = max(len(pairs), 1)
        items = distinct(question * n_pairs + pair, max(n_questions, 1) * n_pairs)
        item_question, item_pair = np.divmod(items.values, n_pairs)
        item_voter: Indices | None = None
        if voter is not None:
            # Whoever is not named is a voter with one vote.
            n_named = int(voter.max(initial=-1)) + 1
            n_voters = n_named + len(voter)
            voter = np.where(voter >= 0, voter, n_named + np.arange(len(voter)))
            votes = distinct(items.codes * n_voters + voter, len(items.values) * n_voters)
            item_of_vote, item_voter = np.divmod(votes.values, n_voters)
            item_question, item_pair = item_question[item_of_vote], item_pair[item_of_vote]
            items = votes
        soft_counts: Floats | None = None
        if is_soft is not None:
            softness = is_soft.astype(np.float64)
            soft_counts = items.sums(softness if weight is None else weight * softness)
        return cls(
            pairs=pairs,
            question=item_question,
            pair=item_pair,
            points=items.sums(points if weight is None else weight * points),
            counts=items.sums(weight),
            n_questions=n_questions,
            soft_counts=soft_counts,
            voter=item_voter,
        )

    @classmethod
    def none(cls, n_systems: int, n_questions: int) -> JudgedItems:
        """Return systems and questions without any battle."""
        indices = np.empty(0, dtype=np.intp)
        values = np.empty(0)
        return cls(
            pairs=Pairs(indices, indices, n_systems),
            question=indices,
            pair=indices,
            points=values,
            counts=values,
            n_questions=n_questions,
        )

    def __len__(self) -> int:
        return len(self.question)

    @property
    def is_single(self) -> bool:
        """Whether there are battles, and no question has more than one."""
        if len(self) > self.n_questions or not (self.counts == 1).all():
            return False
        return bool(np.bincount(self.question).max(initial=0) == 1)

    @cached_property
    def totals(self) -> tuple[Floats, Floats]:
        """Points and battles of each pair on all questions, of shape (P,) each."""
        points, counts = self.weighted(np.ones((1, len(self))))
        return points[0], counts[0]

    def weighted(self, weights: npt.NDArray[Any]) -> tuple[Floats, Floats]:
        """Sum points and battles by pair.

        Args:
            weights: How often each replicate counts each item, shape (R, N).

        Returns:
            Points and battles, each of shape (R, P).
        """
        n_pairs = len(self.pairs)
        points = [np.bincount(self.pair, row * self.points, n_pairs) for row in weights]
        counts = [np.bincount(self.pair, row * self.counts, n_pairs) for row in weights]
        return np.array(points), np.array(counts)

    @cached_property
    def _by_question(self) -> csr_array:
        """Points above battles of each pair by question, shape (2 P, Q)."""
        size = len(self.pairs)
        rows = np.concatenate([self.pair, self.pair + size])
        values = np.concatenate([self.points, self.counts])
        entries = (values, (rows, np.tile(self.question, 2)))
        return coo_array(entries, shape=(2 * size, self.n_questions)).tocsr()

    def in_blocks(self, draws: npt.NDArray[Any]) -> Iterator[tuple[Floats, Floats]]:
        """Count with each question taken as often as drawn, some replicates at a time.

        Args:
            draws: How often each replicate holds each question, shape (R, Q).

        Yields:
            Points and battles of the pairs, each of shape (P, replicates).
        """
        for start in range(0, len(draws), self.block):
            times = np.asarray(draws[start : start + self.block], dtype=np.float64)
            points, counts = np.split(self._by_question @ times.T, 2)
            yield points, counts

    def resampled(
        self, rounds: int, random: np.random.Generator
    ) -> Iterator[tuple[Floats, Floats]]:
        """Resample questions with replacement; yields what ``in_blocks`` does."""
        for start in range(0, rounds, self.block):
            size = min(self.block, rounds - start)
            yield from self.in_blocks(bootstrap_weights(self.n_questions, size, random))

    @property
    def block(self) -> int:
        """Number of replicates whose counts are held at a time."""
        return max(1, BLOCK_ENTRIES // max(len(self.pairs), self.n_questions, 1))

    def among(self, systems: Sequence[int]) -> JudgedItems:
        """Keep the items between some systems, renumbered in the given order."""
        position = np.full(self.pairs.n_systems, -1)
        position[list(systems)] = np.arange(len(systems))
        first = position[self.pairs.first]
        second = position[self.pairs.second]
        is_inside = (first >= 0) & (second >= 0)
        rows = is_inside[self.pair]
        new_pair = np.cumsum(is_inside) - 1
        return replace(
            self,
            pairs=Pairs(first[is_inside], second[is_inside], len(systems)),
            question=self.question[rows],
            pair=new_pair[self.pair[rows]],
            points=self.points[rows],
            counts=self.counts[rows],
            soft_counts=None if self.soft_counts is None else self.soft_counts[rows],
            voter=None if self.voter is None else self.voter[rows],
            biases=None if self.biases is None else self.biases.take(is_inside),
        )
