"""Bradley-Terry coefficients by maximum likelihood, many replicates at once.

The model (Hunter, 2004): system i beats system j with probability sigma(theta_i - theta_j). A
Gaussian prior of precision ``ridge`` keeps coefficients finite where a system wins or loses all.

All replicates share the pairs, so one Hessian, taken at the pooled fit, preconditions every
replicate (a chord iteration): each step costs two small matrix products. Replicates that do not
contract (separable or thin ones) are finished by damped Newton steps with their own Hessians.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from arena.errors import ArenaError, UsageError

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]

DEFAULT_RIDGE = 0.1
TOLERANCE = 1e-10
CHORD_STEPS = 50
NEWTON_STEPS = 200
HALVINGS = 40
LONGEST_STEP = 5.0
SMALLEST_STEP_CHECKED = 1e-6


class ConvergenceError(ArenaError, ArithmeticError):
    """The likelihood has no maximum, or it was not reached."""


@dataclass(frozen=True)
class BradleyTerryFit:
    """Fitted coefficients.

    Attributes:
        coefficients: Log-odds, centred on 0, shape (R, S).
        ridge: Precision of the Gaussian prior.
        tolerance: Largest last step allowed, in log-odds.
        chord_steps: Steps taken with the shared Hessian.
        newton_replicates: Replicates that needed their own Hessians.
    """

    coefficients: Floats
    ridge: float
    tolerance: float
    chord_steps: int
    newton_replicates: int


@dataclass(frozen=True)
class _Problem:
    """Likelihoods of R replicates over P pairs of S systems."""

    points: Floats
    counts: Floats
    design: Floats
    ridge: float

    def take(self, rows: Integers) -> _Problem:
        return _Problem(self.points[rows], self.counts[rows], self.design, self.ridge)

    def gradient(self, theta: Floats) -> Floats:
        expected = self.counts * expit(theta @ self.design.T)
        return np.asarray((expected - self.points) @ self.design + self.ridge * theta)

    def loss(self, theta: Floats) -> Floats:
        odds = theta @ self.design.T
        terms = self.counts * np.logaddexp(0.0, odds) - self.points * odds
        return np.asarray(terms.sum(axis=1) + 0.5 * self.ridge * (theta**2).sum(axis=1))

    def hessian(self, theta: Floats) -> Floats:
        probability = expit(theta @ self.design.T)
        information = self.counts * probability * (1.0 - probability)
        size = self.design.shape[1]
        hessian = (self.design.T[None] * information[:, None, :]) @ self.design
        gauge = np.full((size, size), 1.0 / size)
        return np.asarray(hessian + self.ridge * np.eye(size) + gauge)


def fit_bradley_terry(
    points: npt.ArrayLike,
    counts: npt.ArrayLike,
    first: Integers,
    second: Integers,
    n_systems: int,
    ridge: float = DEFAULT_RIDGE,
    tolerance: float = TOLERANCE,
) -> BradleyTerryFit:
    """Fit Bradley-Terry coefficients to R replicates of aggregated counts.

    Args:
        points: Points of the first system of each pair (1 a win, 0.5 a tie), shape (R, P).
        counts: Battles of each pair, shape (R, P).
        first: First system of each pair, shape (P,).
        second: Second system of each pair, shape (P,).
        n_systems: Number of systems S.
        ridge: Precision of the Gaussian prior on coefficients, at least 0. With 0 the plain
            maximum likelihood is sought, which exists only where wins connect every system
            with every other both ways.
        tolerance: Largest last step, in log-odds.

    Returns:
        The fit; systems without a battle get 0 (with ``ridge`` > 0).

    Raises:
        UsageError: For arrays of the wrong shape, or points outside [0, counts].
        ConvergenceError: If a replicate has no maximum or did not converge.
    """
    problem = _problem(points, counts, first, second, n_systems, ridge)
    pooled = _Problem(
        problem.points.mean(axis=0, keepdims=True),
        problem.counts.mean(axis=0, keepdims=True),
        problem.design,
        ridge,
    )
    centre = _newton(pooled, np.zeros((1, n_systems)), tolerance)
    theta, steps, open_rows = _chord(problem, pooled, centre, tolerance)
    if open_rows.size:
        start = np.repeat(centre, len(open_rows), axis=0)
        theta[open_rows] = _newton(problem.take(open_rows), start, tolerance)
    return BradleyTerryFit(theta, ridge, tolerance, steps, int(open_rows.size))


def _problem(
    points: npt.ArrayLike,
    counts: npt.ArrayLike,
    first: Integers,
    second: Integers,
    n_systems: int,
    ridge: float,
) -> _Problem:
    won = np.atleast_2d(np.asarray(points, dtype=np.float64))
    met = np.atleast_2d(np.asarray(counts, dtype=np.float64))
    if won.shape != met.shape or won.shape[1] != len(first) or len(first) != len(second):
        raise UsageError("points and counts must be (replicates, pairs) for the same pairs")
    if not (np.isfinite(won).all() and np.isfinite(met).all()):
        raise UsageError("points and counts must be finite numbers")
    if (won < 0).any() or (won > met).any():
        raise UsageError("points must lie between 0 and the number of battles of the pair")
    if n_systems < 2:
        raise UsageError("a Bradley-Terry model needs at least two systems")
    if ridge < 0:
        raise UsageError("ridge must be at least 0")
    design = np.zeros((len(first), n_systems))
    pairs = np.arange(len(first))
    design[pairs, first] = 1.0
    design[pairs, second] = -1.0
    return _Problem(won, met, design, ridge)


def _chord(
    problem: _Problem, pooled: _Problem, centre: Floats, tolerance: float
) -> tuple[Floats, int, Integers]:
    """Iterate all replicates with the pooled Hessian; return also the rows left open."""
    inverse = np.linalg.inv(pooled.hessian(centre)[0])
    theta = np.repeat(centre, len(problem.points), axis=0)
    size = np.full(len(theta), np.inf)
    steps = 0
    growing = False
    while steps < CHORD_STEPS and not growing and (size > tolerance).any():
        move = problem.gradient(theta) @ inverse
        theta = theta - move
        last, size = size, np.abs(move).max(axis=1)
        growing = bool(((size > last) & (size > SMALLEST_STEP_CHECKED)).any())
        steps += 1
    return theta, steps, np.flatnonzero(size > tolerance)


def _newton(problem: _Problem, theta: Floats, tolerance: float) -> Floats:
    """Damped Newton steps until every replicate's step is within tolerance."""
    active = np.arange(len(theta))
    for _ in range(NEWTON_STEPS):
        part = problem.take(active)
        current = theta[active]
        try:
            step = np.linalg.solve(part.hessian(current), part.gradient(current)[..., None])
        except np.linalg.LinAlgError:
            break
        move = np.asarray(step[..., 0], dtype=np.float64)
        size = np.abs(move).max(axis=1)
        move *= np.minimum(1.0, LONGEST_STEP / np.maximum(size, LONGEST_STEP))[:, None]
        theta[active] = _backtracked(part, current, move)
        active = active[size > tolerance]
        if not active.size:
            return theta
    raise ConvergenceError(
        f"{len(active)} of {len(theta)} fits did not converge: some systems only win, only lose, "
        "or do not meet the others, so the likelihood has no maximum; use ridge > 0"
    )


def _backtracked(problem: _Problem, theta: Floats, move: Floats) -> Floats:
    """Halve each replicate's move until its loss does not rise."""
    before = problem.loss(theta)
    scale = np.ones(len(theta))
    slack = 1e-12 * (1.0 + np.abs(before))
    for _ in range(HALVINGS):
        rising = problem.loss(theta - scale[:, None] * move) > before + slack
        if not rising.any():
            break
        scale[rising] *= 0.5
    return theta - scale[:, None] * move
