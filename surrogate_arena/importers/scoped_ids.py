"""Names of systems and questions that records share, made distinct by their other values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain, combinations
from typing import Any, NamedTuple

from arena.data.types import Record
from surrogate_arena.importers.collected import Place
from surrogate_arena.importers.field_maps import FieldMap
from surrogate_arena.importers.record_values import at, opened_record
from surrogate_arena.importers.values import id_text

MOST_LABEL = 60
"""Characters of a prompt's label that names a system."""


class ToolRow(NamedTuple):
    """A record with its file and line, and the values of its fields."""

    place: Place
    record: Record
    values: Record


def name_variants(kind: FieldMap, rows: Sequence[ToolRow]) -> None:
    """Name a system with several prompts once for each prompt."""
    if kind.variant is None:
        return
    variants: dict[object, set[str]] = {}
    for row in rows:
        variant = str(at(row.record, kind.variant))
        variants.setdefault(row.values["system"], set()).add(variant)
    if all(len(prompts) == 1 for prompts in variants.values()):
        return
    for row in rows:
        if row.values["system"] is None:
            continue
        label = at(row.record, "prompt.label")
        is_name = isinstance(label, str) and not {"\n", "{"} & {*label}
        if not is_name or len(label) > MOST_LABEL:
            index = at(row.record, kind.variant)
            label = f"prompt {index + 1 if isinstance(index, int) else index}"
        row.values["system"] = f"{row.values['system']} | {label}"


def scope_ids(kind: FieldMap, rows: Sequence[ToolRow], system_path: str) -> None:
    """Put before ids what they are unique within, such as the task, where there are several.

    The path of the systems' names is left out: they answer the same questions.
    """
    scopes: list[list[str]] = [[] for _ in rows]
    for path in kind.id_scope:
        if path == system_path:
            continue
        # A scope that never differs within the wider ones tells nothing.
        names = [str(at(row.record, path) or "") for row in rows]
        if not _is_one_each(map(tuple, scopes), names):
            for scope, name in zip(scopes, names, strict=True):
                scope.append(name)
    settings = _telling_settings(kind, rows, scopes)
    for row, scope, setting in zip(rows, scopes, settings, strict=True):
        query_id = row.values.get("query_id")
        if query_id is None:
            continue
        outer = filter(None, [*scope, setting])
        row.values["query_id"] = "/".join([*outer, id_text(query_id)])


def _telling_settings(
    kind: FieldMap, rows: Sequence[ToolRow], scopes: Sequence[Sequence[str]]
) -> list[str]:
    """Return the settings of each record that tell questions apart which share an id.

    They are as few as may be, of as few values: those of a system tell no questions apart.

    Returns:
        Texts such as ``lang=en``; empty ones where no ids are shared, or no settings tell.
    """
    nothing = [""] * len(rows)
    keys = []
    for row, scope in zip(rows, scopes, strict=True):
        keys.append((*scope, str(row.values.get("query_id"))))
    questions = [row.values["question"] for row in rows]
    if kind.settings is None or _is_one_each(keys, questions):
        return nothing
    settings = [opened_record(at(row.record, kind.settings)) for row in rows]
    names = sorted(set(map(str, chain.from_iterable(settings))))
    most_settings = 2
    for count in range(1, most_settings + 1):
        telling: list[list[str]] = []
        for chosen in combinations(names, count):
            texts = [_setting_text(record, chosen) for record in settings]
            if _is_one_each(zip(keys, texts, strict=True), questions):
                telling.append(texts)
        if telling:
            # Settings with more values may only tell runs of a system apart.
            return min(telling, key=lambda texts: len(set(texts)))
    return nothing


def _setting_text(settings: Mapping[str, Any], names: Sequence[str]) -> str:
    """Write settings as ``lang=en,level=2``."""
    return ",".join(f"{name}={settings[name]}" for name in names if name in settings)


def _is_one_each(keys: Iterable[Hashable], values: Iterable[str | None]) -> bool:
    """Return whether each key has one value, missing ones aside."""
    values_by_key: dict[Hashable, str] = {}
    for key, value in zip(keys, values, strict=True):
        if value is not None and values_by_key.setdefault(key, value) != value:
            return False
    return True
