"""Refused tables of battles, with a command or lines that would read them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import NoReturn

import pandas as pd

from arena.data.errors import UsageError
from arena.data.wording import all_of, first_of
from surrogate_arena.importers.columnar import ColumnTable
from surrogate_arena.importers.contract import (
    MOST_NAMED,
    NO_COLUMNS,
    OTHER_SHAPES,
    Columns,
    are_numbers,
    are_texts,
    chosen_columns,
    paired_columns,
)
from surrogate_arena.importers.values import option
from surrogate_arena.importers.verdict_values import UnclearValuesError, read_values

_VOTES = ({"system_a", "system_b", "winner"}, {"system_a", "wins_a"}, {"winner", "loser"})
"""Fields that make a verdict."""
MOST_VALUES = 7
"""Values in a column of winners: two sides, a tie and both bad, some written in several ways."""


def refuse_battles(table: ColumnTable, columns: Columns, missing: Sequence[str]) -> NoReturn:
    """Refuse a table that lacks fields, with the columns that may hold them."""
    fields = _suggested_fields(table, columns, missing)
    answers = {**_suggested_answers(table, columns.unread), **columns.names}
    if {"system_a", "system_b"} <= set(missing) - fields.keys() and "answer_a" in answers:
        _refuse_without_systems(table.source, answers["answer_a"], answers["answer_b"])
    if "loser" in fields:
        missing = ["winner", "loser"]
    elif "wins_a" in fields:
        missing = [name for name in (*missing, "wins_a", "wins_b") if name != "winner"]
    asked = [*missing, *(name for name in fields if name.startswith("answer"))]
    hints = [option("column", f"{name}={fields.get(name, 'NAME')}") for name in asked]
    hints += _values_to_state(table, {**columns.names, **fields})
    possible: list[str] = []
    if "winner" in asked and "winner" not in fields:
        for column in _possible_winners(table, {**columns.names, **fields}, columns.unread):
            values = list(map(str, table.column(column).cells))
            possible.append(f"{column!r} ({first_of(values, MOST_VALUES)})")
    likely_columns = f"; the winners may be in {' or '.join(possible)}" if possible else ""
    listed = first_of(list(map(str, table.frame.columns)), MOST_NAMED)
    raise UsageError(
        f"{table.source}: no column is known for {all_of(missing)}: {' '.join(hints)}"
        f"{likely_columns}; the columns are {listed}. A battle has system_a, system_b and winner "
        "(or counts wins_a, wins_b, ties), or winner and loser; for voters in columns, see the "
        f"recipe 'An evaluation sheet'; {OTHER_SHAPES}"
    )


def check_votes(frame: pd.DataFrame) -> None:
    """Refuse a table of verdicts without answers, with the command that rates systems by it."""
    table = ColumnTable(frame, source="")
    columns = chosen_columns([frame], "battles", NO_COLUMNS)
    missing = {"system_a", "winner"} - columns.names.keys()
    suggested = {}
    if "loser" not in columns.names:
        suggested = _suggested_fields(table, columns, missing)
    fields = {**columns.names, **suggested}
    has_answers = not fields.keys().isdisjoint(["answer_a", "conversation_a"])
    if has_answers or not any(fields.keys() >= needed for needed in _VOTES):
        return
    hints = [option("column", f"{name}={column}") for name, column in suggested.items()]
    fit = " ".join(["fit FILE", *hints, *_values_to_state(table, fields)])
    raise UsageError(
        "a row compares two systems, and no column is known to hold answers: to rate the systems: "
        f"{fit}; if a file of answers belongs to these verdicts: import csv ANSWERS --verdicts FILE"
    )


def _refuse_without_systems(source: str, first: str, second: str) -> NoReturn:
    raise UsageError(
        f"{source}: no column names the systems that wrote {first!r} and {second!r}: add columns "
        "system_a and system_b; where each column is one system: import csv FILE "
        f"{option('column', f'answer={first},{second}')} (and --verdicts FILE if it holds verdicts)"
    )


def _suggested_fields(
    table: ColumnTable, columns: Columns, missing: Collection[str]
) -> dict[str, str]:
    fields: dict[str, str] = {}
    if "system_a" in missing:
        fields.update(_suggested_pair(table, columns))
        if "loser" in fields:
            return fields
    if "winner" in missing:
        wins = _suggested_counts(table, columns)
        winners = _possible_winners(table, {**columns.names, **fields}, columns.unread)
        if wins:
            fields.update(wins)
        elif len(winners) == 1:
            fields["winner"] = winners[0]
    if "system_a" in fields and "answer_a" not in columns.names:
        unread = [name for name in columns.unread if name not in fields.values()]
        fields.update(_suggested_answers(table, unread))
    return fields


def _suggested_pair(table: ColumnTable, columns: Columns) -> dict[str, str]:
    fields = (("system_a", "system_b"), "sides"), (("winner", "loser"), "won_and_lost")
    for (first_field, second_field), kind in fields:
        for pair in paired_columns(columns.unread, kind):
            if _hold_names(table, pair):
                return {first_field: pair[0], second_field: pair[1]}
    return {}


def _suggested_counts(table: ColumnTable, columns: Columns) -> dict[str, str]:
    for pair in paired_columns(columns.unread, "counts_of_wins"):
        if all(are_numbers(table.column(name).cells) for name in pair):
            return {"wins_a": pair[0], "wins_b": pair[1]}
    return {}


def _suggested_answers(table: ColumnTable, columns: Sequence[str]) -> dict[str, str]:
    pairs = []
    for pair in paired_columns(columns, "sides"):
        if all(are_texts(table.column(name).cells) for name in pair):
            pairs.append(pair)
    return {"answer_a": pairs[0][0], "answer_b": pairs[0][1]} if len(pairs) == 1 else {}


def _hold_names(table: ColumnTable, columns: Sequence[str]) -> bool:
    names: set[str] = set()
    for column in columns:
        cells = table.column(column).cells
        if are_numbers(cells) or not cells:
            return False
        names.update(map(str, cells))
    longest_name = 60
    is_short = all(len(name) <= longest_name for name in names)
    return is_short and len(names) * 2 <= len(table.frame) * len(columns)


def _possible_winners(
    table: ColumnTable, names: Mapping[str, str], unread: Sequence[str]
) -> list[str]:
    """Return the columns that read as winners, else all that may be, by their few values."""
    if not {"system_a", "system_b"} <= names.keys():
        return []
    systems = _system_names(table, names)
    readable = []
    with_few_values = []
    for column in unread:
        cells = table.column(column).cells
        if column in names.values():
            continue
        if 1 < len(cells) <= MOST_VALUES and len(cells) < len(table.frame):
            with_few_values.append(column)
        with suppress(UnclearValuesError):
            values = read_values(cells, column, systems)
            if cells and all(cell in values.names or cell in values.verdicts for cell in cells):
                readable.append(column)
    return readable or with_few_values


def _values_to_state(table: ColumnTable, names: Mapping[str, str]) -> list[str]:
    if not {"system_a", "system_b", "winner"} <= names.keys():
        return []
    column = names["winner"]
    cells = table.column(column).cells
    try:
        read_values(cells, column, _system_names(table, names))
    except UnclearValuesError as error:
        return [error.command]
    return []


def _system_names(table: ColumnTable, names: Mapping[str, str]) -> set[str]:
    systems: set[str] = set()
    for side in ("system_a", "system_b"):
        systems.update(str(cell) for cell in table.column(names[side]).cells)
    return systems
