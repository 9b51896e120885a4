"""The ratings that the whole arena would give, foretold from the battles so far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from arena.bradley_terry import fit_bradley_terry
from arena.sampling.answer_posterior import AnswerPosterior
from arena.sampling.answer_strengths import AnswerStrengths
from arena.sampling.pairs import Pairs

Floats = npt.NDArray[np.float64]

LOGISTIC_NORMAL = np.pi / 8.0


@dataclass(frozen=True)
class Forecast:
    """What one battle of each item would bring.

    Attributes:
        chance: Chance of the first system, shape (Q, P).
        information: Its slope in the difference of the two answers' strengths; about the Fisher
            information of the battle, shape (Q, P).
    """

    chance: Floats
    information: Floats


@dataclass(frozen=True)
class WholeRatings:
    """Bradley-Terry ratings of the whole arena, battles that are not judged foretold.

    Attributes:
        coefficients: Expected coefficients, shape (S,).
        slopes: Change of the coefficients with the points of systems, shape (S, S).
    """

    coefficients: Floats
    slopes: Floats


def foretell(pairs: Pairs, strengths: AnswerStrengths) -> Forecast:
    """Average the chances over what is unsure about the answers (MacKay, 1992)."""
    unsure = pairs.spreads(strengths.posterior.of_questions())
    shrink = 1.0 / np.sqrt(1.0 + LOGISTIC_NORMAL * np.maximum(unsure, 0.0))
    chance = expit(shrink * pairs.differences(strengths.answers))
    return Forecast(chance, np.asarray(shrink * chance * (1.0 - chance)))


def complete(
    points: Floats, battles: Floats, ahead: Floats, forecast: Forecast
) -> tuple[Floats, Floats]:
    """Add the expected outcomes of all battles ahead; arguments as of ``rate_whole``.

    Returns:
        Points of each pair's first system and battles of each pair, each of shape (P,).
    """
    return (points + ahead * forecast.chance).sum(axis=0), (battles + ahead).sum(axis=0)


def rate_whole(
    pairs: Pairs, points: Floats, battles: Floats, ahead: Floats, forecast: Forecast, ridge: float
) -> WholeRatings:
    """Fit ratings to the battles so far and to the expected outcomes of all others.

    Args:
        pairs: The pairs.
        points: Points of each item's first system, shape (Q, P).
        battles: Battles of each item, shape (Q, P).
        ahead: Battles that each item would hold and that are not judged, shape (Q, P).
        forecast: Expected outcomes.
        ridge: Precision of the prior on coefficients, above 0.
    """
    expected, counts = complete(points, battles, ahead, forecast)
    fit = fit_bradley_terry(
        expected[None], counts[None], pairs.first, pairs.second, pairs.n_systems, ridge
    )
    coefficients = fit.coefficients[0]
    chance = expit(pairs.differences(coefficients))
    precision = pairs.laplacian(counts * chance * (1.0 - chance))
    slopes = np.linalg.inv(precision + ridge * np.eye(pairs.n_systems))
    return WholeRatings(coefficients, np.asarray(slopes))


def rating_covariance(
    pairs: Pairs,
    posterior: AnswerPosterior,
    dispersion: Floats,
    information: Floats,
    slopes: Floats,
) -> Floats:
    """Return how unsure the whole arena's ratings are before its last battle is judged.

    The points of battles ahead are unsure because the answers' strengths are, and because a
    battle of known strengths is. Battles that are judged are certain: nothing is unsure once all
    are.

    Args:
        pairs: The pairs.
        posterior: Covariance of the answers' strengths.
        dispersion: See ``AnswerStrengths``, shape (Q,).
        information: Of the battles ahead, shape (Q, P).
        slopes: See ``WholeRatings``.

    Returns:
        Shape (S, S).
    """
    ahead = pairs.laplacian(information)
    follow = (ahead @ posterior.pull).sum(axis=0)
    within = (ahead @ posterior.within @ ahead).sum(axis=0)
    chance = pairs.laplacian((information * dispersion[:, None]).sum(axis=0))
    points = within + follow @ posterior.between @ follow.T + chance
    return np.asarray(slopes @ points @ slopes)
