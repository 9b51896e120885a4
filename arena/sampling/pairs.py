"""The pairs of systems, and sums over them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Pairs:
    """The P pairs of S systems; leading axes of arrays may be questions.

    Attributes:
        first: First system of each pair, shape (P,).
        second: Second system of each pair, shape (P,).
        n_systems: Number of systems S.
    """

    first: Integers
    second: Integers
    n_systems: int

    def differences(self, values: Floats) -> Floats:
        """Value of the first system minus that of the second: (..., S) to (..., P)."""
        return np.asarray(values[..., self.first] - values[..., self.second])

    def sums(self, values: Floats) -> Floats:
        """Add a pair's value to its first system and take it from its second.

        The transpose of ``differences``: (..., P) to (..., S).
        """
        matrix = self._matrix(values)
        return np.asarray(matrix.sum(axis=-1) - matrix.sum(axis=-2))

    def spreads(self, matrix: Floats) -> Floats:
        """Quadratic form d' M d of each pair's difference d: (..., S, S) to (..., P)."""
        diagonal = np.diagonal(matrix, axis1=-2, axis2=-1)
        crossed = matrix[..., self.first, self.second] + matrix[..., self.second, self.first]
        return np.asarray(diagonal[..., self.first] + diagonal[..., self.second] - crossed)

    def laplacian(self, weights: Floats) -> Floats:
        """Sum of weighted d d' over pairs: (..., P) to (..., S, S)."""
        matrix = self._matrix(-weights)
        matrix += matrix.swapaxes(-2, -1)
        at = np.arange(self.n_systems)
        matrix[..., at, at] = -matrix.sum(axis=-1)
        return matrix

    def _matrix(self, values: Floats) -> Floats:
        matrix = np.zeros((*values.shape[:-1], self.n_systems, self.n_systems))
        matrix[..., self.first, self.second] = values
        return matrix
