"""Bradley-Terry coefficients by maximum likelihood, many replicates at once.

The model (Hunter, 2004): system i beats system j with probability sigma(theta_i - theta_j). A
Gaussian prior of precision ``ridge`` keeps coefficients finite where a system wins or loses all.

All replicates share the cells, so one information matrix, taken at the pooled fit, preconditions
every replicate (a chord iteration): each step costs two small matrix products. Replicates that do
not contract (separable or thin ones) are finished by damped Newton steps with their own matrices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from arena.cells import Cells
from arena.errors import ArenaError, UsageError
from arena.likelihoods import Counts, Davidson, Halved, Likelihood, RaoKupper
from arena.linear_solvers import Solver, factorise

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]

DEFAULT_RIDGE = 0.1
TOLERANCE = 1e-10
CHORD_STEPS = 60
NEWTON_STEPS = 200
HALVINGS = 40
LONGEST_STEP = 5.0
SMALLEST_STEP_CHECKED = 1e-6
SAFE_STEP = 0.5
"""Newton steps this short (log-odds) always lower the loss: it is self-concordant (Bach, 2010)."""
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

    def gradient(self, parameters: Floats) -> Floats:
        """Gradient of the loss, shape (R, size)."""
        by_odds, by_tie = self.likelihood.score(*self.parts(parameters))
        gradient = -self.cells.collect(by_odds)
        systems = self.cells.n_systems
        gradient[:, :systems] += self.ridge * parameters[:, :systems]
        if by_tie is None:
            return gradient
        return np.hstack([gradient, self.ridge * parameters[:, -1:] - by_tie.sum(1, keepdims=True)])

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


def fit_bradley_terry(
    points: npt.ArrayLike,
    counts: npt.ArrayLike,
    first: Integers,
    second: Integers,
    n_systems: int,
    ridge: float = DEFAULT_RIDGE,
    tolerance: float = TOLERANCE,
    covariates: npt.ArrayLike | None = None,
    centre: Floats | None = None,
) -> BradleyTerryFit:
    """Fit Bradley-Terry coefficients to R replicates of aggregated counts.

    Args:
        points: Points of the first system of each cell (1 a win, 0.5 a tie), shape (R, M).
        counts: Battles of each cell, shape (R, M).
        first: First system of each cell, shape (M,).
        second: Second system of each cell, shape (M,).
        n_systems: Number of systems S.
        ridge: Precision of the Gaussian prior on coefficients, at least 0. With 0 the plain
            maximum likelihood is sought, which exists only where wins connect every system
            with every other both ways.
        tolerance: Largest last step, in log-odds.
        covariates: Covariates of each cell's log-odds, shape (M, C), without a prior.
        centre: Parameters close to all replicates, where known; see ``solve``.

    Returns:
        The fit; systems without a battle get 0 (with ``ridge`` > 0).

    Raises:
        UsageError: For arrays of the wrong shape, or points outside [0, counts].
        ConvergenceError: If a replicate has no maximum or did not converge.
    """
    won = np.atleast_2d(np.asarray(points, dtype=np.float64))
    met = np.atleast_2d(np.asarray(counts, dtype=np.float64))
    cells = make_cells(first, second, n_systems, covariates)
    if won.shape != met.shape or won.shape[1] != len(first):
        raise UsageError("points and counts must be (replicates, cells) for the same cells")
    if not (np.isfinite(won).all() and np.isfinite(met).all()):
        raise UsageError("points and counts must be finite numbers")
    if (won < 0).any() or (won > met).any():
        raise UsageError("points must lie between 0 and the number of battles of the cell")
    return solve(Problem(Halved(won, met), cells, _checked_ridge(ridge)), tolerance, centre)


def fit_with_ties(
    counts: Counts,
    first: Integers,
    second: Integers,
    n_systems: int,
    model: str = "davidson",
    ridge: float = DEFAULT_RIDGE,
    tolerance: float = TOLERANCE,
    covariates: npt.ArrayLike | None = None,
    centre: Floats | None = None,
) -> BradleyTerryFit:
    """Fit Bradley-Terry coefficients and a tie parameter to R replicates of counts.

    Args:
        counts: Wins, losses and ties of each cell's first system.
        first: First system of each cell, shape (M,).
        second: Second system of each cell, shape (M,).
        n_systems: Number of systems S.
        model: ``davidson`` or ``rao-kupper``; see ``arena.likelihoods``.
        ridge: Precision of the Gaussian prior on coefficients and tau, at least 0.
        tolerance: Largest last step, in log-odds.
        covariates: Covariates of each cell's log-odds, shape (M, C), without a prior.
        centre: Parameters close to all replicates, where known; see ``solve``.

    Raises:
        UsageError: For arrays of the wrong shape, negative counts, or an unknown model.
        ConvergenceError: If a replicate has no maximum (without ties, say) or did not converge.
    """
    models = {"davidson": Davidson, "rao-kupper": RaoKupper}
    if model not in models:
        raise UsageError(f"unknown model of ties {model!r}; use one of {', '.join(models)}")
    for part in (counts.wins, counts.losses, counts.ties):
        if part.ndim != 2 or part.shape[1] != len(first):
            raise UsageError("counts must be (replicates, cells) for the same cells")
        if not np.isfinite(part).all() or (part < 0).any():
            raise UsageError("counts must be finite and at least 0")
    cells = make_cells(first, second, n_systems, covariates)
    problem = Problem(models[model](counts), cells, _checked_ridge(ridge))
    return solve(problem, tolerance, centre)


def make_cells(
    first: Integers, second: Integers, n_systems: int, covariates: npt.ArrayLike | None = None
) -> Cells:
    """Check and build the cells of a fit.

    Raises:
        UsageError: For fewer than two systems or arrays of different lengths.
    """
    if n_systems < 2:
        raise UsageError("a Bradley-Terry model needs at least two systems")
    if len(first) != len(second):
        raise UsageError("first and second must name the systems of the same cells")
    columns = np.zeros((len(first), 0)) if covariates is None else np.asarray(covariates, float)
    if columns.ndim != 2 or len(columns) != len(first) or not np.isfinite(columns).all():
        raise UsageError("covariates must be finite, (cells, covariates)")
    return Cells(np.asarray(first, np.intp), np.asarray(second, np.intp), n_systems, columns)


def _checked_ridge(ridge: float) -> float:
    if not np.isfinite(ridge) or ridge < 0:
        raise UsageError("ridge must be at least 0")
    return ridge


def solve(
    problem: Problem, tolerance: float = TOLERANCE, centre: Floats | None = None
) -> BradleyTerryFit:
    """Fit all replicates of a problem.

    Args:
        problem: The replicates.
        tolerance: Largest last step, in log-odds.
        centre: Parameters close to all replicates, shape (K,), such as those of the data they
            were resampled from; by default the fit of their mean.

    Raises:
        ConvergenceError: If a replicate has no maximum or did not converge.
    """
    pooled = Problem(problem.likelihood.pooled(), problem.cells, problem.ridge)
    if centre is None:
        start = _newton(pooled, np.zeros((1, problem.size)), tolerance)
        if problem.replicates == 1:
            return _fit(problem, start, tolerance, 0, 0)
    else:
        start = centre[None]
    parameters, steps, open_rows = _chord(problem, pooled.solver(start), start, tolerance)
    for row in open_rows:
        parameters[row] = _newton(problem.take(np.array([row])), start, tolerance)[0]
    return _fit(problem, parameters, tolerance, steps, int(open_rows.size))


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
    steps = 1
    growing = False
    while steps < CHORD_STEPS and not growing and (size > tolerance).any():
        move = solver(problem.gradient(parameters))
        parameters = parameters - move
        last, size = size, np.abs(move).max(axis=1)
        growing = not bool(np.isfinite(size).all()) or bool(
            ((size > last) & (size > SMALLEST_STEP_CHECKED)).any()
        )
        steps += 1
    return parameters, steps, np.flatnonzero(~(size <= tolerance))


def _newton(problem: Problem, start: Floats, tolerance: float) -> Floats:
    """Take damped Newton steps of one replicate until it converges.

    Without a tie parameter the expected information is the Hessian, and convergence quadratic.
    """
    parameters = start
    for _ in range(NEWTON_STEPS):
        try:
            move = problem.solver(parameters)(problem.gradient(parameters))
        except np.linalg.LinAlgError:
            break
        size = float(np.abs(move).max())
        if not np.isfinite(size):
            break
        if size <= SAFE_STEP:
            parameters = parameters - move
        else:
            shrink = LONGEST_STEP / max(size, LONGEST_STEP)
            parameters = _backtracked(problem, parameters, move * shrink)
        if size <= (tolerance if problem.likelihood.has_tie_parameter else QUADRATIC):
            return parameters
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
