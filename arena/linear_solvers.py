"""Solving with the information matrix of a Bradley-Terry fit, dense or sparse."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csc_array, diags_array, eye_array
from scipy.sparse.linalg import cg, splu

from arena.cells import Cells
from arena.likelihoods import Derivatives

Floats = npt.NDArray[np.float64]

Solver = Callable[[Floats], Floats]
"""Right-hand sides of shape (R, size) to solutions of that shape."""

LARGEST_DENSE = 3_000
SINGULAR = 1e-12
TREE_LIKE = 5
"""Entries of the matrix a system, up to which its factors are sparse; a tree has 3."""
ACCURACY = 1e-8
"""Of conjugate gradients, relative: enough, as steps are repeated until they vanish."""
MOST_STEPS = 2_000


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
    """Solve with many systems: by factors where few pairs met, else by conjugate gradients.

    Factors of a graph of pairs that is hardly more than a tree stay sparse; where it is dense
    conjugate gradients converge in few steps.
    """
    precision = max(ridge, SINGULAR) * eye_array(cells.n_systems)
    matrix = (cells.sparse_information(found.odds_information[0]) + precision).tocsc()
    if matrix.nnz <= TREE_LIKE * cells.n_systems:
        factor = splu(matrix)
        return lambda right: _centred(factor.solve(np.ascontiguousarray(right.T)).T)
    return lambda right: _centred(np.array([_conjugate_gradients(matrix, row) for row in right]))


def _conjugate_gradients(matrix: csc_array, right: Floats) -> Floats:
    scaled = diags_array(1.0 / matrix.diagonal())
    solution, failure = cg(matrix, right, rtol=ACCURACY, atol=0.0, maxiter=MOST_STEPS, M=scaled)
    if failure:
        raise np.linalg.LinAlgError("conjugate gradients did not converge")
    return np.asarray(solution)


def _centred(solution: Floats) -> Floats:
    return np.asarray(solution - solution.mean(axis=1, keepdims=True))
