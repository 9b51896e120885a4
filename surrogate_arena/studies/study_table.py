"""A table that a study or a benchmark returns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from arena.data.errors import DataError, Problem
from arena.data.files import small_file
from arena.data.wording import P_VALUES, notebook_html, shown_p

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class StudyTable:
    """A table that a study or a benchmark returns.

    Attributes:
        table: A row per language, then ``macro``; of benchmarks of judges as printed.
        signature: Settings that reproduce it.
        title: Its title.
        notes: Remarks for readers.
        differences: Of pairs of contenders by language: ``language, rated_by, minus, difference,
            standard_error, low, high, p, p_holm``.
    """

    table: pd.DataFrame
    signature: str = ""
    title: str = "Study"
    notes: Sequence[str] = ()
    differences: pd.DataFrame = field(default_factory=pd.DataFrame)

    def _repr_html_(self) -> str:
        text = notebook_html(self.title, " ".join(self.notes), self.table, self.signature)
        if len(self.differences):
            text += notebook_html("Differences", "", self.differences)
        return text

    def latex(self) -> str:
        """Return table and differences as LaTeX's ``tabular`` (``booktabs``)."""
        parts = [f"% {self.title}. {' '.join(self.notes)}\n% {self.signature}\n"]
        for table in (self.table, self.differences):
            if len(table):
                parts.append(_tabular(table))
        return "\n".join(parts)

    def draw(self) -> Figure:
        """Draw taus (else UsageError): curves over parts of the arena, or points of contenders."""
        from surrogate_arena.studies.figures import draw_study

        return draw_study(self)


def read_study(path: Path) -> StudyTable:
    """Read what ``validate --json`` printed."""
    try:
        content = json.loads(small_file(path))
        return StudyTable(
            table=pd.DataFrame(content["table"]),
            signature=str(content["signature"]),
            title=str(content["title"]),
            notes=list(map(str, content["notes"])),
            differences=pd.DataFrame(content["differences"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        hint = "write it with  surrogate-arena validate ARENA --json > FILE"
        raise DataError([Problem(path.name, None, None, None, "is no study", hint)]) from error


def _tabular(table: pd.DataFrame) -> str:
    shown = table.copy()
    for name in P_VALUES:
        if name in shown:
            shown[name] = shown[name].map(shown_p, na_action="ignore")
    shown.columns = shown.columns.str.replace("_", " ")
    text: str = shown.to_latex(index=False, escape=True, float_format="%.2f", na_rep="–")
    # Without a package for fonts, TeX prints another character for <.
    return text.replace("<0", "$<$0")
