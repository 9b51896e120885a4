"""Solving with the information matrix of a Bradley-Terry fit, dense or sparse."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import eye_array
from scipy.sparse.linalg import splu

from arena.cells import Cells
from arena.likelihoods import Derivatives

Floats = npt.NDArray[np.float64]

Solver = Callable[[Floats], Floats]
"""Right-hand sides of shape (R, size) to solutions of that shape."""

LARGEST_DENSE = 3_000
SINGULAR = 1e-12


def factorise(cells: Cells, found: Derivatives, ridge: float) -> Solver:
    """Factorise the penalised information of one replicate.

    Without a prior, coefficients are defined up to a constant; the one of mean 0 is taken.

    Args:
        cells: Which systems meet in which cell.
        found: Derivatives of the replicate, each of shape (1, M).
        ridge: Precision of the prior.

    Raises:
        LinAlgError: If the matrix is singular.
    """
    if cells.n_systems > LARGEST_DENSE and found.by_tie is None and cells.size == cells.n_systems:
        return _sparse(cells, found, ridge)
    return _dense(information(cells, found, ridge))


def information(cells: Cells, found: Derivatives, ridge: float, gauge: bool = True) -> Floats:
    """Return the penalised information of one replicate, shape (size, size).

    Args:
        cells: Which systems meet in which cell.
        found: Derivatives of the replicate, each of shape (1, M).
        ridge: Precision of the prior.
        gauge: Add what fixes the mean of the coefficients at 0.
    """
    weights = found.odds_information[0]
    systems = cells.n_systems
    matrix = cells.information(weights)
    if gauge:
        matrix[:systems, :systems] += 1.0 / systems
    matrix[np.arange(systems), np.arange(systems)] += ridge
    if found.tie_information is None or found.cross_information is None:
        return matrix
    cross = cells.collect(found.cross_information)
    corner = found.tie_information.sum(keepdims=True) + ridge
    return np.block([[matrix, cross.T], [cross, corner]])


def _dense(matrix: Floats) -> Solver:
    if np.diag(matrix).min() <= SINGULAR:
        raise np.linalg.LinAlgError("singular information")
    factor = cho_factor(matrix)
    if (np.diag(factor[0]) ** 2 <= SINGULAR).any():
        raise np.linalg.LinAlgError("singular information")

    inverses: list[Floats] = []

    def solve(right: Floats) -> Floats:
        if len(right) == 1:
            return np.asarray(cho_solve(factor, right.T).T)
        if not inverses:
            inverses.append(np.asarray(cho_solve(factor, np.eye(len(matrix)))))
        return np.asarray(right @ inverses[0])

    return solve


def _sparse(cells: Cells, found: Derivatives, ridge: float) -> Solver:
    matrix = cells.sparse_information(found.odds_information[0])
    precision = max(ridge, SINGULAR)
    factor = splu((matrix + precision * eye_array(cells.n_systems)).tocsc())

    def solve(right: Floats) -> Floats:
        solution = factor.solve(np.ascontiguousarray(right.T)).T
        return np.asarray(solution - solution.mean(axis=1, keepdims=True))

    return solve
