"""What a surrogate is to those who train, validate and compare them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from surrogate.field import Field
from surrogate.tensor import FeatureTensor

Floats = npt.NDArray[np.float64]


class FittedSurrogate(Protocol):
    """A trained surrogate of one or several languages."""

    def predict(self, tensor: FeatureTensor, field: FeatureTensor) -> Floats:
        """Rate systems by their answers.

        Args:
            tensor: Features of S systems in one language.
            field: Features of the systems to compare them with, in the same language and on at
                least the same questions: those trained on; in a language without judgments, all.

        Returns:
            Bradley-Terry coefficients, shape (S,); NaN for a system without answers.
        """


class Surrogate(Protocol):
    """A way to learn ratings from features."""

    @property
    def pooled(self) -> bool:
        """Whether one model serves all languages, and so languages it has not seen."""

    def fit(self, fields: Sequence[Field], random_state: int) -> FittedSurrogate:
        """Train on the fields, one a language.

        Raises:
            UsageError: If too few systems can be trained on, or no feature has a value.
        """

    def for_all_languages(self) -> Surrogate:
        """Return the surrogate that learns the same from all languages together."""
