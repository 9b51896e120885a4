"""Solving with the information matrix of a Bradley-Terry fit, dense or sparse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csc_array, diags_array, eye_array
from scipy.sparse.linalg import cg, splu

from arena.data.errors import ArenaError
from arena.rating.likelihoods import Cells, Derivatives, Halved, Likelihood

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


def factorize(cells: Cells, found: Derivatives, ridge: float) -> Solver:
    """Factorize the penalised information of one replicate.

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
        return lambda right: _centerd(factor.solve(np.ascontiguousarray(right.T)).T)
    return lambda right: _centerd(np.array([_conjugate_gradients(matrix, row) for row in right]))


def _conjugate_gradients(matrix: csc_array, right: Floats) -> Floats:
    scaled = diags_array(1.0 / matrix.diagonal())
    solution, failure = cg(matrix, right, rtol=ACCURACY, atol=0.0, maxiter=MOST_STEPS, M=scaled)
    if failure:
        raise np.linalg.LinAlgError("conjugate gradients did not converge")
    return np.asarray(solution)


def _centerd(solution: Floats) -> Floats:
    return np.asarray(solution - solution.mean(axis=1, keepdims=True))


Integers = npt.NDArray[np.intp]

TOLERANCE = 1e-10
CHORD_STEPS = 60
NEWTON_STEPS = 200
HALVINGS = 40
LONGEST_STEP = 5.0
SMALLEST_STEP_CHECKED = 1e-6
LARGEST_EXPONENT = 300.0
"""Coefficients up to this size have strengths exp(theta) within the range of floats."""
EVEN = 0.01
"""Draws a first guess toward even odds."""
PIECE_ENTRIES = 1_000_000
"""Counts (replicates x cells) fitted at a time, so that they stay in the cache."""
SAFE_STEP = 0.5
"""Newton steps this short (log-odds) always lower the loss: it is self-concordant (Bach, 2010)."""
LARGEST_REUSED = 0.5
"""After Newton steps this short the same matrix serves for the next one."""
REUSED_SHRINKS = 0.3
"""A step with an old matrix must be shorter than the last one by this factor."""
FASTEST = 0.1
"""Steps are not trusted to shrink by more than this factor."""
SLOWEST = 0.5
"""Where steps shrink by less than this factor, the last one stands for the error."""
QUADRATIC = 1e-6
"""Newton steps this short leave an error of about their square."""


class ConvergenceError(ArenaError, ArithmeticError):
    """The likelihood has no maximum, or it was not reached."""


@dataclass(frozen=True)
class BradleyTerryFit:
    """Fitted coefficients.

    Attributes:
        parameters: Coefficients, effects and tau, shape (R, K).
        coefficients: Log-odds, centerd on 0, shape (R, S).
        effects: Coefficients of the covariates (the position effect, say), shape (R, C).
        tie_parameter: exp(tau), Davidson's nu or Rao and Kupper's eta, shape (R,), or None.
        ridge: Precision of the Gaussian prior.
        tolerance: Largest last step allowed, in log-odds.
        chord_steps: Steps taken with the shared information matrix.
        newton_replicates: Replicates that needed their own matrices.
    """

    parameters: Floats
    coefficients: Floats
    effects: Floats
    tie_parameter: Floats | None
    ridge: float
    tolerance: float
    chord_steps: int
    newton_replicates: int


