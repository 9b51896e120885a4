"""The scale of ratings, by verdicts on them."""

from __future__ import annotations

import numpy as np
import scipy
from scipy.special import expit

from arena.data.types import Floats

DEVIATION = 0.5
"""Standard deviation of a factor about 1, before any verdict."""


def likely_factor(differences: Floats, points: Floats) -> float:
    """Return the most probable factor b of ratings given verdicts, with prior N(1, 1/4).

    Args:
        differences: Rating of side A less that of side B, shape (N,).
        points: Points of side A, shape (N,).
    """

    def slope(factor: float) -> float:
        residuals = points - expit(factor * differences)
        return float(differences @ residuals) - (factor - 1.0) / DEVIATION**2

    # No residual is above 1, so the root is no further from 1 than this.
    bound = DEVIATION**2 * float(np.abs(differences).sum()) + 1.0
    return float(scipy.optimize.brentq(slope, 1.0 - bound, 1.0 + bound))
