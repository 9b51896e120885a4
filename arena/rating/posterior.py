"""Bayesian Bradley-Terry ratings: the posterior given battles, under a prior of unknown spread.

It holds whatever chose the battles (Rubin, 1976, "Inference and missing data"); the prior's spread
is averaged over, by its evidence (docs/reference/formulas.md, "Posterior").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import softmax

from arena.computing.workers import one_thread
from arena.data.errors import UsageError
from arena.data.types import Flags, Floats
from arena.rating.battles import Battles
from arena.rating.biases import JudgeBias
from arena.rating.bradley_terry import NormalPrior
from arena.rating.design_effects import DesignEffects
from arena.rating.likelihood import BattleLikelihood
from arena.statistics.bootstrap import normal_draws
from arena.statistics.significance import NORMAL_90

TRUST = (1.0, 0.25, 0.0625)
"""Factors of stated precisions, by how much ratings may differ more than stated."""
SCALES = (0.25, 0.5, 1.0, 2.0)
"""Factors of stated ratings and errors, by how far verdicts may spread them."""
SPREADS = (0.1, 0.25, 0.6, 1.5, 4.0)
"""Precisions of ratings that are averaged over, where nothing is stated."""
OPEN_SPREADS = (0.016, 0.04, *SPREADS)
"""The same where intervals must hold systems that battles do not bound."""
OPEN = 0.1
"""Factor of these systems' precision there."""
PRIOR_COLUMNS = ("language", "system", "rating", "standard_error")


@dataclass(frozen=True)
class RatingPrior(NormalPrior):
    """Prior of S ratings; ``informed`` (S,) if anything is stated."""

    informed: Flags

    @classmethod
    def flat(cls, systems: int) -> RatingPrior:
        """State only that ratings spread about 0, by about a logit."""
        return cls(
            means=np.zeros(systems),
            precisions=np.ones(systems),
            informed=np.zeros(systems, dtype=bool),
        )

    @classmethod
    def of_table(cls, table: pd.DataFrame | None, systems: Sequence[str]) -> RatingPrior:
        """Read a prior from ``system, rating, standard_error`` of one language.

        Systems that are absent or have no error get a precision of 1, as if ``flat``.
        """
        flat = cls.flat(len(systems))
        if table is None:
            return flat
        repeated = table.loc[table["system"].duplicated(), "system"]
        if len(repeated):
            raise UsageError(f"the prior holds {repeated.iloc[0]} twice; keep one row a system")
        rows = table.set_index("system").reindex(list(systems))
        means = rows["rating"].to_numpy(np.float64)
        errors = rows["standard_error"].to_numpy(np.float64)
        if (errors <= 0).any():
            name = systems[int(np.argmax(errors <= 0))]
            raise UsageError(f"the prior's standard error of {name} is not above 0")
        informed = np.isfinite(means) & np.isfinite(errors)
        if not informed.any():
            return flat
        # Battles tell differences between ratings, never their level: center the stated means.
        centered = means - means[informed].mean()
        precisions = np.where(informed, 1.0 / errors**2, flat.precisions)
        return cls(np.where(informed, centered, 0.0), precisions, informed)

    def trusted(self, factor: npt.ArrayLike) -> RatingPrior:
        """Multiply stated precisions by a factor, one or (S,)."""
        factors = np.where(self.informed, factor, 1.0)
        return replace(self, precisions=factors * self.precisions)

    def scaled(self, factor: float) -> RatingPrior:
        """Multiply stated ratings and errors by a factor."""
        return replace(self, means=factor * self.means).trusted(factor**-2)

    def spread(self, precision: float) -> RatingPrior:
        """Give systems of which nothing is stated another precision."""
        return replace(self, precisions=np.where(self.informed, self.precisions, precision))


