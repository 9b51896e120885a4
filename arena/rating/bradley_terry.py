"""Bradley-Terry coefficients: the likelihood of battles and its maximum, many replicates at once.

System i beats system j with probability sigma(theta_i - theta_j) (Hunter, 2004); a tie is half a
win for both. Formulas: docs/reference/ratings.md.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from arena.data.errors import ArenaError
from arena.data.types import Flags, Floats, Indices
from arena.rating.penalized_likelihood import (
    NormalPrior,
    PenalizedLikelihood,
    Solver,
)

TOLERANCE = 1e-10
"""Largest error of a coefficient, in logits."""

NO_MAXIMUM = (
    "the fit did not converge: some systems only win, only lose, or do not meet the others, "
    "so the likelihood has no maximum; use ridge > 0"
)


class ConvergenceError(ArenaError, ArithmeticError):
    """The likelihood has no maximum, or it was not reached."""


@dataclass(frozen=True)
class BradleyTerryFit:
    """Fits of R replicates: coefficients, then biases, shape (R, K); NaN without a maximum."""

    parameters: Floats
    n_systems: int

    @property
    def coefficients(self) -> Floats:
        """Return logits, centered on 0 (or as the prior has them), shape (R, S)."""
        return self.parameters[:, : self.n_systems]

    @property
    def converged(self) -> Flags:
        """Return which replicates have a maximum, shape (R,)."""
        return np.asarray(np.isfinite(self.parameters).all(axis=1))

    def checked(self) -> BradleyTerryFit:
        """Return the fit."""
        if not self.converged.all():
            raise ConvergenceError(NO_MAXIMUM)
        return self


@dataclass(frozen=True)
class WarmStart:
    """A fit that replicates are close to."""

    parameters: Floats
    solver: Solver


def around(problem: PenalizedLikelihood) -> WarmStart | None:
    """Fit one replicate, for others to start from, if possible."""
    try:
        parameters = newton(problem, problem.start())
        return WarmStart(parameters, problem.solver(parameters))
    except (ConvergenceError, np.linalg.LinAlgError):
        return None


def solve(
    problem: PenalizedLikelihood,
    warm_start: WarmStart | None = None,
    tolerance: float = TOLERANCE,
) -> BradleyTerryFit:
    """Fit all replicates, close to ``warm_start`` or their mean, up to ``tolerance`` logits."""
    n_replicates = problem.points.shape[1]
    n_systems = problem.pairs.n_systems
    if warm_start is None:
        warm_start = around(problem.pooled())
        if warm_start is None:
            # If the mean of the replicates has no maximum, none of them has one.
            missing = np.full((n_replicates, len(problem.start())), np.nan)
            return BradleyTerryFit(missing, n_systems)
        if n_replicates == 1:
            return BradleyTerryFit(warm_start.parameters.T, n_systems)
    parameters, unfinished = _shared_newton(problem, warm_start, tolerance)
    if not unfinished.size:
        return BradleyTerryFit(parameters.T, n_systems)
    parameters[:, unfinished] = np.nan
    may_have_maximum = problem.take(unfinished).may_have_maximum()
    for column in unfinished[may_have_maximum]:
        replicate = problem.take(slice(column, column + 1))
        # One without a maximum keeps its NaN.
        with suppress(ConvergenceError):
            parameters[:, column] = newton(replicate, warm_start.parameters)[:, 0]
    return BradleyTerryFit(parameters.T, n_systems)


def regularize(fit: BradleyTerryFit, problem: PenalizedLikelihood, precision: float) -> int:
    """Fit replicates without a maximum again, with a prior; count them."""
    failed = np.flatnonzero(~fit.converged)
    if failed.size:
        prior = NormalPrior.ridge(fit.n_systems, precision)
        regularized = replace(problem.take(failed), prior=prior)
        fit.parameters[failed] = solve(regularized).checked().parameters
    return int(failed.size)


def _shared_newton(
    problem: PenalizedLikelihood, warm_start: WarmStart, tolerance: float
) -> tuple[Floats, Indices]:
    most_shared_steps = 60
    # Steps this short that no longer shrink are rounding errors.
    noise = 1e-9
    n_replicates = problem.points.shape[1]
    # One column for all replicates at first: the cheapest step.
    parameters = warm_start.parameters
    last = np.full(n_replicates, np.inf)
    has_grown = np.zeros(n_replicates, dtype=bool)
    has_converged = np.zeros(n_replicates, dtype=bool)
    # Replicates that diverge overflow; they are reported as not converged.
    with np.errstate(all="ignore"):
        for _ in range(most_shared_steps):
            step = warm_start.solver(problem.gradient(parameters))
            parameters = parameters - step
            length = np.abs(step).max(axis=0)
            is_noise = (length <= noise) & (length > last / 2)
            has_converged = (_remaining_error(length, last) <= tolerance) | is_noise
            has_grown |= ~(length <= np.maximum(last, noise))
            if (has_converged | has_grown).all():
                break
            last = length
    return parameters, np.flatnonzero(has_grown | ~has_converged)


def _remaining_error(length: Floats, last: Floats) -> Floats:
    # Factor above which steps are not trusted to shrink
    slowest = 0.5
    # Smallest factor by which steps are trusted to keep shrinking
    fastest = 0.05
    rate = np.where(np.isfinite(last), np.maximum(length / last, fastest), slowest)
    return np.where(rate < slowest, length * rate / (1 - rate), length)


def newton(problem: PenalizedLikelihood, start: Floats) -> Floats:
    """Take damped Newton steps of one replicate, (K, 1), to convergence."""
    longest_step = 5.0
    most_steps = 200
    # Steps this short that no longer shrink are rounding errors: each step squares the error.
    quadratic_noise = 1e-6
    parameters = start
    last = np.inf
    for _ in range(most_steps):
        try:
            step = problem.solver(parameters)(problem.gradient(parameters))
        # A ValueError is one of numbers that are not finite.
        except (np.linalg.LinAlgError, ValueError):
            break
        length = float(np.abs(step).max())
        # Close to the maximum the loss is nearly quadratic, and full steps are safe.
        if length > 1.0:
            step = _shortened(problem, parameters, step * min(1.0, longest_step / length))
        parameters = parameters - step
        if length <= TOLERANCE or (length <= quadratic_noise and length > last / 2):
            return parameters
        last = length
    raise ConvergenceError(NO_MAXIMUM)


def _shortened(problem: PenalizedLikelihood, parameters: Floats, step: Floats) -> Floats:
    halvings = 40
    loss = problem.loss(parameters)[0]
    # Rounding errors of the loss must not count as a rise.
    slack = 1e-12 * (1.0 + abs(loss))
    for _ in range(halvings):
        if problem.loss(parameters - step)[0] <= loss + slack:
            break
        step = step / 2
    return step
