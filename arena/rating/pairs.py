"""Pairs of systems that met, their battles summed by question, and the groups these connect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from arena.computing.codes import distinct
from arena.data.errors import UsageError
from arena.data.types import Floats, Indices
from arena.rating.biases import Biases
from arena.statistics.bootstrap import bootstrap_weights

BLOCK_ENTRIES = 2_000_000
"""Counts (replicates x pairs, or x questions) held at a time while resampling."""
MOST_SYSTEMS = 5_000
"""Of a language that are rated together: memory grows with their square, time with their cube."""


@dataclass(frozen=True)
class Pairs:
    """P pairs of S systems, in either order, perhaps repeated.

    Leading axes of arrays (questions, replicates) are kept.
    """

    first: Indices
    second: Indices
    n_systems: int

    def __len__(self) -> int:
        return len(self.first)

    @cached_property
    def incidence(self) -> scipy.sparse.csc_array:
        """Return 1 for a pair's first system, -1 for its second, (S, P)."""
        values = np.tile([1.0, -1.0], len(self))
        systems = np.column_stack([self.first, self.second]).ravel()
        entries = (values, systems, np.arange(0, len(values) + 1, 2))
        return scipy.sparse.csc_array(entries, shape=(self.n_systems, len(self)))

    def design(self, biases: Biases) -> scipy.sparse.csr_array:
        """Return the derivative of each pair's logit by each rating and bias, shape (P, K)."""
        return scipy.sparse.hstack([self.incidence.T, biases.design], format="csr")

    def differences(self, values: Floats) -> Floats:
        """Subtract second systems' values from first ones': (..., S) to (..., P)."""
        return values[..., self.first] - values[..., self.second]

    def sums(self, values: Floats) -> Floats:
        """Add pairs' values to first systems, subtract from second: (..., P) to (..., S)."""
        flat = values.reshape(prod(values.shape[:-1]), len(self))
        return np.asarray((self.incidence @ flat.T).T.reshape(*values.shape[:-1], self.n_systems))

    def spreads(self, matrix: Floats) -> Floats:
        """Return d' M d of each pair's difference d: (..., S, S) to (..., P)."""
        diagonal = np.diagonal(matrix, axis1=-2, axis2=-1)
        crossed = matrix[..., self.first, self.second] + matrix[..., self.second, self.first]
        return diagonal[..., self.first] + diagonal[..., self.second] - crossed

    @cached_property
    def _cells(self) -> Indices:
        """Place of each pair in a matrix of systems, (P,)."""
        return self.first * self.n_systems + self.second

    def laplacian(self, weights: Floats) -> Floats:
        """Sum weighted d d' over pairs: (P,) to (S, S)."""
        size = self.n_systems
        cells = np.bincount(self._cells, weights, size * size)
        met = cells.astype(np.float64).reshape(size, size)
        matrix = -(met + met.T)
        np.fill_diagonal(matrix, 0.0)
        np.fill_diagonal(matrix, -matrix.sum(axis=-1))
        return matrix

    def information(self, weights: Floats, biases: Biases | None = None) -> Floats:
        """Sum weighted x x' over pairs, x of ratings, then biases: (P,) to (K, K)."""
        matrix = self.laplacian(weights)
        if biases is None or not len(biases):
            return matrix
        size = self.n_systems
        crossed = self._crossed(weights, biases)
        full = np.empty((size + len(biases), size + len(biases)))
        full[:size, :size] = matrix
        full[:size, size:] = crossed
        full[size:, :size] = crossed.T
        full[size:, size:] = biases.information(weights)
        return full

    def _crossed(self, weights: Floats, biases: Biases) -> Floats:
        """Sum weighted x z' over pairs, x of ratings, z of biases: (P,) to (S, C)."""
        n_judges = len(biases.judges)
        shape = (self.n_systems, n_judges)
        crossed = np.empty((*shape, len(biases.traits)))
        for trait in range(len(biases.traits)):
            values = weights * biases.values[:, trait]
            if n_judges == 1:
                # The usual case, in a third of the time
                crossed[:, 0, trait] = self.sums(values)
                continue
            won = np.bincount(self.first * n_judges + biases.judge, values, prod(shape))
            lost = np.bincount(self.second * n_judges + biases.judge, values, prod(shape))
            crossed[:, :, trait] = (won - lost).reshape(shape)
        return crossed.reshape(self.n_systems, len(biases))


def checked_number(systems: int) -> int:
    """Return the number of systems, if memory suffices (else UsageError)."""
    if systems > MOST_SYSTEMS:
        most = (
            f"at most {MOST_SYSTEMS:,} are rated together; keep some with  surrogate-arena select"
        )
        raise UsageError(f"{systems:,} systems in one language, all compared with all: {most}")
    return systems


