"""A logistic slope through the origin, with a standard error clustered by question."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import expit

Floats = npt.NDArray[np.float64]


def clustered_slope(signed: Floats, clusters: npt.ArrayLike) -> tuple[float, float]:
    """Fit the odds of winning against a quantity in which two sides differ.

    The model is ``P(win) = 1 / (1 + exp(-slope * x))``, x divided by its root mean square. There
    is no intercept: swapping the sides swaps both x and the win.

    Args:
        signed: x from the winner's side, shape (N,): positive where the side with more won.
        clusters: Cluster of each row, such as its question, shape (N,).

    Returns:
        The slope, in log-odds a root mean square of x, and its standard error (sandwich
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
