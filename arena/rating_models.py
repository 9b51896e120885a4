"""Which Bradley-Terry model to fit: how ties count, whether the side matters, the prior."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from arena.bradley_terry import (
    DEFAULT_RIDGE,
    fit_bradley_terry,
    fit_with_ties,
    make_cells,
)
from arena.errors import UsageError
from arena.likelihoods import Counts, Davidson, Halved, Likelihood, RaoKupper
from arena.outcomes import Outcomes
from arena.replicate_fits import BradleyTerryFit, Centre, Problem, centre_at

Floats = npt.NDArray[np.float64]

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
        self, outcomes: Outcomes, counts: Counts, centre: Centre | None = None
    ) -> BradleyTerryFit:
        """Fit R replicates of the outcomes' counts.

        Args:
            outcomes: Which systems meet in which cell; by side where ``position`` is set.
            counts: Wins, losses and ties, each of shape (R, M).
            centre: Of the data the counts were resampled from.

        Raises:
            ConvergenceError: If a replicate has no maximum (with ``ridge`` 0).
        """
        size = len(outcomes.systems)
        cells = (outcomes.first, outcomes.second, size)
        sides = self._covariates(outcomes)
        if self.ties in ("davidson", "rao-kupper"):
            return fit_with_ties(
                counts, *cells, self.ties, self.ridge, covariates=sides, centre=centre
            )
        points, met = self.points(counts)
        return fit_bradley_terry(points, met, *cells, self.ridge, covariates=sides, centre=centre)

    def points(self, counts: Counts) -> tuple[Floats, Floats]:
        """Return points of the first system and battles that count, each of shape (R, M)."""
        if self.ties == "drop":
            return counts.wins, counts.wins + counts.losses
        half = 0.5 * counts.ties
        return counts.wins + half, counts.wins + counts.losses + counts.ties

    def centre(self, outcomes: Outcomes, parameters: Floats) -> Centre:
        """Return the centre of the outcomes' resamples; their fit's parameters have shape (K,)."""
        return centre_at(self.problem(outcomes), parameters[None])

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