def connected_groups(
    first: Indices,
    second: Indices,
    n_systems: int,
    one_way: bool = False,
    battles: Floats | None = None,
) -> Indices:
    """Number the groups that edges connect, (S,), the largest first.

    With ``one_way``, groups are strongly connected. Battles, then order decide between equal sizes.
    """
    edges = (np.ones(len(first), dtype=np.int8), (first, second))
    graph = scipy.sparse.coo_array(edges, shape=(n_systems, n_systems)).tocsr()
    # A largest group chosen by name would depend on what systems are called.
    connection = "strong" if one_way else "weak"
    n_groups, labels = scipy.sparse.csgraph.connected_components(graph, connection=connection)
    if n_groups == 1:
        return np.zeros(n_systems, dtype=np.intp)
    _, earliest, label = np.unique(labels, return_index=True, return_inverse=True)
    sizes = np.bincount(label)
    weights = np.ones(len(first)) if battles is None else battles
    amounts = np.bincount(label[first], weights, len(sizes))
    rank = np.empty_like(sizes)
    rank[np.lexsort((earliest, -amounts, -sizes))] = np.arange(len(sizes))
    return np.asarray(rank[label], dtype=np.intp)


def winning_groups(pairs: Pairs, points: Floats, counts: Floats) -> Indices:
    """Number groups in which wins lead from each to each, (S,).

    Of two groups that met, one won everything: no battle tells their distance. Only in a single
    group does the Bradley-Terry likelihood have a maximum (Ford, 1957).
    """
    has_won = points > 0
    has_lost = counts > points
    winners = np.concatenate([pairs.first[has_won], pairs.second[has_lost]])
    losers = np.concatenate([pairs.second[has_won], pairs.first[has_lost]])
    return connected_groups(winners, losers, pairs.n_systems, one_way=True)


@dataclass(frozen=True)
class JudgedItems:
    """Outcomes of N items: a pair, a question, perhaps a voter.

    Attributes:
        question: Question of each item, shape (N,).
        pair: Pair of each item, shape (N,).
        points: Points of the pair's first system, shape (N,): 1 a win, 0.5 a tie.
        counts: Number of battles, shape (N,).
        soft_counts: Number of battles with probabilities, shape (N,).
        voter: Who voted, shape (N,).
        biases: What judges like; None where pairs do not tell judges and sides apart.
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
    def none(cls, n_systems: int, n_questions: int) -> JudgedItems:
        """Return systems and questions without battles."""
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

    def merged(self) -> JudgedItems:
        """Sum items of a question, pair and voter, if any; sort them so."""
        n_pairs = max(len(self.pairs), 1)
        n_possible = max(self.n_questions, 1) * n_pairs
        items = distinct(self.question * n_pairs + self.pair, n_possible)
        if self.voter is not None:
            n_voters = int(self.voter.max(initial=-1)) + 1
            items = distinct(items.codes * n_voters + self.voter, len(items.values) * n_voters)
        rows = items.first_rows
        return replace(
            self,
            question=self.question[rows],
            pair=self.pair[rows],
            points=items.sums(self.points),
            counts=items.sums(self.counts),
            soft_counts=None if self.soft_counts is None else items.sums(self.soft_counts),
            voter=None if self.voter is None else self.voter[rows],
        )

    @property
    def is_single(self) -> bool:
        """Return whether there are battles, and no question has more than one."""
        is_one = bool((self.counts == 1).all())
        return is_one and bool(np.bincount(self.question).max(initial=0) == 1)

    @property
    def shares_by_question(self) -> Floats:
        """Return each question's share of the battles, (Q,)."""
        counts = np.bincount(self.question, self.counts, self.n_questions)
        return np.asarray(counts / max(counts.sum(), 1e-9))

    @cached_property
    def totals(self) -> tuple[Floats, Floats]:
        """Return pairs' points and battles on all questions, (P,) each."""
        points = np.bincount(self.pair, self.points, len(self.pairs))
        counts = np.bincount(self.pair, self.counts, len(self.pairs))
        # Without any item they are integers.
        return points.astype(np.float64), counts.astype(np.float64)

    def weighted(self, weights: npt.NDArray[Any]) -> tuple[Floats, Floats]:
        """Sum points and battles by pair, (R, P), with weights (R, N)."""
        n_pairs = len(self.pairs)
        points = [np.bincount(self.pair, row * self.points, n_pairs) for row in weights]
        counts = [np.bincount(self.pair, row * self.counts, n_pairs) for row in weights]
        return np.array(points), np.array(counts)

    @cached_property
    def _by_question(self) -> scipy.sparse.csr_array:
        """Points above battles of each pair by question, shape (2 P, Q)."""
        size = len(self.pairs)
        rows = np.concatenate([self.pair, self.pair + size])
        values = np.concatenate([self.points, self.counts])
        entries = (values, (rows, np.tile(self.question, 2)))
        return scipy.sparse.coo_array(entries, shape=(2 * size, self.n_questions)).tocsr()

    def in_blocks(self, draws: npt.NDArray[Any]) -> Iterator[tuple[Floats, Floats]]:
        """Yield points and battles, (P, replicates), of drawn questions (R, Q)."""
        for start in range(0, len(draws), self.block):
            times = np.asarray(draws[start : start + self.block], dtype=np.float64)
            points, counts = np.split(self._by_question @ times.T, 2)
            yield points, counts

    def resampled(
        self, rounds: int, random: np.random.Generator
    ) -> Iterator[tuple[Floats, Floats]]:
        """Resample questions with replacement; yield what ``in_blocks`` does."""
        for start in range(0, rounds, self.block):
            size = min(self.block, rounds - start)
            yield from self.in_blocks(bootstrap_weights(self.n_questions, size, random))

    @property
    def block(self) -> int:
        """Return how many replicates' counts are held at a time."""
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
