"""Part of ``recomputed.py``: verdicts as they are in files, figures, and simulation errors."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

KEY = ["language", "query_id", "first", "second"]
"""A pair of answers."""
QUESTION = ["language", "query_id"]
PARTS = ("", ", low", ", high")
"""Of a figure with its interval."""
NUMBER = re.compile(r"-?\d+(?:\.(\d+))?")
TIMES = 10
"""Repeats of what is drawn at random, whose spread is its simulation error."""
ERRORS = 4
Stored = Mapping[str, Any]


class Figure(NamedTuple):
    """A printed figure, computed again.

    Attributes:
        name: What it is.
        printed: As printed.
        found: By other code.
        digits: Printed decimals.
        error: Standard error of the difference, if either is drawn at random.
    """

    name: str
    printed: float
    found: float
    digits: int = 2
    error: float = 0.0

    @property
    def agrees(self) -> bool:
        """Whether both are equal in the printed digits, or within ``ERRORS`` errors of these."""
        rounding = 0.501 * 0.1**self.digits
        return abs(self.printed - self.found) <= rounding + ERRORS * self.error


def printed_numbers(cell: str) -> list[tuple[float, int]]:
    """Return the numbers of a cell such as ``45.3 (42–49)``, and their decimals."""
    matches = NUMBER.finditer(cell)
    return [(float(match[0]), len(match[1] or "")) for match in matches]


def figures_of(name: str, cell: str, found: npt.ArrayLike, errors: npt.ArrayLike) -> list[Figure]:
    """Compare a value with its interval to those printed."""
    numbers = (np.asarray(values, float).tolist() for values in (found, errors))
    rows = zip(PARTS, printed_numbers(cell), *numbers, strict=True)
    return [
        Figure(name + part, number, value, digits, error)
        for part, (number, digits), value, error in rows
    ]


def simulated(draw: Callable[[np.random.Generator], Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean of ``TIMES`` draws, and the error of one draw's difference from it."""
    draws = np.array([draw(np.random.default_rng(seed)) for seed in range(TIMES)])
    return draws.mean(axis=0), draws.std(axis=0, ddof=1) * np.sqrt(1 + 1 / TIMES)


def table_of(path: Path) -> pd.DataFrame:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return pd.DataFrame(map(json.loads, file))


def verdicts_of(folder: Path, judge: str | None = None) -> pd.DataFrame:
    """Read verdicts with the systems by name, and ``points`` of the first one."""
    table = table_of(folder / "judgments.jsonl.gz")
    if judge is not None:
        table = table[table["judge"] == judge]
    points = table["winner"].map({"a": 1, "b": -1, "tie": 0})
    is_swapped = table["system_a"] > table["system_b"]
    return table.assign(
        first=table["system_a"].where(~is_swapped, table["system_b"]),
        second=table["system_b"].where(~is_swapped, table["system_a"]),
        points=points.where(~is_swapped, -points),
    )


def majority(verdicts: pd.DataFrame, keys: Sequence[str] = KEY) -> pd.Series:
    """Return ``points`` of -1, 0 or 1 for each key: that of more than half of the verdicts."""
    points = verdicts["points"].groupby([verdicts[name] for name in keys])
    won = points.agg(lambda values: (values == 1).mean() > 0.5)
    lost = points.agg(lambda values: (values == -1).mean() > 0.5)
    return won.astype(int) - lost.astype(int)