@dataclass(frozen=True)
class Problem:
    """Penalised likelihoods of R replicates.

    A row of parameters holds S coefficients, then C effects, then tau where ties have a model.

    Attributes:
        likelihood: Battles in M cells, R replicates.
        cells: Which systems meet in which cell.
        ridge: Precision of the prior on coefficients.
    """

    likelihood: Likelihood
    cells: Cells
    ridge: float

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.cells.size + int(self.likelihood.has_tie_parameter)

    @property
    def replicates(self) -> int:
        """Number of replicates R."""
        return self.likelihood.replicates

    def take(self, rows: Integers) -> Problem:
        """Keep some replicates."""
        return Problem(self.likelihood.take(rows), self.cells, self.ridge)

    def parts(self, parameters: Floats) -> tuple[Floats, Floats | None]:
        """Split parameters into the log-odds of cells, shape (R, M), and tau, shape (R,)."""
        linear = parameters[:, : self.cells.size]
        tie = parameters[:, -1] if self.likelihood.has_tie_parameter else None
        return self.cells.odds(linear), tie

    @cached_property
    def _work(self) -> Floats:
        return np.empty((2, len(self.cells.first), self.replicates))

    def gradient(self, parameters: Floats) -> Floats:
        """Gradient of the loss, shape (R, size)."""
        held = self.likelihood
        if (
            isinstance(held, Halved)
            and not self.cells.covariates.shape[1]
            and np.abs(parameters).max() <= LARGEST_EXPONENT
        ):
            strengths = np.exp(np.ascontiguousarray(parameters.T))
            surplus = self.cells.surplus(strengths, held.points.T, held.counts.T, self._work)
            return np.asarray(self.ridge * parameters - surplus.T)
        by_odds, by_tie = self.likelihood.score(*self.parts(parameters))
        gradient = -self.cells.collect(by_odds)
        systems = self.cells.n_systems
        gradient[:, :systems] += self.ridge * parameters[:, :systems]
        if by_tie is None:
            return gradient
        return np.hstack([gradient, self.ridge * parameters[:, -1:] - by_tie.sum(1, keepdims=True)])

    def start(self) -> Floats:
        """Guess the parameters of one replicate: log-odds of the systems' shares of points."""
        held = self.likelihood
        if not isinstance(held, Halved) or self.cells.covariates.shape[1]:
            return np.zeros((1, self.size))
        won = self.cells.points_won(held.points.T, held.counts.T)
        met = self.cells.battles(held.counts.T)
        share = (won + EVEN * met) / np.where(met > 0, (1 + 2 * EVEN) * met, 1.0)
        share = np.where(met > 0, share, 0.5)
        guess = np.log(share / (1 - share)).T
        return np.asarray(guess - guess.mean())

    def loss(self, parameters: Floats) -> Floats:
        """Penalised negative log-likelihood, shape (R,)."""
        penalised = parameters[:, : self.cells.n_systems]
        penalty = (penalised**2).sum(axis=1)
        if self.likelihood.has_tie_parameter:
            penalty = penalty + parameters[:, -1] ** 2
        loss = self.likelihood.loss(*self.parts(parameters))
        return np.asarray(loss + 0.5 * self.ridge * penalty)

    def solver(self, parameters: Floats) -> Solver:
        """Factorize the expected information of one replicate.

        Args:
            parameters: Shape (1, size).
        """
        found = self.likelihood.derivatives(*self.parts(parameters))
        return factorize(self.cells, found, self.ridge)


@dataclass(frozen=True)
class Center:
    """A fit that replicates lie around, and the solver of its information.

    Attributes:
        parameters: Shape (1, size).
        solver: Of the information there.
        cells: Which systems meet in which cell.
    """

    parameters: Floats
    solver: Solver
    cells: Cells


def center_at(problem: Problem, parameters: Floats) -> Center:
    """Return the center of replicates of a problem.

    Args:
        problem: Of one replicate, all battles.
        parameters: Its fit, shape (1, size).
    """
    return Center(parameters, problem.solver(parameters), problem.cells)


