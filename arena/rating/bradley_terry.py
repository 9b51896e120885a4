"""Bradley-Terry coefficients: the likelihood of battles and its maximum, many replicates at once.

The model (Hunter, 2004): system i beats system j with probability sigma(theta_i - theta_j); a tie
is half a win for both. A normal prior keeps coefficients finite where a system wins or loses all.

Replicates that lie around a fit (resamples of its data, say) take Newton steps with the
information of that fit, one factor for all; those that do not converge so are finished with their
own. Inside, parameters and counts have a column a replicate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import scipy
from scipy.special import expit

from arena.data.errors import ArenaError, UsageError
from arena.data.types import Flags, Floats, Indices
from arena.rating.pairs import Pairs, is_strongly_connected

Solver = Callable[[Floats], Floats]
"""Right-hand sides of shape (K, R) to solutions of that shape."""

DEFAULT_RIDGE = 0.1
"""Precision of the usual weak prior."""
TOLERANCE = 1e-10
"""Largest error, in logits."""
FASTEST, SLOWEST = 0.05, 0.5
"""Steps are trusted to go on shrinking by no smaller factors, and not at all by larger ones."""
NOISE = 1e-9
"""Steps this short that do not shrink any more are rounding errors."""
QUADRATIC_NOISE = 1e-6
"""The same of Newton steps with the exact Hessian, where the next one would be the square."""
MOST_STEPS = 200
MOST_SHARED_STEPS = 60
LONGEST_STEP = 5.0
HALVINGS = 40
SINGULAR = 1e-12

NO_MAXIMUM = (
    "the fit did not converge: some systems only win, only lose, or do not meet the others, "
    "so the likelihood has no maximum; use ridge > 0"
)


class ConvergenceError(ArenaError, ArithmeticError):
    """The likelihood has no maximum, or it was not reached."""


@dataclass(frozen=True)
class NormalPrior:
    """Independent normal ratings of S systems.

    Attributes:
        means: Shape (S,).
        precisions: One over their variances, shape (S,); all 0 for no prior.
    """

    means: Floats
    precisions: Floats

    @classmethod
    def ridge(cls, systems: int, precision: float) -> NormalPrior:
        """Expect ratings about 0.

        Raises:
            UsageError: If the precision is below 0 or not finite.
        """
        if not np.isfinite(precision) or precision < 0:
            raise UsageError("ridge must be at least 0")
        return cls(np.zeros(systems), np.full(systems, precision))


@dataclass(frozen=True)
class PenalizedLikelihood:
    """Battles of P pairs in R replicates, with a prior.

    A column of parameters holds S coefficients and, where sides matter, the advantage of the first.

    Attributes:
        pairs: Which systems meet.
        points: Points of each pair's first system, shape (P, R): 1 a win, 0.5 a tie.
        counts: Battles of each pair, shape (P, R).
        prior: What is known of the coefficients.
        position: Whether the first of a pair has an advantage, to be estimated.
        position_precision: Precision of the normal prior on that advantage about 0; 0 for none.
    """

    pairs: Pairs
    points: Floats
    counts: Floats
    prior: NormalPrior
    position: bool = False
    position_precision: float = 0.0

    def take(self, columns: slice | Indices) -> PenalizedLikelihood:
        """Keep some replicates."""
        return replace(self, points=self.points[:, columns], counts=self.counts[:, columns])

    def pooled(self) -> PenalizedLikelihood:
        """Average over replicates."""
        points, counts = (part.mean(axis=1, keepdims=True) for part in (self.points, self.counts))
        return replace(self, points=points, counts=counts)

    def start(self) -> Floats:
        """The prior's means, shape (K, 1)."""
        return np.append(self.prior.means, [0.0] * self.position)[:, None]

    def _logits(self, parameters: Floats) -> Floats:
        """Logits that the first system is better: (K, R) to (P, R)."""
        logits = parameters[self.pairs.first] - parameters[self.pairs.second]
        if self.position:
            logits += parameters[-1]
        return logits

    def gradient(self, parameters: Floats) -> Floats:
        """Gradient of the loss, shape (K, R)."""
        # sigma(d) = (1 + tanh(d / 2)) / 2: tanh takes a tenth of the time of expit.
        half = self.counts / 2
        surplus = self.points - half - half * np.tanh(self._logits(parameters) / 2)
        theta = parameters[: self.pairs.n_systems]
        away = self.prior.precisions[:, None] * (theta - self.prior.means[:, None])
        gradient: Floats = away - self.pairs.incidence @ surplus
        if not self.position:
            return gradient
        of_position = self.position_precision * parameters[-1] - surplus.sum(axis=0)
        return np.vstack([gradient, of_position])

    def loss(self, parameters: Floats) -> Floats:
        """Penalized negative log-likelihood, shape (R,)."""
        logits = self._logits(parameters)
        terms = self.counts * np.logaddexp(0.0, logits) - self.points * logits
        away = parameters[: self.pairs.n_systems] - self.prior.means[:, None]
        penalty = self.prior.precisions[:, None] * away**2
        loss = terms.sum(axis=0) + 0.5 * penalty.sum(axis=0)
        if self.position:
            loss = loss + 0.5 * self.position_precision * parameters[-1] ** 2
        return np.asarray(loss)

    def solver(self, parameters: Floats) -> Solver:
        """Factorize the information of one replicate with the prior's; parameters (K, 1).

        Without a prior, coefficients are defined up to a constant; the one of mean 0 is taken.

        Raises:
            LinAlgError: If it is singular.
        """
        logits = self._logits(parameters)
        information = (self.counts * expit(logits) * expit(-logits))[:, 0]
        matrix = self.pairs.laplacian(information) + np.diag(self.prior.precisions)
        if not self.prior.precisions.any():
            matrix += 1.0 / len(matrix)
        if self.position:
            edge = self.pairs.incidence @ information[:, None]
            corner = information.sum(keepdims=True) + self.position_precision
            matrix = np.block([[matrix, edge], [edge.T, corner]])
        factor = scipy.linalg.cho_factor(matrix)
        if (np.diag(factor[0]) ** 2 <= SINGULAR).any():
            raise np.linalg.LinAlgError("singular information")
        return lambda right: np.asarray(scipy.linalg.cho_solve(factor, right))

    def may_have_maximum(self) -> Flags:
        """Tell of each replicate whether wins lead from every system to every other, (R,)."""
        if self.prior.precisions.all():
            return np.ones(self.points.shape[1], dtype=bool)
        replicates = zip(self.points.T, self.counts.T, strict=True)
        return np.array([is_strongly_connected(self.pairs, *both) for both in replicates])


