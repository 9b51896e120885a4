"""Scores that tools keep with a record: each is a judge, whose mark is the mean of its values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import fsum

from arena.adapters.collected import Collected, Place, Record
from arena.adapters.field_maps import FieldMap
from arena.adapters.record_values import at, number_of, opened_value

_NAMES = ("name", "key", "metric", "metric_name")
_VALUES = ("score", "value", "avg")
_TYPES = ("dataType", "data_type")
_LABELS = ("stringValue", "string_value", "label")
_COUNTS = "values"
"""Where LangSmith counts the labels of a score."""
_NUMERIC_TYPES = frozenset({"NUMERIC", "BOOLEAN"})
_LABEL_COLUMNS = ("tags", "scores")
"""Columns of texts that are no scores."""
_ITEM = "score"
_DIGITS = 12


@dataclass(frozen=True)
class Category:
    """A score that is a label, not a number."""

    label: str


def scores_of(kind: FieldMap, record: Record) -> dict[str, list[object]]:
    """Return the values of each score of a record: numbers, categories, or None where one lacks."""
    found: dict[str, list[object]] = {}
    for name, path in kind.scores.items():
        place, star, inner = path.partition("*")
        if not star:
            value = at(record, path)
            if value is not None:
                found.setdefault(name, []).extend(_values(value))
            continue
        for score, value in _named_scores(kind, record, place.removesuffix("."), inner):
            for part, values in _parts(score, value):
                found.setdefault(part, []).extend(values)
    return found


def _named_scores(
    kind: FieldMap, record: Record, place: str, inner: str
) -> Iterator[tuple[str, object]]:
    """Yield what a record of scores, a list of them, or columns hold by name.

    Args:
        kind: Says which columns hold something else.
        record: The record.
        place: Path of the scores; the whole record if it is empty.
        inner: What follows the name of a score, such as ``.value``.
    """
    if not place:
        yield from _columns_of_lists(kind, record)
        return
    inside = opened_value(at(record, place))
    if isinstance(inside, Mapping):
        for name, value in inside.items():
            yield str(name), at(value, inner[1:]) if inner else value
    for item in inside if isinstance(inside, list) else ():
        score = opened_value(item)
        name = _first(score, _NAMES) if isinstance(score, Mapping) else None
        if name is not None:
            yield str(name), score
    start = f"{place}."
    for column, value in record.items():
        if column.startswith(start) and column.endswith(inner) and value is not None:
            yield column.removeprefix(start).removesuffix(inner), value


def unnamed_scores(kind: FieldMap, record: Record) -> int:
    """Return how many items of a record's lists of scores have no name, such as mere ids."""
    count = 0
    for path in kind.scores.values():
        place = path.partition("*")[0].removesuffix(".")
        inside = opened_value(at(record, place)) if place != path and place else None
        for item in inside if isinstance(inside, list) else ():
            score = opened_value(item)
            is_named = isinstance(score, Mapping) and _first(score, _NAMES) is not None
            count += not is_named
    return count


def plain_scores(kind: FieldMap, record: Record) -> list[str]:
    """Return the names of numbers and truth values that stand beside the usual scores."""
    if kind.no_scores is None:
        return []
    passed = {_plain_name(name) for name in (*kind.no_scores, *kind.roots, *_LABEL_COLUMNS)}
    return [
        name
        for name, value in record.items()
        if _plain_name(name) not in passed and number_of(value, kind.words) is not None
    ]


def _plain_name(name: str) -> str:
    """Return a name in lower case, without what stands between its words."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _columns_of_lists(kind: FieldMap, record: Record) -> Iterator[tuple[str, list[object]]]:
    """Yield columns that hold lists of numbers, of which some may be missing, or of labels."""
    for name, value in record.items():
        inside = opened_value(value)
        if not isinstance(inside, list):
            continue
        items = [item for item in inside if item is not None]
        numbers = [number_of(item, kind.words) for item in items]
        if numbers and None not in numbers:
            yield name, inside
        elif isinstance(value, str) and name not in (*kind.roots, *_LABEL_COLUMNS):
            # In a table, as exports of Langfuse write the labels of a score.
            labels = [Category(item) for item in items if isinstance(item, str)]
            if labels and len(labels) == len(items):
                yield name, [*labels]


def _parts(score: str, value: object) -> Iterator[tuple[str, list[object]]]:
    """Yield a score, or the parts of one that is a record of several."""
    inside = opened_value(value)
    is_one = isinstance(inside, Mapping) and _is_score(inside)
    if not isinstance(inside, Mapping) or is_one:
        yield score, _values(inside)
        return
    for part, inner in inside.items():
        yield f"{score}.{part}", _values(inner)


def _is_score(record: Mapping[str, object]) -> bool:
    return any(name in record for name in (*_VALUES, *_TYPES, *_LABELS))


def _values(value: object) -> list[object]:
    """Return a score's values, one after another."""
    inside = opened_value(value)
    if isinstance(inside, list):
        return [each for item in inside for each in _values(item)]
    if isinstance(inside, Mapping) and _is_score(inside):
        return [_value_of_score(inside)]
    return [inside]


def _value_of_score(record: Mapping[str, object]) -> object:
    """Return the number of a score with its type, or its category."""
    value, label = _first(record, _VALUES), _first(record, _LABELS)
    counts = record.get(_COUNTS)
    if value is None and label is None and isinstance(counts, Mapping) and counts:
        return Category(", ".join(map(str, counts)))
    type_name = _first(record, _TYPES)
    if type_name is None:
        is_number = value is not None or label is None
        if is_number and (label is None or number_of(label, {}) is not None):
            return value
        # A label beside a number, without a type: 0 is what stands there where no number is set.
        return Category(str(label)) if value in (None, 0) else value
    if str(type_name).upper() not in _NUMERIC_TYPES:
        return Category(str(label if label is not None else value))
    return label if value is None else value


def _first(record: Mapping[str, object], names: tuple[str, ...]) -> object:
    for name in names:
        if record.get(name) is not None:
            return record[name]
    return None


def marks_of(
    read: Collected, place: Place, kind: FieldMap, record: Record, judges: tuple[str, ...]
) -> dict[str, float | None]:
    """Return the mark of each score: the mean of its values, the higher the better.

    Values that are no numbers are counted as left out.

    Args:
        read: Counts what is left out.
        place: Where the record stands.
        kind: Says where the scores are, and which are better where they are lower.
        record: The record.
        judges: Names of the scores to read, or their paths.
    """
    known = scores_of(kind, record)
    marks: dict[str, float | None] = {}
    for judge in judges:
        values = known.get(judge)
        if values is None:
            values = _values(at(record, judge))
        numbers: list[float] = []
        for value in values or [None]:
            number = None if isinstance(value, Category) else number_of(value, kind.words)
            if number is None:
                read.skip(place.source, _ITEM, f"{judge!r} {_fault(value)}")
            else:
                numbers.append(number)
        mark = _mean(numbers)
        marks[judge] = -mark if mark is not None and judge in kind.lower_is_better else mark
    return marks


def _mean(numbers: list[float]) -> float | None:
    """Return the mean, rounded so that equal values have the same mean, however many they are."""
    return round(fsum(numbers) / len(numbers), _DIGITS) if numbers else None


def _fault(value: object) -> str:
    if value is None:
        return "is missing"
    return "is a category, not a number" if isinstance(value, Category) else "is no number"
