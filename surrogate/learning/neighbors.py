"""Where systems lie in a surrogate's feature space: neighbors, and systems unlike those trained on.

A system is the means of its features over its answers, those that the surrogate uses. They are
standardized by the training systems; a feature that is the same for all of these has no scale, and
the surrogate cannot look at it either, so it is left out. The distance of two systems is the root
mean square of their differences over the features both have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from surrogate.learning.tensor import FeatureTensor

Floats = npt.NDArray[np.float64]

NEIGHBORS = 3
NEIGHBOR_COLUMNS = ["language", "system", "neighbor", "distance"]
DECIMALS = 6
SHOWN_FEATURES = 5
MARGIN = 1.5
"""How many times as far from the training systems as the loneliest of them a new one may be."""
SMALLEST_SPREAD = 1e-9
"""Spread of a feature, as a share of its size, below which it is the same for all systems."""


@dataclass(frozen=True)
class SystemSpace:
    """The systems of one language in a surrogate's feature space.

    Attributes:
        features: The F features.
        systems: The S systems.
        means: Mean of each feature over a system's answers, shape (S, F); NaN without a value.
        trained: Which systems the surrogate was trained on, shape (S,).
    """

    features: tuple[str, ...]
    systems: tuple[str, ...]
    means: Floats
    trained: npt.NDArray[np.bool_]

    @property
    def training(self) -> Floats:
        """Feature means of the training systems, shape (N, F)."""
        return np.asarray(self.means[self.trained])

    def distances(self, means: Floats) -> Floats:
        """Return the distance of a system to each system here, shape (S,).

        Args:
            means: Its feature means, shape (F,).
        """
        return _distances(means, self.means, self.training)

    def neighbors(self, means: Floats, left_out: str = "") -> list[dict[str, object]]:
        """Return the nearest systems, nearest first.

        Args:
            means: Feature means of a system, shape (F,).
            left_out: A system that is not to be named: itself.

        Returns:
            Up to ``NEIGHBORS`` entries ``neighbor, distance``; none without a shared feature.
        """
        distances = np.round(self.distances(means), DECIMALS)
        ordered = sorted(
            (float(distance), system)
            for system, distance in zip(self.systems, distances, strict=True)
            if system != left_out and np.isfinite(distance)
        )
        return [
            {"neighbor": system, "distance": distance} for distance, system in ordered[:NEIGHBORS]
        ]

    def outside(self, means: Floats) -> tuple[str, ...] | None:
        """Tell whether a system is unlike the systems the surrogate was trained on.

        It does if it is more than ``MARGIN`` times as far from the nearest training system as
        any of these is from the nearest of the others (each standardized without itself), or if
        it has no value of a feature that all of them have. A surrogate of trees cannot rate it
        better than its best, nor worse than its worst, training system.

        Args:
            means: Its feature means, shape (F,).

        Returns:
            None if it lies within. Else the features that stick out of the training systems'
            range, those that do most first; empty if only their combination is new.
        """
        training = self.training
        lost = np.isfinite(training).all(axis=0) & ~np.isfinite(means)
        nearest = _nearest(means, training)
        apart = [
            _nearest(one, np.delete(training, row, axis=0)) for row, one in enumerate(training)
        ]
        reach = MARGIN * max((item for item in apart if np.isfinite(item)), default=np.inf)
        if not (nearest > reach or lost.any()):
            return None
        beyond = np.where(lost, np.inf, _beyond_range(means, training))
        order = np.argsort(-beyond, kind="stable")
        return tuple(self.features[index] for index in order if beyond[index] > 0)[:SHOWN_FEATURES]


def system_space(
    tensor: FeatureTensor, features: Sequence[str], trained: Sequence[str]
) -> SystemSpace:
    """Place the systems of a language.

    Args:
        tensor: Features of all systems' answers.
        features: Features the surrogate uses.
        trained: Systems it was trained on.
    """
    own = tensor.take(features=features)
    is_trained = np.isin(own.systems, list(trained))
    return SystemSpace(own.features, own.systems, own.means()[0], is_trained)


def neighbors_table(space: SystemSpace, language: str) -> pd.DataFrame:
    """Name the nearest systems of every system.

    Returns:
        Columns ``language, system, neighbor, distance``, sorted by system, nearest first.
    """
    rows = [
        {"language": language, "system": system} | near
        for system, means in sorted(zip(space.systems, space.means, strict=True), key=_name)
        for near in space.neighbors(means, system)
    ]
    return pd.DataFrame(rows, columns=NEIGHBOR_COLUMNS)


def _name(item: tuple[str, Floats]) -> str:
    return item[0]


def _distances(one: Floats, others: Floats, training: Floats) -> Floats:
    """Root mean square of standardized differences, shape (N,); NaN without a shared feature."""
    scale = _scale(training)
    usable = np.isfinite(scale)
    here, there = one[usable], others[:, usable]
    squares = np.square((there - here) / scale[usable])
    shared = np.isfinite(squares)
    totals, held = np.where(shared, squares, 0.0).sum(axis=1), shared.sum(axis=1)
    missing = np.full(len(others), np.nan)
    return np.asarray(np.sqrt(np.divide(totals, held, out=missing, where=held > 0)))


def _nearest(one: Floats, training: Floats) -> float:
    distances = _distances(one, training, training)
    found = distances[np.isfinite(distances)]
    return float(found.min()) if found.size else float("nan")


def _beyond_range(means: Floats, training: Floats) -> Floats:
    """How many standard deviations a system is above the training systems or below them."""
    scale = _scale(training)
    usable = np.isfinite(scale) & np.isfinite(means)
    beyond = np.zeros(len(means))
    inside = training[:, usable]
    above = means[usable] - np.nanmax(inside, axis=0)
    below = np.nanmin(inside, axis=0) - means[usable]
    beyond[usable] = np.maximum(np.maximum(above, below), 0.0) / scale[usable]
    return beyond


def _scale(training: Floats) -> Floats:
    """Standard deviation of each feature over systems; NaN for one that does not vary."""
    held = np.isfinite(training)
    counts = held.sum(axis=0)
    missing = np.full(training.shape[1], np.nan)
    totals = np.where(held, training, 0.0).sum(axis=0)
    center = np.divide(totals, counts, out=missing.copy(), where=counts > 0)
    squares = np.square(np.where(held, training - center, 0.0)).sum(axis=0)
    scale = np.sqrt(np.divide(squares, counts, out=missing.copy(), where=counts > 0))
    varies = scale > SMALLEST_SPREAD * np.maximum(np.abs(center), SMALLEST_SPREAD)
    return np.where(varies, scale, np.nan)
