"""The records of a JSON value, in the shapes that programs write tables in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
"""How deep in objects the list of records is looked for."""

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
    columns, data = value.get("columns"), value.get("data")
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
    has_numbered_rows = all(name.isdigit() for name in value)
    is_regular = all(part.keys() == parts[0].keys() for part in parts)
    if is_regular and not has_numbered_rows and all(name.isdigit() for name in parts[0]):
        return [{name: value[name][row] for name in value} for row in parts[0]]
    if has_numbered_rows:
        return [dict(part) for part in parts]
    if is_regular and len(parts) > 1:
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


def _listed_records(value: Mapping[str, Any]) -> list[Record]:
    """Find the list of records in an object, and say of each what the objects around it say."""
    level: list[tuple[str, Mapping[str, Any], Record]] = [("", value, {})]
    for _ in range(MOST_LEVELS_ABOVE):
        found = [each for inner in level for each in _record_lists(*inner)]
        if found:
            _, records, said = _likeliest(found)
            return [{**said, **it} if isinstance(it, Mapping) else it for it in records]
        level = [each for inner in level for each in _objects(*inner)]
    raise ValueError("holds an object without a list of records")


def _likeliest(found: list[tuple[str, list[Any], Record]]) -> tuple[str, list[Any], Record]:
    if len(found) == 1:
        return found[0]
    for name in LISTS:
        for path, records, said in found:
            if path.rpartition(".")[2] == name:
                return path, records, said
    paths = ", ".join(path for path, _, _ in found)
    raise ValueError(f"holds several lists of records ({paths})")


def _scalars(value: Mapping[str, Any]) -> Record:
    return {name: it for name, it in value.items() if isinstance(it, str | int | float)}


def _record_lists(
    path: str, value: Mapping[str, Any], said: Record
) -> Iterator[tuple[str, list[Any], Record]]:
    for name, inner in value.items():
        if isinstance(inner, list) and any(isinstance(item, Mapping) for item in inner):
            yield f"{path}.{name}".lstrip("."), inner, said | _scalars(value)


def _objects(
    path: str, value: Mapping[str, Any], said: Record
) -> Iterator[tuple[str, Mapping[str, Any], Record]]:
    for name, inner in value.items():
        if isinstance(inner, Mapping):
            yield f"{path}.{name}".lstrip("."), inner, said | _scalars(value)
