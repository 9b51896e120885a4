"""JSON in the replies of models: as JSON is defined, or else as json_repair reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from json_repair import repair_json

_CODE_BLOCK = re.compile(r"```\w{0,10}\s(.*?)```", re.DOTALL)
_WORD_BEGINS = re.compile(r"(?<=[a-z])(?=[A-Z\d])")
_NOT_IN_A_KEY = re.compile(r"[\W_]+")


class JsonReplyError(ValueError):
    """A reply without a readable object of these fields."""


def last_json_object(text: str, fields: Collection[str], is_whole: bool) -> dict[str, Any]:
    """Return the last JSON object with one of the fields.

    Where none is JSON, it is repaired, unless the reply was cut off.
    """
    last: dict[str, Any] | None = None
    for value in _objects(text):
        last = _with_fields(value, fields) or last
    if last is None and is_whole:
        last = _with_fields(_repaired(text), fields)
    if last is None:
        why = "" if is_whole else ", and was cut off"
        raise JsonReplyError(f"the reply holds no JSON object with {' or '.join(fields)}{why}")
    return last


def json_list(text: str, name: str) -> list[Any] | None:
    """Return a reply's list, bare, in code or under a name."""
    block = _CODE_BLOCK.search(text)
    try:
        value = json.loads(text if block is None else block[1], strict=False)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, Mapping):
        value = with_plain_keys(value).get(name)
    return value if isinstance(value, list) else None


def with_plain_keys(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return keys in lower case, with underscores between words."""
    plain = {}
    for key, part in value.items():
        words = _WORD_BEGINS.sub("_", str(key)).casefold()
        plain[_NOT_IN_A_KEY.sub("_", words)] = part
    return plain


def _with_fields(value: object, fields: Collection[str]) -> dict[str, Any] | None:
    if not isinstance(value, dict):
        return None
    record = with_plain_keys(value)
    if len(record) == 1 and record.keys().isdisjoint(fields):
        (inner,) = record.values()
        if isinstance(inner, dict):
            record = with_plain_keys(inner)  # the reply names the object
    return None if record.keys().isdisjoint(fields) else record


def _objects(text: str) -> Iterator[object]:
    """Yield the outermost JSON objects of a text."""
    # Not strict: models write line breaks and tabs into texts as they are.
    decoder = json.JSONDecoder(strict=False)
    start = text.find("{")
    most_starts = 100
    for _ in range(most_starts):
        if start < 0:
            return
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            yield value
        start = text.find("{", end)


def _repaired(text: str) -> object:
    blocks = _CODE_BLOCK.findall(text)
    source = blocks[-1] if blocks else text[max(text.find("{"), 0) :]
    # Repairing takes long; what is longer is read only if it is JSON.
    longest_repaired = 20_000
    if "{" not in source or len(source) > longest_repaired:
        return None
    try:
        value = repair_json(source, return_objects=True, skip_json_loads=True)
    except (ValueError, RecursionError):
        return None
    return value[-1] if isinstance(value, list) and value else value
