"""Records within records: what stands at a path, and the text, number or passages it holds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from arena.data.files import parsed_json
from arena.data.schema import finite_number

Record = Mapping[str, Any]

USER = ("user", "human")
ASSISTANT = ("assistant", "ai")
MOST_LEVELS = 6
"""Paths are listed as deep as this."""

_INNER = ("content", "text", "messages", "kwargs", "data", "choices", "message")
_PASSAGE_TEXTS = ("text", "page_content", "pageContent", "content")
_LETTERS = MappingProxyType({"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0})
_WORDS = MappingProxyType({"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0})


def at(record: object, path: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return what stands at a path such as ``vars.question``, or None.

    Names may hold dots themselves, as the columns ``inputs.question`` of a table do.
    """
    if not isinstance(record, Mapping):
        return None
    if path in record:
        return record[path]
    name, dot, rest = path.partition(".")
    while dot:
        if name in record:
            found = at(record[name], rest)
            if found is not None:
                return found
        further, dot, rest = rest.partition(".")
        name = f"{name}.{further}"
    return None


def paths_of(record: object, levels: int = MOST_LEVELS) -> Iterator[str]:
    """Yield the paths of a record that hold something that is no record."""
    if not isinstance(record, Mapping) or not levels:
        return
    for name, value in record.items():
        if isinstance(value, Mapping) and value:
            yield from (f"{name}.{path}" for path in paths_of(value, levels - 1))
        elif value is not None:
            yield str(name)


def text_of(value: object, roles: Sequence[str]) -> str | None:
    """Return the text of a value as programs log it, or None if it holds none.

    Args:
        value: A text; a message or a list of them, of which the last by one of ``roles`` counts;
            parts of a text; a completion with ``choices``; or one of these in a record.
        roles: Whose messages count.
    """
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, Mapping):
        if _role(value) not in (None, *roles):
            return None
        inner = (text_of(value[name], roles) for name in _INNER if name in value)
        only = next(iter(value.values())) if len(value) == 1 else None
        return next((text for text in inner if text is not None), None) or (
            text_of(only, roles) if isinstance(only, str) else None
        )
    if not isinstance(value, list) or not value:
        return None
    if all(isinstance(item, Mapping) and item.get("type") == "text" for item in value):
        return text_of("\n".join(str(item.get("text", "")) for item in value), roles)
    texts = (text_of(item, roles) for item in reversed(value) if isinstance(item, Mapping))
    return next((text for text in texts if text is not None), None)


def _role(message: Mapping[str, Any]) -> str | None:
    role = message.get("role")
    if role is None and ("content" in message or "data" in message):
        role = message.get("type")
    named = isinstance(role, str) and role in (*USER, *ASSISTANT, "system", "tool", "developer")
    return str(role) if named else None


def answer_of(value: object) -> str | None:
    """Return an answer: its text, or the JSON of what is no text.

    None if there is nothing in it: no text, empty records, messages without a text.
    """
    text = text_of(value, ASSISTANT)
    if text is not None or _is_chat(value) or _is_empty(value):
        return text
    return json.dumps(value, ensure_ascii=False)


def _is_chat(value: object) -> bool:
    """Tell whether a value without a text is a message, or holds some, and no other data."""
    if isinstance(value, list):
        return any(isinstance(item, Mapping) and _is_chat(item) for item in value)
    if not isinstance(value, Mapping):
        return False
    is_message = _role(value) is not None or any(
        isinstance(value.get(name), str) for name in ("content", "text")
    )
    inner = (value.get(name) for name in ("message", "choices"))
    return is_message or "messages" in value or any(map(_is_chat, inner))


def _is_empty(value: object) -> bool:
    if isinstance(value, Mapping | list):
        return all(map(_is_empty, value.values() if isinstance(value, Mapping) else value))
    return value is None or (isinstance(value, str) and not value.strip())


def number_of(value: object) -> float | None:
    """Return a score as a number: true is 1, C, P, I, N are 1, 0.5, 0, 0; of a list its mean.

    ``C`` (correct), ``P`` (partly), ``I`` (incorrect) and ``N`` (no answer) are those of Inspect.
    """
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        known = _LETTERS.get(value, _WORDS.get(value.strip().lower()))
        if known is not None:
            return known
    if isinstance(value, list) and value:
        numbers = [number_of(item) for item in value]
        whole = [number for number in numbers if number is not None]
        return sum(whole) / len(whole) if len(whole) == len(numbers) else None
    return finite_number(value)


def passages_at(value: object) -> object:
    """Return passages as ``arena.data.schema.passages_of`` reads them.

    Args:
        value: A text, a list of texts, or of records with their text as ``text``, ``content`` or
            ``page_content``; records keep their id and title.
    """
    if isinstance(value, Mapping):
        inner = [value[name] for name in ("documents", "contexts", "passages") if name in value]
        value = inner[0] if len(inner) == 1 else [value]
    if not isinstance(value, list):
        return value
    items = [_passage(item) for item in value]
    ids = [item["passage_id"] for item in items if isinstance(item, dict) and "passage_id" in item]
    if len(set(ids)) < len(items):  # several parts of one document, or some without an id
        for item in items:
            if isinstance(item, dict):
                item.pop("passage_id", None)
    return items


def _passage(item: object) -> object:
    if not isinstance(item, Mapping):
        return item
    inner = _record_at(item, "kwargs") or item
    text = next((inner[name] for name in _PASSAGE_TEXTS if name in inner), None)
    told = _record_at(inner, "metadata")
    known = {
        "text": text,
        "passage_id": next((inner[name] for name in ("passage_id", "id") if inner.get(name)), None),
        "title": inner.get("title") or told.get("title"),
    }
    return {name: value for name, value in known.items() if isinstance(value, str)}


def _record_at(record: Record, name: str) -> Record:
    found = record.get(name)
    return found if isinstance(found, Mapping) else {}


def opened(value: object) -> object:
    """Return the list, record or text that a cell of a table holds as JSON, else the cell."""
    if not isinstance(value, str) or value[:1] not in ("{", "[", '"'):
        return value
    try:
        return parsed_json(value)
    except ValueError:
        return value
