"""Pairs of systems that met, their outcomes by question, and the groups that battles connect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from arena.rating.likelihoods import Counts
from arena.statistics.bootstrap import bootstrap_weights

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]

OUTCOMES = 3
POINTS_OF_A = np.array([1.0, 0.0, 0.5])
"""Side A's points of each outcome, in the order of ``WINNERS``: a tie is half a one."""
BLOCK_ENTRIES = 6_000_000
"""Counts (replicates x pairs x outcomes) held at a time while resampling."""


@dataclass(frozen=True)
class Pairs:
    """P pairs of S systems; the same two may stand in several, in either order.

    Leading axes of arrays (questions, replicates) are kept.

    Attributes:
        first: First system of each pair, shape (P,).
        second: Second system of each pair, shape (P,).
        n_systems: Number of systems S.
    """

    first: Integers
    second: Integers
    n_systems: int

    def __len__(self) -> int:
        return len(self.first)

    @cached_property
    def incidence(self) -> csr_array:
        """What a pair adds to its systems, shape (S, P): 1 to the first, -1 to the second."""
        pairs = np.arange(len(self))
        values = np.repeat([1.0, -1.0], len(self))
        entries = (np.concatenate([self.first, self.second]), np.concatenate([pairs, pairs]))
        return coo_array((values, entries), shape=(self.n_systems, len(self))).tocsr()

    @cached_property
    def _cells(self) -> csr_array:
        """Where the pairs stand in a matrix of systems, shape (S * S, P)."""
        entries = (self.first * self.n_systems + self.second, np.arange(len(self)))
        shape = (self.n_systems**2, len(self))
        return coo_array((np.ones(len(self)), entries), shape=shape).tocsr()

    def differences(self, values: Floats) -> Floats:
        """Value of the first system minus that of the second: (..., S) to (..., P)."""
        return np.asarray(values[..., self.first] - values[..., self.second])

    def sums(self, values: Floats) -> Floats:
        """Add a pair's value to its first system and take it from its second.

        The transpose of ``differences``: (..., P) to (..., S).
        """
        flat = values.reshape(prod(values.shape[:-1]), len(self))
        return np.asarray((self.incidence @ flat.T).T.reshape(*values.shape[:-1], self.n_systems))

    def spreads(self, matrix: Floats) -> Floats:
        """Quadratic form d' M d of each pair's difference d: (..., S, S) to (..., P)."""
        diagonal = np.diagonal(matrix, axis1=-2, axis2=-1)
        crossed = matrix[..., self.first, self.second] + matrix[..., self.second, self.first]
        return np.asarray(diagonal[..., self.first] + diagonal[..., self.second] - crossed)

    def laplacian(self, weights: Floats) -> Floats:
        """Sum of weighted d d' over pairs: (..., P) to (..., S, S)."""
        flat = weights.reshape(prod(weights.shape[:-1]), len(self))
        shape = (*weights.shape[:-1], self.n_systems, self.n_systems)
        met = np.ascontiguousarray((self._cells @ flat.T).T).reshape(shape)
        matrix = -(met + met.swapaxes(-2, -1))
        at = np.arange(self.n_systems)
        matrix[..., at, at] = 0.0
        matrix[..., at, at] = -matrix.sum(axis=-1)
        return matrix


