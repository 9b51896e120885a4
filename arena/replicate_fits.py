"""Maximising many penalised likelihoods of battles at once.

All replicates share the cells, so one information matrix, taken at the pooled fit, preconditions
every replicate (a chord iteration): each step costs two small matrix products. Replicates that do
not contract (separable or thin ones) are finished by damped Newton steps with their own matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from arena.cells import Cells
from arena.errors import ArenaError
from arena.likelihoods import Halved, Likelihood
from arena.linear_solvers import Solver, factorise

Floats = npt.NDArray[np.float64]
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
"""Draws a first guess towards even odds."""
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
        coefficients: Log-odds, centred on 0, shape (R, S).
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
        """Factorise the expected information of one replicate.

        Args:
            parameters: Shape (1, size).
        """
        found = self.likelihood.derivatives(*self.parts(parameters))
        return factorise(self.cells, found, self.ridge)


@dataclass(frozen=True)
class Centre:
    """A fit that replicates lie around, and the solver of its information.

    Attributes:
        parameters: Shape (1, size).
        solver: Of the information there.
        cells: Which systems meet in which cell.
    """

    parameters: Floats
    solver: Solver
    cells: Cells


def centre_at(problem: Problem, parameters: Floats) -> Centre:
    """Return the centre of replicates of a problem.

    Args:
        problem: Of one replicate, all battles.
        parameters: Its fit, shape (1, size).
    """
    return Centre(parameters, problem.solver(parameters), problem.cells)


def solve(
    problem: Problem, tolerance: float = TOLERANCE, centre: Centre | None = None
) -> BradleyTerryFit:
    """Fit all replicates of a problem.

    Args:
        problem: Replicates.
        tolerance: Largest last step, in log-odds.
        centre: What the replicates lie around; by default the fit of their mean.

    Raises:
        ConvergenceError: If a replicate has no maximum or did not converge.
    """
    if centre is None:
        pooled = Problem(problem.likelihood.pooled(), problem.cells, problem.ridge)
        parameters = _newton(pooled, pooled.start(), tolerance)
        if problem.replicates == 1:
            return _fit(problem, parameters, tolerance, 0, 0)
        centre = centre_at(pooled, parameters)
    size = max(1, PIECE_ENTRIES // max(len(problem.cells.first), 1))
    fits, most, by_newton = [], 0, 0
    for start in range(0, problem.replicates, size):
        piece = problem
        if size < problem.replicates:
            piece = problem.take(np.arange(start, min(start + size, problem.replicates)))
        parameters, steps, open_rows = _chord(piece, centre.solver, centre.parameters, tolerance)
        for row in open_rows:
            alone = piece.take(np.array([row]))
            parameters[row] = _newton(alone, centre.parameters, tolerance)[0]
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
    problem: Problem, solver: Solver, centre: Floats, tolerance: float
) -> tuple[Floats, int, Integers]:
    """Iterate all replicates with one information matrix; return also the rows left open."""
    move = solver(problem.gradient(centre))
    parameters = centre - move
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
    a factorised matrix serves for further steps while these shrink fast.
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
