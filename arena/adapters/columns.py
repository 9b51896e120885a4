"""Which column of a table holds what: one list of names, and one choice, for every command.

``columns.toml`` has the names. Of several columns that fit a field, the one with values is read.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Literal

import pandas as pd

from arena.data.cells import is_missing_cell, name_text
from arena.data.errors import UsageError, checked_choice

Rows = Literal["answers", "pairs"]
"""What a row of a table is: one answer; or two systems, with or without their answers."""
FieldNames = Mapping[str, tuple[str, ...]]
"""Field to the names that its column may have, the best first, as ``bare_column`` writes them."""
NO_COLUMNS: Mapping[str, str] = MappingProxyType({})

_CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Za-z])(?=[0-9])")
_SEPARATORS = re.compile(r"[\s_-]+")
_INDEX_COLUMNS = re.compile(r"(?:Unnamed: \d+|index|level_\d+|__index_level_\d+__|)")
_ROW_NUMBERS = (
    "index",
    "idx",
    "row",
    "row_index",
    "row_idx",
    "row_number",
    "row_num",
    "row_no",
    "#",
)
"""Names of columns that number rows, where they hold growing whole numbers."""
_MOST_DIGITS = 18
_EMPTY_LISTS = ("[]", "{}")


@dataclass(frozen=True)
class ChosenColumns:
    """The columns that are read of tables of one form.

    Attributes:
        names: Field to the column it is read from.
        unread: Every other column, with what a user should know about it.
        fallbacks: Field to further columns that fit it and have values only in rows where the
            field's column has none, as where tables with different names were joined.
    """

    names: Mapping[str, str]
    unread: Mapping[str, str]
    fallbacks: Mapping[str, tuple[str, ...]]

    def values(self, record: Mapping[str, object]) -> dict[str, Any]:
        """Return the value of each field in a row, of a fallback where its column has none."""
        found: dict[str, Any] = {}
        for name, column in self.names.items():
            columns = (column, *self.fallbacks.get(name, ()))
            filled = [each for each in columns if _is_value(record.get(each))]
            found[name] = record.get(filled[0] if filled else column)
        return found


def bare_column(name: str) -> str:
    """Return the name of a column without what does not count: ``Model A`` is ``model_a``."""
    words = _SEPARATORS.sub("_", _CAMEL_CASE.sub("_", name.strip()))
    return words.strip("_").casefold()


@cache
def field_names(rows: Rows) -> FieldNames:
    """Return the fields that rows may have, with the names of their columns."""
    text = files(__package__).joinpath("columns.toml").read_text(encoding="utf-8")
    sections = tomllib.loads(text)
    fields = sections["rows"] | sections[rows]
    return MappingProxyType(
        {field: tuple(map(bare_column, names)) for field, names in fields.items()}
    )


def chosen_columns(
    tables: Sequence[pd.DataFrame], fields: FieldNames, named: Mapping[str, str] = NO_COLUMNS
) -> ChosenColumns:
    """Choose the column of each field.

    Args:
        tables: Tables of one form, which may lack columns that others have.
        fields: Those of ``field_names``, or some of them.
        named: Field to the column that the user chose for it.

    Returns:
        Of the columns that fit a field, the first with values in the order of the field's names;
        the first of all if none has values.

    Raises:
        UsageError: If a chosen column is not there, or a field is unknown.
    """
    there = list(dict.fromkeys(str(column) for table in tables for column in table))
    with_values = {column for column in there if _has_values(tables, column)}
    names = {field: _named_column(field, name, fields, there) for field, name in named.items()}
    unread = dict[str, str]()
    fallbacks = dict[str, tuple[str, ...]]()
    chosen_by_user = set(names)
    for field, known in fields.items():
        candidates = _fitting(known, there, taken=set(names.values()))
        filled = [column for column in candidates if column in with_values]
        if field not in names and candidates:
            names[field] = (filled or candidates)[0]
        further = [] if field in chosen_by_user else filled[1:]
        complements = _complements(tables, names.get(field, ""), further)
        if complements:
            fallbacks[field] = complements
        for column in candidates:
            if column == names[field]:
                continue
            if column in complements:
                unread[column] = f"{column!r} has values where {names[field]!r} has none"
            elif field in chosen_by_user:
                unread[column] = f"{column!r} is not read; {field} is read from {names[field]!r}"
            else:
                unread[column] = _reason(column, field, names[field], column in with_values)
    for column in there:
        if column in names.values() or column in unread:
            continue
        # The numbers that pandas gives its rows are no loss.
        if not _INDEX_COLUMNS.fullmatch(column) or not _counts_rows(tables, column):
            unread[column] = f"{column!r} is no field that is read"
    ordered = {field: names[field] for field in fields if field in names}
    in_order = {column: unread[column] for column in there if column in unread}
    return ChosenColumns(ordered, in_order, fallbacks)


def _complements(
    tables: Sequence[pd.DataFrame], column: str, further: Sequence[str]
) -> tuple[str, ...]:
    """Return those of further columns that never have a value beside that of another."""
    read = [column]
    for candidate in further:
        is_apart = True
        for table in tables:
            held = [table[each] for each in (*read, candidate) if each in table]
            filled = sum(cells.map(_is_value).astype(int) for cells in held)
            is_apart = is_apart and not (len(held) > 1 and (filled > 1).any())
        if is_apart:
            read.append(candidate)
    return tuple(read[1:])


def _named_column(field: str, name: str, fields: FieldNames, there: Sequence[str]) -> str:
    checked_choice(field, fields, "field")
    if name in there:
        return name
    alike = [column for column in there if bare_column(column) == bare_column(name)]
    if len(alike) != 1:
        raise UsageError(f"no column {name!r}; available: {', '.join(there) or 'none'}")
    return alike[0]


def _fitting(known: Sequence[str], there: Iterable[str], taken: set[str]) -> list[str]:
    """Return the columns that have one of a field's names, in the order of these."""
    by_name: dict[str, list[str]] = {}
    for column in there:
        if column not in taken:
            by_name.setdefault(bare_column(column), []).append(column)
    return [column for name in known for column in by_name.get(name, ())]