@dataclass(frozen=True)
class JudgedItems:
    """Outcomes of the N items that were judged, an item being one of P pairs on one of Q questions.

    Of many systems few pairs are judged on a question, so that a table of all would be mostly
    zeros, and the largest thing in memory.

    Attributes:
        pairs: The P pairs of S systems.
        question: Question of each item, shape (N,).
        pair: Pair of each item, shape (N,); that of ``Battles`` are sorted by question, then pair.
        points: Points of the pair's first system, shape (N,): 1 a win, 0.5 a tie.
        counts: Number of battles, shape (N,).
        n_questions: Number of questions Q.
    """

    pairs: Pairs
    question: Integers
    pair: Integers
    points: Floats
    counts: Floats
    n_questions: int

    @classmethod
    def none(cls, n_systems: int, n_questions: int) -> JudgedItems:
        """Return what there is where nobody has judged."""
        nobody, nothing = np.empty(0, dtype=np.intp), np.empty(0)
        pairs = Pairs(nobody, nobody, n_systems)
        return cls(pairs, nobody, nobody, nothing, nothing, n_questions)

    def __len__(self) -> int:
        return len(self.question)

    @cached_property
    def totals(self) -> tuple[Floats, Floats]:
        """Points and battles of each pair on all questions, of shape (P,) each."""
        points, counts = self.weighted(np.ones((1, len(self))))
        return points[0], counts[0]

    def weighted(self, weights: npt.NDArray[Any]) -> tuple[Floats, Floats]:
        """Add up points and battles, each item as often as said: (R, N) to twice (R, P)."""
        points, counts = (
            np.array([np.bincount(self.pair, row * values, len(self.pairs)) for row in weights])
            for values in (self.points, self.counts)
        )
        return points, counts

    def table(self, values: npt.NDArray[Any]) -> Floats:
        """Lay out a value of each item, shape (N,), by question and pair, (Q, P); 0 elsewhere."""
        table = np.zeros((self.n_questions, len(self.pairs)))
        table[self.question, self.pair] = values
        return table

    def among(self, systems: Sequence[int]) -> JudgedItems:
        """Keep items between some of the systems, whose order becomes the one given."""
        place = np.full(self.pairs.n_systems, -1)
        place[list(systems)] = np.arange(len(systems))
        first, second = place[self.pairs.first], place[self.pairs.second]
        inside = (first >= 0) & (second >= 0)
        kept = inside[self.pair]
        return replace(
            self,
            pairs=Pairs(first[inside], second[inside], len(systems)),
            question=self.question[kept],
            pair=(np.cumsum(inside) - 1)[self.pair[kept]],
            points=self.points[kept],
            counts=self.counts[kept],
        )

    def placed(self, systems: Integers, n_systems: int, questions: Integers, n: int) -> JudgedItems:
        """Renumber systems and questions, shapes (S,) and (Q,), as some of more of either."""
        pairs = Pairs(systems[self.pairs.first], systems[self.pairs.second], n_systems)
        return replace(self, pairs=pairs, question=questions[self.question], n_questions=n)

    def joined(self, other: JudgedItems) -> JudgedItems:
        """Put items of the same systems and questions behind these, pairs behind pairs."""
        own, its = self.pairs, other.pairs
        first, second = np.append(own.first, its.first), np.append(own.second, its.second)
        return replace(
            self,
            pairs=Pairs(first, second, own.n_systems),
            question=np.append(self.question, other.question),
            pair=np.append(self.pair, other.pair + len(own)),
            points=np.append(self.points, other.points),
            counts=np.append(self.counts, other.counts),
        )


