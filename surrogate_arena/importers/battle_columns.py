"""Which columns of a table of battles are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from arena.data.schema import PROBABILITIES
from surrogate_arena.importers.columnar import ColumnTable
from surrogate_arena.importers.contract import Columns, are_numbers, chosen_columns
from surrogate_arena.importers.refused_battles import refuse_battles

_SIDES = ("system", "answer", "conversation", "wins", "probability")
"""Fields that both sides of a battle have."""


def columns_of_battles(table: ColumnTable, chosen: Mapping[str, str]) -> Columns:
    """Return the column of each field."""
    columns = chosen_columns([table.frame], "battles", chosen)
    columns = _with_both_sides(columns, chosen)
    columns = _with_counts_of_ties(table, columns)
    names = columns.names
    if {"winner", "loser"} <= names.keys() and "system_a" not in names:
        return columns
    missing = [name for name in ("system_a", "system_b") if name not in names]
    has_winner = "winner" in names or "wins_a" in names or PROBABILITIES[0] in names
    if not has_winner:
        missing.append("winner")
    if missing:
        refuse_battles(table, columns, missing)
    return columns


def _with_both_sides(columns: Columns, chosen: Mapping[str, str]) -> Columns:
    names = dict(columns.names)
    unread = list(columns.unread)
    for field in _SIDES:
        sides = [f"{field}_a", f"{field}_b"]
        known = [side for side in sides if side in names]
        if len(known) == 1 and known[0] not in chosen:
            unread.append(names.pop(known[0]))
    return replace(columns, names=names, unread=tuple(unread))


def _with_counts_of_ties(table: ColumnTable, columns: Columns) -> Columns:
    names = dict(columns.names)
    if "wins_a" not in names or "tie" not in names or "ties" in names:
        return columns
    if are_numbers(table.column(names["tie"]).cells):
        names["ties"] = names.pop("tie")
    return replace(columns, names=names)
