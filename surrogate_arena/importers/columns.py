"""Which column of a table holds what: one list of names, and one choice, for every command.

``columns.toml`` has the names. Of several columns that fit a field, the one with values is read.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain, pairwise
from types import MappingProxyType
from typing import Any, Literal

import pandas as pd

from arena.data.errors import UsageError, checked_choice
from arena.data.rows import Rows as TableRows
from surrogate_arena.importers.cells import is_missing_cell, name_text

Rows = Literal["answers", "pairs"]
"""What a row of a table is: one answer; two systems, with or without their answers; or two answers,
one of which is the better one."""
FieldNames = Mapping[str, tuple[str, ...]]
"""Field to the names that its column may have, the best first, as ``bare_column`` writes them."""
NO_COLUMNS: Mapping[str, str] = MappingProxyType({})
NEEDED = ("question", "system", "answer")
NEEDED_OF_PAIRS = ("question", "system_a", "answer_a", "system_b", "answer_b")
FILE = "file"
"""Name of a column that holds the file's name without its ending: one file per system."""

_CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Za-z])(?=[0-9])")
_SEPARATORS = re.compile(r"[\s_()\[\]-]+")
"""Of words; units stand in brackets, as in ``Latency (s)``."""
_RANGE = re.compile(r"\s*\(\s*[0-9]+\s*(?:-|–|to)\s*[0-9]+\s*\)\s*$")
"""The range of a scale after the name of a column, as in ``Rating (1-5)``."""
_INDEX_COLUMNS = re.compile(r"(?:Unnamed: \d+|index|level_\d+|__index_level_\d+__|)")


@dataclass(frozen=True)
class ChosenColumns:
    """The columns that are read of tables of one layout.

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
        values: dict[str, Any] = {}
        for field, column in self.names.items():
            values[field] = record.get(column)
            for fallback in self.fallbacks.get(field, ()):
                if not is_value(values[field]) and is_value(record.get(fallback)):
                    values[field] = record[fallback]
        return values


@lru_cache(maxsize=1024)  # asked for each row
def bare_column(name: str) -> str:
    """Return the name of a column without what does not count: ``Model A`` is ``model_a``."""
    words = _SEPARATORS.sub("_", _CAMEL_CASE.sub("_", _RANGE.sub("", name).strip()))
    return words.strip("_").casefold()


@cache
def field_names(rows: Rows) -> FieldNames:
    """Return the fields that rows may have, with the names of their columns."""
    text = files(__package__).joinpath("columns.toml").read_text(encoding="utf-8")
    sections = tomllib.loads(text)
    fields = sections["rows"] | sections[rows]
    bare_names = {field: tuple(map(bare_column, names)) for field, names in fields.items()}
    return MappingProxyType(bare_names)


def chosen_columns(
    tables: Sequence[pd.DataFrame], fields: FieldNames, named: Mapping[str, str] = NO_COLUMNS
) -> ChosenColumns:
    """Choose the column of each field.

    Args:
        tables: Tables of one layout, which may lack columns that others have.
        fields: Those of ``field_names``, or some of them.
        named: Field to the column that the user chose for it.

    Returns:
        Of the columns that fit a field, the first with values in the order of the field's names;
        the first of all if none has values.

    Raises:
        UsageError: If a chosen column is not there, or a field is unknown.
    """
    columns = list(dict.fromkeys(map(str, chain.from_iterable(tables))))
    filled = {column for column in columns if _has_values(tables, column)}
    names: dict[str, str] = {}
    for field, column in named.items():
        names[field] = _named_column(field, column, fields, columns)
    reasons: dict[str, str] = {}
    fallbacks: dict[str, tuple[str, ...]] = {}
    for field, field_columns in fields.items():
        candidates = _fitting(field_columns, columns, set(names.values()))
        if not candidates:
            continue
        filled_candidates = [column for column in candidates if column in filled]
        if field in named:
            for column in candidates:
                reasons[column] = f"{column!r} is not read; {field} is read from {names[field]!r}"
            continue
        chosen = (filled_candidates or candidates)[0]
        names[field] = chosen
        # Tables with different names were joined: each row has a value under one of them.
        complements = _complements(tables, filled_candidates)
        if complements:
            fallbacks[field] = complements
        for column in candidates:
            if column in complements:
                reasons[column] = f"{column!r} has values where {chosen!r} has none"
            elif column != chosen:
                reasons[column] = _reason(column, field, chosen, column in filled)
    for column in columns:
        if column in names.values() or column in reasons:
            continue
        # The numbers that pandas gives its rows are no loss.
        if not is_index_name(column) or not counts_rows(tables, column):
            reasons[column] = f"{column!r} is no field that is read"
    return ChosenColumns(
        names={field: names[field] for field in fields if field in names},
        unread={column: reasons[column] for column in columns if column in reasons},
        fallbacks=fallbacks,
    )


def _complements(tables: Sequence[pd.DataFrame], columns: Sequence[str]) -> tuple[str, ...]:
    """Return those of further columns that have values only in rows where the others have none.

    Args:
        tables: Tables that may have the columns.
        columns: Columns with values, the best first.
    """
    compatible = list(columns[:1])
    for column in columns[1:]:
        if all(_is_complement(table, compatible, column) for table in tables):
            compatible.append(column)
    return tuple(compatible[1:])


def _is_complement(table: pd.DataFrame, others: Sequence[str], column: str) -> bool:
    """Return whether a column has no value in a row in which another one has."""
    present = [name for name in (*others, column) if name in table]
    n_filled = sum(table[name].map(is_value).astype(int) for name in present)
    return len(present) < 2 or not (n_filled > 1).any()


def _named_column(field: str, name: str, fields: FieldNames, columns: Sequence[str]) -> str:
    checked_choice(field, fields, "field")
    if name in columns:
        return name
    alike = [column for column in columns if bare_column(column) == bare_column(name)]
    if len(alike) != 1:
        raise UsageError(f"no column {name!r}; available: {', '.join(columns) or 'none'}")
    return alike[0]


def _fitting(names: Sequence[str], columns: Iterable[str], taken: set[str]) -> list[str]:
    """Return the columns that have one of a field's names, in the order of these."""
    by_name: dict[str, list[str]] = {name: [] for name in names}
    for column in columns:
        # A column serves one field, the first that it fits.
        name = bare_column(column)
        if name in by_name and column not in taken:
            by_name[name].append(column)
    return list(chain.from_iterable(by_name.values()))


