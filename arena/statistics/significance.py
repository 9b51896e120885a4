"""Tests and intervals: Holm's correction, Wilson's interval, a slope clustered by question."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import expit

Floats = npt.NDArray[np.float64]

NORMAL_QUANTILE = 1.959963984540054
"""The 97.5% quantile of the normal distribution, for intervals of 95%."""
NORMAL_90 = 1.6448536269514722
"""The 95% quantile, for intervals of 90%."""


def holm_adjusted(p_values: npt.ArrayLike) -> Floats:
    """Adjust p-values for testing several at once (Holm, 1979); NaN stays, and does not count."""
    given = np.asarray(p_values, dtype=np.float64)
    tested = np.flatnonzero(np.isfinite(given))
    order = tested[np.argsort(given[tested], kind="stable")]
    stepped = given[order] * np.arange(len(order), 0, -1)
    adjusted = np.full(len(given), np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return adjusted


def wilson_interval(successes: npt.ArrayLike, trials: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return the 95% score interval of proportions (Wilson, 1927).

    Args:
        successes: Counts, shape (N,).
        trials: Counts, shape (N,).

    Returns:
        Lower and upper bounds, each of shape (N,); NaN without a trial.
    """
    number = np.asarray(trials, dtype=np.float64)
    number = np.where(number > 0, number, np.nan)
    observed = np.asarray(successes, dtype=np.float64) / number
    spread = NORMAL_QUANTILE**2 / number
    center = (observed + spread / 2) / (1 + spread)
    half = np.sqrt(observed * (1 - observed) * spread + spread**2 / 4) / (1 + spread)
    return np.clip(center - half, 0.0, 1.0), np.clip(center + half, 0.0, 1.0)


def clustered_slope(signed: Floats, clusters: npt.ArrayLike) -> tuple[float, float]:
    """Fit the odds of winning against a quantity in which two sides differ.

    The model is ``P(win) = 1 / (1 + exp(-slope * x))``, x divided by its root mean square. There
    is no intercept: swapping the sides swaps both x and the win.

    Args:
        signed: x from the winner's side, shape (N,): positive where the side with more won.
        clusters: Cluster of each row, such as its question, shape (N,).

    Returns:
        The slope, in logits a root mean square of x, and its standard error (sandwich
        estimator, with the factor G / (G - 1) for G clusters); NaN where there is no finite
        slope, the error also with a single cluster.
    """
    if not ((signed > 0).any() and (signed < 0).any()):
        return float("nan"), float("nan")
    scaled = signed / np.sqrt(np.mean(np.square(signed)))
    slope = _maximum(scaled)
    return slope, _error(scaled, slope, clusters)


def _maximum(scaled: Floats) -> float:
    """Find where the score, which falls with the slope, crosses 0."""
    bound = 1.0
    while _scores(scaled, bound).sum() > 0 or _scores(scaled, -bound).sum() < 0:
        bound *= 2
    return float(brentq(lambda slope: _scores(scaled, slope).sum(), -bound, bound, xtol=1e-12))


def _scores(scaled: Floats, slope: float) -> Floats:
    return np.asarray(scaled * expit(-slope * scaled))


def _error(scaled: Floats, slope: float, clusters: npt.ArrayLike) -> float:
    _, cluster = np.unique(np.asarray(clusters, dtype=object), return_inverse=True)
    number = int(cluster.max()) + 1
    lost = expit(-slope * scaled)
    information = float(np.sum(np.square(scaled) * lost * (1 - lost)))
    if number < 2 or information == 0:
        return float("nan")
    scores = np.bincount(cluster, scaled * lost, number)
    meat = np.sum(np.square(scores)) * number / (number - 1)
    return float(np.sqrt(meat) / information)
