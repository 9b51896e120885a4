"""What was measured: a value, or the reason there is none, for each answer and feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from features.feature import Value
from features.missing import Missing

Floats = npt.NDArray[np.float64]
Reasons = npt.NDArray[np.object_]
Bools = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Measured:
    """Values of F features on N answers.

    Attributes:
        values: Shape (N, F); NaN where a feature has no value.
        reasons: Shape (N, F); why, or None where there is a value.
    """

    values: Floats
    reasons: Reasons

    @classmethod
    def empty(cls, answers: int, features: int) -> Measured:
        """Return room for values not measured yet: NaN without a reason."""
        return cls(
            np.full((answers, features), np.nan), np.full((answers, features), None, dtype=object)
        )

    @classmethod
    def of(cls, rows: Sequence[Sequence[Value]], features: int) -> Measured:
        """Arrange what was measured answer by answer."""
        measured = cls.empty(len(rows), features)
        for place, row in enumerate(rows):
            for column, value in enumerate(row):
                if isinstance(value, Missing):
                    measured.reasons[place, column] = value.reason
                else:
                    measured.values[place, column] = value
        return measured

    @property
    def known(self) -> Bools:
        """Where there is a value or a reason, shape (N, F)."""
        return np.asarray(np.isfinite(self.values) | (self.reasons != None))  # noqa: E711

    def put(self, answers: Places, features: Places, part: Measured) -> None:
        """Fill in what was measured of some answers and features."""
        cells = np.ix_(answers, features)
        self.values[cells] = part.values
        self.reasons[cells] = part.reasons

    def part(self, answers: Places, features: Places) -> Measured:
        """Return what was measured of some answers and features."""
        cells = np.ix_(answers, features)
        return Measured(self.values[cells], self.reasons[cells])
