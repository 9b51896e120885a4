"""Random draws, seeded by content so that an item never reshuffles others; the bootstrap."""

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
    """Derive a machine-independent seed from stage and item."""
    digest = hashlib.sha256("\x1f".join(keys).encode()).digest()
    words = np.frombuffer(digest, dtype="<u4")
    return np.random.SeedSequence([seed, *(int(word) for word in words)])


def generator(seed: int, *keys: str) -> np.random.Generator:
    """Return a random generator for one stage and item."""
    return np.random.default_rng(seed_sequence(seed, *keys))


def by_content(systems: Iterable[str], *tables: pd.DataFrame) -> list[str]:
    """Order systems by digests of answers, not by names."""
    names = sorted(set(systems))
    digests = dict.fromkeys(names, 0)
    for answers in tables:
        if "answer" not in answers:
            continue
        # System by system, since hashing copies the texts.
        for name, part in answers.groupby("system", observed=True):
            if name in digests:
                rows = part[[*QUESTION_KEY, "answer"]]
                # Hardly a text repeats, so that no search for equal ones pays.
                hashes = pd.util.hash_pandas_object(rows, index=False, categorize=False)
                # A sum of hashes, modulo 2^64, does not depend on the order of rows.
                digests[name] = (digests[name] + int(hashes.sum())) % 2**64
    return sorted(names, key=lambda name: digests[name])


def places_by_value(*values: npt.ArrayLike) -> Indices:
    """Return systems' places by their ratings, (S,); NaN last.

    ``draws[:, places_by_value(ratings)]`` gives a system the same draws whatever its name.
    """
    # lexsort takes its last key first.
    rounded = [np.asarray(value).round(SAME_DECIMALS) for value in values[::-1]]
    # argsort of a permutation is its inverse: from the order to each system's place in it.
    return np.argsort(np.lexsort(rounded))


INTERVAL = (2.5, 97.5)


def bootstrap_weights(
    size: int, rounds: int, random: np.random.Generator, drawn: int | None = None
) -> Integers:
    """Draw ``drawn`` units with replacement; count each, (rounds, size)."""
    even = np.full(size, 1.0 / size)
    return random.multinomial(size if drawn is None else drawn, even, size=rounds)


def resampled_sums(parts: npt.ArrayLike, rounds: int, random: np.random.Generator) -> Floats:
    """Sum units' contributions, (N, K), over resamples, (rounds, K); equal ones as one."""
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
    """Draw S normal ratings, the same in any order, (rounds, S).

    The symmetric root of the covariance permutes with the systems; a Cholesky factor does not.
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
    """Return two percentiles of finite values, (B,), or NaN."""
    low, high = percentile_intervals(np.asarray(values, dtype=np.float64)[:, None], percentiles)
    return float(low[0]), float(high[0])


def percentile_intervals(
    values: Floats, percentiles: tuple[float, float] = INTERVAL
) -> tuple[Floats, Floats]:
    """Return two percentiles of every column's finite values, (N,) each."""
    is_finite = np.isfinite(values)
    if len(values) and is_finite.all():
        low, high = np.percentile(values, percentiles, axis=0)
        return low, high
    bounds = np.full((2, values.shape[1]), np.nan)
    for column in np.flatnonzero(is_finite.any(axis=0)):
        replicates = values[is_finite[:, column], column]
        bounds[:, column] = np.percentile(replicates, percentiles)
    return bounds[0], bounds[1]