def solve(
    problem: Problem, tolerance: float = TOLERANCE, center: Center | None = None
) -> BradleyTerryFit:
    """Fit all replicates of a problem.

    Args:
        problem: Replicates.
        tolerance: Largest last step, in log-odds.
        center: What the replicates lie around; by default the fit of their mean.

    Raises:
        ConvergenceError: If a replicate has no maximum or did not converge.
    """
    if center is None:
        pooled = Problem(problem.likelihood.pooled(), problem.cells, problem.ridge)
        parameters = _newton(pooled, pooled.start(), tolerance)
        if problem.replicates == 1:
            return _fit(problem, parameters, tolerance, 0, 0)
        center = center_at(pooled, parameters)
    size = max(1, PIECE_ENTRIES // max(len(problem.cells.first), 1))
    fits, most, by_newton = [], 0, 0
    for start in range(0, problem.replicates, size):
        piece = problem
        if size < problem.replicates:
            piece = problem.take(np.arange(start, min(start + size, problem.replicates)))
        parameters, steps, open_rows = _chord(piece, center.solver, center.parameters, tolerance)
        for row in open_rows:
            alone = piece.take(np.array([row]))
            parameters[row] = _newton(alone, center.parameters, tolerance)[0]
        fits.append(parameters)
        most, by_newton = max(most, steps), by_newton + int(open_rows.size)
    return _fit(problem, np.concatenate(fits), tolerance, most, by_newton)


def _fit(
    problem: Problem, parameters: Floats, tolerance: float, steps: int, newton_replicates: int
) -> BradleyTerryFit:
    systems, linear = problem.cells.n_systems, problem.cells.size
    has_tie = problem.likelihood.has_tie_parameter
    return BradleyTerryFit(
        parameters=parameters,
        coefficients=parameters[:, :systems],
        effects=parameters[:, systems:linear],
        tie_parameter=np.exp(parameters[:, -1]) if has_tie else None,
        ridge=problem.ridge,
        tolerance=tolerance,
        chord_steps=steps,
        newton_replicates=newton_replicates,
    )


def _chord(
    problem: Problem, solver: Solver, center: Floats, tolerance: float
) -> tuple[Floats, int, Integers]:
    """Iterate all replicates with one information matrix; return also the rows left open."""
    move = solver(problem.gradient(center))
    parameters = center - move
    size = np.abs(move).max(axis=1)
    error = size
    steps = 1
    growing = False
    while steps < CHORD_STEPS and not growing and (error > tolerance).any():
        move = solver(problem.gradient(parameters))
        parameters = parameters - move
        last, size = size, np.abs(move).max(axis=1)
        error = _remaining(size, last)
        growing = not bool(np.isfinite(size).all()) or bool(
            ((size > last) & (size > SMALLEST_STEP_CHECKED)).any()
        )
        steps += 1
    return parameters, steps, np.flatnonzero(~(error <= tolerance))


def _remaining(size: Floats, last: Floats) -> Floats:
    """Estimate the error after a step of a linearly converging iteration by the last two."""
    rate = np.clip(size / np.maximum(last, np.finfo(float).tiny), FASTEST, SLOWEST)
    return np.asarray(size * rate / (1 - rate))


def _newton(problem: Problem, start: Floats, tolerance: float) -> Floats:
    """Take damped Newton steps of one replicate until it converges.

    Without a tie parameter the expected information is the Hessian, convergence is quadratic, and
    a factorized matrix serves for further steps while these shrink fast.
    """
    has_tie = problem.likelihood.has_tie_parameter
    parameters, solver, last = start, None, np.inf
    for _ in range(NEWTON_STEPS):
        fresh = solver is None
        try:
            solver = solver or problem.solver(parameters)
            move = solver(problem.gradient(parameters))
        except np.linalg.LinAlgError:
            break
        size = float(np.abs(move).max())
        if not np.isfinite(size):
            break
        if not fresh and size > REUSED_SHRINKS * last:
            solver = None
            continue
        if size <= SAFE_STEP:
            parameters = parameters - move
        else:
            shrink = LONGEST_STEP / max(size, LONGEST_STEP)
            parameters = _backtracked(problem, parameters, move * shrink)
        if size <= (QUADRATIC if fresh and not has_tie else tolerance):
            return parameters
        if not fresh and size * max(size / last, FASTEST) <= tolerance:
            return parameters
        if has_tie or size > LARGEST_REUSED:
            solver = None
        last = size
    raise ConvergenceError(
        "the fit did not converge: some systems only win, only lose, or do not meet the others "
        "(or there are no ties to model), so the likelihood has no maximum; use ridge > 0"
    )


def _backtracked(problem: Problem, parameters: Floats, move: Floats) -> Floats:
    """Halve a move until the loss does not rise."""
    before = problem.loss(parameters)[0]
    slack = 1e-12 * (1.0 + abs(before))
    for _ in range(HALVINGS):
        if problem.loss(parameters - move)[0] <= before + slack:
            break
        move = move / 2
    return np.asarray(parameters - move)