@dataclass(frozen=True)
class RatingPosterior:
    """Posterior of S systems' ratings, by a prior and verdicts.

    Attributes:
        ratings: Posterior means (logits), shape (S,).
        covariance: Posterior covariance, shape (S, S).
        shares: Weight of the system's own verdicts in its rating (0 to 1), shape (S,).
    """

    systems: tuple[str, ...]
    ratings: Floats
    covariance: Floats
    shares: Floats

    @property
    def standard_errors(self) -> Floats:
        """Return the ratings' standard errors, shape (S,)."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Return lower and upper bounds of 90% intervals, shape (S,) each."""
        half_widths = NORMAL_90 * self.standard_errors
        return self.ratings - half_widths, self.ratings + half_widths

    @property
    def table(self) -> pd.DataFrame:
        """Return columns ``system, rating, standard_error, verdict_share``."""
        columns = {
            "system": self.systems,
            "rating": self.ratings,
            "standard_error": self.standard_errors,
            "verdict_share": self.shares,
        }
        return pd.DataFrame(columns)

    def draws(self, random: np.random.Generator, rounds: int) -> Floats:
        """Draw ratings of all systems together, shape (rounds, S)."""
        return normal_draws(self.ratings, self.covariance, rounds, random)


@dataclass(frozen=True)
class BattlePosterior(RatingPosterior):
    """Posterior of ratings by the battles of one language alone."""

    biases: tuple[JudgeBias, ...]
    likelihood: BattleLikelihood
    effects: DesignEffects

    def open_bounds(self, separated: Flags) -> tuple[Floats, Floats]:
        """Widen 90% intervals, (S,), most of ``separated`` systems."""
        means, covariance, shares = _averaged(
            self.likelihood, self.effects, _open_priors(separated)
        )
        n_systems = len(self.systems)
        ratings = slice(n_systems)
        wide = RatingPosterior(self.systems, means[ratings], covariance[ratings, ratings], shares)
        low, high = self.bounds
        open_low, open_high = wide.bounds
        return np.minimum(low, open_low), np.maximum(high, open_high)


def battle_posterior(
    battles: Battles,
    prior: RatingPrior | None = None,
    trust: Sequence[float] = TRUST,
    scales: Sequence[float] = (1.0,),
    design_effect: float | None = None,
) -> BattlePosterior:
    """Rate by battles and a prior, whatever chose the battles.

    The likelihood is to the power of one over the mean design effect of questions (Kish, 1965), or
    ``design_effect``. Posteriors are normal about their mode (Laplace), averaged over the prior's
    spread: log-normal about 1 where nothing is stated, else by factors of ``trust``.
    """
    n_systems = len(battles.systems)
    if prior is None:
        prior = RatingPrior.flat(n_systems)
    likelihood = BattleLikelihood(battles.items_by_side)
    with one_thread():
        mode = likelihood.mode(prior)
        if design_effect is None:
            effects = likelihood.design_effects(mode, prior.precisions)
        else:
            effects = DesignEffects.known(design_effect, n_systems, len(likelihood.bias_precisions))
        means, covariance, shares = _averaged(
            likelihood, effects, _weighted_priors(prior, trust, scales), mode
        )
        ratings, biases = np.split(means, [n_systems])
        errors = np.sqrt(np.diag(covariance)[n_systems:])
        own_errors = likelihood.bias_errors(means, effects.common)
    return BattlePosterior(
        systems=battles.systems,
        ratings=ratings,
        covariance=covariance[:n_systems, :n_systems],
        shares=shares,
        biases=likelihood.biases.estimated(biases, errors, own_errors),
        likelihood=likelihood,
        effects=effects,
    )


_WeightedPrior = tuple[NormalPrior, float]
"""A prior, and the logarithm of its weight before any battle."""