@dataclass(frozen=True)
class WinCounts:
    """Wins, losses and ties of P pairs of systems.

    Attributes:
        pairs: The pairs; the first system is the one on side A where sides matter, else the one
            that comes first by name.
        totals: Outcomes for the first system, each of shape (P, 1).
        n_questions: Number of questions Q.
        counted: The same by question, shape (3 P, Q), wins above losses above ties; None where
            every battle is a question of its own.
        covariates: Of each pair's logit, shape (P, C); None without.
    """

    pairs: Pairs
    totals: Counts
    n_questions: int
    counted: csr_array | None = None
    covariates: Floats | None = None

    @property
    def _by_question(self) -> csr_array:
        if self.counted is None:
            raise ValueError("every battle is a question of its own")
        return self.counted

    @property
    def tables(self) -> tuple[csr_array, csr_array, csr_array]:
        """Wins, losses and ties by question, each of shape (P, Q)."""
        size, counted = len(self.pairs), self._by_question
        return counted[:size], counted[size : 2 * size], counted[2 * size :]

    @property
    def items(self) -> JudgedItems:
        """Points and number of battles of each pair on each question, sorted by question, pair."""
        counted, size = self._by_question.tocoo(), max(len(self.pairs), 1)
        outcome, of_entry = np.divmod(counted.row, size)
        entries = counted.col.astype(np.intp) * size + of_entry
        keys, item = np.unique(entries, return_inverse=True)
        question, pair = np.divmod(keys, size)
        points, counts = (
            np.bincount(item, values, len(keys)).astype(np.float64)
            for values in (counted.data * POINTS_OF_A[outcome], counted.data)
        )
        return JudgedItems(self.pairs, question, pair, points, counts, self.n_questions)

    def weighted(self, weights: npt.ArrayLike) -> Counts:
        """Count with each question taken as often as said, weights of shape (R, Q)."""
        times = np.asarray(weights, dtype=np.float64)
        return split_outcomes(self._by_question @ times.T)

    def in_blocks(self, weights: Integers) -> Iterator[Counts]:
        """Count as ``weighted`` does, some replicates at a time, which bounds memory."""
        for start in range(0, len(weights), self._block):
            yield self.weighted(weights[start : start + self._block])

    @property
    def _block(self) -> int:
        """Number of replicates whose counts are held at a time."""
        return max(1, BLOCK_ENTRIES // (OUTCOMES * max(len(self.pairs), 1)))

    def resampled(self, rounds: int, random: np.random.Generator) -> Iterator[Counts]:
        """Resample questions with replacement, in blocks that bound memory.

        Where every battle is its own question, battles have exponential weights (the Bayesian
        bootstrap, Rubin, 1981): no count of a pair that met is 0.

        Args:
            rounds: Number of replicates in all.
            random: Generator of the draws.

        Yields:
            Counts of some replicates, each array of shape (P, replicates).
        """
        for start in range(0, rounds, self._block):
            size = min(self._block, rounds - start)
            if self.counted is None:
                yield self._reweighted(size, random)
            else:
                yield self.weighted(bootstrap_weights(self.n_questions, size, random))

    def _reweighted(self, size: int, random: np.random.Generator) -> Counts:
        parts = (self.totals.wins, self.totals.losses, self.totals.ties)
        shape = (len(self.pairs), size)
        return Counts(*(random.standard_gamma(part, shape) for part in parts))

    @property
    def is_strongly_connected(self) -> bool:
        """Whether wins lead from every system to every other (ties lead both ways)."""
        tied = self.totals.ties[:, 0] > 0
        won, lost = self.totals.wins[:, 0] > 0, self.totals.losses[:, 0] > 0
        return is_strongly_connected(self.pairs, won | tied, lost | tied)


def split_outcomes(stacked: npt.ArrayLike) -> Counts:
    """Part wins, losses and ties that stand above each other, (3 P, R) or (3 P,)."""
    counts = np.asarray(stacked, dtype=np.float64)
    columns = counts[:, None] if counts.ndim == 1 else counts
    return Counts(*np.split(columns, OUTCOMES))


def connected_groups(
    first: Integers, second: Integers, n_systems: int, one_way: bool = False
) -> Integers:
    """Number the groups of systems that edges connect, the largest group first.

    Args:
        first: System at one end of each edge, shape (E,).
        second: System at the other end, shape (E,).
        n_systems: Number of systems S.
        one_way: Edges lead from ``first`` to ``second`` only, and a group is strongly connected:
            a way leads from each of its systems to each other.

    Returns:
        Group of each system, shape (S,): 0 the largest, equal ones by first system.
    """
    edges = (np.ones(len(first), dtype=np.int8), (first, second))
    graph = coo_array(edges, shape=(n_systems, n_systems)).tocsr()
    connection = "strong" if one_way else "weak"
    _, labels = connected_components(graph, directed=True, connection=connection)
    _, earliest, label = np.unique(labels, return_index=True, return_inverse=True)
    sizes = np.bincount(label)
    rank = np.empty_like(sizes)
    rank[np.lexsort((earliest, -sizes))] = np.arange(len(sizes))
    return np.asarray(rank[label], dtype=np.intp)


def is_strongly_connected(pairs: Pairs, won: npt.ArrayLike, lost: npt.ArrayLike) -> bool:
    """Tell whether wins lead from every system to every other.

    There, and only there, the Bradley-Terry likelihood has a maximum (Ford, 1957, "Solution of a
    ranking problem from binary comparisons").

    Args:
        pairs: The pairs.
        won: Whether each pair's first system won a battle or tied, shape (P,).
        lost: Whether its second system did, shape (P,).
    """
    one, other = np.asarray(won, dtype=bool), np.asarray(lost, dtype=bool)
    winners = np.concatenate([pairs.first[one], pairs.second[other]])
    losers = np.concatenate([pairs.second[one], pairs.first[other]])
    return not connected_groups(winners, losers, pairs.n_systems, one_way=True).any()