def _reason(column: str, field: str, taken: str, has_values: bool) -> str:
    if not has_values:
        return f"{column!r} is empty; {field} is read from {taken!r}"
    choice = f"choose with --column {field}={column}"
    return f"{column!r} has values too; {field} is read from {taken!r}; {choice}"


def _has_values(tables: Iterable[pd.DataFrame], column: str) -> bool:
    return any(_is_value(value) for table in tables for value in table.get(column, ()))


def _is_value(value: object) -> bool:
    if isinstance(value, list | dict):
        return bool(value)
    return not is_missing_cell(value) and value not in _EMPTY_LISTS


def without_row_numbers(table: pd.DataFrame) -> frozenset[str]:
    """Return the columns of a table that say something of its rows, rather than number them.

    Whole numbers in an index that pandas wrote only tell rows apart, in any order. Under another
    name for one they do where they grow from row to row. A column ``id`` always says something.
    """
    saying = set[str]()
    for column in map(str, table):
        is_of_pandas = _INDEX_COLUMNS.fullmatch(column) and column != "index"
        if not is_of_pandas and bare_column(column) not in _ROW_NUMBERS:
            saying.add(column)
            continue
        texts = [name_text(value) for value in table[column] if not is_missing_cell(value)]
        digits = [str(text) for text in texts]
        if not all(text.isdecimal() and len(text) <= _MOST_DIGITS for text in digits):
            saying.add(column)
            continue
        numbers = [int(text) for text in digits]
        grows = all(one < other for one, other in pairwise(numbers))
        if not (is_of_pandas or grows):
            saying.add(column)
    return frozenset(saying)


def _counts_rows(tables: Iterable[pd.DataFrame], column: str) -> bool:
    """Tell whether a column holds the whole numbers from 0 or 1 on, or nothing."""
    for table in tables:
        if column not in table:
            continue
        values = [str(value) for value in table[column] if not is_missing_cell(value)]
        first = values[0] if values else "0"
        if first not in ("0", "1"):
            return False
        numbers = range(int(first), int(first) + len(values))
        if any(value != str(number) for value, number in zip(values, numbers, strict=True)):
            return False
    return True
