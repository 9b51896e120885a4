"""Bradley-Terry coefficients by maximum likelihood, many replicates at once.

The model (Hunter, 2004): system i beats system j with probability sigma(theta_i - theta_j). A
Gaussian prior of precision ``ridge`` keeps coefficients finite where a system wins or loses all.

Replicates that lie around a fit (resamples of its data, say) take Newton steps with the
information of that fit, one factor for all; those that do not converge so are finished with their
own. Inside, parameters and counts have a column a replicate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve

from arena.data.errors import ArenaError, UsageError, checked_choice
from arena.rating.likelihoods import (
    Columns,
    Counts,
    Davidson,
    HalfTies,
    Information,
    Likelihood,
)
from arena.rating.pairs import Pairs, is_strongly_connected

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]
Booleans = npt.NDArray[np.bool_]

DEFAULT_RIDGE = 0.1
TIE_MODELS = ("half", "drop", "davidson")

TOLERANCE = 1e-10
"""Largest error, in logits."""
RESAMPLE_TOLERANCE = 1e-8
"""The same of bootstrap resamples, of which only the spread counts."""
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
REPLICATE_PAIRS = 2_000_000
"""Counts (replicates x pairs) fitted at a time."""
CACHED_ENTRIES = 65_536
"""Counts whose derivatives are computed at a time."""

NO_MAXIMUM = (
    "the fit did not converge: some systems only win, only lose, or do not meet the others "
    "(or a model of ties has nothing but ties), so the likelihood has no maximum; use ridge > 0"
)

Solver = Callable[[Floats], Floats]
"""Right-hand sides of shape (K, R) to solutions of that shape."""


class ConvergenceError(ArenaError, ArithmeticError):
    """The likelihood has no maximum, or it was not reached."""


@dataclass(frozen=True)
class BradleyTerryFit:
    """Fits of R replicates.

    Attributes:
        parameters: Coefficients, effects and tau, shape (R, K); NaN where the likelihood of a
            replicate has no maximum.
        coefficients: Logits, centered on 0, shape (R, S).
        effects: Coefficients of the covariates (the position effect, say), shape (R, C).
        tie_parameter: exp(tau), Davidson's nu, shape (R,), or None.
        ridge: Precision of the Gaussian prior.
    """

    parameters: Floats
    coefficients: Floats
    effects: Floats
    tie_parameter: Floats | None
    ridge: float

    @property
    def converged(self) -> Booleans:
        """Which replicates have a maximum, shape (R,)."""
        return np.asarray(np.isfinite(self.parameters).all(axis=1))


@dataclass(frozen=True)
class NormalPrior:
    """Independent normal ratings of S systems.

    Attributes:
        means: Shape (S,).
        precisions: One over their variances, above 0, shape (S,).
    """

    means: Floats
    precisions: Floats


@dataclass(frozen=True)
class PenalizedLikelihood:
    """Penalized likelihoods of R replicates.

    A column of parameters holds S coefficients, then C effects, then tau where ties have a model.

    Attributes:
        likelihood: Battles of P pairs, R replicates.
        pairs: Which systems meet.
        covariates: Of each pair's logit, shape (P, C); a position effect is a column of ones.
        ridge: Precision of the prior on coefficients and tau.
        known: What else is known of the coefficients; then it is no ridge that they have.
    """

    likelihood: Likelihood
    pairs: Pairs
    covariates: Floats
    ridge: float
    known: NormalPrior | None = None

    @property
    def linear(self) -> int:
        """Number of coefficients: systems, then covariates."""
        return self.pairs.n_systems + int(self.covariates.shape[1])

    def take(self, columns: Columns) -> PenalizedLikelihood:
        """Keep some replicates."""
        return replace(self, likelihood=self.likelihood.take(columns))

    def pooled(self) -> PenalizedLikelihood:
        """Average over replicates."""
        return replace(self, likelihood=self.likelihood.pooled())

    def parts(self, parameters: Floats, rows: slice = slice(None)) -> tuple[Floats, Floats]:
        """Split parameters into the logits of (some) pairs, shape (P, R), and tau, shape (R,)."""
        theta = parameters[: self.pairs.n_systems]
        logits = theta.take(self.pairs.first[rows], axis=0)
        logits -= theta.take(self.pairs.second[rows], axis=0)
        if self.covariates.shape[1]:
            logits += self.covariates[rows] @ parameters[self.pairs.n_systems : self.linear]
        tie = parameters[-1] if self.likelihood.has_tie_parameter else np.zeros(1)
        return logits, tie

    def collect(self, by_logit: Floats) -> Floats:
        """Sum values of pairs into the coefficients they depend on: (P, R) to (S + C, R)."""
        systems = self.pairs.incidence @ by_logit
        if not self.covariates.shape[1]:
            return np.asarray(systems)
        return np.concatenate([systems, self.covariates.T @ by_logit])

    def gradient(self, parameters: Floats) -> Floats:
        """Gradient of the loss, shape (K, R)."""
        by_logit, by_tie = self._score(parameters)
        gradient = -self.collect(by_logit)
        apart, precisions = self._from_prior(parameters)
        gradient[: self.pairs.n_systems] += precisions * apart
        if by_tie is None:
            return gradient
        return np.vstack([gradient, self.ridge * parameters[-1] - by_tie])

    def _from_prior(self, parameters: Floats) -> tuple[Floats, Floats | float]:
        """Return how far coefficients are from the prior's means, (S, R), and its precisions."""
        theta = parameters[: self.pairs.n_systems]
        if self.known is None:
            return theta, self.ridge
        return theta - self.known.means[:, None], self.known.precisions[:, None]

    def _score(self, parameters: Floats) -> tuple[Floats, Floats | None]:
        """First derivatives of the log-likelihood by logits, (P, R), and by tau, (R,)."""
        by_logit = np.empty((len(self.pairs), self.likelihood.replicates))
        by_tie = []
        for rows, likelihood in self._pieces:
            by_logit[rows], tie = likelihood.score(*self.parts(parameters, rows))
            if tie is not None:
                by_tie.append(tie.sum(axis=0))
        return by_logit, sum(by_tie) if by_tie else None

    @cached_property
    def _pieces(self) -> list[tuple[slice, Likelihood]]:
        """Likelihoods of pairs beside each other, so few that what is computed stays cached."""
        step = max(1, CACHED_ENTRIES // self.likelihood.replicates)
        rows = [slice(start, start + step) for start in range(0, len(self.pairs), step)]
        return [(piece, self.likelihood.among(piece)) for piece in rows]

    def loss(self, parameters: Floats) -> Floats:
        """Penalized negative log-likelihood, shape (R,)."""
        apart, precisions = self._from_prior(parameters)
        penalty = (precisions * apart**2).sum(axis=0)
        if self.likelihood.has_tie_parameter:
            penalty = penalty + self.ridge * parameters[-1] ** 2
        return np.asarray(self.likelihood.loss(*self.parts(parameters)) + 0.5 * penalty)

    def information(self, parameters: Floats) -> Floats:
        """Expected information of one replicate with the prior's, shape (K, K).

        Without a prior, coefficients are defined up to a constant; the one of mean 0 is taken.

        Args:
            parameters: Shape (K, 1).
        """
        information = self.likelihood.information(*self.parts(parameters))
        systems = self.pairs.n_systems
        matrix = self._unpenalized(information)
        if self.known is not None:
            matrix[:systems, :systems] += np.diag(self.known.precisions)
            return matrix
        matrix[:systems, :systems] += 1.0 / systems
        penalized = np.r_[:systems, self.linear : len(matrix)]
        matrix[penalized, penalized] += self.ridge
        return matrix

    def _unpenalized(self, moments: Information) -> Floats:
        """Sum second moments of pairs, each of shape (P, 1), to those of parameters, (K, K)."""
        logit, cross, tie = moments.logit, moments.cross, moments.tie
        systems = self.pairs.n_systems
        matrix = np.zeros((self.linear, self.linear))
        matrix[:systems, :systems] = self.pairs.laplacian(logit[:, 0])
        if self.covariates.shape[1]:
            weighted = self.covariates * logit
            across = self.pairs.incidence @ weighted
            matrix[:systems, systems:], matrix[systems:, :systems] = across, across.T
            matrix[systems:, systems:] = self.covariates.T @ weighted
        if cross is None or tie is None:
            return matrix
        edge = self.collect(cross)
        return np.block([[matrix, edge], [edge.T, tie.sum(keepdims=True)]])

    def solver(self, parameters: Floats) -> Solver:
        """Factorize the information of one replicate; parameters have shape (K, 1).

        Raises:
            LinAlgError: If it is singular.
        """
        matrix = self.information(parameters)
        factor = cho_factor(matrix)
        if (np.diag(factor[0]) ** 2 <= SINGULAR).any():
            raise np.linalg.LinAlgError("singular information")
        return lambda right: np.asarray(cho_solve(factor, right))

    def may_have_maximum(self) -> Booleans:
        """Tell of each replicate whether wins lead from every system to every other, (R,)."""
        if self.ridge > 0:
            return np.ones(self.likelihood.replicates, dtype=bool)
        won, lost = self.likelihood.won_and_lost()
        return np.array(
            [is_strongly_connected(self.pairs, *sides) for sides in zip(won.T, lost.T, strict=True)]
        )


@dataclass(frozen=True)
class WarmStart:
    """A fit that replicates lie around.

    Attributes:
        parameters: Shape (K, 1).
        solver: Of the information there.
    """

    parameters: Floats
    solver: Solver


def solve(
    problem: PenalizedLikelihood,
    warm_start: WarmStart | None = None,
    tolerance: float = TOLERANCE,
) -> BradleyTerryFit:
    """Fit all replicates of a problem.

    Args:
        problem: Replicates.
        warm_start: What the replicates lie around; by default the fit of their mean.
        tolerance: Largest error of replicates, in logits.
    """
    replicates = problem.likelihood.replicates
    if warm_start is None:
        pooled = problem.pooled()
        try:
            size = problem.linear + int(problem.likelihood.has_tie_parameter)
            parameters = _newton(pooled, np.zeros((size, 1)))
            if replicates == 1:
                return _fit(problem, parameters)
            warm_start = WarmStart(parameters, pooled.solver(parameters))
        except (ConvergenceError, np.linalg.LinAlgError):
            return _fit(problem, np.full((size, replicates), np.nan))
    block = max(1, REPLICATE_PAIRS // max(len(problem.pairs), 1))
    fits = [
        _fit_block(problem.take(slice(start, start + block)), warm_start, tolerance)
        for start in range(0, replicates, block)
    ]
    return _fit(problem, np.hstack(fits))


def _fit_block(problem: PenalizedLikelihood, warm_start: WarmStart, tolerance: float) -> Floats:
    parameters, open_columns = _shared_newton(problem, warm_start, tolerance)
    if not open_columns.size:
        return parameters
    parameters[:, open_columns] = np.nan
    maybe = problem.take(open_columns).may_have_maximum()
    for column in open_columns[maybe]:
        try:
            alone = _newton(problem.take(slice(column, column + 1)), warm_start.parameters)
            parameters[:, column] = alone[:, 0]
        except ConvergenceError:
            continue
    return parameters


def _fit(problem: PenalizedLikelihood, parameters: Floats) -> BradleyTerryFit:
    systems, rows = problem.pairs.n_systems, parameters.T
    has_tie = problem.likelihood.has_tie_parameter
    return BradleyTerryFit(
        parameters=rows,
        coefficients=rows[:, :systems],
        effects=rows[:, systems : problem.linear],
        tie_parameter=np.exp(rows[:, -1]) if has_tie else None,
        ridge=problem.ridge,
    )


def _shared_newton(
    problem: PenalizedLikelihood, warm_start: WarmStart, tolerance: float
) -> tuple[Floats, Integers]:
    """Step all replicates with one information matrix; return also the columns left open."""
    replicates = problem.likelihood.replicates
    parameters = warm_start.parameters  # of all replicates at first: the cheapest step
    last, grew = np.full(replicates, np.inf), np.zeros(replicates, dtype=bool)
    converged = np.zeros(replicates, dtype=bool)
    with np.errstate(all="ignore"):  # replicates that diverge are left open
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


def _newton(problem: PenalizedLikelihood, start: Floats) -> Floats:
    """Take damped Newton steps of one replicate until it converges, shape (K, 1).

    With a tie parameter the expected information stands for the Hessian (Fisher scoring).
    """
    parameters, last = start, np.inf
    noise = NOISE if problem.likelihood.has_tie_parameter else QUADRATIC_NOISE
    for _ in range(MOST_STEPS):
        try:
            move = problem.solver(parameters)(problem.gradient(parameters))
        except (np.linalg.LinAlgError, ValueError):  # singular, or not finite
            break
        size = float(np.abs(move).max())
        if size > 1.0:
            move = _shortened(problem, parameters, move * min(1.0, LONGEST_STEP / size))
        parameters = parameters - move
        if size <= TOLERANCE or (size <= noise and size > last / 2):
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


def climb(problem: PenalizedLikelihood, start: Floats) -> Floats:
    """Find the maximum of one replicate's likelihood, from parameters of shape (K,).

    Raises:
        ConvergenceError: If there is none.
    """
    return _newton(problem, start[:, None].astype(np.float64))[:, 0]


def fit_bradley_terry(
    points: npt.ArrayLike,
    counts: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    n_systems: int,
    ridge: float = DEFAULT_RIDGE,
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

    Returns:
        The fit; systems without a battle get 0 (with ``ridge`` > 0).

    Raises:
        UsageError: For arrays of the wrong shape, or points outside [0, counts].
        ConvergenceError: If a replicate has no maximum or did not converge.
    """
    won = np.atleast_2d(np.asarray(points, dtype=np.float64))
    met = np.atleast_2d(np.asarray(counts, dtype=np.float64))
    one, other = np.asarray(first, dtype=np.intp), np.asarray(second, dtype=np.intp)
    if n_systems < 2:
        raise UsageError("a Bradley-Terry model needs at least two systems")
    if len(one) != len(other) or won.shape != met.shape or won.shape[1] != len(one):
        raise UsageError("points and counts must be (replicates, pairs) for the same pairs")
    if not (np.isfinite(won).all() and np.isfinite(met).all()):
        raise UsageError("points and counts must be finite numbers")
    if (won < 0).any() or (won > met).any():
        raise UsageError("points must lie between 0 and the number of battles of the pair")
    wins, losses = np.ascontiguousarray(won.T), np.ascontiguousarray((met - won).T)
    likelihood = HalfTies(Counts(wins, losses, np.zeros_like(wins)))
    pairs = Pairs(one, other, n_systems)
    return all_converged(
        solve(PenalizedLikelihood(likelihood, pairs, np.zeros((len(one), 0)), checked_ridge(ridge)))
    )


def all_converged(fit: BradleyTerryFit) -> BradleyTerryFit:
    """Return a fit if all its replicates have a maximum.

    Raises:
        ConvergenceError: If one has not.
    """
    if not fit.converged.all():
        raise ConvergenceError(NO_MAXIMUM)
    return fit


def checked_ridge(ridge: float) -> float:
    """Return a precision of the prior.

    Raises:
        UsageError: If it is below 0 or not finite.
    """
    if not np.isfinite(ridge) or ridge < 0:
        raise UsageError("ridge must be at least 0")
    return ridge


def tie_likelihood(ties: str, counts: Counts) -> Likelihood:
    """Return the likelihood of counts under a tie rule, one of ``TIE_MODELS``.

    Raises:
        UsageError: If the rule is unknown.
    """
    if ties == "davidson":
        return Davidson(counts)
    checked_choice(ties, TIE_MODELS, "tie rule")
    return HalfTies(counts)
