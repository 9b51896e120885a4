"""Where systems lie in a surrogate's feature space: neighbors, and systems unlike those trained on.

A system is the means of its features over its answers, those that the surrogate uses. They are
standardized by the training systems; a feature that is the same for all of these has no scale, and
the surrogate cannot look at it either, so it is left out. The distance of two systems is the root
mean square of their differences over the features both have.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from surrogate.learning.training import FeatureTensor

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

    def neighbors(self, means: Floats, left_out: str = "") -> list[dict[str, object]]:
        """Return the nearest systems, nearest first.

        Args:
            means: Feature means of a system, shape (F,).
            left_out: A system that is not to be named: itself.

        Returns:
            Up to ``NEIGHBORS`` entries ``neighbor, distance``; none without a shared feature.
        """
        distances = np.round(_distances(means, self.means, self.means[self.trained]), DECIMALS)
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
        training = self.means[self.trained]
        lost = np.isfinite(training).all(axis=0) & ~np.isfinite(means)
        apart = [
            _nearest(one, np.delete(training, row, axis=0)) for row, one in enumerate(training)
        ]
        reach = MARGIN * max((item for item in apart if np.isfinite(item)), default=np.inf)
        if not (_nearest(means, training) > reach or lost.any()):
            return None
        scale = _scale(training)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of features without a value
            top, bottom = np.nanmax(training, axis=0), np.nanmin(training, axis=0)
        beyond = np.nan_to_num(np.maximum(means - top, bottom - means).clip(0.0) / scale)
        order = np.argsort(-np.where(lost, np.inf, beyond), kind="stable")
        shown = [index for index in order if lost[index] or beyond[index] > 0]
        return tuple(self.features[index] for index in shown[:SHOWN_FEATURES])


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
        for system, place in sorted((name, place) for place, name in enumerate(space.systems))
        for near in space.neighbors(space.means[place], system)
    ]
    return pd.DataFrame(rows, columns=NEIGHBOR_COLUMNS)


def _distances(one: Floats, others: Floats, training: Floats) -> Floats:
    """Root mean square of standardized differences, shape (N,); NaN without a shared feature."""
    squares = np.square((others - one) / _scale(training))
    shared = np.isfinite(squares)
    totals, held = np.where(shared, squares, 0.0).sum(axis=1), shared.sum(axis=1)
    missing = np.full(len(others), np.nan)
    return np.asarray(np.sqrt(np.divide(totals, held, out=missing, where=held > 0)))


def _nearest(one: Floats, training: Floats) -> float:
    distances = _distances(one, training, training)
    found = distances[np.isfinite(distances)]
    return float(found.min()) if found.size else float("nan")


def _scale(training: Floats) -> Floats:
    """Standard deviation of each feature over systems, shape (F,); NaN where it does not vary."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of features without a value
        center, scale = np.nanmean(training, axis=0), np.nanstd(training, axis=0)
    varies = scale > SMALLEST_SPREAD * np.maximum(np.abs(center), SMALLEST_SPREAD)
    return np.where(varies, scale, np.nan)
