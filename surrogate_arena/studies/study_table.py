"""A table that a study or a benchmark returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from arena.data.wording import notebook_html


@dataclass(frozen=True)
class StudyTable:
    """A table that a study or a benchmark returns.

    Attributes:
        table: A row per language, then ``macro``, of studies of surrogates; as it is printed, of
            benchmarks of judges.
        signature: Settings that give the same table again.
        title: What it shows.
        notes: What readers should know about it.
    """

    table: pd.DataFrame
    signature: str = ""
    title: str = "Study"
    notes: Sequence[str] = ()

    def _repr_html_(self) -> str:
        return notebook_html(self.title, " ".join(self.notes), self.table, self.signature)
