"""What battles so far say about the systems' strengths: a Gaussian about the Bradley-Terry fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from arena.bradley_terry import fit_bradley_terry

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Pairs:
    """The P pairs of S systems.

    Attributes:
        first: First system of each pair, shape (P,).
        second: Second system of each pair, shape (P,).
        n_systems: Number of systems S.
    """

    first: Integers
    second: Integers
    n_systems: int

    def differences(self, values: Floats) -> Floats:
        """Value of the first system minus that of the second, shape (P,)."""
        return np.asarray(values[self.first] - values[self.second])

    def spreads(self, matrix: Floats) -> Floats:
        """Quadratic form d' M d of each pair's difference d, shape (P,)."""
        diagonal = np.diag(matrix)
        crossed = matrix[self.first, self.second]
        return np.asarray(diagonal[self.first] + diagonal[self.second] - 2.0 * crossed)

    def laplacian(self, weights: Floats) -> Floats:
        """Sum of weighted d d' over pairs, shape (S, S)."""
        matrix = np.zeros((self.n_systems, self.n_systems))
        matrix[self.first, self.second] = -weights
        matrix += matrix.T
        return matrix - np.diag(matrix.sum(axis=1))


@dataclass(frozen=True)
class Belief:
    """Laplace approximation of the posterior of strengths.

    Attributes:
        coefficients: Bradley-Terry coefficients, shape (S,).
        information: Fisher information p (1 - p) of one battle of each pair, shape (P,).
        ridge: Precision of the prior.
    """

    coefficients: Floats
    information: Floats
    ridge: float

    def covariance(self, pairs: Pairs, battles: Floats) -> Floats:
        """Covariance of the strengths, were each pair to meet so many times.

        Args:
            pairs: The pairs.
            battles: Number of battles of each pair, shape (P,).

        Returns:
            Shape (S, S).
        """
        precision = pairs.laplacian(battles * self.information)
        return np.asarray(np.linalg.inv(precision + self.ridge * np.eye(pairs.n_systems)))


def believe(pairs: Pairs, points: Floats, battles: Floats, ridge: float) -> Belief:
    """Fit strengths to the battles so far.

    Args:
        pairs: The pairs.
        points: Points of each pair's first system, shape (P,).
        battles: Number of battles of each pair, shape (P,).
        ridge: Precision of the prior, above 0.
    """
    fit = fit_bradley_terry(
        points[None], battles[None], pairs.first, pairs.second, pairs.n_systems, ridge
    )
    coefficients = fit.coefficients[0]
    chance = expit(pairs.differences(coefficients))
    return Belief(coefficients, np.asarray(chance * (1.0 - chance)), ridge)
