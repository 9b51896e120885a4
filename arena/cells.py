"""Which systems meet in which cell, and the linear algebra between cells and systems."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]

DENSE_ENTRIES = 50_000
"""Up to this size of the design, dense products are faster than gathering and sparse sums."""


@dataclass(frozen=True)
class Cells:
    """M cells, each a system on side A against one on side B, with covariates of the odds.

    The log-odds of a cell are theta[first] - theta[second] + covariates @ beta.

    Attributes:
        first: System on side A, shape (M,).
        second: System on side B, shape (M,).
        n_systems: Number of systems S.
        covariates: Shape (M, C); a position effect is a column of ones.
    """

    first: Integers
    second: Integers
    n_systems: int
    covariates: Floats

    @property
    def size(self) -> int:
        """Number of coefficients: systems, then covariates."""
        return self.n_systems + int(self.covariates.shape[1])

    @cached_property
    def _design(self) -> csr_array:
        cells = np.arange(len(self.first))
        rows = np.concatenate([cells, cells])
        columns = np.concatenate([self.first, self.second])
        values = np.concatenate([np.ones(len(cells)), -np.ones(len(cells))])
        return csr_array((values, (rows, columns)), shape=(len(cells), self.n_systems))

    @cached_property
    def _dense(self) -> Floats | None:
        if len(self.first) * self.n_systems > DENSE_ENTRIES:
            return None
        return np.hstack([self._design.toarray(), self.covariates])

    @cached_property
    def _transposed(self) -> csr_array:
        return self._design.T.tocsr()

    @cached_property
    def _incidence(self) -> csr_array:
        return abs(self._transposed)

    @cached_property
    def _on_side_b(self) -> csr_array:
        return (self._incidence - self._transposed) / 2

    def surplus(self, strengths: Floats, points: Floats, counts: Floats, work: Floats) -> Floats:
        """Return each system's points beyond those expected; for cells without covariates.

        Args:
            strengths: exp(theta), shape (S, R), or (S, 1) for all replicates.
            points: Points of the first system of each cell, shape (M, R).
            counts: Battles of each cell, shape (M, R).
            work: Memory to use, shape (2, M, R).

        Returns:
            Shape (S, R).
        """
        chance, other = work
        if strengths.shape[1] < work.shape[2]:
            of_first, of_second = strengths[self.first], strengths[self.second]
            np.multiply(counts, of_first / (of_first + of_second), out=chance)
        else:
            np.take(strengths, self.first, axis=0, out=chance, mode="clip")
            np.take(strengths, self.second, axis=0, out=other, mode="clip")
            other += chance
            chance /= other
            chance *= counts
        np.subtract(points, chance, out=chance)
        return np.asarray(self._transposed @ chance)

    def points_won(self, points: Floats, counts: Floats) -> Floats:
        """Return the points each system won, shape (S, R), of cells' of shape (M, R)."""
        return np.asarray(self._transposed @ points + self._on_side_b @ counts)

    def battles(self, counts: Floats) -> Floats:
        """Return the battles of each system, shape (S, R), of cells' of shape (M, R)."""
        return np.asarray(self._incidence @ counts)

    def odds(self, coefficients: Floats) -> Floats:
        """Log-odds of every cell.

        Args:
            coefficients: Shape (R, size).

        Returns:
            Shape (R, M).
        """
        if self._dense is not None:
            return np.asarray(coefficients @ self._dense.T)
        theta, beta = np.split(coefficients, [self.n_systems], axis=1)
        odds = theta[:, self.first]
        odds -= theta[:, self.second]
        return odds + beta @ self.covariates.T if beta.shape[1] else odds

    def collect(self, values: Floats) -> Floats:
        """Sum cell values into the coefficients they depend on (the transpose of ``odds``).

        Args:
            values: Shape (R, M).

        Returns:
            Shape (R, size).
        """
        if self._dense is not None:
            return np.asarray(values @ self._dense)
        if len(values) == 1:
            systems = self._sum(values[0])[None]
        else:
            systems = (self._transposed @ values.T).T
        if not self.covariates.shape[1]:
            return np.asarray(systems)
        return np.hstack([systems, values @ self.covariates])

    def collect_sparse(self, values: csr_array) -> Floats:
        """Do as ``collect`` for a sparse matrix of cell values, shape (R, M)."""
        systems = (values @ self._design).toarray()
        if not self.covariates.shape[1]:
            return np.asarray(systems)
        return np.hstack([systems, values @ self.covariates])

    def _sum(self, values: Floats) -> Floats:
        won = np.bincount(self.first, values, self.n_systems)
        return np.asarray(won - np.bincount(self.second, values, self.n_systems))

    def information(self, weights: Floats) -> Floats:
        """Return the weighted normal matrix of the design.

        Args:
            weights: Information of each cell's log-odds, shape (M,).

        Returns:
            Shape (size, size).
        """
        systems = self.n_systems
        matrix = np.zeros((self.size, self.size))
        pairs = self.first * systems + self.second
        met = np.bincount(pairs, weights, systems * systems).reshape(systems, systems)
        met = met + met.T
        matrix[:systems, :systems] = np.diag(met.sum(axis=1)) - met
        if self.covariates.shape[1]:
            weighted = self.covariates * weights[:, None]
            across = np.column_stack([self._sum(column) for column in weighted.T])
            matrix[:systems, systems:] = across
            matrix[systems:, :systems] = across.T
            matrix[systems:, systems:] = self.covariates.T @ weighted
        return matrix

    def sparse_information(self, weights: Floats) -> csr_array:
        """Return the same as ``information`` as a sparse matrix; for cells without covariates."""
        scaled = self._design.multiply(weights[:, None]).tocsr()
        return csr_array(self._transposed @ scaled)
