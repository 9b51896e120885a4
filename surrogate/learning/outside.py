"""Systems unlike those a surrogate was trained on, where its predictions are extrapolations.

A system is the means of its features over its answers, those that the surrogate uses. They are
standardized by the training systems; a feature that is the same for all of these has no scale, and
the surrogate cannot look at it either, so it is left out. The distance of two systems is the root
mean square of their differences over the features both have.
"""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt
import pandas as pd

from surrogate.learning.surrogate import Surrogate
from surrogate.learning.training import feature_tensor

Floats = npt.NDArray[np.float64]
Outside = dict[tuple[str, str], tuple[str, ...]]

SHOWN_FEATURES = 5
MARGIN = 1.5
"""How many times as far from the training systems as the loneliest of them a new one may be."""
SMALLEST_SPREAD = 1e-9
"""Spread of a feature, as a share of its size, below which it is the same for all systems."""


def systems_outside(surrogate: Surrogate, X: pd.DataFrame, known: pd.DataFrame) -> Outside:
    """Find new systems unlike those trained on, on the questions that each answered.

    Takes the feature tables of the new systems and of the training systems, and returns language
    and system to the features in which it sticks out; see ``outside``.
    """
    found = {}
    for language in surrogate.systems_:
        if language in surrogate.failures_:
            continue
        left_out = surrogate.left_out_[language]
        used = [name for name in surrogate.features_ if name not in left_out]
        new = feature_tensor(X, language, used)
        trained = feature_tensor(known, language, used, surrogate.systems_[language])
        for place, system in enumerate(new.systems):
            answered = set(np.array(new.questions)[new.answered[place]])
            same = trained.on([name for name in trained.questions if name in answered])
            features = outside(new.means()[0, place], same.means()[0])
            if features is not None:
                found[language, system] = tuple(used[index] for index in features)
    return found


def outside(means: Floats, training: Floats) -> list[int] | None:
    """Tell whether a system is unlike the N training systems.

    It is if it is more than ``MARGIN`` times as far from the nearest training system as any of
    these is from the nearest of the others (each standardized without itself), or if it has no
    value of a feature that all of them have. A surrogate of trees cannot rate it better than its
    best, nor worse than its worst, training system.

    Args:
        means: Feature means of the system, shape (F,).
        training: Those of the training systems, shape (N, F).

    Returns:
        None if it lies within, or has no value at all. Else the features that stick out of the
        training systems' range, those that do most first; none if only their combination is new.
    """
    if not np.isfinite(means).any():
        return None
    lost = np.isfinite(training).all(axis=0) & ~np.isfinite(means)
    apart = [_nearest(one, np.delete(training, row, axis=0)) for row, one in enumerate(training)]
    reach = MARGIN * max((item for item in apart if np.isfinite(item)), default=np.inf)
    if not (_nearest(means, training) > reach or lost.any()):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of features without a value
        top, bottom = np.nanmax(training, axis=0), np.nanmin(training, axis=0)
    beyond = np.maximum(means - top, bottom - means).clip(0.0) / _scale(training)
    beyond = np.where(lost, np.inf, np.nan_to_num(beyond))
    order = np.argsort(-beyond, kind="stable")
    return [int(index) for index in order if beyond[index] > 0][:SHOWN_FEATURES]


def _nearest(one: Floats, training: Floats) -> float:
    """Distance from the nearest training system; NaN without a shared feature."""
    squares = np.square((training - one) / _scale(training))
    shared = np.isfinite(squares).sum(axis=1)
    totals = np.nansum(squares, axis=1)[shared > 0] / shared[shared > 0]
    return float(np.sqrt(totals.min())) if totals.size else float("nan")


def _scale(training: Floats) -> Floats:
    """Standard deviation of each feature over systems, shape (F,); NaN where it does not vary."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of features without a value
        center, scale = np.nanmean(training, axis=0), np.nanstd(training, axis=0)
    varies = scale > SMALLEST_SPREAD * np.maximum(np.abs(center), SMALLEST_SPREAD)
    return np.where(varies, scale, np.nan)
