"""Records whose texts of JSON are opened, and whose dotted names are records within records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arena.data.files import MOST_LEVELS
from arena.data.types import Record
from surrogate_arena.importers.values import opened_or_same, unquoted


def opened_value(value: object, levels: int = MOST_LEVELS) -> Any:  # noqa: ANN401 - of JSON
    """Return a value as paths see it.

    Texts that hold JSON are opened, at any depth; quoted texts lose their quotes. A name with dots,
    such as ``inputs.question``, is also a record in a record; numbers are places in a list.
    """
    if isinstance(value, str):
        text = unquoted(value)
        inside = opened_or_same(text)
        return text if isinstance(inside, str) or not levels else opened_value(inside, levels - 1)
    if hasattr(value, "tolist"):
        value = value.tolist()
    if not levels:
        return value
    if isinstance(value, Mapping):
        opened = {str(name): opened_value(inner, levels - 1) for name, inner in value.items()}
        return _nested(opened) if any("." in name for name in opened) else opened
    if isinstance(value, list):
        # Texts in a list are not opened: a passage may be JSON.
        return [
            unquoted(item) if isinstance(item, str) else opened_value(item, levels - 1)
            for item in value
        ]
    return value


def _nested(record: Record) -> Record:
    nested = dict(record)
    for name, value in record.items():
        *outer, last = name.split(".")
        holder: Any = nested
        for part in outer:
            if isinstance(holder, dict):
                holder = holder.setdefault(part, {})
        if outer and isinstance(holder, dict):
            holder.setdefault(last, value)
    return {
        name: value if name in record and "." in name else _with_lists(value)
        for name, value in nested.items()
    }


def _with_lists(value: object) -> Any:  # noqa: ANN401 - whatever JSON holds
    if not isinstance(value, dict):
        return value
    inner = {name: _with_lists(item) for name, item in value.items()}
    if inner and all(map(str.isdecimal, inner)):
        return [inner[name] for name in sorted(inner, key=int)]
    return inner


def texts_in(value: object, path: str = "", levels: int = 8) -> dict[str, str]:
    """Return the paths in an opened record that lead to a text, each with the text."""
    if isinstance(value, str):
        return {path: value} if value.strip() else {}
    inner: list[tuple[str, object]] = []
    if isinstance(value, Mapping):
        inner = [(f"{path}.{name}" if path else str(name), item) for name, item in value.items()]
    elif isinstance(value, list):
        inner = [(f"{path}[{number}]", item) for number, item in enumerate(value[:2])]
    texts: dict[str, str] = {}
    for place, item in inner if levels else ():
        texts.update(texts_in(item, place, levels - 1))
    return texts
