"""Rankings of several systems in a row, read as battles of every two of them.

The battles of one row are one question, so that intervals allow for how they hang together. Of
complete rankings by the model of Plackett and Luce, ratings by pairs estimate the same strengths
(Luce, 1959: who of two is ranked higher follows the model of Bradley and Terry).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd

from arena.data.types import Floats
from arena.data.wording import count_of
from surrogate_arena.importers.columnar import ColumnTable
from surrogate_arena.importers.contract import bare_column, contract, field_names
from surrogate_arena.importers.values import name_text, number_of

_NUMBER = re.compile(r"\d+")


def with_battles_of_rankings(
    table: ColumnTable, chosen: Mapping[str, str]
) -> tuple[ColumnTable, str]:
    """Replace rankings by their battles; any other table stays.

    A ranking is three or more numbered columns of systems, and columns of their ranks with the same
    numbers (``system1Id, system1rank, …``); 1 is the best.

    Returns:
        The table, and what was understood; empty if it holds no rankings.
    """
    names = {bare_column(str(name)) for name in table.frame}
    stated = [*chosen]
    for field in ("winner", "query_id", "question"):
        if not names.isdisjoint(field_names("battles")[field]):
            stated.append(field)
    systems, ranks = _numbered_columns(table.frame)
    if not ranks or "winner" in stated or "system_a" in stated:
        return table, ""
    battles = _battles(table, systems, ranks)
    row = battles.pop("row").to_numpy()
    frame = table.frame.drop(columns=[*systems, *ranks]).iloc[row].reset_index(drop=True)
    frame = frame.assign(**battles)
    if "query_id" not in stated and "question" not in stated:
        frame["query_id"] = [f"ranking-{number + 1}" for number in row]
    understood = (
        f"{count_of(len(table.frame), 'ranking')} ({systems[0]!r}, {systems[1]!r}, …) read as "
        f"{count_of(len(frame), 'battle')} of two systems, 1 the best rank"
    )
    return replace(table, frame=frame, known_lines=table.lines[row]), understood


def _numbered_columns(frame: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Return columns of systems and columns of their ranks, with the same numbers; else none."""
    fewest = 3
    ranks: dict[tuple[str, ...], list[str]] = {}
    others: dict[tuple[str, ...], list[str]] = {}
    groups: dict[str, list[str]] = {}
    for name in map(str, frame):
        if _NUMBER.search(name):
            groups.setdefault(_NUMBER.sub(" ", name), []).append(name)
    for shared, names in groups.items():
        is_rank = not {*contract()["scores"]["ranks"]}.isdisjoint(bare_column(shared).split("_"))
        numbers = tuple(number for name in names for number in _NUMBER.findall(name))
        if len(names) >= fewest:
            (ranks if is_rank else others).setdefault(numbers, names)
    for numbers, names in ranks.items():
        if numbers in others:
            return others[numbers], names
    return [], []


def _battles(table: ColumnTable, systems: Sequence[str], ranks: Sequence[str]) -> pd.DataFrame:
    """Compare every two ranked systems: columns ``row, system_a, system_b, winner``."""
    names = [
        table.column(name).mapped(lambda cell: str(name_text(cell)).strip()) for name in systems
    ]
    places = [_ranks(table, name) for name in ranks]
    parts = []
    for first, second in combinations(range(len(systems)), 2):
        gaps = np.asarray(places[first] - places[second])
        is_compared = np.isfinite(gaps) & (names[first].notna() & names[second].notna()).to_numpy()
        row = np.flatnonzero(is_compared)
        winner = np.select([gaps[row] < 0, gaps[row] > 0], ["a", "b"], "tie")
        part = {
            "row": row,
            "system_a": names[first].to_numpy()[row],
            "system_b": names[second].to_numpy()[row],
            "winner": winner.astype(object),
        }
        parts.append(pd.DataFrame(part))
    return pd.concat(parts).sort_values("row", kind="stable", ignore_index=True)


def _ranks(table: ColumnTable, name: str) -> Floats:
    """Return the ranks in a column; NaN where there is none, as where it is below 0."""
    ranks = table.column(name).mapped(number_of, np.nan).astype(np.float64).to_numpy()
    return np.where(ranks < 0, np.nan, ranks)
