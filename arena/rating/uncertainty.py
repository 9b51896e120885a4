"""How sure a Bradley-Terry fit is: bootstrap over questions, and a clustered sandwich."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from arena.rating.bradley_terry import RatingModel
from arena.rating.likelihoods import Derivatives
from arena.rating.outcomes import Outcomes
from arena.rating.solver import information

Floats = npt.NDArray[np.float64]

LEVEL = 0.95
DRAWS = 2_000
LARGEST_ACCELERATED = 2_000_000


@dataclass(frozen=True)
class Uncertainty:
    """Sampling distribution of the coefficients.

    Attributes:
        coefficients: Estimates, shape (S,).
        replicates: Draws around them, shape (B, S).
        low: Lower bound of each coefficient's interval, shape (S,).
        high: Upper bound.
        effect_errors: Standard errors of the covariates' effects, shape (C,).
        method: ``bootstrap`` (percentile), ``bca`` or ``sandwich``.
    """

    coefficients: Floats
    replicates: Floats
    low: Floats
    high: Floats
    effect_errors: Floats
    method: str


def bootstrap(
    outcomes: Outcomes,
    model: RatingModel,
    parameters: Floats,
    rounds: int,
    random: np.random.Generator,
    bca: bool = False,
) -> Uncertainty:
    """Bootstrap over questions, the unit of sampling.

    Args:
        outcomes: Battles.
        model: Model to fit.
        parameters: All parameters of the fit on all battles, shape (K,).
        rounds: Number of replicates B.
        random: Generator of the draws.
        bca: Correct bias and acceleration (Efron, 1987) instead of plain percentiles; the
            acceleration is that of the questions' influences.
    """
    center = model.center(outcomes, parameters)
    fits = [model.fit(outcomes, counts, center) for counts in outcomes.resampled(rounds, random)]
    replicates = np.concatenate([fit.coefficients for fit in fits])
    errors = np.concatenate([fit.effects for fit in fits]).std(axis=0, ddof=1)
    coefficients = parameters[: len(outcomes.systems)]
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(replicates, (tail, 1 - tail), axis=0)
    if bca:
        influences = question_influences(outcomes, model, parameters)
        low, high = _bca(replicates, coefficients, influences)
    method = "bca" if bca else "bootstrap"
    return Uncertainty(coefficients, replicates, low, high, errors, method)


def sandwich(
    outcomes: Outcomes,
    model: RatingModel,
    parameters: Floats,
    random: np.random.Generator,
) -> Uncertainty:
    """Normal intervals from the sandwich covariance, clustered by question (White, 1982).

    Args:
        outcomes: Battles.
        model: Model that was fitted.
        parameters: All parameters of the fit, shape (K,).
        random: Generator of the draws from the normal distribution that serve as replicates.
    """
    systems = len(outcomes.systems)
    whole = sandwich_covariance(outcomes, model, parameters)
    covariance = whole[:systems, :systems]
    effects = np.sqrt(np.diag(whole)[systems : model.problem(outcomes).cells.size])
    error = np.sqrt(np.diag(covariance))
    width = norm.ppf(0.5 + LEVEL / 2) * error
    estimates = parameters[:systems]
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    draws = estimates + random.normal(size=(DRAWS, systems)) @ root.T
    low, high = estimates - width, estimates + width
    return Uncertainty(estimates, draws, low, high, effects, "sandwich")


def sandwich_covariance(outcomes: Outcomes, model: RatingModel, parameters: Floats) -> Floats:
    """Return the covariance of all parameters, clustered by question, shape (K, K)."""
    bread = _bread(outcomes, model, parameters)
    correction = outcomes.n_questions / max(outcomes.n_questions - 1, 1)
    return np.asarray(correction * bread @ _meat(outcomes, model, parameters) @ bread)


def question_influences(
    outcomes: Outcomes, model: RatingModel, parameters: Floats
) -> Floats | None:
    """Influence of each question on each coefficient (infinitesimal jackknife), shape (Q, S).

    Returns:
        None where every battle is its own question, or there are too many to list.
    """
    systems = len(outcomes.systems)
    if outcomes.per_question is None or outcomes.n_questions * systems > LARGEST_ACCELERATED:
        return None
    scores = _question_scores(outcomes, model, parameters)
    return np.asarray((scores @ _bread(outcomes, model, parameters))[:, :systems])


def _bread(outcomes: Outcomes, model: RatingModel, parameters: Floats) -> Floats:
    """Inverse of the penalised information, shape (K, K)."""
    problem = model.problem(outcomes)
    found = problem.likelihood.derivatives(*problem.parts(parameters[None]))
    return np.asarray(np.linalg.inv(information(problem.cells, found, problem.ridge)))


def _meat(outcomes: Outcomes, model: RatingModel, parameters: Floats) -> Floats:
    if outcomes.per_question is not None:
        scores = _question_scores(outcomes, model, parameters)
        return np.asarray(scores.T @ scores)
    return _battle_meat(outcomes, model, parameters)


def _battle_meat(outcomes: Outcomes, model: RatingModel, parameters: Floats) -> Floats:
    """Sum of squared scores of single battles, shape (K, K)."""
    problem = model.problem(outcomes)
    slopes = problem.likelihood.slopes(*problem.parts(parameters[None]))
    counts = (outcomes.totals.wins, outcomes.totals.losses, outcomes.totals.ties)
    if model.ties == "drop":
        counts = (*counts[:2], np.zeros_like(counts[2]))

    def summed(one: tuple[Floats, ...], other: tuple[Floats, ...]) -> Floats:
        return np.asarray(sum(n * a * b for n, a, b in zip(counts, one, other, strict=True)))

    by_odds, by_tie = slopes[:3], slopes[3:]
    has_tie = problem.likelihood.has_tie_parameter
    found = Derivatives(
        by_odds=summed(by_odds, by_odds),
        by_tie=None,
        odds_information=summed(by_odds, by_odds),
        cross_information=summed(by_odds, by_tie) if has_tie else None,
        tie_information=summed(by_tie, by_tie) if has_tie else None,
    )
    return information(problem.cells, found, ridge=0.0, gauge=False)


def _question_scores(outcomes: Outcomes, model: RatingModel, parameters: Floats) -> Floats:
    """Gradient of each question's log-likelihood, shape (Q, K)."""
    problem = model.problem(outcomes)
    slopes = problem.likelihood.slopes(*problem.parts(parameters[None]))
    per_question = outcomes.per_question
    if per_question is None:
        raise ValueError("battles are their own questions")
    parts = [per_question[:, kind::3] for kind in range(2 if model.ties == "drop" else 3)]
    by_odds = sum(
        part.multiply(np.broadcast_to(slope, (1, part.shape[1]))).tocsr()
        for part, slope in zip(parts, slopes, strict=False)
    )
    scores = problem.cells.collect_sparse(by_odds)
    if not problem.likelihood.has_tie_parameter:
        return scores
    by_tie = sum(part @ slope[0] for part, slope in zip(parts, slopes[3:], strict=True))
    return np.column_stack([scores, by_tie])


def _bca(replicates: Floats, estimates: Floats, influences: Floats | None) -> tuple[Floats, Floats]:
    below = (replicates < estimates).mean(axis=0)
    floor = 1.0 / (2 * len(replicates))
    bias = norm.ppf(np.clip(below, floor, 1 - floor))
    acceleration = np.zeros(len(estimates))
    if influences is not None:
        spread = (influences**2).sum(axis=0) ** 1.5
        cubes = (influences**3).sum(axis=0)
        acceleration = np.divide(cubes, 6 * spread, out=acceleration, where=spread > 0)
    bounds = []
    for tail in ((1 - LEVEL) / 2, (1 + LEVEL) / 2):
        shifted = bias + norm.ppf(tail)
        level = norm.cdf(bias + shifted / (1 - acceleration * shifted))
        bounds.append(np.array([np.quantile(replicates[:, i], p) for i, p in enumerate(level)]))
    return bounds[0], bounds[1]
