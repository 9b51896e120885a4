"""One scale for all languages, so that one surrogate can learn from all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from surrogate.tensor import FeatureTensor

Floats = npt.NDArray[np.float64]

SMALLEST_DEVIATION = 1e-9


@dataclass(frozen=True)
class Scale:
    """Mean and standard deviation, per feature or of the targets; equal values have deviation 1."""

    mean: Floats
    deviation: Floats

    def standardise(self, values: Floats) -> Floats:
        """Take the mean off and divide by the deviation."""
        return np.asarray((values - self.mean) / self.deviation)

    def restore(self, values: Floats) -> Floats:
        """Undo ``standardise``."""
        return np.asarray(values * self.deviation + self.mean)


def scale_of(values: Floats) -> Scale:
    """Return the scale of each column's finite values, shape (S, ...) to (...).

    A column without values has mean 0.
    """
    present = np.isfinite(values)
    held = np.maximum(present.sum(axis=0), 1)
    mean = np.where(present, values, 0.0).sum(axis=0) / held
    squares = np.where(present, values - mean, 0.0) ** 2
    deviation = np.sqrt(squares.sum(axis=0) / held)
    return Scale(mean, np.where(deviation > SMALLEST_DEVIATION, deviation, 1.0))


def standardised_within(tensor: FeatureTensor, field: FeatureTensor) -> FeatureTensor:
    """Standardise features by the field's systems, in one language.

    Args:
        tensor: Features of S systems.
        field: Features of the systems that set the scale: the deviation is that of systems'
            means over questions.
    """
    scale = scale_of(field.means()[0])
    return replace(tensor, values=scale.standardise(tensor.values))


def mean_scale(scales: Sequence[Scale]) -> Scale:
    """Average scales, for a language that has none of its own."""
    return Scale(
        np.mean([scale.mean for scale in scales], axis=0),
        np.mean([scale.deviation for scale in scales], axis=0),
    )