def _weighted_priors(
    prior: RatingPrior, trust: Sequence[float], scales: Sequence[float]
) -> list[_WeightedPrior]:
    spreads = (1.0,) if prior.informed.all() else SPREADS
    is_stated = bool(prior.informed.any())
    factors = tuple(trust) if is_stated else (1.0,)
    sizes = tuple(scales) if is_stated else (1.0,)
    weighted: list[_WeightedPrior] = []
    for precision, factor, scale in product(spreads, factors, sizes):
        # All are log-normal about 1, with a standard deviation of 1.
        log_weight = -0.5 * float(np.sum(np.log([precision, factor, scale]) ** 2))
        weighted.append((prior.spread(precision).scaled(scale).trusted(factor), log_weight))
    return weighted


def _open_priors(separated: Flags) -> list[_WeightedPrior]:
    # Standard deviation of the logarithm of the precision
    deviation = 2.0
    factors = np.where(separated, OPEN, 1.0)
    means = np.zeros(len(factors))
    weighted: list[_WeightedPrior] = []
    for precision in OPEN_SPREADS:
        log_weight = -0.5 * float((np.log(precision) / deviation) ** 2)
        weighted.append((NormalPrior(means, precision * factors), log_weight))
    return weighted


def _averaged(
    likelihood: BattleLikelihood,
    effects: DesignEffects,
    priors: Sequence[_WeightedPrior],
    mode: Floats | None = None,
) -> tuple[Floats, Floats, Floats]:
    # Weight of a prior in the average below which its posterior is not computed
    negligible_weight = 1e-9
    candidates: list[_Candidate] = []
    for prior, log_weight in priors:
        mode = likelihood.mode(prior, effects.common, mode)
        candidates.append(_Candidate(likelihood, effects, prior, mode, log_weight))
    weights = softmax([candidate.log_evidence() for candidate in candidates])
    modes = np.array([candidate.centered_mode for candidate in candidates])
    means = weights @ modes
    # The variance of a mixture: between its parts, then the mean within them.
    deviations = modes - means
    covariance = (deviations.T * weights) @ deviations
    shares = np.zeros(likelihood.pairs.n_systems)
    for weight, candidate in zip(weights, candidates, strict=True):
        if weight < negligible_weight:
            continue
        candidate_covariance, candidate_shares = candidate.covariance_and_shares()
        covariance += weight * candidate_covariance
        shares += weight * candidate_shares
    return means, covariance, shares


class _Candidate(NamedTuple):
    """A prior that is averaged over, and the posterior's mode under it."""

    likelihood: BattleLikelihood
    effects: DesignEffects
    prior: NormalPrior
    mode: Floats
    log_weight: float

    @property
    def n_systems(self) -> int:
        return len(self.prior.means)

    @property
    def centered_mode(self) -> Floats:
        mode = self.mode.copy()
        mode[: self.n_systems] -= mode[: self.n_systems].mean()
        return mode

    @property
    def prior_precisions(self) -> Floats:
        return np.append(self.prior.precisions, self.likelihood.bias_precisions)

    def log_evidence(self) -> float:
        """Return the log of prior weight times battles' probability (Laplace)."""
        # Not stored: of thousands of systems, all candidates' matrices together would fill memory.
        information = self.likelihood.information(self.mode) / self.effects.common
        log_likelihood = self.likelihood.value(self.mode) / self.effects.common
        deviations = self.mode.copy()
        deviations[: self.n_systems] -= self.prior.means
        squares = (self.prior_precisions * deviations**2).sum()
        log_volume = np.log(self.prior_precisions).sum()
        log_volume -= np.linalg.slogdet(information + np.diag(self.prior_precisions))[1]
        return float(self.log_weight + log_likelihood + 0.5 * (log_volume - squares))

    def covariance_and_shares(self) -> tuple[Floats, Floats]:
        precisions = self.effects.common * self.prior_precisions
        information = self.likelihood.information(self.mode)
        inverse = np.asarray(np.linalg.inv(information + np.diag(precisions)))
        covariance = self.likelihood.covariance(
            information, precisions, inverse, self.effects.by_parameter, self.effects.common
        )
        shares = 1.0 - precisions * np.diag(inverse)
        return covariance, shares[: self.n_systems]
