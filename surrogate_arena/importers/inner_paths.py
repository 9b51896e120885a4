"""Paths in the cells of a table, such as ``vars.topic`` in a column ``vars`` of records."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

import pandas as pd

from surrogate_arena.importers.contract import MOST_ROWS, value_at
from surrogate_arena.importers.values import opened_or_same

_MOST_LEVELS = 4


def with_inner_paths(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the first rows of a table, with a column per path in place of columns of records."""
    # Paths in a column that are tried as fields
    most_paths = 60
    frame = frame.head(MOST_ROWS)
    columns: dict[str, pd.Series] = {}
    for name in frame:
        cells = [opened_or_same(cell) for cell in frame[name]]
        paths = list(dict.fromkeys(path for cell in cells for path in _paths_in(cell)))
        if not paths:
            columns[name] = frame[name]
            continue
        for path in paths[:most_paths]:
            values = [value_at({"cell": cell}, f"cell{path}") for cell in cells]
            columns[f"{_step(name)}{path}"] = pd.Series(values, frame.index, dtype=object)
    return pd.DataFrame(columns, index=frame.index)


def _paths_in(cell: object, levels: int = _MOST_LEVELS) -> list[str]:
    if not isinstance(cell, Mapping) or levels == 0:
        return []
    paths = []
    for name, value in cell.items():
        first = f".{_step(str(name))}"
        inner = _paths_in(value, levels - 1)
        paths += [f"{first}{path}" for path in inner] or [first]
    return paths


def _step(name: str) -> str:
    """Return a name as a step of a path: in quotes if it is no plain name."""
    return name if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) else json.dumps(name)
