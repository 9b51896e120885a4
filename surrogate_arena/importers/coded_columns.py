"""Columns of files as integer codes of their distinct cells, and the distinct rows of several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np
import pandas as pd

from arena.data.cells import is_null
from arena.data.types import Flags, Indices
from arena.statistics.codes import Distinct, distinct

_MOST_KEYS = 2**62
"""Keys of distinct rows stay below this number, which 64 bits hold."""


@dataclass(frozen=True)
class CodedColumn:
    """A column of a file, each distinct cell once.

    Attributes:
        codes: Index in ``cells`` of the cell of each row, shape (N,); -1 where it is missing.
        cells: The distinct cells, as rows of files hold them; some may be in no row.
    """

    codes: Indices
    cells: Sequence[Any]

    def __len__(self) -> int:
        return len(self.codes)

    @classmethod
    def of_cells(cls, cells: Iterable[Any]) -> CodedColumn:
        """Number the cells of a column; equal numbers of two types are two cells."""
        listed = list(cells)
        column = np.empty(len(listed), dtype=object)
        column[:] = listed
        types = set(map(type, listed)) - {type(None)}
        if types <= {str} or (len(types) == 1 and types <= {int, bool, float}):
            codes, values = pd.factorize(column)
            return cls(np.asarray(codes, dtype=np.intp), list(values))
        code_of: dict[object, int] = {}
        distinct_cells: list[Any] = []
        codes = np.full(len(listed), -1, dtype=np.intp)
        for row, cell in enumerate(listed):
            if is_null(cell):
                continue
            # Lists have no hash, and True equals 1.
            key = cell if isinstance(cell, str) else (type(cell), repr(cell))
            code = code_of.setdefault(key, len(code_of))
            if code == len(distinct_cells):
                distinct_cells.append(cell)
            codes[row] = code
        return cls(codes, distinct_cells)

    @cached_property
    def counts(self) -> Indices:
        """Number of rows with each cell, shape (cells,)."""
        return np.bincount(self.codes + 1, minlength=len(self.cells) + 1)[1:]

    @property
    def used_cells(self) -> list[Any]:
        """The cells that are in some row."""
        if self.counts.all():
            return list(self.cells)
        return list(compress(self.cells, self.counts))

    @property
    def is_missing(self) -> Flags:
        """Rows without a cell, shape (N,)."""
        return np.asarray(self.codes < 0)

    def where(self, test: Callable[[Any], bool]) -> Flags:
        """Tell which rows have a cell that passes a test, shape (N,); missing ones do not."""
        flags = [bool(test(cell)) for cell in self.cells]
        return np.array([*flags, False], dtype=np.bool_)[self.codes]

    def take(self, rows: Flags | Indices) -> CodedColumn:
        """Keep some rows."""
        return CodedColumn(self.codes[rows], self.cells)

    def mapped(self, cells: Sequence[Any]) -> CodedColumn:
        """Return the column with other cells, one for each, of which some may be equal or None."""
        merged = CodedColumn.of_cells(cells)
        if len(merged.cells) == len(cells):
            return CodedColumn(self.codes, cells)
        return CodedColumn(np.append(merged.codes, -1)[self.codes], merged.cells)

    def filled(self, cell: object) -> CodedColumn:
        """Return the column with a cell in the rows without one."""
        if not self.is_missing.any():
            return self
        codes = np.where(self.is_missing, len(self.cells), self.codes)
        cells = [*self.cells, cell]
        return CodedColumn(codes, cells).mapped(cells)

    def objects(self) -> Any:  # noqa: ANN401 - an array of any cells
        """Return the cell of each row, shape (N,), missing ones as None."""
        values = np.empty(len(self.cells) + 1, dtype=object)
        values[:-1] = list(self.cells)
        return values[self.codes]

    def categorical(self) -> pd.Categorical:
        """Return the column as categories of texts."""
        return pd.Categorical.from_codes(self.codes, pd.Index(list(self.cells), dtype="str"))


def distinct_rows(columns: Sequence[CodedColumn]) -> Distinct:
    """Number the rows of one or several columns, equal ones alike."""
    keys = np.zeros(len(columns[0]), dtype=np.intp)
    n_possible = 1
    for column in columns:
        n_cells = len(column.cells) + 1
        if n_possible > _MOST_KEYS // n_cells:
            compact = distinct(keys, n_possible)
            keys = compact.codes
            n_possible = len(compact.values)
        keys = keys * n_cells + column.codes + 1
        n_possible *= n_cells
    return distinct(keys, n_possible)
