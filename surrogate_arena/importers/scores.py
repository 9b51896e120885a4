"""Scores that tools keep with a record: each is a judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import fsum

from arena.data.types import Record
from surrogate_arena.importers.collected import Collected, Place
from surrogate_arena.importers.contract import value_at
from surrogate_arena.importers.tool_maps import Scores
from surrogate_arena.importers.values import mark_of

_NAMES = ("name", "key", "metric", "metric_name", "metricName")
_VALUES = ("score", "value", "avg", "result")
_LABELS = ("stringValue", "string_value", "label")
_TYPES = ("dataType", "data_type")
"""Fields of a score, the first with a value."""


_CATEGORY = object()
"""A score that is a label, not a number."""


def marks_of(
    collected: Collected, place: Place, scores: Scores, record: Record, named: Mapping[str, str]
) -> dict[str, float]:
    """Return the mean of each score's values; count those that are no numbers."""
    values_by_score: dict[str, list[object]] = {}
    for name, value in _scores_in(scores, record, named):
        if name is None:
            collected.skip(place, "score", "it has no name")
            continue
        for part, values in _parts(name, value):
            values_by_score.setdefault(part, []).extend(values)
    marks: dict[str, float] = {}
    for name, values in values_by_score.items():
        numbers: list[float] = []
        for value in values:
            number = _number(value, scores.words)
            if number is None:
                collected.skip(place, "score", f"{name!r} {_fault(value)}")
            else:
                collected.check_scale(place, name, value, number)
                numbers.append(number)
        if numbers:
            # The mean of 0.1 and 0.1 and 0.1 is not 0.1 in floating point, and would beat it.
            marks[name] = round(fsum(numbers) / len(numbers), 12)
    return marks


def _scores_in(
    scores: Scores, record: Record, named: Mapping[str, str]
) -> Iterator[tuple[str | None, object]]:
    for name, path in {**scores.named, **named}.items():
        value = value_at(record, path)
        if value is not None:
            yield name, value
    for path in scores.at:
        holder = value_at(record, path)
        if isinstance(holder, Mapping):
            yield from holder.items()
        elif isinstance(holder, list):
            for item in holder:
                title = _first(item, _NAMES) if isinstance(item, Mapping) else None
                yield None if title is None else str(title), item
    for column, value in record.items():
        is_free = column not in named and column not in scores.not_columns
        if scores.columns and is_free and _is_listed_score(value):
            yield column, value


def _is_listed_score(value: object) -> bool:
    items = [item for item in value if item is not None] if isinstance(value, list) else []
    return bool(items) and all(isinstance(item, str | int | float) for item in items)


def numbers_beside(scores: Scores, record: Record) -> list[str]:
    """Return columns of single numbers, which are scores only if known or named."""
    if not scores.columns:
        return []
    return [
        column
        for column, value in record.items()
        if column not in scores.not_columns
        and not isinstance(value, list | dict)
        and mark_of(value) is not None
    ]


def _parts(name: str, value: object) -> Iterator[tuple[str, list[object]]]:
    if isinstance(value, Mapping) and isinstance(_first(value, _VALUES), Mapping):
        value = _first(value, _VALUES)
    if isinstance(value, Mapping) and not _is_score(value):
        for part, inner in value.items():
            yield f"{name}.{part}", _values(inner)
        return
    yield name, _values(value)


def _is_score(record: Mapping[str, object]) -> bool:
    return not record.keys().isdisjoint((*_VALUES, *_TYPES, *_LABELS))


def _values(value: object) -> list[object]:
    if isinstance(value, list):
        values: list[object] = []
        for item in value:
            values += _values(item)
        return values
    return [_value_of_score(value) if isinstance(value, Mapping) else value]


def _value_of_score(record: Mapping[str, object]) -> object:
    value = _first(record, _VALUES)
    label = _first(record, _LABELS)
    stated = str(_first(record, _TYPES) or "").upper()
    if stated in ("NUMERIC", "BOOLEAN"):
        return label if value is None else value
    if stated:
        return _CATEGORY
    is_labeled = label is not None or isinstance(record.get("values"), Mapping)
    if value is None and is_labeled:
        return _CATEGORY
    # Langfuse writes 0 where a score has a label alone.
    return label if value == 0 and record.get("stringValue") else value


def _first(record: Mapping[str, object], names: tuple[str, ...]) -> object:
    return next((record[name] for name in names if record.get(name) is not None), None)


def _number(value: object, words: Mapping[str, float]) -> float | None:
    word = str(value).strip()
    return words[word] if word in words else mark_of(value)


def _fault(value: object) -> str:
    return "is missing" if value is None else "is a category, not a number"
