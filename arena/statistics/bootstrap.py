"""The bootstrap over units of sampling, and percentile intervals of its replicates."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from arena.data.seeds import places_by_value
from arena.data.types import Floats, Integers

INTERVAL = (2.5, 97.5)


def bootstrap_weights(
    size: int, rounds: int, random: np.random.Generator, drawn: int | None = None
) -> Integers:
    """Draw units with replacement, and count each unit in each resample.

    A statistic that is a sum over units is then a matrix product with the weights.

    Args:
        size: Number of units (questions, items, systems).
        rounds: Number of resamples.
        random: Generator of the draws.
        drawn: Number of units in a resample; by default ``size``.

    Returns:
        Shape (rounds, size).
    """
    even = np.full(size, 1.0 / size)
    return random.multinomial(size if drawn is None else drawn, even, size=rounds)


def resampled_sums(parts: npt.ArrayLike, rounds: int, random: np.random.Generator) -> Floats:
    """Sum the contributions of units over resamples of them, in blocks that bound memory.

    Units with the same contributions are drawn as one, as often as all of them: sums of the same
    distribution, in a time that does not grow with the number of such units. Pairs of verdicts
    have few different contributions.

    Args:
        parts: Contributions of each unit, shape (N, K).
        rounds: Number of resamples.
        random: Generator of the draws.

    Returns:
        Shape (rounds, K).
    """
    weights_at_once = 4_000_000
    contributions = np.asarray(parts, dtype=np.float64)
    size = len(contributions)
    distinct, counts = np.unique(contributions, axis=0, return_counts=True)
    sums = np.empty((rounds, contributions.shape[1]))
    block = max(1, weights_at_once // max(len(distinct), 1))
    for start in range(0, rounds, block):
        end = min(start + block, rounds)
        draws = random.multinomial(size, counts / size, size=end - start)
        sums[start:end] = draws @ distinct
    return sums


def normal_draws(
    means: npt.ArrayLike, covariance: npt.ArrayLike, rounds: int, random: np.random.Generator
) -> Floats:
    """Draw from a normal distribution of S ratings, the same whatever their order.

    The symmetric root of the covariance permutes with the systems, which a Cholesky factor and
    eigenvectors (whose sign is arbitrary) do not.

    Args:
        means: Shape (S,).
        covariance: Shape (S, S); may be singular.
        rounds: Number of draws.
        random: Generator of the draws.

    Returns:
        Shape (rounds, S).
    """
    mean = np.asarray(means, np.float64)
    matrix = np.asarray(covariance, np.float64)
    eigenvalues, vectors = np.linalg.eigh(matrix)
    root = (vectors * np.sqrt(np.maximum(eigenvalues, 0.0))) @ vectors.T
    places = places_by_value(mean, np.diag(matrix))
    normals = random.normal(size=(rounds, len(mean)))[:, places]
    return np.asarray(mean + normals @ root)


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
        percentiles: Percentiles of the lower and the upper bound.

    Returns:
        Two arrays of shape (N,); NaN for a column without a finite value.
    """
    is_finite = np.isfinite(values)
    if len(values) and is_finite.all():
        low, high = np.percentile(values, percentiles, axis=0)
        return low, high
    bounds = np.full((2, values.shape[1]), np.nan)
    for column in np.flatnonzero(is_finite.any(axis=0)):
        replicates = values[is_finite[:, column], column]
        bounds[:, column] = np.percentile(replicates, percentiles)
    return bounds[0], bounds[1]