def _reason(column: str, field: str, chosen: str, is_filled: bool) -> str:
    if not is_filled:
        return f"{column!r} is empty; {field} is read from {chosen!r}"
    choice = f"choose with --column {field}={column}"
    return f"{column!r} has values too; {field} is read from {chosen!r}; {choice}"


def _has_values(tables: Iterable[pd.DataFrame], column: str) -> bool:
    return any(any(map(is_value, table.get(column, ()))) for table in tables)


def is_value(value: object) -> bool:
    """Tell whether a cell holds something: neither a missing value nor an empty collection."""
    if isinstance(value, list | dict):
        return bool(value)
    return not is_missing_cell(value) and value not in ("[]", "{}")


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


def without_row_numbers(table: pd.DataFrame) -> frozenset[str]:
    """Return the columns of a table that say something of its rows, rather than number them.

    Whole numbers in an index that pandas wrote only tell rows apart, in any order. Under another
    name for one they do where they grow from row to row. A column ``id`` always says something.
    """
    return frozenset(column for column in map(str, table) if not _numbers_rows(table, column))


def may_number_rows(column: str) -> bool:
    """Tell whether a column has a name for one that numbers rows."""
    return is_index_name(column) or bare_column(column) in _ROW_NUMBERS


def _numbers_rows(table: pd.DataFrame, column: str) -> bool:
    # A column of the user's that is called "index" may hold anything.
    is_of_pandas = is_index_name(column) and column != "index"
    if not may_number_rows(column):
        return False
    # Longer numbers are ids, such as hashes, and too long to compare as integers.
    most_digits = 18
    numbers: list[int] = []
    for value in table[column]:
        if is_missing_cell(value):
            continue
        digits = str(name_text(value))
        if not digits.isdecimal() or len(digits) > most_digits:
            return False
        numbers.append(int(digits))
    return is_of_pandas or all(number < following for number, following in pairwise(numbers))


def is_index_name(column: str) -> bool:
    """Tell whether pandas may have named a column so: that of the numbers of its rows."""
    return _INDEX_COLUMNS.fullmatch(column) is not None


def counts_rows(tables: Iterable[pd.DataFrame], column: str) -> bool:
    """Return whether a column holds the whole numbers from 0 or 1 on, or nothing."""
    for table in tables:
        texts = [str(value) for value in table.get(column, ()) if not is_missing_cell(value)]
        if not texts:
            continue
        first = 1 if texts[0] == "1" else 0
        if texts != [str(number) for number in range(first, first + len(texts))]:
            return False
    return True


_NUMBER = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,6})?")
NUMBERED_FIELDS = (("query_id",), ("system",), ("system_a", "system_b"), ("winner",))
"""Fields whose cells may be names or ids; those of one group are written alike."""


def with_whole_names(rows: TableRows, names: Mapping[str, str]) -> TableRows:
    """Write names and ids as whole numbers where a program wrote a column of them as decimals."""
    table = rows.table
    for fields in NUMBERED_FIELDS:
        columns = [names[field] for field in fields if names.get(field) in table]
        if not are_decimals(cell for column in columns for cell in table[column]):
            continue
        for column in columns:
            numbers = list(map(whole_name, table[column]))
            table = table.assign(**{column: pd.Series(numbers, table.index, dtype=object)})
    return replace(rows, table=table)


def are_decimals(cells: Iterable[object]) -> bool:
    """Tell whether cells of names or ids are numbers, some of which a program wrote as decimals.

    pandas writes the numbers 4 and 3.5 of one column as ``4.0`` and ``3.5``. A column that holds
    any other text is left as it is: there ``4.0`` may be a version.
    """
    has_decimals = False
    for cell in cells:
        if cell is None:
            continue
        if not isinstance(cell, str) or not _NUMBER.fullmatch(cell):
            return False
        has_decimals = has_decimals or "." in cell
    return has_decimals


def whole_name(cell: object) -> object:
    """Write a decimal that ``are_decimals`` accepts as the whole number it is: 4.0 is ``4``."""
    return name_text(float(cell)) if isinstance(cell, str) and "." in cell else cell
