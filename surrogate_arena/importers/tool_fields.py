"""Fields of tools' records, read at the first path with a value."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from arena.data.errors import UsageError, checked_choice
from arena.data.schema import HISTORY
from arena.data.types import Record
from arena.data.wording import first_of
from surrogate_arena.importers.collected import PlacedRecord
from surrogate_arena.importers.contract import FILE, MOST_NAMED, field_names, value_at
from surrogate_arena.importers.conversations import last_exchange
from surrogate_arena.importers.opened import texts_in
from surrogate_arena.importers.passages import passages_of
from surrogate_arena.importers.tool_maps import ToolMap
from surrogate_arena.importers.values import is_value, name_text, with_places

_NAMES = ("system", "query_id")
"""Fields whose values are names: another path may name something else."""


@dataclass
class FieldReading:
    """Reads the fields of records.

    Attributes:
        fields: Field to the paths that may hold it.
        stated: Fields whose path the user named.
        unread: Paths without readable passages, with counts.
    """

    map: ToolMap
    fields: Mapping[str, Sequence[str]]
    stated: frozenset[str]
    unread: Counter[str] = field(default_factory=Counter)
    _used: dict[str, dict[str, None]] = field(default_factory=dict)

    def values(self, record: Record) -> Record:
        """Return each field's value at its first path with one."""
        values: Record = {}
        for name, paths in self.fields.items():
            for path in paths:
                value = self._value(name, path, value_at(record, path))
                if value is not None:
                    values[name] = value
                    self._used.setdefault(name, {})[path] = None
                    if name == "question":
                        history = last_exchange(_messages(value_at(record, path))).history
                        values.update({HISTORY: history} if history else {})
                    break
        return values

    def used(self) -> dict[str, list[str]]:
        """Return by field the paths with a value in any record."""
        used = {}
        for name, paths in self._used.items():
            used[name] = [path for path in self.fields[name] if path in paths]
        return used

    def shown(self) -> str:
        """Return which paths each field was read from."""
        return ", ".join(
            f"{name} from {' or '.join(map(repr, paths))}" for name, paths in self.used().items()
        )

    def _value(self, name: str, path: str, value: object) -> Any:  # noqa: ANN401
        if not is_value(value):
            return None
        if name == "passages":
            return self._passages(path, value)
        if name in ("question", "answer", "reference"):
            text = text_of(name, value)
            if text is None and name == "answer" and name in self.stated:
                return json.dumps(value, ensure_ascii=False)
            return text
        if isinstance(value, list | Mapping) and name != HISTORY:
            return None
        return name_text(value) if name in _NAMES else value

    def _passages(self, path: str, value: object) -> object:
        separator = self.map.passage_separator
        if separator and isinstance(value, str):
            value = [part.strip() for part in value.split(separator) if part.strip()]
        try:
            if passages_of(value):
                return value
        except ValueError:
            if "passages" in self.stated:
                return value  # a fault of the row
        self.unread[path] += 1
        return None


def text_of(name: str, value: object) -> str | None:
    """Return a question's, answer's or reference's text as programs log it, or None."""
    if isinstance(value, str | int | float):
        text = name_text(value)
        return text if isinstance(text, str) and text.strip() else None
    value = _messages(value)
    listed = value if isinstance(value, list) else [value]
    if listed and all(isinstance(item, str) for item in listed):
        return str(listed[0]) if len(listed) == 1 or name == "reference" else None
    exchange = last_exchange(listed)
    text = exchange.question if name == "question" else exchange.reply
    return text if text.strip() else None


def _messages(value: object) -> object:
    if isinstance(value, Mapping):
        for name in ("messages", "contents"):
            if isinstance(value.get(name), list):
                return value[name]
    return value


def without_file(paths: Sequence[str]) -> list[str]:
    """Return paths without a single file's name, unless it is the last resort."""
    return [path for path in paths[:-1] if path != FILE] + list(paths[-1:])


def stated_paths(
    fields: Mapping[str, Sequence[str]],
    columns: Mapping[str, str],
    records: Sequence[PlacedRecord],
    tool: str,
) -> dict[str, Sequence[str]]:
    """Return fields' paths; those that the user names have that path alone."""
    chosen = dict(fields)
    for name, path in columns.items():
        checked_choice(name, list(field_names("answers")), f"field of {tool}")
        path = path if any(path in record for _, record in records) else with_places(path)
        if all(value_at(record, path) is None for _, record in records):
            paths = dict.fromkeys(p for _, record in records[:100] for p in texts_in(record))
            listed = first_of(list(paths), MOST_NAMED)
            raise UsageError(f"no record has anything at {path!r}; there are texts at {listed}")
        chosen[name] = [path]
    return chosen


def with_one_path_for_names(
    fields: Mapping[str, Sequence[str]], records: Sequence[PlacedRecord]
) -> dict[str, Sequence[str]]:
    """Keep the first path of names with a value in any record."""
    chosen = dict(fields)
    for name in _NAMES:
        for path in fields.get(name, ()):
            values = (value_at(record, path) for _, record in records)
            if any(is_value(value) and not isinstance(value, list | dict) for value in values):
                chosen[name] = [path]
                break
    return chosen