@dataclass(frozen=True)
class BradleyTerryFit:
    """Fits of R replicates.

    Attributes:
        parameters: Coefficients and, where there is one, the first side's advantage, shape (R, K);
            NaN where the likelihood of a replicate has no maximum.
        n_systems: Number of coefficients S.
    """

    parameters: Floats
    n_systems: int

    @property
    def coefficients(self) -> Floats:
        """Logits, centered on 0 (or as the prior has them), shape (R, S)."""
        return self.parameters[:, : self.n_systems]

    @property
    def converged(self) -> Flags:
        """Which replicates have a maximum, shape (R,)."""
        return np.asarray(np.isfinite(self.parameters).all(axis=1))

    def checked(self) -> BradleyTerryFit:
        """Return the fit.

        Raises:
            ConvergenceError: If a replicate has no maximum.
        """
        if not self.converged.all():
            raise ConvergenceError(NO_MAXIMUM)
        return self


@dataclass(frozen=True)
class WarmStart:
    """A fit that replicates lie around.

    Attributes:
        parameters: Shape (K, 1).
        solver: Of the information there.
    """

    parameters: Floats
    solver: Solver


def around(problem: PenalizedLikelihood) -> WarmStart | None:
    """Fit one replicate, for others to start from; None where it has no maximum."""
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
    """Fit all replicates of a problem, with errors of ``tolerance`` logits at most.

    ``warm_start`` is what the replicates lie around; by default the fit of their mean.
    """
    replicates, systems = problem.points.shape[1], problem.pairs.n_systems
    if warm_start is None:
        warm_start = around(problem.pooled())
        if warm_start is None:
            size = len(problem.start())
            return BradleyTerryFit(np.full((replicates, size), np.nan), systems)
        if replicates == 1:
            return BradleyTerryFit(warm_start.parameters.T, systems)
    parameters, unfinished = _shared_newton(problem, warm_start, tolerance)
    if unfinished.size:
        parameters[:, unfinished] = np.nan
        maybe = problem.take(unfinished).may_have_maximum()
        for column in unfinished[maybe]:
            try:
                alone = newton(problem.take(slice(column, column + 1)), warm_start.parameters)
            except ConvergenceError:
                continue
            parameters[:, column] = alone[:, 0]
    return BradleyTerryFit(parameters.T, systems)


