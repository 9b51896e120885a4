"""What a meta-evaluation has to say, for people as tables and for programs as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from arena.llm.usage import Usage
from surrogate.board.metaevaluations import MetaEvaluation

NO_VALUE = "–"


@dataclass(frozen=True)
class ReportTable:
    """A table as it is printed.

    Attributes:
        title: What stands above it.
        header: Names of the columns.
        rows: Cells.
        notes: Lines below it.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[object]]
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Report:
    """A meta-evaluation as it is printed and written.

    Attributes:
        content: All of it, as JSON can hold it.
        tables: Tables for people.
        metaevaluations: What an arena's ``metaevaluation.json`` notes of it.
        usages: What LLMs were asked and used; None where no judge was at work.
    """

    content: Mapping[str, Any]
    tables: Sequence[ReportTable]
    metaevaluations: Sequence[MetaEvaluation] = ()
    usages: Sequence[Usage] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the content, with the usage if there was any judging."""
        if self.usages is None:
            return dict(self.content)
        return {**self.content, "usage": [asdict(usage) for usage in self.usages]}


def table_records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a table's rows for JSON, missing values as None."""
    plain = table.astype(object).where(table.notna(), None)
    return list(plain.to_dict(orient="records"))


def percent_with_error(value: float, standard_error: float) -> str:
    """Show a share in percent with its standard error, as far as they are known."""
    if pd.isna(value):
        return NO_VALUE
    spread = "" if pd.isna(standard_error) else f" ± {100 * standard_error:.1f}"
    return f"{100 * value:.1f}{spread}"


def spaced(name: object) -> str:
    """Show a column's name as words."""
    return str(name).replace("_", " ")


def no_value_notes(reasons: pd.Series) -> list[str]:
    """Say, once each, why values are missing."""
    return [f"No value: {reason}" for reason in reasons.dropna().drop_duplicates()]
