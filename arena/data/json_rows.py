"""Rows of JSON: an object a line, or one value that holds all records."""

from __future__ import annotations

import json
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from arena.data.errors import (
    DataError,
    Problem,
    UsageError,
)
from arena.data.files import (
    lenient_text,
    parsed_json,
)
from arena.data.json_shapes import json_items
from arena.data.rows import (
    BadRowError,
    Numbered,
    Rows,
    bounded_lines,
    check_encoding,
    rows_of_records,
)
from arena.data.wording import repeated

MOST_JSON_BYTES = 2**30
"""A file that is one JSON value is read in one piece: a larger one is refused."""
JSON_NAMES = {dict: "object", list: "array", str: "string", int: "number", float: "number"}
JSON_NAMES |= {bool: "boolean", type(None): "null"}
_ONE_OBJECT_A_LINE = "write one JSON object a line"
_ONE_ARRAY = "write one JSON array of objects"


def read_json_rows(path: Path, source: str) -> Rows:
    """Read a file that holds one JSON value, or an object a line whatever its name says."""
    try:
        return rows_of_items(read_json_value(path, source, _ONE_ARRAY), source)
    except DataError:
        rows = rows_of_records(json_records(path, source), source)
        if rows.table.empty or len(rows.lines) + len(rows.problems) < 2:
            raise
        return rows


def rows_of_items(value: object, source: str) -> Rows:
    """Make rows of a JSON value that ``json_items`` reads, by the places of its items.

    Raises:
        DataError: If it holds no items.
    """
    numbered = enumerate(_items(value, source), start=1)
    return rows_of_records(
        ((place, json_object(item, source, place)) for place, item in numbered), source
    )


def _items(value: object, source: str) -> list[Any]:
    try:
        return json_items(value)
    except ValueError as error:
        raise DataError([Problem(source, None, None, None, str(error), _ONE_ARRAY)]) from None


def json_records(path: Path, source: str) -> Numbered:
    """Yield each line of a JSONL file with its number: the object it holds, or what is wrong.

    Of a file that is one JSON array, in spite of its name, the items with their places.
    """
    with lenient_text(path) as stream:
        numbered = enumerate(bounded_lines(stream, source), start=1)
        first = next(((number, line) for number, line in numbered if line.strip()), None)
        if first is None:
            return
        if _opens_array(first[1]):
            yield from _records_of_array(path, source)
            return
        for number, line in chain([first], numbered):
            if line.strip():
                try:
                    value = _json_value(line.rstrip(), _ONE_OBJECT_A_LINE)
                    yield number, json_object(value, source, number)
                except BadRowError as bad:
                    yield number, bad.problem(source, number)


def _opens_array(line: str) -> bool:
    """Tell whether a file's first line is that of an array that goes on, or of a whole table."""
    text = line.strip()
    if text in ("[", "{"):
        return True
    return text.startswith("[{") and not text.startswith("[{}")


def _records_of_array(path: Path, source: str) -> Numbered:
    items = _items(read_json_value(path, source, _ONE_OBJECT_A_LINE), source)
    for place, item in enumerate(items, start=1):
        yield place, json_object(item, source, place)


def json_object(value: object, source: str, line: int) -> dict[str, Any] | Problem:
    """Return a value of JSON if it is an object, else say what stands there."""
    if isinstance(value, dict):
        return value
    fault = f"holds a JSON {JSON_NAMES[type(value)]}, not an object"
    return Problem(source, line, None, None, fault, _ONE_OBJECT_A_LINE)


def read_json_value(path: Path, source: str, hint: str = "write one JSON value") -> Any:  # noqa: ANN401
    """Read a file that is one JSON value, of at most ``MOST_JSON_BYTES``.

    Raises:
        UsageError: If it is too large to be read in one piece.
        DataError: If it is no JSON.
    """
    if path.stat().st_size > MOST_JSON_BYTES:
        raise UsageError(f"{path} is larger than {MOST_JSON_BYTES:,} bytes; write it as .jsonl")
    with lenient_text(path) as stream:
        text = stream.read()
    try:
        return _json_value(text, hint)
    except BadRowError as bad:
        raise DataError([bad.problem(source, None)]) from None


def _json_value(text: str, hint: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    check_encoding(text)
    try:
        return parsed_json(text, cls=_strict)
    except json.JSONDecodeError as error:
        fault = f"is not JSON ({error.msg} at column {error.colno})"
        raise BadRowError(fault, hint) from error
    except ValueError as error:
        raise BadRowError(f"is not usable JSON ({error})", hint) from error


def _distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        twice = repeated(key for key, _ in pairs)[0]
        raise BadRowError(f"holds the key {twice!r} several times", "keep one of them")
    return record


def _missing_constant(_name: str) -> None:
    """Read NaN and infinities, which programs write for missing numbers, as such."""


@cache
def _strict() -> json.JSONDecoder:
    return json.JSONDecoder(object_pairs_hook=_distinct_keys, parse_constant=_missing_constant)
