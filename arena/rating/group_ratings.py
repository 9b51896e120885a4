"""Ratings of one group of systems that battles connect, and tests which of them differ.

Formulas: docs/reference/formulas.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from arena.computing.workers import one_thread
from arena.data.errors import UsageError, argument, checked_choice
from arena.data.types import Flags, Floats
from arena.data.wording import Remark
from arena.rating.battles import TIE_RULES, Battles
from arena.rating.biases import SIDES_NOT_TOLD, JudgeBias
from arena.rating.bradley_terry import DEFAULT_RIDGE, NormalPrior, newton, solve
from arena.rating.intervals import LEVEL, Uncertainty, bootstrap, wald_p_values
from arena.rating.likelihood import BattleLikelihood
from arena.rating.pairs import JudgedItems, Pairs, winning_groups
from arena.rating.posterior import BattlePosterior, battle_posterior
from arena.statistics.bootstrap import generator

DEFAULT_ROUNDS = 1000
FAR = 1.5
"""Difference of two ratings in logits below which Wald's test and the likelihood ratio agree."""
MOST_RETESTED = 100
"""Systems above which only those that battles do not bound have another test than Wald's."""
STRETCHED = Remark(
    "adaptive",
    "warning",
    "pairs were chosen by the verdicts on others: ratings are stretched, and intervals too narrow, "
    "unless they are the posterior's",
)
ALL_SAMPLES_ALIKE = Remark(
    "bootstrap",
    "warning",
    "there are no intervals: all bootstrap samples give the same ratings, as the verdicts on "
    "all questions agree; the default method, without a ridge, has intervals",
)
SOME_SAMPLES_ALIKE = Remark(
    "bootstrap", "warning", "a rating that is the same in all bootstrap samples has no interval"
)
ONE_QUESTION = Remark(
    "bootstrap",
    "warning",
    "all verdicts are on one question: there is nothing to resample, and no interval",
)
SAMPLES_REGULARIZED = (
    "in {} of {} bootstrap samples the likelihood has no maximum: these have a Gaussian prior of "
    f"precision {DEFAULT_RIDGE:g}; the ratings themselves have none"
)


@dataclass(frozen=True)
class Method:
    """Settings of rating: the arguments of ``rate``."""

    ties: str = "half"
    ridge: float | None = None
    rounds: int = DEFAULT_ROUNDS
    seed: int = 0

    def __post_init__(self) -> None:
        checked_choice(self.ties, TIE_RULES, "tie rule")
        if self.rounds < 0 or self.rounds == 1:
            raise UsageError("rounds must be 0 (no intervals) or at least 2")


class GroupRatings(NamedTuple):
    """Ratings of one group."""

    coefficients: Floats
    uncertainty: Uncertainty
    signature: str
    biases: tuple[JudgeBias, ...] = ()
    remarks: tuple[Remark, ...] = ()


def rate_group(battles: Battles, method: Method) -> GroupRatings:
    """Rate systems that battles connect."""
    if method.ridge is None:
        return _posterior_ratings(battles, method)
    if battles.traits:
        raise UsageError(
            f"{argument('ridge')} is for the plain model, which has no length or style; "
            "leave one of the two out"
        )
    return _plain_ratings(battles, method.ridge, method)


def _posterior_ratings(battles: Battles, method: Method) -> GroupRatings:
    posterior = battle_posterior(battles)
    separated = separated_systems(posterior.likelihood.items)
    low, high = posterior.open_bounds(separated) if separated.any() else posterior.bounds
    p_values = pair_p_values(posterior, separated)
    signature = f"ties:{method.ties}|posterior"
    if battles.traits:
        signature += f"|equal:{'+'.join(battles.traits)}"
    biases = tuple(bias for bias in posterior.biases if bias.is_known)
    remarks: tuple[Remark, ...] = ()
    if len(biases) < len(posterior.biases):
        remarks = (Remark("sides", "info", SIDES_NOT_TOLD),)
    return GroupRatings(
        coefficients=posterior.ratings,
        uncertainty=Uncertainty(low, high, posterior.covariance, p_values=p_values),
        signature=signature,
        biases=biases,
        remarks=remarks,
    )


def _plain_ratings(battles: Battles, ridge: float, method: Method) -> GroupRatings:
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
        remarks=tuple(_plain_remarks(battles, method.rounds, uncertainty)),
    )


