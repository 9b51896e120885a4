"""Maximum likelihood with a free term for side A, as published fits have it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from arena.data.errors import UsageError
from arena.data.types import Floats
from arena.rating.battles import Battles
from arena.rating.biases import JudgeBias
from arena.rating.intervals import Uncertainty
from arena.rating.likelihood import BattleLikelihood
from arena.rating.penalized_likelihood import NormalPrior
from arena.statistics.significance import NORMAL_95
from arena.statistics.workers import one_thread


@dataclass(frozen=True)
class PositionFit:
    """Coefficients, centered on 0, shape (S,), and each judge's advantage of side A."""

    coefficients: Floats
    uncertainty: Uncertainty
    biases: tuple[JudgeBias, ...]


def fit_with_position(battles: Battles, ridge: float) -> PositionFit:
    """Fit ratings and each judge's advantage of side A, of which there is no prior.

    Errors are those of maximum likelihood, times the root of the questions' design effects.

    Args:
        battles: Of systems that they connect.
        ridge: Precision of the ratings' Gaussian prior.

    Raises:
        UsageError: If no sides were shown.
        ConvergenceError: If the likelihood has no maximum.
    """
    # Precision of the level, of which battles tell nothing
    level_precision = 1e-6
    items = battles.items_by_side
    if items.biases is None or not len(items.biases):
        raise UsageError("no sides were shown: there is no term for side A")
    free = replace(items.biases, precisions=np.zeros_like(items.biases.precisions))
    likelihood = BattleLikelihood(replace(items, biases=free))
    n_systems = len(battles.systems)
    ratings = slice(n_systems)
    with one_thread():
        parameters = likelihood.mode(NormalPrior.ridge(n_systems, ridge))
        precisions = np.full(n_systems, max(ridge, level_precision))
        effects = likelihood.design_effects(parameters, precisions)
        prior = np.diag(np.append(precisions, np.zeros(len(free))))
        inverse = np.linalg.inv(likelihood.information(parameters) + prior)
        clustered = likelihood.clustered_information(parameters, effects.by_parameter)
        covariance = inverse @ (prior + clustered) @ inverse
    covariance[ratings] -= covariance[ratings].mean(axis=0)
    covariance[:, ratings] -= covariance[:, ratings].mean(axis=1, keepdims=True)
    errors = np.sqrt(np.diag(covariance))
    coefficients = parameters[ratings] - parameters[ratings].mean()
    low, high = (coefficients + sign * NORMAL_95 * errors[ratings] for sign in (-1, 1))
    uncertainty = Uncertainty(low, high, covariance[ratings, ratings])
    own_errors = np.zeros(len(free))
    biases = free.estimated(parameters[n_systems:], errors[n_systems:], own_errors)
    return PositionFit(coefficients, uncertainty, biases)
