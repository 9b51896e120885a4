"""How much one more battle of a pair is worth for the order of all systems.

A battle between systems a and b, d their difference, lowers the covariance C of the strengths by
w C d d' C / (1 + w d' C d), w = p (1 - p) (a rank-one update). The variance of every other
pair's difference falls with it. Summed over pairs, each weighted by how much it is in doubt, this
is one quadratic form: w d' M d / (1 + w d' C d) with M = C L C and L the Laplacian of the doubts.
It is an L-optimal design (Pukelsheim, 2006) whose target is redrawn as the ranking settles.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from arena.sampling.belief import Belief, Pairs

Floats = npt.NDArray[np.float64]

LOPSIDED = 0.1
REPRESENTATIVE = 8
LEAST_VARIANCE = 1e-9


def doubts(pairs: Pairs, belief: Belief, now: Floats, whole: Floats) -> Floats:
    """Weigh each pair by the chance that the whole arena would order it the other way.

    What is sought is the order that the whole arena gives, not that of infinitely many questions.
    Its estimate differs from the present one by a Gaussian of covariance ``now - whole``: the
    correction for a finite population.

    Args:
        pairs: The pairs.
        belief: Strengths so far.
        now: Covariance of the strengths after the battles so far, shape (S, S).
        whole: Covariance after all battles there are, shape (S, S).

    Returns:
        Chance of the other order over its variance, shape (P,).
    """
    variance = np.maximum(pairs.spreads(now - whole), LEAST_VARIANCE)
    distance = np.abs(pairs.differences(belief.coefficients)) / np.sqrt(variance)
    return np.asarray(norm.sf(distance) / variance)


def trusted_information(information: Floats, judged_share: float) -> Floats:
    """Weigh pairs by the information of a battle, as far as it is to be trusted.

    By the letter of the model, battles of equals tell the most. But no arena obeys the
    model exactly, and strengths learnt from equals alone are not those that all opponents give.
    So every pair that is not lopsided counts nearly the same, the more so the more is judged.

    Args:
        information: Fisher information of a battle of each pair, shape (P,).
        judged_share: Share of all items that is judged.

    Returns:
        Weights from 0 to 1, shape (P,).
    """
    scale = LOPSIDED * (1.0 - judged_share) ** REPRESENTATIVE
    return np.asarray(information / (information + scale))


def usefulness(
    pairs: Pairs, covariance: Floats, doubt: Floats, information: Floats, trusted: Floats
) -> Floats:
    """Return what one more battle of each pair is worth, shape (P,); only ratios mean something.

    Args:
        pairs: The pairs.
        covariance: Of the strengths, battles that are planned included, shape (S, S).
        doubt: See ``doubts``.
        information: Fisher information of a battle of each pair, shape (P,).
        trusted: See ``trusted_information``.
    """
    target = covariance @ pairs.laplacian(doubt) @ covariance
    shrink = 1.0 + information * pairs.spreads(covariance)
    return np.asarray(trusted * np.maximum(pairs.spreads(target), 0.0) / shrink)


def after_battle(covariance: Floats, one: int, other: int, information: float) -> Floats:
    """Return the covariance of strengths once a battle of two systems is judged."""
    direction = covariance[:, one] - covariance[:, other]
    variance = direction[one] - direction[other]
    scale = information / (1.0 + information * variance)
    return np.asarray(covariance - scale * np.outer(direction, direction))