def _plain_remarks(battles: Battles, rounds: int, uncertainty: Uncertainty) -> Iterator[Remark]:
    if battles.adaptive:
        yield STRETCHED
    # There is nothing to resample.
    if rounds and battles.n_questions < 2:
        yield ONE_QUESTION
    if uncertainty.constant is not None and uncertainty.constant.any():
        yield ALL_SAMPLES_ALIKE if uncertainty.constant.all() else SOME_SAMPLES_ALIKE
    if uncertainty.regularized:
        sentence = SAMPLES_REGULARIZED.format(f"{uncertainty.regularized:,}", f"{rounds:,}")
        yield Remark("bootstrap", "info", sentence)


def pair_p_values(posterior: BattlePosterior, is_separated: Flags) -> Floats:
    """Return the p-value of every two systems' difference, shape (S, S).

    It is Wald's, or the likelihood ratio's where that is smaller and ratings are far apart: errors
    grow with the distance (Hauck and Donner, 1977). Of a separated system it is the ratio's, at
    least that of an exact sign test over questions.
    """
    p_values = wald_p_values(posterior.ratings, posterior.covariance)
    n_systems = len(p_values)
    effects = posterior.effects
    has_separated = is_separated[:, None] | is_separated[None, :]
    n_questions = np.minimum.outer(effects.n_questions, effects.n_questions)
    sign_test = np.where(has_separated, np.minimum(np.exp2(1.0 - n_questions), 1.0), 0.0)
    is_tested = has_separated.copy()
    if n_systems <= MOST_RETESTED:
        # Pairs that differ by Wald's test are not tested again.
        is_tested |= p_values > 1 - LEVEL
    is_far = np.abs(posterior.ratings[:, None] - posterior.ratings[None, :]) > FAR
    # On so few questions no ratio decides.
    is_open = is_far & (sign_test > 1 - LEVEL)
    p_values[is_open] = sign_test[is_open]
    tested = np.argwhere(np.triu(is_tested & is_far & ~is_open))
    if not len(tested):
        return p_values
    ratios = _LikelihoodRatios(posterior.likelihood, max(effects.common, 1.0))
    by_system = effects.by_system
    for first, second in tested:
        p_value = ratios.p_value(first, second, max(by_system[first], by_system[second]))
        if has_separated[first, second]:
            p_value = max(p_value, sign_test[first, second])
        else:
            p_value = min(p_value, p_values[first, second])
        p_values[first, second] = p_values[second, first] = p_value
    return p_values


def separated_systems(items: JudgedItems) -> Flags:
    """Return which systems the battles do not bound, shape (S,).

    They are outside the largest group in which wins lead from every system to every other.
    """
    groups = winning_groups(items.pairs, *items.totals)
    sizes = np.bincount(groups)
    is_largest = sizes == sizes.max()
    if is_largest.sum() > 1:
        return np.ones(len(groups), dtype=np.bool_)
    return np.asarray(~is_largest[groups])


class _LikelihoodRatios:
    """Likelihood ratios of equality for every two systems: chi-squared, with a ridge of 1."""

    def __init__(self, likelihood: BattleLikelihood, effect: float) -> None:
        self._effect = effect
        prior = NormalPrior.ridge(likelihood.pairs.n_systems, 1.0)
        self._free = likelihood.penalized(prior, effect)
        self._mode = newton(self._free, self._free.start())
        self._loss = float(self._free.loss(self._mode)[0])

    def p_value(self, first: int, second: int, effect: float) -> float:
        pairs = self._free.pairs
        # One parameter stands for both systems; that of the second counts nowhere, and stays 0.
        merged = Pairs(
            np.where(pairs.first == second, first, pairs.first),
            np.where(pairs.second == second, first, pairs.second),
            pairs.n_systems,
        )
        precisions = self._free.prior.precisions.copy()
        precisions[first] += precisions[second]
        prior = replace(self._free.prior, precisions=precisions)
        problem = replace(self._free, pairs=merged, prior=prior)
        start = self._mode.copy()
        start[first] = (start[first] + start[second]) / 2
        start[second] = 0.0
        equal = float(problem.loss(newton(problem, start))[0])
        deviance = 2 * (equal - self._loss) * self._effect / max(self._effect, effect)
        return float(2 * ndtr(-np.sqrt(max(deviance, 0.0))))
