"""How much one more judgment is worth for the order of all systems.

Battles ahead bring points that are not known yet. Judging an item (two answers, d their
difference, w its information, f the question's dispersion) settles its own outcome and, through
the strengths of both answers, tells about all other battles of the two: the covariance of the
systems' points falls by c c' / (f w + w^2 d' V d) with c = w (B d + f d), V the covariance of the
question's answers and B that of all points ahead with them. The variance of each pair's difference
falls with it; summed over pairs, each weighted by how much it is in doubt, this is one quadratic
form. It is an L-optimal design (Pukelsheim, 2006) whose target is redrawn as the ranking settles.

By the letter of the model that favours battles of equals. But no judge obeys the model exactly,
and strengths learnt from equals alone are not those that all opponents give: among battles that
are not lopsided, w is made to count for less.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from arena.sampling.answer_posterior import AnswerPosterior
from arena.sampling.pairs import Pairs

Floats = npt.NDArray[np.float64]

LEAST_VARIANCE = 1e-9
LOPSIDED = 0.1
"""Information below which a battle counts in proportion to it; far above it, all count alike."""


def doubts(pairs: Pairs, coefficients: Floats, covariance: Floats) -> Floats:
    """Weigh each pair by the chance that the whole arena would order it the other way.

    Args:
        pairs: The pairs.
        coefficients: Expected ratings of the whole arena, shape (S,).
        covariance: Their covariance, shape (S, S).

    Returns:
        Chance of the other order over its variance, shape (P,).
    """
    variance = np.maximum(pairs.spreads(covariance), LEAST_VARIANCE)
    distance = np.abs(pairs.differences(coefficients)) / np.sqrt(variance)
    return np.asarray(norm.sf(distance) / variance)


def usefulness(
    pairs: Pairs,
    posterior: AnswerPosterior,
    dispersion: Floats,
    information: Floats,
    ahead: Floats,
    target: Floats,
) -> Floats:
    """Return what one more battle of each item is worth; only ratios mean something.

    Args:
        pairs: The pairs.
        posterior: Covariance of the answers' strengths, battles that are planned included.
        dispersion: See ``AnswerStrengths``, shape (Q,).
        information: Of a battle of each item, shape (Q, P).
        ahead: Battles of each item that are neither judged nor planned, shape (Q, P).
        target: Weight of the points of each two systems, shape (S, S).

    Returns:
        Shape (Q, P), at least 0.
    """
    to_points = pairs.laplacian(information * ahead)
    follow = (to_points @ posterior.pull).sum(axis=0) @ posterior.between
    learnt = to_points @ posterior.within + follow @ posterior.pull.swapaxes(-2, -1)
    learnt += dispersion[:, None, None] * np.eye(pairs.n_systems)
    gain = pairs.spreads(learnt.swapaxes(-2, -1) @ target @ learnt)
    unsure = np.maximum(pairs.spreads(posterior.of_questions()), 0.0)
    shrink = dispersion[:, None] + information * unsure
    trusted = information / (information + LOPSIDED)
    return np.asarray(trusted * np.maximum(gain, 0.0) / shrink)
