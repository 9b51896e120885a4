"""Paths of fields in a tool's records: those the user named, or the usual ones that hold values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from arena.data.errors import UsageError, checked_choice
from arena.data.schema import HISTORY
from arena.data.types import Record
from arena.data.wording import first_of
from surrogate_arena.importers.amounts import AMOUNT_FIELDS
from surrogate_arena.importers.contract import FILE
from surrogate_arena.importers.conversations import last_exchange
from surrogate_arena.importers.field_maps import FieldMap, usual_names
from surrogate_arena.importers.passages import passages_of
from surrogate_arena.importers.plain_tables import NEEDED
from surrogate_arena.importers.record_values import (
    ASSISTANT,
    USER,
    at,
    dotted,
    is_log,
    messages_of,
    named_argument,
    opened_value,
    paths_of,
    text_of,
    unquoted,
)

_TEXTS = ("question", "answer")
"""Fields that one record may have at another path than the next."""


@dataclass(frozen=True)
class FieldPaths:
    """The paths that fields are read from.

    Attributes:
        names: Field to its path.
        fallbacks: Field to the paths of records that have nothing at the first.
        user_fields: Fields whose path the user named.
        unread: Paths that may hold passages to the number of records where they hold none; empty
            where passages are read.
    """

    names: dict[str, str]
    fallbacks: dict[str, list[str]]
    user_fields: frozenset[str]
    unread: Mapping[str, int]

    def shown(self) -> str:
        """Return which path each field is read from."""
        texts = []
        for name, path in self.names.items():
            paths = " or ".join(map(repr, [path, *self.fallbacks[name]]))
            texts.append(f"{name} from {paths}")
        return ", ".join(texts)

    def values(self, record: Record) -> Record:
        """Return the value of each field of a record, and the turns before its question."""
        values: Record = {}
        for name, path in self.names.items():
            is_stated = name in self.user_fields
            value = _value(name, record, path, is_stated=is_stated)
            for fallback in self.fallbacks[name]:
                if value is None and _is_fit(name, record, fallback):
                    path = fallback
                    value = _value(name, record, path, is_stated=is_stated)
            if name in (*_TEXTS, "reference") and isinstance(value, str):
                value = unquoted(value)
            values[name] = value
            if name == "question":
                values[HISTORY] = last_exchange(messages_of(at(record, path))).history
        return values


@dataclass
class _Survey:
    """What records hold at the paths where fields may be.

    Attributes:
        user_fields: Fields whose path the user named.
        holding: Fields and paths at which a record has its first value.
        plain: Those of them at which a record has a text.
        unread: Paths of passages to the number of records where they hold none.
    """

    user_fields: frozenset[str]
    holding: set[tuple[str, str]] = field(default_factory=set)
    plain: set[tuple[str, str]] = field(default_factory=set)
    unread: Counter[str] = field(default_factory=Counter)

    def look(self, name: str, record: Record, paths: Sequence[str]) -> None:
        """Look for the first path at which a record has a value of a field."""
        for path in paths:
            value = _value(name, record, path, is_stated=name in self.user_fields)
            if value is None:
                continue
            # That a path holds passages is sure once one record has some there.
            is_new = (name, path) not in self.holding
            if name == "passages" and is_new and not _holds_passages(value):
                self.unread[path] += 1
                continue
            self.holding.add((name, path))
            if name in _TEXTS and _is_plain(record, path):
                self.plain.add((name, path))
            return


def chosen_paths(
    kind: FieldMap, records: Sequence[Record], columns: Mapping[str, str], n_files: int
) -> FieldPaths:
    """Choose the path of each field: the one named, else the first of the tool's with a value.

    Args:
        kind: The tool, with the usual paths of each field.
        records: Its records.
        columns: Field to the path that the user named.
        n_files: Number of files: the name of a single file is no system's, unless nothing else is.

    Raises:
        UsageError: For an unknown field, a path that holds nothing, and where no path holds the
            question, the system or the answer.
    """
    user_paths = {name: _stated_path(kind, name, columns[name], records) for name in columns}
    candidates: dict[str, list[str]] = {}
    for name, paths in kind.fields.items():
        candidates[name] = [user_paths[name]] if name in user_paths else _usable(paths, n_files)
    survey = _Survey(frozenset(user_paths))
    # All paths of one record at a time, so that its JSON text is opened once.
    for record in records:
        for name, paths in candidates.items():
            survey.look(name, record, paths)
    # A path that the user named is the only one of its field.
    names = dict(user_paths)
    fallbacks: dict[str, list[str]] = {name: [] for name in user_paths}
    lacking = list(NEEDED)
    for name, paths in candidates.items():
        holding = [path for path in paths if (name, path) in survey.holding]
        if holding and name in lacking:
            lacking.remove(name)
        if not holding or name in user_paths:
            continue
        names[name] = holding[0]
        fallbacks[name] = [
            path
            for path in holding[1:]
            if (name, path) in survey.plain or _is_same_place(name, path, holding[0])
        ]
    if lacking:
        raise UsageError(_lacking_fields(kind, records, lacking))
    return FieldPaths(
        names={name: names[name] for name in kind.fields if name in names},
        fallbacks=fallbacks,
        user_fields=survey.user_fields,
        unread={} if "passages" in names else survey.unread,
    )


def _usable(paths: Sequence[str], n_files: int) -> list[str]:
    """Leave out the name of the file where there is one file, unless it is the last resort."""
    usable = []
    for number, path in enumerate(paths, start=1):
        is_usable = path != FILE or n_files > 1 or number == len(paths)
        if is_usable and path not in usable:
            usable.append(path)
    return usable


def _stated_path(kind: FieldMap, name: str, path: str, records: Sequence[Record]) -> str:
    """Return a path that the user named, its brackets as dots.

    Raises:
        UsageError: If the field is unknown, or no record has anything there.
    """
    checked_choice(name, kind.fields, f"field of {kind.tool}")
    # A column of a table may have brackets in its name.
    for written in (path, dotted(path)):
        if any(at(record, written) is not None for record in records):
            return written
    shown = _shown_paths(_listed_paths(kind, records))
    raise UsageError(f"no record has anything at {path!r}; they have {shown}")


def _lacking_fields(kind: FieldMap, records: Sequence[Record], lacking: Sequence[str]) -> str:
    """Return which fields are missing, what records have, and how to name a path."""
    listed = _listed_paths(kind, records)
    example = FILE
    listed.pop(FILE, None)
    if lacking[0] != "system":
        # A text is the best example, and one where the field usually is better still.
        roots = {path.partition(".")[0] for path in kind.fields[lacking[0]]}
        texts = [path for path, is_text in listed.items() if is_text]
        usual = [path for path in [*texts, *listed] if path.partition(".")[0] in roots]
        example = next(iter([*usual, *texts]), "PATH")
    return (
        f"no record says its {' or '.join(lacking)} where {kind.tool} usually has it; they have "
        f"{_shown_paths(listed)}; say where with --column, such as --column "
        f"{lacking[0]}={example}; or {kind.hint}"
    )


def _shown_paths(paths: Mapping[str, bool]) -> str:
    most_shown = 40
    return first_of(list(paths), most_shown)


def _listed_paths(kind: FieldMap, records: Sequence[Record]) -> dict[str, bool]:
    """Return the paths of texts and lists in records, and whether a text is there.

    Those that begin like a field's usual paths come first, in the order of the fields.
    """
    most_records = 100
    is_text: dict[str, bool] = {}
    for record in records[:most_records]:
        for path, value in paths_of(record):
            inside = opened_value(value)
            # Nothing else can be read as a field.
            if isinstance(inside, str | list) and inside:
                is_text[path] = is_text.get(path, False) or isinstance(inside, str)
    ranks = {root: rank for rank, root in enumerate(kind.roots)}

    def order(path: str) -> tuple[int, bool, str]:
        root = path.partition(".")[0]
        return ranks.get(root, len(ranks)), not is_text[path], path

    return {path: is_text[path] for path in sorted(is_text, key=order)}


def _value(name: str, record: Record, path: str, *, is_stated: bool) -> Any:  # noqa: ANN401
    """Return what a field takes of the value at a path, or None if that is nothing."""
    value = at(record, path)
    # A path that the user named leads to the text itself.
    if name in _TEXTS and not is_stated:
        value = _inside(value, usual_names(name))
    if name == "answer":
        return text_of(value, ASSISTANT)
    if name == "passages":
        return None if value in ("", [], {}) else value
    if name == "query_id" or name in AMOUNT_FIELDS:
        return None if isinstance(value, Mapping | list) else value
    if name == "reference":
        inside = opened_value(value)
        # Of several references each is right: the first is as good as any.
        if isinstance(inside, list) and inside and isinstance(inside[0], str):
            value = inside[0]
        return text_of(value, ASSISTANT)
    return text_of(value, USER)


def _inside(value: Any, names: Sequence[str], levels: int = 4) -> Any:  # noqa: ANN401
    """Return what a record, also one that is JSON text, has under one of some names, or itself."""
    inside = opened_value(value)
    if not isinstance(inside, Mapping) or not levels:
        return value
    argument = named_argument(inside, names)
    if argument is not None:
        return _inside(argument, names, levels - 1)
    for name in names:
        inner = inside.get(name)
        if isinstance(inner, str) and inner.strip():
            return _inside(inner, names, levels - 1)
    return value


def _holds_passages(value: object) -> bool:
    """Return whether a value can be read as passages: ``context`` may be anything."""
    try:
        return bool(passages_of(value))
    except ValueError:
        return False


def _is_plain(record: Record, path: str) -> bool:
    """Return whether a path holds a text, or a log of messages: no record of something else."""
    value = opened_value(at(record, path))
    return not isinstance(value, Mapping) or is_log(value)


def _is_fit(name: str, record: Record, path: str) -> bool:
    """Return whether the value at a path other than a field's first may be the field's."""
    if name in _TEXTS:
        return _is_plain(record, path)
    if name == "passages":
        value = opened_value(at(record, path))
        return isinstance(value, list | Mapping) and _holds_passages(value)
    return True


def _is_same_place(name: str, path: str, first: str) -> bool:
    """Return whether two paths end in one name, such as ``run_id`` and ``metadata.run_id``.

    Another name of a system or an id may name something else. Passages of one holder, such as
    ``output.contexts`` and ``output.sources``, are the same.
    """
    if name in _TEXTS:
        return False
    holder, _, leaf = path.rpartition(".")
    first_holder, _, first_leaf = first.rpartition(".")
    if name == "passages" and holder and holder == first_holder:
        return True
    return leaf.replace("_", "").lower() == first_leaf.replace("_", "").lower()
