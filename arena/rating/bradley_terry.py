"""Bradley-Terry coefficients by maximum likelihood, many replicates at once.

The model (Hunter, 2004): system i beats system j with probability sigma(theta_i - theta_j). A
Gaussian prior of precision ``ridge`` keeps coefficients finite where a system wins or loses all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from arena.data.errors import UsageError
from arena.rating.likelihoods import Cells, Counts, Davidson, Halved, Likelihood, RaoKupper
from arena.rating.outcomes import Outcomes
from arena.rating.solver import TOLERANCE, BradleyTerryFit, Center, Problem, center_at, solve

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]

DEFAULT_RIDGE = 0.1


def fit_bradley_terry(
    points: npt.ArrayLike,
    counts: npt.ArrayLike,
    first: Integers,
    second: Integers,
    n_systems: int,
    ridge: float = DEFAULT_RIDGE,
    tolerance: float = TOLERANCE,
    covariates: npt.ArrayLike | None = None,
    center: Center | None = None,
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
        center: What the replicates lie around, where known; its covariates are taken.

    Returns:
        The fit; systems without a battle get 0 (with ``ridge`` > 0).

    Raises:
        UsageError: For arrays of the wrong shape, or points outside [0, counts].
        ConvergenceError: If a replicate has no maximum or did not converge.
    """
    won = np.atleast_2d(np.asarray(points, dtype=np.float64))
    met = np.atleast_2d(np.asarray(counts, dtype=np.float64))
    cells = make_cells(first, second, n_systems, covariates) if center is None else center.cells
    if won.shape != met.shape or won.shape[1] != len(first):
        raise UsageError("points and counts must be (replicates, cells) for the same cells")
    if not (np.isfinite(won).all() and np.isfinite(met).all()):
        raise UsageError("points and counts must be finite numbers")
    if (won < 0).any() or (won > met).any():
        raise UsageError("points must lie between 0 and the number of battles of the cell")
    return solve(Problem(Halved(won, met), cells, _checked_ridge(ridge)), tolerance, center)


def fit_with_ties(
    counts: Counts,
    first: Integers,
    second: Integers,
    n_systems: int,
    model: str = "davidson",
    ridge: float = DEFAULT_RIDGE,
    tolerance: float = TOLERANCE,
    covariates: npt.ArrayLike | None = None,
    center: Center | None = None,
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
        center: What the replicates lie around, where known; its covariates are taken.

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
    cells = make_cells(first, second, n_systems, covariates) if center is None else center.cells
    problem = Problem(models[model](counts), cells, _checked_ridge(ridge))
    return solve(problem, tolerance, center)


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


TIE_MODELS = ("half", "drop", "davidson", "rao-kupper")


@dataclass(frozen=True)
class RatingModel:
    """A Bradley-Terry model.

    Attributes:
        ties: ``half`` a win for each, ``drop``, or a model with a parameter: ``davidson`` or
            ``rao-kupper``.
        position: Estimate the advantage of side A.
        ridge: Precision of the Gaussian prior on coefficients (and on tau).
    """

    ties: str = "half"
    position: bool = False
    ridge: float = DEFAULT_RIDGE

    def __post_init__(self) -> None:
        if self.ties not in TIE_MODELS:
            raise UsageError(f"unknown tie rule {self.ties!r}; use one of {', '.join(TIE_MODELS)}")

    @property
    def signature(self) -> str:
        """The settings as part of a signature."""
        side = "yes" if self.position else "no"
        return f"ties:{self.ties}|position:{side}|ridge:{self.ridge:g}"

    def fit(
        self, outcomes: Outcomes, counts: Counts, center: Center | None = None
    ) -> BradleyTerryFit:
        """Fit R replicates of the outcomes' counts.

        Args:
            outcomes: Which systems meet in which cell; by side where ``position`` is set.
            counts: Wins, losses and ties, each of shape (R, M).
            center: Of the data the counts were resampled from.

        Raises:
            ConvergenceError: If a replicate has no maximum (with ``ridge`` 0).
        """
        size = len(outcomes.systems)
        cells = (outcomes.first, outcomes.second, size)
        sides = self._covariates(outcomes)
        if self.ties in ("davidson", "rao-kupper"):
            return fit_with_ties(
                counts, *cells, self.ties, self.ridge, covariates=sides, center=center
            )
        points, met = self.points(counts)
        return fit_bradley_terry(points, met, *cells, self.ridge, covariates=sides, center=center)

    def points(self, counts: Counts) -> tuple[Floats, Floats]:
        """Return points of the first system and battles that count, each of shape (R, M)."""
        if self.ties == "drop":
            return counts.wins, counts.wins + counts.losses
        half = 0.5 * counts.ties
        return counts.wins + half, counts.wins + counts.losses + counts.ties

    def center(self, outcomes: Outcomes, parameters: Floats) -> Center:
        """Return the center of the outcomes' resamples; their fit's parameters have shape (K,)."""
        return center_at(self.problem(outcomes), parameters[None])

    def problem(self, outcomes: Outcomes) -> Problem:
        """Return the likelihood of all battles, for its derivatives."""
        cells = make_cells(
            outcomes.first, outcomes.second, len(outcomes.systems), self._covariates(outcomes)
        )
        return Problem(self._likelihood(outcomes.totals), cells, self.ridge)

    def _likelihood(self, counts: Counts) -> Likelihood:
        if self.ties == "davidson":
            return Davidson(counts)
        if self.ties == "rao-kupper":
            return RaoKupper(counts)
        return Halved(*self.points(counts))

    def _covariates(self, outcomes: Outcomes) -> Floats:
        if not self.position:
            return outcomes.covariates
        return np.hstack([np.ones((len(outcomes.first), 1)), outcomes.covariates])
