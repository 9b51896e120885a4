"""Wins, losses and ties: of each system, and of every two that met."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.types import Indices
from arena.rating.battles import Battles
from arena.rating.judgment_columns import MIRRORED
from arena.statistics.codes import distinct

RECORD = ["wins", "losses", "ties"]
"""Columns of counts, in the order of ``WINNERS`` for the system on side A."""


def system_records(battles: Battles) -> pd.DataFrame:
    """Count each system's wins, losses and ties: columns ``system, wins, losses, ties``.

    Whole numbers unless verdicts are soft or have fractional weights.
    """
    table = pd.DataFrame({"system": pd.Series(battles.systems, dtype="str")})
    table[RECORD] = _counts(battles, battles.side_a, battles.side_b, len(battles.systems))
    return table


def pair_records(battles: Battles) -> pd.DataFrame:
    """Count wins, losses and ties of every two systems that met, in both directions.

    Returns:
        Columns ``system, opponent, wins, losses, ties``, sorted; numbers as ``system_records``.
    """
    n_systems = max(len(battles.systems), 1)
    system = np.concatenate([battles.side_a, battles.side_b])
    opponent = np.concatenate([battles.side_b, battles.side_a])
    met = distinct(system * n_systems + opponent, n_systems**2)
    code_a, code_b = np.split(met.codes, 2)
    first, second = np.divmod(met.values, n_systems)
    names = np.array(battles.systems, dtype=object)
    table = pd.DataFrame({"system": names[first], "opponent": names[second]})
    table[RECORD] = _counts(battles, code_a, code_b, len(met.values))
    return table.astype({"system": "str", "opponent": "str"})


def _counts(battles: Battles, row_a: Indices, row_b: Indices, n_rows: int) -> npt.NDArray[Any]:
    """Count wins, losses and ties, shape (n_rows, 3).

    Args:
        battles: N battles.
        row_a: Row of the result to which each battle counts for side A, shape (N,).
        row_b: The same for side B.
        n_rows: Number of rows.
    """
    n_outcomes = len(RECORD)
    size = n_rows * n_outcomes
    weight = battles.weight
    counts = np.bincount(row_a * n_outcomes + battles.winner, weight, size)
    counts += np.bincount(row_b * n_outcomes + MIRRORED[battles.winner], weight, size)
    if weight is not None and bool((weight == np.round(weight)).all()):
        counts = counts.astype(np.intp)
    return counts.reshape(n_rows, n_outcomes)