def _shared_newton(
    problem: PenalizedLikelihood, warm_start: WarmStart, tolerance: float
) -> tuple[Floats, Indices]:
    """Step all replicates with one information matrix; return also the columns not finished."""
    replicates = problem.points.shape[1]
    parameters = warm_start.parameters  # of all replicates at first: the cheapest step
    last, grew = np.full(replicates, np.inf), np.zeros(replicates, dtype=bool)
    converged = np.zeros(replicates, dtype=bool)
    with np.errstate(all="ignore"):  # replicates that diverge are not finished
        for _ in range(MOST_SHARED_STEPS):
            move = warm_start.solver(problem.gradient(parameters))
            parameters = parameters - move
            size = np.abs(move).max(axis=0)
            converged = (_error(size, last) <= tolerance) | ((size <= NOISE) & (size > last / 2))
            grew |= ~(size <= np.maximum(last, NOISE))
            if (converged | grew).all():
                break
            last = size
    return parameters, np.flatnonzero(grew | ~converged)


def _error(size: Floats, last: Floats) -> Floats:
    """Estimate what is left after a step, as if the next ones shrank like the last two."""
    rate = np.where(np.isfinite(last), np.maximum(size / last, FASTEST), SLOWEST)
    return np.where(rate < SLOWEST, size * rate / (1 - rate), size)


def newton(problem: PenalizedLikelihood, start: Floats) -> Floats:
    """Take damped Newton steps of one replicate until it converges, shape (K, 1).

    Raises:
        ConvergenceError: If its likelihood has no maximum.
    """
    parameters, last = start, np.inf
    for _ in range(MOST_STEPS):
        try:
            move = problem.solver(parameters)(problem.gradient(parameters))
        except (np.linalg.LinAlgError, ValueError):  # singular, or not finite
            break
        size = float(np.abs(move).max())
        if size > 1.0:
            move = _shortened(problem, parameters, move * min(1.0, LONGEST_STEP / size))
        parameters = parameters - move
        if size <= TOLERANCE or (size <= QUADRATIC_NOISE and size > last / 2):
            return parameters
        last = size
    raise ConvergenceError(NO_MAXIMUM)


def _shortened(problem: PenalizedLikelihood, parameters: Floats, move: Floats) -> Floats:
    """Halve a move until the loss does not rise."""
    before = problem.loss(parameters)[0]
    slack = 1e-12 * (1.0 + abs(before))
    for _ in range(HALVINGS):
        if problem.loss(parameters - move)[0] <= before + slack:
            break
        move = move / 2
    return move


def fit_bradley_terry(
    points: npt.ArrayLike, counts: npt.ArrayLike, pairs: Pairs, ridge: float = DEFAULT_RIDGE
) -> BradleyTerryFit:
    """Fit Bradley-Terry coefficients to R replicates of aggregated counts.

    Args:
        points: Points of the first system of each pair (1 a win, 0.5 a tie), shape (R, P).
        counts: Battles of each pair, shape (R, P).
        pairs: The P pairs.
        ridge: Precision of the Gaussian prior on coefficients, at least 0. With 0 the plain
            maximum likelihood is sought, which exists only where wins connect every system
            with every other both ways.

    Returns:
        The fit; systems without a battle get 0 (with ``ridge`` > 0).

    Raises:
        UsageError: For arrays of the wrong shape, or points outside [0, counts].
        ConvergenceError: If a replicate has no maximum or did not converge.
    """
    won = np.atleast_2d(np.asarray(points, dtype=np.float64))
    met = np.atleast_2d(np.asarray(counts, dtype=np.float64))
    if pairs.n_systems < 2:
        raise UsageError("a Bradley-Terry model needs at least two systems")
    if won.shape != met.shape or won.shape[1] != len(pairs):
        raise UsageError("points and counts must be (replicates, pairs) for the same pairs")
    if not (np.isfinite(met).all() and (won >= 0).all() and (won <= met).all()):
        raise UsageError("points must lie between 0 and the number of battles of the pair")
    prior = NormalPrior.ridge(pairs.n_systems, ridge)
    columns = np.ascontiguousarray(won.T), np.ascontiguousarray(met.T)
    return solve(PenalizedLikelihood(pairs, *columns, prior)).checked()
