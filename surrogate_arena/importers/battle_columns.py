"""Which columns of a table of battles are read, and what is said where one is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from arena.data.errors import UsageError
from arena.data.schema import PROBABILITIES
from arena.data.wording import all_of, count_of, first_of
from surrogate_arena.importers.columnar import ColumnTable
from surrogate_arena.importers.contract import (
    MOST_NAMED,
    NO_HEADER,
    SIDES_IN_NAMES,
    WON_AND_LOST,
    Columns,
    are_numbers,
    chosen_columns,
    columns_of_pairs,
    looks_like_data,
    paired_columns,
)
from surrogate_arena.importers.values import option
from surrogate_arena.importers.verdict_values import (
    UnclearValuesError,
    option_of_values,
    read_values,
)

_LONGEST_NAME = 60
"""Characters of a name of a system that is suggested."""
_MOST_VALUES = 7
"""Values of a column that may be one of winners."""


def columns_of_battles(table: ColumnTable, chosen: Mapping[str, str]) -> Columns:
    """Return the column of each field.

    Args:
        table: The table.
        chosen: Field to the name of its column, where ``names.toml`` does not have that name.

    Raises:
        UsageError: If a field lacks a column, with the command that names one.
    """
    columns = chosen_columns([table.frame], "battles", chosen)
    names = columns.names
    if "loser" in names and "winner" in names and "system_a" not in names:
        return columns
    missing = [name for name in ("system_a", "system_b") if name not in names]
    has_winner = "winner" in names or {"wins_a", "wins_b"} <= names.keys()
    if not has_winner and not names.keys() >= {*PROBABILITIES}:
        missing.append("winner")
    if not missing:
        return columns
    if "system_a" in missing:
        _refuse_columns_of_pairs(table, columns)
    if "system_a" in missing and looks_like_data([table.frame]):
        raise UsageError(f"{table.source}: {NO_HEADER} system_a,system_b,winner")
    fields = _suggested_pair(table, columns) if "system_a" in missing else {}
    if "loser" in fields:
        hints = [option("column", f"{name}={column}") for name, column in fields.items()]
        missing = ["winner", "loser"]
    else:
        known = {**names, **fields}
        if "winner" in missing:
            winner = _suggested_winner(table, known, columns.unread)
            known.update({} if winner is None else {"winner": winner})
        hints = [option("column", f"{name}={known.get(name, 'NAME')}") for name in missing]
        hints += _values_to_state(table, known)
    listed = first_of(list(map(str, table.frame.columns)), MOST_NAMED)
    raise UsageError(
        f"{table.source}: no column is known for {all_of(missing)}: {' '.join(hints)}; the columns "
        f"are {listed}. A battle has system_a, system_b and winner (or counts wins_a, "
        "wins_b, ties), or winner and loser; the importing guide has short recipes for other shapes"
    )


def _refuse_columns_of_pairs(table: ColumnTable, columns: Columns) -> None:
    """Refuse a table with a column for each pair, such as ``gpt-4o_vs_llama``."""
    pairs = columns_of_pairs(table.frame)
    if not pairs:
        return
    names = list(map(str, table.frame))
    kept = [name for name in names if name in columns.names.values()]
    mark = next(iter(pairs.values()))
    raise UsageError(
        f"{table.source}: {count_of(len(pairs), 'column')} such as {next(iter(pairs))!r} hold a "
        f"pair each; write a row for each battle by pandas: table = table.melt({kept}, "
        f"[name for name in table if {mark!r} in name], 'pair', 'winner'); "
        f"table[['system_a', 'system_b']] = table.pop('pair').str.split({mark!r}, expand=True)"
    )


def _suggested_pair(table: ColumnTable, columns: Columns) -> dict[str, str]:
    """Return two columns of names that differ in a word for a side, by the fields they may be."""
    fields = (("system_a", "system_b"), SIDES_IN_NAMES), (("winner", "loser"), WON_AND_LOST)
    for (first_field, second_field), words in fields:
        for pair in paired_columns(columns.unread, words):
            if _hold_names(table, pair):
                return {first_field: pair[0], second_field: pair[1]}
    return {}


def _hold_names(table: ColumnTable, columns: Sequence[str]) -> bool:
    """Tell whether columns hold short names that repeat."""
    for name in columns:
        cells = table.column(name).cells
        is_short = all(len(str(cell)) <= _LONGEST_NAME for cell in cells)
        if are_numbers(cells) or not cells or not is_short or len(cells) * 2 > len(table.frame):
            return False
    return True


def _suggested_winner(
    table: ColumnTable, names: Mapping[str, str], unread: Sequence[str]
) -> str | None:
    """Return the unread column that can be read as winners, or the only one with few values."""
    if not {"system_a", "system_b"} <= names.keys():
        return None
    systems = _system_names(table, names)
    with_few_values = []
    for column in unread:
        cells = table.column(column).cells
        if column in names.values():
            continue
        if 1 < len(cells) <= _MOST_VALUES and len(cells) < len(table.frame):
            with_few_values.append(column)
        with suppress(UnclearValuesError):
            values = read_values(cells, column, systems)
            if cells and all(cell in values.names or cell in values.verdicts for cell in cells):
                return column
    return with_few_values[0] if len(with_few_values) == 1 else None


def _values_to_state(table: ColumnTable, names: Mapping[str, str]) -> list[str]:
    """Return the option that says what the values of winners mean, if they are unclear."""
    if not {"system_a", "system_b", "winner"} <= names.keys():
        return []
    column = names["winner"]
    cells = table.column(column).cells
    try:
        read_values(cells, column, _system_names(table, names))
    except UnclearValuesError:
        return [option_of_values(column, cells)]
    return []


def _system_names(table: ColumnTable, names: Mapping[str, str]) -> set[str]:
    systems: set[str] = set()
    for side in ("system_a", "system_b"):
        systems.update(str(cell) for cell in table.column(names[side]).cells)
    return systems
