"""Prediction-powered estimates of a mean, with the weight of the predictions tuned (PPI++).

n outcomes are known, and predictions of all n + N. The mean of the outcomes is corrected by how
far the predictions of the n are from those of the N:

    mean(Y) + lambda (mean(f of the N) - mean(f of the n))

which is unbiased for every lambda, however bad the predictions are, if the n are a random sample
(Angelopoulos, Bates, Fannjiang, Jordan and Zrnic, 2023, "Prediction-powered inference"). The
variance is lowest at lambda = cov(Y, f) / ((1 + n/N) var(f)); with it the interval is, for many
outcomes, never wider than without predictions (Angelopoulos, Duchi and Zrnic, 2023, "PPI++").

Here lambda is found for each outcome from the others, so that the estimate stays unbiased for few.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import t as student

from arena.errors import UsageError

Floats = npt.NDArray[np.float64]

LEVEL = 0.95
FEWEST_OUTCOMES = 5
SMALLEST_VARIANCE = 1e-12


@dataclass(frozen=True)
class MeanEstimate:
    """An estimate of a mean with its interval.

    Attributes:
        value: The estimate.
        standard_error: Its standard error.
        low: Lower bound of the interval.
        high: Upper bound.
    """

    value: float
    standard_error: float
    low: float
    high: float


@dataclass(frozen=True)
class PoweredMean:
    """A mean estimated with and without predictions.

    Attributes:
        powered: With the predictions.
        classical: From the outcomes alone.
        weight: Mean weight of the predictions (lambda), from 0 (of no use) to 1.
        outcomes: Number of outcomes n.
        unjudged: Number of predictions without outcome N.
    """

    powered: MeanEstimate
    classical: MeanEstimate
    weight: float
    outcomes: int
    unjudged: int

    @property
    def width_ratio(self) -> float:
        """Width of the interval with predictions by that without; NaN where that has none."""
        wide = self.classical.standard_error
        return self.powered.standard_error / wide if wide > 0 else float("nan")


def prediction_powered_mean(
    outcomes: npt.ArrayLike,
    predictions: npt.ArrayLike,
    unjudged: npt.ArrayLike,
    level: float = LEVEL,
) -> PoweredMean:
    """Estimate a mean from few outcomes and many predictions.

    Args:
        outcomes: Shape (n,), of items drawn at random from all.
        predictions: Predictions of the same items, shape (n,); must not have learned from the
            outcomes.
        unjudged: Predictions of the other items, shape (N,).
        level: Coverage of the interval (Student's t with n - 1 degrees of freedom).

    Raises:
        UsageError: With fewer than five outcomes, no other item, values that are not finite, or
            a level out of range.
    """
    known, guessed, others = (
        np.asarray(part, dtype=np.float64) for part in (outcomes, predictions, unjudged)
    )
    _check(known, guessed, others, level)
    size = len(known)
    weights = _tuned_weights(known, guessed, size / len(others))
    weight = float(weights.mean())
    corrected = known - weights * guessed
    spread = np.concatenate([guessed, others]).var(ddof=1)
    variance = corrected.var(ddof=1) / size + weight**2 * spread / len(others)
    value = float(corrected.mean() + weight * others.mean())
    return PoweredMean(
        _interval(value, float(np.sqrt(variance)), size, level),
        _interval(float(known.mean()), float(known.std(ddof=1) / np.sqrt(size)), size, level),
        weight,
        size,
        len(others),
    )


def _check(known: Floats, guessed: Floats, others: Floats, level: float) -> None:
    if known.ndim != 1 or known.shape != guessed.shape or others.ndim != 1:
        raise UsageError("outcomes and their predictions must be two lists of the same length")
    if len(known) < FEWEST_OUTCOMES or not len(others):
        raise UsageError(
            f"{len(known)} outcomes and {len(others)} further predictions are too few; at least "
            f"{FEWEST_OUTCOMES} and 1 are needed"
        )
    if not all(np.isfinite(part).all() for part in (known, guessed, others)):
        raise UsageError("outcomes and predictions must be numbers; leave missing ones out")
    if not 0 < level < 1:
        raise UsageError(f"level = {level:g} is out of range; use above 0 and below 1")


def _tuned_weights(known: Floats, guessed: Floats, ratio: float) -> Floats:
    """Return the weight for each outcome that the other outcomes ask for, shape (n,)."""
    left = len(known) - 1
    own_known, own_guessed = known - known.mean(), guessed - guessed.mean()
    # Sums of squares and products around the mean, each item left out in turn.
    factor = 1 + 1 / left
    products = own_known @ own_guessed - factor * own_known * own_guessed
    squares = own_guessed @ own_guessed - factor * own_guessed**2
    slopes = np.divide(
        products, squares, out=np.zeros_like(products), where=squares > SMALLEST_VARIANCE
    )
    return np.asarray(np.clip(slopes / (1 + ratio), 0.0, 1.0))


def _interval(value: float, standard_error: float, size: int, level: float) -> MeanEstimate:
    reach = float(student.ppf((1 + level) / 2, size - 1)) * standard_error
    return MeanEstimate(value, standard_error, value - reach, value + reach)
