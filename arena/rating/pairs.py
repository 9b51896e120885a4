"""Pairs of systems that met, and the groups that battles connect."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
import scipy
from scipy.sparse import coo_array, csr_array

from arena.data.errors import UsageError
from arena.data.types import Floats, Indices
from arena.rating.biases import Biases

MOST_SYSTEMS = 5_000
"""Of a language that are rated together: memory grows with their square, time with their cube."""


@dataclass(frozen=True)
class Pairs:
    """P pairs of S systems; two systems may form several pairs, in either order.

    Leading axes of arrays (questions, replicates) are kept.

    Attributes:
        first: First system of each pair, shape (P,).
        second: Second system of each pair, shape (P,).
        n_systems: Number of systems S.
    """

    first: Indices
    second: Indices
    n_systems: int

    def __len__(self) -> int:
        return len(self.first)

    @cached_property
    def incidence(self) -> csr_array:
        """Incidence matrix, shape (S, P): 1 for the first system of a pair, -1 for the second."""
        pairs = np.arange(len(self))
        values = np.repeat([1.0, -1.0], len(self))
        entries = (np.concatenate([self.first, self.second]), np.concatenate([pairs, pairs]))
        return coo_array((values, entries), shape=(self.n_systems, len(self))).tocsr()

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
        """Sum of weighted d d' over pairs: (P,) to (S, S)."""
        size = self.n_systems
        cells = np.bincount(self.first * size + self.second, weights, size * size)
        met = cells.astype(np.float64).reshape(size, size)
        matrix = -(met + met.T)
        np.fill_diagonal(matrix, 0.0)
        np.fill_diagonal(matrix, -matrix.sum(axis=-1))
        return matrix

    def information(self, weights: Floats, biases: Biases | None = None) -> Floats:
        """Sum of weighted x x' over pairs, with x of ratings, then of biases: (P,) to (K, K)."""
        matrix = self.laplacian(weights)
        if biases is None or not len(biases):
            return matrix
        size = self.n_systems
        crossed = biases.crossed(self.first, size, weights)
        crossed -= biases.crossed(self.second, size, weights)
        full = np.empty((size + len(biases), size + len(biases)))
        full[:size, :size] = matrix
        full[:size, size:] = crossed
        full[size:, :size] = crossed.T
        full[size:, size:] = biases.information(weights)
        return full


def checked_number(systems: int) -> int:
    """Return how many systems are to be rated together.

    Raises:
        UsageError: If memory for every two of them may not be there.
    """
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
    """Number the groups of systems that edges connect, the largest group first.

    Args:
        first: System at one end of each edge, shape (E,).
        second: System at the other end, shape (E,).
        n_systems: Number of systems S.
        one_way: Edges lead from ``first`` to ``second`` only, and a group is strongly connected:
            a way leads from each of its systems to each other.
        battles: Battles of each edge, shape (E,); by default one.

    Returns:
        Group of each system, shape (S,): 0 the one with most systems; of as many systems that
        with more battles; only then the one whose first system comes first.
    """
    edges = (np.ones(len(first), dtype=np.int8), (first, second))
    graph = coo_array(edges, shape=(n_systems, n_systems)).tocsr()
    # A largest group chosen by name would depend on what systems are called.
    connection = "strong" if one_way else "weak"
    _, labels = scipy.sparse.csgraph.connected_components(graph, connection=connection)
    _, earliest, label = np.unique(labels, return_index=True, return_inverse=True)
    sizes = np.bincount(label)
    weights = np.ones(len(first)) if battles is None else battles
    amounts = np.bincount(label[first], weights, len(sizes))
    rank = np.empty_like(sizes)
    rank[np.lexsort((earliest, -amounts, -sizes))] = np.arange(len(sizes))
    return np.asarray(rank[label], dtype=np.intp)


def winning_groups(pairs: Pairs, points: Floats, counts: Floats) -> Indices:
    """Number the groups in which wins (or ties) lead from every system to every other.

    Of two groups that met, one won everything: how far apart they are no battle tells. Where all
    systems are one group, and only there, the Bradley-Terry likelihood has a maximum (Ford, 1957,
    "Solution of a ranking problem from binary comparisons").

    Args:
        pairs: The pairs.
        points: Points of each pair's first system, shape (P,).
        counts: Battles of each pair, shape (P,).

    Returns:
        Group of each system, shape (S,); 0 is the largest.
    """
    has_won = points > 0
    has_lost = counts > points
    winners = np.concatenate([pairs.first[has_won], pairs.second[has_lost]])
    losers = np.concatenate([pairs.second[has_won], pairs.first[has_lost]])
    return connected_groups(winners, losers, pairs.n_systems, one_way=True)
