"""Bradley-Terry coefficients: the likelihood of battles and its maximum, many replicates at once.

System i beats system j with probability sigma(theta_i - theta_j) (Hunter, 2004); a tie is half a
win for both. Formulas: docs/reference/formulas.md.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy

from arena.data.errors import ArenaError, UsageError
from arena.data.types import Flags, Floats, Indices
from arena.rating.biases import Biases
from arena.rating.pairs import Pairs, winning_groups

Solver = Callable[[Floats], Floats]
"""Right-hand sides of shape (K, R) to solutions of that shape."""

DEFAULT_RIDGE = 0.1
"""Precision of the usual weak prior."""
SINGULAR = 1e-12
"""Square of a factor's diagonal below which the information matrix counts as singular."""


ENTRIES_AT_ONCE = 2**15
"""Entries (pairs x replicates) computed at a time, so that a processor's cache holds them."""


@dataclass(frozen=True)
class NormalPrior:
    """Independent normal prior of S ratings; precision 0 for none."""

    means: Floats
    precisions: Floats

    @classmethod
    def ridge(cls, systems: int, precision: float) -> NormalPrior:
        """Return a prior with mean 0 and one precision for all."""
        if not np.isfinite(precision) or precision < 0:
            raise UsageError("ridge must be at least 0")
        return cls(np.zeros(systems), np.full(systems, precision))


@dataclass(frozen=True)
class PenalizedLikelihood:
    """Battles of P pairs in R replicates, with a prior.

    A column of K parameters holds S coefficients, then biases (of a single replicate).

    Attributes:
        points: Points of each pair's first system, shape (P, R): 1 a win, 0.5 a tie.
        counts: Battles of each pair, shape (P, R).
    """

    pairs: Pairs
    points: Floats
    counts: Floats
    prior: NormalPrior
    biases: Biases | None = None

    @cached_property
    def full_prior(self) -> NormalPrior:
        """Return the prior of all K parameters."""
        if self.biases is None:
            return self.prior
        precisions = self.biases.prior_precisions
        return NormalPrior(
            means=np.append(self.prior.means, np.zeros(len(precisions))),
            precisions=np.append(self.prior.precisions, precisions),
        )

    def take(self, columns: slice | Indices) -> PenalizedLikelihood:
        """Keep some replicates."""
        return replace(self, points=self.points[:, columns], counts=self.counts[:, columns])

    def pooled(self) -> PenalizedLikelihood:
        """Average over replicates."""
        return replace(
            self,
            points=self.points.mean(axis=1, keepdims=True),
            counts=self.counts.mean(axis=1, keepdims=True),
        )

    def start(self) -> Floats:
        """Return the prior's means, shape (K, 1)."""
        return self.full_prior.means[:, None]

    def _logits(self, parameters: Floats) -> Floats:
        logits = parameters[self.pairs.first] - parameters[self.pairs.second]
        if self.biases is not None:
            logits += self.biases.logits(parameters[self.pairs.n_systems :, 0])[:, None]
        return logits

    @cached_property
    def _half_counts(self) -> Floats:
        return self.counts / 2

    @cached_property
    def _centered_points(self) -> Floats:
        """Points beyond those of equal systems, shape (P, R)."""
        return self.points - self._half_counts

    def _residuals(self, parameters: Floats) -> Floats:
        """Points beyond expectation, shape (P, R)."""
        # sigma(d) = (1 + tanh(d / 2)) / 2: tanh takes a tenth of the time of expit.
        halves = parameters / 2
        bias_halves = None
        if self.biases is not None:
            bias_halves = self.biases.logits(halves[self.pairs.n_systems :, 0])[:, None]
        residuals = np.empty(self.points.shape)
        step = max(1, ENTRIES_AT_ONCE // max(self.points.shape[1], 1))
        for start in range(0, len(residuals), step):
            rows = slice(start, start + step)
            half_logits = np.take(halves, self.pairs.first[rows], axis=0)
            half_logits -= np.take(halves, self.pairs.second[rows], axis=0)
            if bias_halves is not None:
                half_logits += bias_halves[rows]
            np.tanh(half_logits, out=half_logits)
            np.multiply(self._half_counts[rows], half_logits, out=residuals[rows])
            np.subtract(self._centered_points[rows], residuals[rows], out=residuals[rows])
        return residuals

    def gradient(self, parameters: Floats) -> Floats:
        """Return the gradient of the loss, shape (K, R)."""
        residuals = self._residuals(parameters)
        prior = self.full_prior
        gradient = prior.precisions[:, None] * (parameters - prior.means[:, None])
        slope: Floats = self.pairs.incidence @ residuals
        if self.biases is not None:
            slope = np.vstack([slope, self.biases.sums(residuals[:, 0])[:, None]])
        return gradient - slope

    def loss(self, parameters: Floats) -> Floats:
        """Return the penalized negative log-likelihood, shape (R,)."""
        logits = self._logits(parameters)
        terms = self.counts * np.logaddexp(0.0, logits) - self.points * logits
        prior = self.full_prior
        penalty = prior.precisions[:, None] * (parameters - prior.means[:, None]) ** 2
        return np.asarray(terms.sum(axis=0) + 0.5 * penalty.sum(axis=0))

    def solver(self, parameters: Floats) -> Solver:
        """Factorize one replicate's information at parameters (K, 1)."""
        odds = np.exp(-np.abs(self._logits(parameters)))
        # The variance of a verdict is p (1 - p), with p = odds / (1 + odds) of the weaker one.
        information = (self.counts * odds / (1 + odds) ** 2)[:, 0]
        matrix = self.pairs.information(information, self.biases)
        if not self.prior.precisions.any():
            # Without a prior the level is free; this fixes the mean at 0.
            n_systems = self.pairs.n_systems
            matrix[:n_systems, :n_systems] += 1.0 / n_systems
        matrix += np.diag(self.full_prior.precisions)
        # LAPACK's Cholesky decomposition: around it, scipy's takes most of the time if K is small.
        factor, failure = scipy.linalg.lapack.dpotrf(matrix)
        # Not the opposite: NaN is above nothing.
        if failure or not (np.diag(factor) ** 2 > SINGULAR).all():
            raise np.linalg.LinAlgError("singular information")
        return lambda right: np.asarray(scipy.linalg.lapack.dpotrs(factor, right)[0])

    def may_have_maximum(self) -> Flags:
        """Return which replicates have wins from each to each, (R,)."""
        if self.prior.precisions.all():
            return np.ones(self.points.shape[1], dtype=bool)
        replicates = zip(self.points.T, self.counts.T, strict=True)
        return np.array(
            [not winning_groups(self.pairs, *replicate).any() for replicate in replicates]
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


class WarmStart(NamedTuple):
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
    # Steps this short that no longer shrink are rounding errors.
    quadratic_noise = 1e-6
    parameters = start
    last = np.inf
    for _ in range(most_steps):
        try:
            step = problem.solver(parameters)(problem.gradient(parameters))
        except np.linalg.LinAlgError:
            break
        length = float(np.abs(step).max())
        # Close to the maximum the loss is nearly quadratic, and full steps are safe.
        if length > 1.0:
            step = _shortened(problem, parameters, step * min(1.0, longest_step / length))
        parameters = parameters - step
        # Close to it each step squares the error: the next would be shorter by the squared ratio.
        ratio = length / last if last <= 1.0 else 1.0
        if length * ratio**2 <= TOLERANCE or (length <= quadratic_noise and ratio > 1 / 2):
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
