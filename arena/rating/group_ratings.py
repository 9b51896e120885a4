"""Ratings of one group of systems that battles connect, by the method that is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from arena.data.errors import UsageError, argument, checked_choice
from arena.data.types import Floats
from arena.rating.battles import TIE_RULES, Battles
from arena.rating.biases import SIDES_NOT_TOLD, JudgeBias
from arena.rating.bradley_terry import solve
from arena.rating.intervals import Uncertainty, bootstrap
from arena.rating.likelihood import BattleLikelihood
from arena.rating.pair_tests import pair_p_values, separated_systems
from arena.rating.penalized_likelihood import DEFAULT_RIDGE, NormalPrior
from arena.rating.posterior import battle_posterior
from arena.statistics.bootstrap import generator
from arena.statistics.workers import one_thread

DEFAULT_ROUNDS = 1000
STRETCHED = (
    "pairs were chosen by the verdicts on others: ratings are stretched, and intervals too narrow, "
    "unless they are the posterior's"
)
ALL_SAMPLES_ALIKE = (
    "there are no intervals: all bootstrap samples give the same ratings, as the verdicts on "
    "all questions agree; the default method, without `ridge`, has intervals"
)
SOME_SAMPLES_ALIKE = "a rating that is the same in all bootstrap samples has no interval"
ONE_QUESTION = "all verdicts are on one question: there is nothing to resample, and no interval"
SAMPLES_REGULARIZED = (
    "in {} of {} bootstrap samples the likelihood has no maximum: these have a Gaussian prior of "
    f"precision {DEFAULT_RIDGE:g}; the ratings themselves have none"
)


@dataclass(frozen=True)
class Method:
    """How to rate; the fields are arguments of ``arena.rating.ratings.rate``.

    Raises:
        UsageError: For an unknown tie rule, or a number of rounds that is out of range.
    """

    ties: str = "half"
    ridge: float | None = None
    position: bool = False
    rounds: int = DEFAULT_ROUNDS
    seed: int = 0

    def __post_init__(self) -> None:
        checked_choice(self.ties, TIE_RULES, "tie rule")
        if self.rounds < 0 or self.rounds == 1:
            raise UsageError("rounds must be 0 (no intervals) or at least 2")


@dataclass(frozen=True)
class GroupRatings:
    """Ratings of one group.

    Attributes:
        coefficients: Centered on 0, shape (S,).
        uncertainty: How far they may be off.
        signature: Names the method.
        biases: What the judges like besides quality.
        notes: What limits the ratings.
    """

    coefficients: Floats
    uncertainty: Uncertainty
    signature: str
    biases: tuple[JudgeBias, ...] = ()
    notes: tuple[str, ...] = ()


def rate_group(battles: Battles, method: Method) -> GroupRatings:
    """Rate systems that battles connect.

    Raises:
        UsageError: If the method does not suit the battles.
        ConvergenceError: If the likelihood of a fit without prior has no maximum.
    """
    if method.ridge is None and not method.position:
        return _posterior_ratings(battles, method)
    if battles.traits:
        raise UsageError(
            f"{argument('ridge')} is for the plain model, which knows no length or style; "
            "leave one of the two out"
        )
    if method.position:
        return _ratings_with_position(battles, method)
    return _plain_ratings(battles, method)


def _posterior_ratings(battles: Battles, method: Method) -> GroupRatings:
    posterior = battle_posterior(battles)
    separated = separated_systems(posterior.likelihood.items)
    low, high = posterior.open_bounds(separated) if separated.any() else posterior.bounds
    p_values = pair_p_values(posterior, separated)
    signature = f"ties:{method.ties}|posterior"
    if battles.traits:
        signature += f"|equal:{'+'.join(battles.traits)}"
    biases = tuple(bias for bias in posterior.biases if bias.is_known)
    return GroupRatings(
        coefficients=posterior.ratings,
        uncertainty=Uncertainty(low, high, posterior.covariance, p_values=p_values),
        signature=signature,
        biases=biases,
        notes=(SIDES_NOT_TOLD,) if len(biases) < len(posterior.biases) else (),
    )


def _plain_ratings(battles: Battles, method: Method) -> GroupRatings:
    """Maximize the plain likelihood, with a bootstrap over questions."""
    ridge = method.ridge or 0.0
    n_systems = len(battles.systems)
    items = battles.items
    prior = NormalPrior.ridge(n_systems, ridge)
    problem = BattleLikelihood(items).penalized(prior)
    with one_thread():
        fit = solve(problem).checked()
        uncertainty = Uncertainty.unknown(n_systems)
        if method.rounds:
            random = generator(method.seed, "ratings", "bootstrap")
            uncertainty = bootstrap(items, problem, fit, method.rounds, random)
    return GroupRatings(
        coefficients=fit.coefficients[0],
        uncertainty=uncertainty,
        signature=f"ties:{method.ties}|ridge:{ridge:g}|rounds:{method.rounds}|seed:{method.seed}",
        notes=tuple(_plain_notes(battles, method.rounds, uncertainty)),
    )


def _plain_notes(battles: Battles, rounds: int, uncertainty: Uncertainty) -> Iterator[str]:
    if battles.adaptive:
        yield STRETCHED
    # There is nothing to resample.
    if rounds and battles.n_questions < 2:
        yield ONE_QUESTION
    if uncertainty.constant is not None and uncertainty.constant.any():
        yield ALL_SAMPLES_ALIKE if uncertainty.constant.all() else SOME_SAMPLES_ALIKE
    if uncertainty.regularized:
        yield SAMPLES_REGULARIZED.format(f"{uncertainty.regularized:,}", f"{rounds:,}")


def _ratings_with_position(battles: Battles, method: Method) -> GroupRatings:
    """Maximize the likelihood with a free term of each judge for side A, as published fits have it.

    Errors are those of maximum likelihood, times the root of the questions' design effects.
    """
    # Precision of the level, of which battles tell nothing
    level_precision = 1e-6
    ridge = method.ridge or 0.0
    items = battles.items_by_side
    if items.biases is None or not len(items.biases):
        raise UsageError("no sides were shown: there is no term for side A")
    free = replace(items.biases, precisions=np.zeros_like(items.biases.precisions))
    likelihood = BattleLikelihood(replace(items, biases=free))
    n_systems = len(battles.systems)
    ratings = slice(n_systems)
    with one_thread():
        parameters = likelihood.mode(NormalPrior.ridge(n_systems, ridge))
        rating_precisions = np.full(n_systems, max(ridge, level_precision))
        effects = likelihood.design_effects(parameters, rating_precisions)
        precisions = np.append(rating_precisions, np.zeros(len(free)))
        inverse = likelihood.inverse_precision(parameters, precisions)
        covariance = likelihood.covariance(parameters, precisions, inverse, effects.by_parameter)
    coefficients = parameters[ratings] - parameters[ratings].mean()
    errors = np.sqrt(np.diag(covariance)[n_systems:])
    own_errors = np.zeros(len(free))
    return GroupRatings(
        coefficients=coefficients,
        uncertainty=Uncertainty.normal(coefficients, covariance[ratings, ratings]),
        signature=f"ties:{method.ties}|ridge:{ridge:g}|position",
        biases=free.estimated(parameters[n_systems:], errors, own_errors),
        notes=(STRETCHED,) if battles.adaptive else (),
    )
