"""The bootstrap over units of sampling, and percentile intervals of what it gives."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from arena.data.seeds import places_by_value

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

INTERVAL = (2.5, 97.5)
WEIGHTS_AT_ONCE = 4_000_000
QUANTILES: Floats = ndtri((np.arange(4096) + 0.5) / 4096)
"""Of the normal distribution, equally likely: much faster than drawing from it."""
LOWEST_ROOT = 0.05
"""Cube root of the lowest of as many quantiles of the exponential distribution."""
DRAWS_AT_ONCE = 65_536
"""So few stay in the cache."""


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


def exponential_sums(numbers: npt.ArrayLike, rounds: int, random: np.random.Generator) -> Floats:
    """Draw sums of exponential weights of units (the Bayesian bootstrap, Rubin, 1981).

    The sum of n weights has a gamma distribution, drawn as the cube of a normal variable (Wilson
    and Hilferty, 1931): its mean and variance are n to a percent for n = 1, and closer for more.

    Args:
        numbers: Number of units in each sum, shape (N,).
        rounds: Number of resamples.
        random: Generator of the draws.

    Returns:
        Shape (N, rounds); above 0 wherever there are units.
    """
    units = np.asarray(numbers, dtype=np.float64)[:, None]
    least = np.maximum(units, 1.0)
    spread = np.cbrt(units) / (3 * np.sqrt(least))
    center = np.cbrt(units) * (1 - 1 / (9 * least))
    lowest = LOWEST_ROOT * (units > 0)
    sums = np.empty((len(units), rounds))
    step = max(1, DRAWS_AT_ONCE // max(rounds, 1))
    for piece in (slice(start, start + step) for start in range(0, len(units), step)):
        shape = sums[piece].shape
        roots = QUANTILES.take(random.integers(len(QUANTILES), size=shape, dtype=np.uint16))
        roots *= spread[piece]
        roots += center[piece]
        np.maximum(roots, lowest[piece], out=roots)
        np.multiply(roots * roots, roots, out=sums[piece])
    return sums


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
