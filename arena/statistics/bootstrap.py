"""The bootstrap over units of sampling, and percentile intervals of what it gives."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from arena.data.seeds import places_by_value
from arena.data.types import Floats, Integers

INTERVAL = (2.5, 97.5)
WEIGHTS_AT_ONCE = 4_000_000


def bootstrap_weights(
    size: int, rounds: int, random: np.random.Generator, drawn: int | None = None
) -> Integers:
    """Draw units with replacement: how often each one stands in each resample.

    A statistic that is a sum over units is then a matrix product with the weights.

    Args:
        size: Number of units (questions, items, systems).
        rounds: Number of resamples.
        random: Generator of the draws.
        drawn: Units in a resample; by default as many as there are.

    Returns:
        Shape (rounds, size).
    """
    even = np.full(size, 1.0 / size)
    return random.multinomial(size if drawn is None else drawn, even, size=rounds)


def resampled_sums(parts: npt.ArrayLike, rounds: int, random: np.random.Generator) -> Floats:
    """Sum what units add up to over resamples of them, in blocks that bound memory.

    Args:
        parts: What each unit adds, shape (N, K).
        rounds: Number of resamples.
        random: Generator of the draws.

    Returns:
        Shape (rounds, K).
    """
    added = np.asarray(parts, dtype=np.float64)
    block = max(1, WEIGHTS_AT_ONCE // max(len(added), 1))
    sums = [
        bootstrap_weights(len(added), min(block, rounds - start), random) @ added
        for start in range(0, rounds, block)
    ]
    return np.concatenate([np.empty((0, added.shape[1])), *sums])


def normal_draws(
    means: npt.ArrayLike, covariance: npt.ArrayLike, rounds: int, random: np.random.Generator
) -> Floats:
    """Draw from a normal distribution of S ratings, the same whatever their order.

    By the symmetric root of the covariance, which permutes as it does, where eigenvectors have a
    sign of their own.

    Args:
        means: Shape (S,).
        covariance: Shape (S, S); may be singular.
        rounds: Number of draws.
        random: Generator of the draws.

    Returns:
        Shape (rounds, S).
    """
    centers, spread = np.asarray(means, np.float64), np.asarray(covariance, np.float64)
    values, vectors = np.linalg.eigh(spread)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    places = places_by_value(centers, np.diag(spread))
    return np.asarray(centers + random.normal(size=(rounds, len(centers)))[:, places] @ root)


def percentile_interval(
    values: npt.ArrayLike, percentiles: tuple[float, float] = INTERVAL
) -> tuple[float, float]:
    """Return two percentiles of the finite values, shape (B,); NaN without any."""
    low, high = percentile_intervals(np.asarray(values, dtype=np.float64)[:, None], percentiles)
    return float(low[0]), float(high[0])


def percentile_intervals(
    values: Floats, percentiles: tuple[float, float] = INTERVAL
) -> tuple[Floats, Floats]:
    """Return two percentiles of the finite values of every column.

    Args:
        values: Replicates of N statistics, shape (B, N).
        percentiles: Of the lower and of the upper bound.

    Returns:
        Two arrays of shape (N,); NaN for a column without a finite value.
    """
    finite = np.isfinite(values)
    if len(values) and finite.all():
        low, high = np.percentile(values, percentiles, axis=0)
        return low, high
    bounds = np.full((2, values.shape[1]), np.nan)
    for column in np.flatnonzero(finite.any(axis=0)):
        bounds[:, column] = np.percentile(values[finite[:, column], column], percentiles)
    return bounds[0], bounds[1]
