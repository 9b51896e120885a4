"""What every model is to the engine: texts in, a row of numbers for each out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float32]

Item = tuple[str, ...]
"""One text, or a pair of texts, that a model scores."""


PROCESSOR = "cpu"
"""The device of models that run on processors."""


class Scorer(Protocol):
    """A loaded model.

    The scores of an item depend on the item alone, never on those scored beside it: on a
    processor they are the same to the last bit however items are batched.
    """

    @property
    def device(self) -> str:
        """Where the model runs: ``cpu``, ``cuda``, ``mps``."""

    @property
    def signature(self) -> str:
        """Everything the scores depend on: kind, digest of the weights, settings, precision."""

    def score(self, items: Sequence[Item]) -> Scores:
        """Score items, shape (items, outputs)."""
