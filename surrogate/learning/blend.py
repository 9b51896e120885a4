"""The blend of both predictions of a rating: what a unit of it is worth, and how sure it is.

Learned from the systems left out. Formulas: docs/reference/surrogate.md, section 3;
docs/reference/formulas.md, "Surrogate".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from arena.data.types import Floats
from arena.statistics.significance import NORMAL_90

SMALLEST = 1e-9
"""Below it, a number is 0 but for rounding."""


@dataclass(frozen=True)
class Blend:
    """How predictions by answers' scores and by the ridge give a rating.

    Attributes:
        weights: Weight of both predictions, shape (2,).
        slope: Logits per unit of the weighted sum.
        error: Standard error of a rating of usual variance (logits).
        usual_variance: Mean predictive variance of the systems left out, by the ridge.
    """

    weights: Floats
    slope: float
    error: float
    usual_variance: float

    @classmethod
    def fit(cls, left_out: pd.DataFrame, reliability: float = 1.0) -> Blend:
        """Learn it from predictions of systems that were left out.

        Args:
            left_out: Columns ``scores, ridge`` (both predictions), ``variance`` (of the ridge's)
                and ``target`` (ratings less the others' mean), one row per system.
            reliability: Share of the ratings' variance that is not sampling noise, from 0 to 1.
        """
        target = left_out["target"].to_numpy(np.float64)
        parts = left_out[["scores", "ridge"]].to_numpy(np.float64)
        weights = _weights(parts, target, reliability)
        predictions = parts @ weights
        slope = _calibration_slope(predictions, target, reliability)
        residuals = target - slope * predictions
        degrees_of_freedom = max(len(residuals) - 1, 1)
        # The error is estimated from few systems, so a normal interval would be too narrow:
        # Student's quantile replaces the normal one of a 90% interval.
        student_factor = stdtrit(degrees_of_freedom, 0.95) / NORMAL_90
        residual_variance = float(residuals @ residuals) / degrees_of_freedom
        return cls(
            weights=weights,
            slope=slope,
            error=float(np.sqrt(residual_variance) * student_factor),
            usual_variance=float(left_out["variance"].mean()),
        )

    def ratings(self, parts: Floats) -> Floats:
        """Return ratings in logits, shape (N,), of both predictions, shape (N, 2)."""
        return np.asarray(self.slope * (parts @ self.weights))

    def standard_errors(self, variances: pd.Series) -> pd.Series:
        """Return standard errors by the ridge's predictive variances.

        A system that is unlike the others is predicted less surely than usual.
        """
        return self.error * np.sqrt(variances / self.usual_variance)


def _weights(parts: Floats, target: Floats, reliability: float) -> Floats:
    """Return the weight of both parts in the blend, shape (2,).

    Each part is divided by the root mean square of its left-out predictions; scores count twice,
    and the ridge by the reliability of the ratings that it learned from
    (docs/reference/surrogate.md, section 3).

    Args:
        parts: Left-out predictions by scores and by the ridge, shape (N, 2).
        target: Ratings less the others' mean, shape (N,).
        reliability: Of the ratings, from 0 to 1.
    """
    shares = np.array([2 / 3, 1 / 3 * reliability])
    units = np.sqrt(np.mean(parts**2, axis=0))
    # A part whose left-out predictions hardly vary says next to nothing, and must not be blown up
    # to the size of the other part: its unit is at least 2% of the spread of ratings.
    smallest = max(0.02 * float(np.sqrt(np.mean(target**2))), SMALLEST)
    is_informative = units > SMALLEST
    shares = np.where(is_informative, shares, 0.0)
    if not shares.any():
        # Nothing but a ridge that learned from noise: its order is the best that there is.
        shares = is_informative.astype(np.float64)
    total = max(float(shares.sum()), SMALLEST)
    return np.asarray(shares / total / np.maximum(units, smallest))


def _calibration_slope(predictions: Floats, target: Floats, reliability: float) -> float:
    """Return the logits that a unit of the blend is worth: correlation times ratio of spreads.

    It is shrunk by the reliability of the ratings: of few verdicts, their spread is mostly noise.

    Args:
        predictions: Left-out predictions by the blend, shape (N,).
        target: Ratings less the others' mean, shape (N,).
        reliability: Of the ratings, from 0 to 1.
    """
    # A floor of both, so that the order of predictions survives where left-out systems show no
    # correlation, and where ratings are noise.
    smallest = 0.1
    # The belief that ratings spread by one logit counts for this number of systems.
    prior_systems = 1
    n_systems = len(target)
    target_square = float(target @ target)
    prediction_square = max(float(predictions @ predictions), SMALLEST)
    norms = np.sqrt(prediction_square * max(target_square, SMALLEST))
    correlation = max(float(predictions @ target) / norms, smallest)
    # The two spreads are averaged geometrically. An arithmetic mean would let one logit swamp the
    # ratings of an arena whose systems are close, and place most new systems above all judged ones.
    exponent = n_systems / (n_systems + prior_systems)
    variance = max(target_square / n_systems, SMALLEST) ** exponent
    spread = np.sqrt(variance / (prediction_square / n_systems))
    return float(max(reliability, smallest) * correlation * spread)
