"""Rows of a table of battles by their fields, and remarks on reading them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from arena.data.errors import Problem
from arena.data.rows import is_null
from arena.data.types import Flags, Floats
from surrogate_arena.importers.columnar import Column, ColumnTable
from surrogate_arena.importers.values import is_missing_cell, name_text, opened_or_same, truth_of
from surrogate_arena.importers.verdict_values import UnclearValuesError


@dataclass
class BattleRows:
    """Rows of a table of battles.

    Attributes:
        names: Field to its column.
        unread: Columns that no field is read from.
        skipped: Reason to number of rows left out or changed so far.
        understood: Lines on what was understood so far.
    """

    table: ColumnTable
    names: Mapping[str, str]
    unread: tuple[str, ...] = ()
    problems: list[Problem] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    understood: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.table.frame)

    def has(self, *fields: str) -> bool:
        """Return whether all fields have a column."""
        return self.names.keys() >= set(fields)

    @property
    def has_questions(self) -> bool:
        """Return whether a column tells which battles are on the same question."""
        return self.has("query_id") or self.has("question")

    def column(self, name: str) -> Column:
        """Return the column of a field."""
        return self.table.column(self.names[name])

    def texts(self, name: str) -> pd.Series:
        """Return a field as categories: numbers in digits, texts stripped."""
        column = self.column(name)
        has_spaces = column.where(lambda cell: isinstance(cell, str) and cell != cell.strip())
        reason = f"spaces at the edges of {column.name!r} were removed"
        self.skipped[reason] += int(has_spaces.sum())
        return column.texts(_name_of)

    def numbers(self, name: str, fault: str, hint: str) -> Floats:
        """Return a field as numbers, shape (N,), NaN where missing; texts are faults."""
        column = self.column(name)
        is_text = column.where(lambda cell: truth_of(cell) is None and not is_missing_cell(cell))
        self.fault(is_text, column, fault, hint)
        return np.asarray(column.mapped(truth_of), dtype=np.float64)

    def fault(self, is_bad: Flags, column: Column, fault: str, hint: str) -> None:
        """Note what is wrong with a column in some rows, shape (N,)."""
        most_problems = 20
        for row in np.flatnonzero(is_bad)[:most_problems].tolist():
            code = column.codes[row]
            value = column.cells[code] if code >= 0 else None
            self.problems.append(self.table.problem(row, column.name, value, fault, hint))

    def fault_value(self, column: Column, error: UnclearValuesError) -> None:
        """Note that a value is unclear, at the first row that has it."""
        is_value = column.where(lambda cell: cell == error.value)
        row = int(np.flatnonzero(is_value)[0])
        problem = self.table.problem(row, column.name, error.value, str(error), error.hint)
        self.problems.append(problem)


def _name_of(cell: object) -> str | None:
    if is_null(cell):
        return None
    name = str(name_text(cell)).strip()
    # FastChat writes a judge and its prompt as a list.
    if name.startswith("["):
        inside = opened_or_same(name)
        if isinstance(inside, list) and inside and isinstance(inside[0], str):
            name = inside[0].strip()
    return name or None
