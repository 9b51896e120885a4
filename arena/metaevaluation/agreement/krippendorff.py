"""Krippendorff's alpha: disagreement seen against disagreement by chance.

Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from arena.errors import UsageError
from arena.metaevaluation.agreement.coefficients import (
    DEFAULT_RESAMPLING,
    Coefficient,
    ItemSums,
    Resampling,
    estimate,
    quotient,
)
from arena.metaevaluation.agreement.ratings import FloatArray, Ratings

Level = Literal["nominal", "ordinal", "interval"]
LEVELS: tuple[Level, ...] = get_args(Level)


def krippendorff_alpha(
    ratings: Ratings, level: Level = "nominal", resampling: Resampling = DEFAULT_RESAMPLING
) -> Coefficient:
    """Return Krippendorff's alpha: ``1 - D_o / D_e``.

    Items with fewer than two ratings do not count. ``interval`` takes categories that are numbers
    as such, and numbers texts 1, 2, 3, … in their order. NaN where the items with pairs hold one
    category only: ``D_e`` is 0 (the package krippendorff refuses such data, irrCAC gives NaN).

    Raises:
        UsageError: For an unknown level.
    """
    if level not in LEVELS:
        raise UsageError(f"unknown level {level!r}; use one of {', '.join(LEVELS)}")
    size = len(ratings.categories)
    values = ratings.values

    def alpha(sums: FloatArray) -> FloatArray:
        seen = sums.reshape(-1, size, size)
        totals = seen.sum(axis=2)
        distances = _distances(totals, values, level)
        observed = (seen * distances).sum(axis=(1, 2))
        # The diagonal of the chance table does not matter: a category is at no distance of itself.
        by_chance = totals[:, :, None] * totals[:, None, :]
        expected = (by_chance * distances).sum(axis=(1, 2))
        return 1 - quotient((totals.sum(axis=1) - 1) * observed, expected)

    return estimate(
        f"Krippendorff's alpha ({level})",
        ratings,
        ItemSums(_coincidences(ratings), alpha),
        resampling,
    )


def _coincidences(ratings: Ratings) -> FloatArray:
    """Return the pairs of categories in each item, shape (items, categories squared)."""
    counts = ratings.counts.astype(np.float64)
    pairs = counts[:, :, None] * counts[:, None, :]
    places = np.arange(counts.shape[1])
    pairs[:, places, places] -= counts
    others = np.maximum(ratings.given - 1, 1).astype(np.float64)
    shares: FloatArray = pairs / others[:, None, None]
    return shares.reshape(len(counts), len(places) ** 2)


def _distances(totals: FloatArray, values: FloatArray, level: Level) -> FloatArray:
    """Return squared distances of categories, shape (replicates or 1, categories, categories)."""
    if level == "nominal":
        return 1 - np.eye(len(values))[None]
    # Ordinal: a category lies in the middle of its ratings, all ratings put in order.
    places = values[None] if level == "interval" else totals.cumsum(axis=1) - totals / 2
    return np.asarray((places[:, :, None] - places[:, None, :]) ** 2, dtype=np.float64)
