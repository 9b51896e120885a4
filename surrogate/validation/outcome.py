"""What a protocol predicted in one language, before it is scored."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Outcome:
    """Predicted and arena ratings of the systems of one language, several times over.

    Attributes:
        language: Language code.
        systems: The S systems.
        predicted: Predicted ratings of each repeat, shape (R, S); NaN where there is none.
        truth: The arena's ratings to compare with, shape (R, S).
        r2: R² where a protocol defines its own; None for that of ``predicted``.
        reasons: Why predictions are missing, without duplicates.
    """

    language: str
    systems: tuple[str, ...]
    predicted: Floats
    truth: Floats
    r2: float | None = None
    reasons: tuple[str, ...] = ()
