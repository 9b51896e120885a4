"""Tests whether two systems differ: p-values of all pairs, also where a system wins or loses all.

The more a system wins, the less a further win tells of its rating, and the error grows as fast as
the distance from the others: Wald's test gets weaker the clearer the case is (Hauck and Donner,
1977, "Wald's test as applied to hypotheses in logit analysis"). The likelihood ratio, of the
verdicts with both systems equal, does not have this fault. Formulas: docs/reference/formulas.md.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import ndtr

from arena.data.types import Flags, Floats
from arena.rating.bradley_terry import newton
from arena.rating.intervals import LEVEL, wald_p_values
from arena.rating.items import JudgedItems
from arena.rating.likelihood import BattleLikelihood
from arena.rating.pairs import Pairs, winning_groups
from arena.rating.penalized_likelihood import NormalPrior
from arena.rating.posterior import BattlePosterior

FAR = 1.5
"""Difference of two ratings in logits below which both tests agree."""
MOST_SYSTEMS = 100
"""Systems above which only those that battles do not bound have another test than Wald's."""


def pair_p_values(posterior: BattlePosterior, is_separated: Flags) -> Floats:
    """Return the p-value of every two systems' difference, shape (S, S).

    It is Wald's, and where ratings are far apart the smaller one of that and of the likelihood
    ratio. With a system that battles do not bound, only the ratio tells, and no more than an exact
    sign test over the questions of the one judged on fewer.

    Args:
        posterior: Of the battles.
        is_separated: See ``separated_systems``, shape (S,).
    """
    p_values = wald_p_values(posterior.ratings, posterior.covariance)
    n_systems = len(p_values)
    effects = posterior.effects
    has_separated = is_separated[:, None] | is_separated[None, :]
    n_questions = np.minimum.outer(effects.n_questions, effects.n_questions)
    sign_test = np.where(has_separated, np.minimum(np.exp2(1.0 - n_questions), 1.0), 0.0)
    is_tested = has_separated.copy()
    if n_systems <= MOST_SYSTEMS:
        # Tests of pairs that surely differ, whatever the others, are not made again.
        is_tested |= p_values > (1 - LEVEL) / n_systems**2
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

    They are outside the one largest group in which wins lead from every system to every other, as
    who won or lost all is; without a largest group they are all.
    """
    groups = winning_groups(items.pairs, *items.totals)
    sizes = np.bincount(groups)
    is_largest = sizes == sizes.max()
    if is_largest.sum() > 1:
        return np.ones(len(groups), dtype=np.bool_)
    return np.asarray(~is_largest[groups])


class _LikelihoodRatios:
    """How much less probable battles are if two systems were equal, ratings being N(0, 1)."""

    def __init__(self, likelihood: BattleLikelihood, effect: float) -> None:
        self._effect = effect
        prior = NormalPrior.ridge(likelihood.pairs.n_systems, 1.0)
        self._free = likelihood.penalized(prior, effect)
        self._mode = newton(self._free, self._free.start())
        self._loss = float(self._free.loss(self._mode)[0])

    def p_value(self, first: int, second: int, effect: float) -> float:
        """Return the two-sided p-value of the signed root of the ratio, for a design effect."""
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
