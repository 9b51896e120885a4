"""Rows of JSON: an object per line, or one value that holds all records."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from itertools import chain
from math import isinf
from pathlib import Path
from typing import Any

from arena.data.errors import DataError, Problem, UsageError
from arena.data.files import parsed_json
from arena.data.rows import (
    Numbered,
    Rows,
    rows_of_records,
)
from arena.data.schema import AMOUNTS, PROBABILITIES
from arena.data.types import Record
from arena.data.wording import repeated
from surrogate_arena.importers.json_shapes import json_items
from surrogate_arena.importers.text_files import (
    BadRowError,
    NotUtf8Error,
    check_encoding,
    lenient_text,
)

MOST_JSON_BYTES = 2**30
"""A file that is one JSON value is read in one piece: a larger one is refused."""
JSON_NAMES = {
    dict: "object",
    list: "array",
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    type(None): "null",
}
_OBJECT_PER_LINE = "write one JSON object per line"
_ONE_ARRAY = "write one JSON array of objects"


def read_json_rows(path: Path, source: str) -> Rows:
    """Read a file that holds one JSON value, or an object per line in spite of its name."""
    try:
        return rows_of_items(read_json_value(path, source, _ONE_ARRAY), source)
    except DataError:
        rows = rows_of_records(jsonl_records(path, source), source)
        # A single line that is at fault is JSON that cannot be read, not a file of lines.
        if rows.table.empty or len(rows.lines) + len(rows.problems) < 2:
            raise
        return rows


def rows_of_items(value: object, source: str) -> Rows:
    """Make rows of a JSON value that ``json_items`` reads, numbered by their positions.

    Raises:
        DataError: If it holds no items.
    """
    return rows_of_records(_numbered_items(value, source), source)


def _numbered_items(value: object, source: str) -> Numbered:
    try:
        items = json_items(value)
    except ValueError as error:
        raise DataError.of_file(source, str(error), _ONE_ARRAY) from None
    for number, record in enumerate(items, start=1):
        yield number, json_object(record, source, number)


def jsonl_records(path: Path, source: str) -> Numbered:
    """Yield each line of a JSONL file with its number: the object it holds, or what is wrong.

    If the file is one JSON array in spite of its name, its items with their positions.
    """
    with lenient_text(path) as stream:
        numbered = enumerate(stream, start=1)
        first = next(((number, line) for number, line in numbered if line.strip()), None)
        if first is None:
            return
        if _opens_array(first[1]):
            value = read_json_value(path, source, _OBJECT_PER_LINE)
            yield from _numbered_items(value, source)
            return
        yield from line_records(chain([first], numbered), source)


def line_records(numbered: Iterable[tuple[int, str]], source: str) -> Numbered:
    """Yield the object that each numbered line holds, or what is wrong with it."""
    for number, line in numbered:
        if not line.strip():
            continue
        try:
            value = _json_value(line.rstrip(), _OBJECT_PER_LINE)
            yield number, json_object(value, source, number)
        except NotUtf8Error as bad:
            yield number, bad.problem(source, number)
            return
        except BadRowError as bad:
            yield number, bad.problem(source, number)


def _opens_array(line: str) -> bool:
    """Return whether a file's first line opens an array or object of several lines."""
    text = line.strip()
    if text in ("[", "{"):
        return True
    return text.startswith("[{") and not text.startswith("[{}")


def json_object(value: object, source: str, line: int) -> Record | Problem:
    """Return a value of JSON if it is an object, else its problem."""
    if isinstance(value, dict):
        return value
    fault = f"holds a JSON {JSON_NAMES[type(value)]}, not an object"
    return Problem(source, line, None, None, fault, _OBJECT_PER_LINE)


def read_json_value(path: Path, source: str, hint: str = "write one JSON value") -> Any:  # noqa: ANN401
    """Read a file that is one JSON value, of at most ``MOST_JSON_BYTES``.

    Raises:
        UsageError: If it is too large to be read in one piece.
        DataError: If it is not JSON.
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
        value = parsed_json(text, _strict_decoder())
    except json.JSONDecodeError as error:
        fault = f"is not JSON ({error.msg} at column {error.colno})"
        raise BadRowError(fault, hint) from error
    except ValueError as error:
        raise BadRowError(f"is not usable JSON ({error})", hint) from error
    return _without_infinities(value) if "Infinity" in text else value


@cache
def _strict_decoder() -> json.JSONDecoder:
    return json.JSONDecoder(object_pairs_hook=_distinct_keys, parse_constant=_constant)


def _distinct_keys(pairs: list[tuple[str, Any]]) -> Record:
    record = dict(pairs)
    if len(record) < len(pairs):
        key = repeated(key for key, _ in pairs)[0]
        raise BadRowError(f"holds the key {key!r} several times", "keep one of them")
    return record


def _constant(name: str) -> float | None:
    """Read NaN, which programs write for missing numbers, as null."""
    return None if name == "NaN" else float(name)


def _without_infinities(value: object, name: str = "") -> object:
    """Read infinities as null too, but not in columns of numbers, which are checked later."""
    if isinstance(value, dict):
        return {key: _without_infinities(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_infinities(inner) for inner in value]
    is_infinite = isinstance(value, float) and isinf(value)
    return None if is_infinite and name not in (*AMOUNTS, *PROBABILITIES) else value
