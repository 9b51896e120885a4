"""Random draws: generators seeded by content, and the bootstrap over units of sampling.

Adding an item never reshuffles the others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.schema import QUESTION_KEY
from arena.data.types import Floats, Indices, Integers

SAME_DECIMALS = 8
"""Decimals to which values are equal: sums in another order differ only beyond them."""


def seed_sequence(seed: int, *keys: str) -> np.random.SeedSequence:
    """Derive a seed sequence from the user's seed and what it is for, the same on any machine.

    Args:
        seed: The user's seed, at least 0.
        keys: Stage and item, such as ``("tournaments", "fi")``.
    """
    digest = hashlib.sha256("\x1f".join(keys).encode()).digest()
    words = np.frombuffer(digest, dtype="<u4")
    return np.random.SeedSequence([seed, *(int(word) for word in words)])


def generator(seed: int, *keys: str) -> np.random.Generator:
    """Return a random generator for one stage and item; see ``seed_sequence``."""
    return np.random.default_rng(seed_sequence(seed, *keys))


def by_content(systems: Iterable[str], answers: pd.DataFrame) -> list[str]:
    """Order systems by their answers, so that draws among them do not depend on their names.

    Args:
        systems: Systems to order, by digests of their answers; those with equal ones, by name.
        answers: Columns ``language, query_id, system``, and ``answer`` if there are any.
    """
    names = sorted(set(systems))
    if "answer" not in answers:
        return names
    answers = answers[answers["system"].isin(names)]
    row_hashes = pd.util.hash_pandas_object(answers[[*QUESTION_KEY, "answer"]], index=False)
    # A sum of hashes does not depend on the order of rows; it wraps around at 64 bits.
    digests = row_hashes.groupby(answers["system"].to_numpy()).sum()
    return sorted(names, key=lambda name: int(digests.get(name, 0)))


def places_by_value(*values: npt.ArrayLike) -> Indices:
    """Return each system's place in the order of its ratings, shape (S,).

    ``draws[:, places_by_value(ratings)]`` gives every system the same draws whatever it is called.

    Args:
        values: Ratings of S systems, sorted by the first, then by those that follow; NaN last.
    """
    # lexsort takes its last key first.
    rounded = [np.asarray(value).round(SAME_DECIMALS) for value in values[::-1]]
    # argsort of a permutation is its inverse: from the order to each system's place in it.
    return np.argsort(np.lexsort(rounded))


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
    """Sum the contributions of units, shape (N, K), over resamples of them.

    Units with the same contributions are drawn as one, as often as all of them: sums of the same
    distribution, in a time that does not grow with the number of such units. Pairs of verdicts
    have few different contributions.

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
