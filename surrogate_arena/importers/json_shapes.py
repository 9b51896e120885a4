"""The records of a JSON value, in the shapes that programs write tables in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.data.types import Record

LISTS = (
    "data",
    "results",
    "records",
    "rows",
    "items",
    "test_cases",
    "examples",
    "samples",
    "instances",
    "entries",
    "answers",
    "responses",
    "battles",
    "judgments",
    "annotations",
)
"""Names of the list of records in an object that holds several lists, the likeliest first."""
MOST_LEVELS_ABOVE = 4
"""Maximum depth in objects at which the list of records is looked for."""

KEY = "key"
"""Column of the names that an object gives its records."""


def json_items(value: object) -> list[Any]:
    """Return the items of a JSON value that should be records.

    Args:
        value: An array; an object around the one array of records, whose texts and numbers are
            said of all records; or a table as pandas writes it, by columns or by rows.

    Raises:
        ValueError: If it is something else. The message is a clause that says what is wrong.
    """
    if isinstance(value, list):
        return value
    if not isinstance(value, Mapping):
        raise ValueError("holds neither an array nor an object")
    table = _split_table(value) or _nested_table(value) or _column_lists(value)
    return _listed_records(value) if table is None else table


def _split_table(value: Mapping[str, Any]) -> list[Record] | None:
    """Read ``{"columns": [...], "data": [[...], ...]}``."""
    columns = value.get("columns")
    data = value.get("data")
    if not isinstance(columns, list) or not isinstance(data, list):
        return None
    names = [str(name) for name in columns]
    if not all(isinstance(row, list) and len(row) == len(names) for row in data):
        return None
    return [dict(zip(names, row, strict=True)) for row in data]


def _nested_table(value: Mapping[str, Any]) -> list[Record] | None:
    """Read ``{column: {row: value}}``, or ``{row: {column: value}}``."""
    parts = list(value.values())
    if not parts or not all(isinstance(part, Mapping) and part for part in parts):
        return None
    # pandas numbers rows: columns are hardly ever called 0, 1, 2.
    if all(name.isdigit() for name in value):
        return [dict(part) for part in parts]
    is_regular = all(part.keys() == parts[0].keys() for part in parts)
    if not is_regular:
        return None
    if all(name.isdigit() for name in parts[0]):
        records = []
        for row in parts[0]:
            records.append({name: column[row] for name, column in value.items()})
        return records
    if len(parts) > 1:
        return [{KEY: name, **part} for name, part in value.items()]
    return None


def _column_lists(value: Mapping[str, Any]) -> list[Record] | None:
    """Read ``{column: [value, ...]}``."""
    columns = list(value.values())
    if len(columns) < 2 or not all(isinstance(column, list) for column in columns):
        return None
    if len({len(column) for column in columns}) != 1:
        return None
    if any(isinstance(column[0], Mapping) for column in columns if column):
        return None
    return [dict(zip(value, row, strict=True)) for row in zip(*columns, strict=True)]


@dataclass(frozen=True)
class _Node:
    """A value in an object: its path, and the texts and numbers of the objects around it."""

    path: str
    value: Any
    around: Record


def _listed_records(value: Mapping[str, Any]) -> list[Record]:
    """Find the list of records in an object; each gets the fields of the objects around it."""
    level = [_Node("", value, {})]
    for _ in range(MOST_LEVELS_ABOVE):
        inner = [part for node in level for part in _parts(node)]
        lists = [node for node in inner if isinstance(node.value, list)]
        if lists:
            node = _likeliest(lists)
            return [
                {**node.around, **record} if isinstance(record, Mapping) else record
                for record in node.value
            ]
        level = [node for node in inner if isinstance(node.value, Mapping)]
    raise ValueError("holds an object without a list of records")


def _parts(node: _Node) -> Iterator[_Node]:
    """Yield the objects in an object, and its lists that hold records."""
    around = dict(node.around)
    for name, part in node.value.items():
        if isinstance(part, str | int | float):
            around[name] = part
    for name, part in node.value.items():
        is_list = isinstance(part, list) and any(isinstance(record, Mapping) for record in part)
        if is_list or isinstance(part, Mapping):
            yield _Node(f"{node.path}.{name}".lstrip("."), part, around)


def _likeliest(lists: Sequence[_Node]) -> _Node:
    if len(lists) == 1:
        return lists[0]
    for name in LISTS:
        for node in lists:
            if node.path.rpartition(".")[2] == name:
                return node
    paths = ", ".join(node.path for node in lists)
    raise ValueError(f"holds several lists of records ({paths}), whose names no record states")
