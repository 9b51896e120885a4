"""Scores that tools keep with a record: each is a judge, whose mark is the mean of its values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import fsum

from arena.data.types import Record
from surrogate_arena.importers.collected import Collected, Place
from surrogate_arena.importers.field_maps import FieldMap
from surrogate_arena.importers.record_values import (
    at,
    opened_list,
    opened_record,
    opened_value,
    score_of,
)

_LABEL_COLUMNS = ("tags", "scores")
"""Columns of texts that are no scores."""


@dataclass(frozen=True)
class Category:
    """A score that is a label, not a number."""

    label: str


def scores_of(kind: FieldMap, record: Record) -> dict[str, list[object]]:
    """Return the values of each score of a record: numbers, categories, or None if one lacks."""
    values_by_score: dict[str, list[object]] = {}
    for name, path in kind.scores.items():
        holder, star, rest = path.partition("*")
        if not star:
            value = at(record, path)
            if value is not None:
                values_by_score.setdefault(name, []).extend(_values(value))
            continue
        for score, value in _scores_in(kind, record, holder.removesuffix("."), rest):
            if score is None:
                continue  # ``unnamed_scores`` counts it
            for part, values in _parts(score, value):
                values_by_score.setdefault(part, []).extend(values)
    return values_by_score


def _scores_in(
    kind: FieldMap, record: Record, holder: str, rest: str
) -> Iterator[tuple[str | None, object]]:
    """Yield the scores that a record of scores, a list of them, or columns hold, with their names.

    Args:
        kind: Says which columns hold something else.
        record: The record.
        holder: Path of the scores; the whole record if it is empty.
        rest: The path behind the name of a score, such as ``.value``.
    """
    if not holder:
        yield from _columns_of_lists(kind, record)
        return
    held = at(record, holder)
    for name, value in opened_record(held).items():
        yield str(name), at(value, rest[1:]) if rest else value
    for element in opened_list(held):
        title = _first(opened_record(element), ("name", "key", "metric", "metric_name"))
        yield None if title is None else str(title), opened_value(element)
    start = f"{holder}."
    for column, value in record.items():
        if column.startswith(start) and column.endswith(rest) and value is not None:
            yield column.removeprefix(start).removesuffix(rest), value


def unnamed_scores(kind: FieldMap, record: Record) -> int:
    """Return how many items of a record's lists of scores have no name, such as mere ids."""
    count = 0
    for path in kind.scores.values():
        holder, star, rest = path.partition("*")
        if star and holder:
            scores = _scores_in(kind, record, holder.removesuffix("."), rest)
            count += sum(name is None for name, _ in scores)
    return count


def plain_scores(kind: FieldMap, record: Record) -> list[str]:
    """Return the names of numbers and truth values other than the usual scores."""
    if kind.no_scores is None:
        return []
    passed = {_plain_name(name) for name in (*kind.no_scores, *kind.roots, *_LABEL_COLUMNS)}
    names = [name for name in record if _plain_name(name) not in passed]
    return [name for name in names if score_of(record[name], kind.words) is not None]


def _plain_name(name: str) -> str:
    """Return a name in lower case, without marks between its words."""
    return "".join(filter(str.isalnum, name.lower()))


def _columns_of_lists(kind: FieldMap, record: Record) -> Iterator[tuple[str, list[object]]]:
    """Yield columns that hold lists of numbers, of which some may be missing, or of labels."""
    for name, value in record.items():
        values = opened_list(value)
        items = [element for element in values if element is not None]
        if not items:
            continue
        if all(score_of(element, kind.words) is not None for element in items):
            yield name, values
            continue
        # In a table, an export of Langfuse writes the labels of a score as text of a list.
        is_label = isinstance(value, str) and name not in (*kind.roots, *_LABEL_COLUMNS)
        if is_label and all(isinstance(element, str) for element in items):
            yield name, [Category(element) for element in items]


def _parts(score: str, value: object) -> Iterator[tuple[str, list[object]]]:
    """Yield a score, or the parts of one that is a record of several."""
    inside = opened_value(value)
    if not isinstance(inside, Mapping) or _is_score(inside):
        yield score, _values(inside)
        return
    for part, inner in inside.items():
        yield f"{score}.{part}", _values(inner)


_VALUES = ("score", "value", "avg")
_TYPES = ("dataType", "data_type")
_LABELS = ("stringValue", "string_value", "label")


def _is_score(record: Mapping[str, object]) -> bool:
    return not record.keys().isdisjoint((*_VALUES, *_TYPES, *_LABELS))


def _values(value: object) -> list[object]:
    """Return a score's values, one after another."""
    inside = opened_value(value)
    if isinstance(inside, list):
        values: list[object] = []
        for element in inside:
            values += _values(element)
        return values
    if isinstance(inside, Mapping) and _is_score(inside):
        return [_value_of_score(inside)]
    return [inside]


def _value_of_score(record: Mapping[str, object]) -> object:
    """Return the number of a score with its type, or its category."""
    value = _first(record, _VALUES)
    label = _first(record, _LABELS)
    counts = record.get("values")  # where LangSmith counts the labels of a score
    if value is None and label is None and isinstance(counts, Mapping) and counts:
        return Category(", ".join(map(str, counts)))
    type_name = _first(record, _TYPES)
    if type_name is not None:
        if str(type_name).upper() in ("NUMERIC", "BOOLEAN"):
            return _first(record, (*_VALUES, *_LABELS))
        return Category(str(_first(record, (*_LABELS, *_VALUES))))
    if label is None or (value is not None and score_of(label, {}) is not None):
        return value
    # A label and a number, without a type: 0 is what tools write where no number is set.
    return Category(str(label)) if value in (None, 0) else value


def _first(record: Mapping[str, object], names: tuple[str, ...]) -> object:
    for name in names:
        if record.get(name) is not None:
            return record[name]
    return None


def marks_of(
    collected: Collected, place: Place, kind: FieldMap, record: Record, judges: tuple[str, ...]
) -> dict[str, float | None]:
    """Return the mark of each score: the mean of its values, the higher the better.

    Values that are no numbers are counted as left out.

    Args:
        collected: Counts what is left out.
        place: The record's file and line.
        kind: Says where the scores are, and which are better where they are lower.
        record: The record.
        judges: Names of the scores to read, or their paths.
    """
    values_by_score = scores_of(kind, record)
    marks: dict[str, float | None] = {}
    for judge in judges:
        values = values_by_score.get(judge)
        if values is None:
            values = _values(at(record, judge))
        numbers: list[float] = []
        for value in values or [None]:
            number = score_of(value, kind.words)  # of a category there is none
            if number is None:
                collected.skip(place, "score", f"{judge!r} {_fault(value)}")
            else:
                numbers.append(number)
        mark = _mean(numbers)
        if mark is not None and judge in kind.lower_is_better:
            mark = -mark
        marks[judge] = mark
    return marks


def _mean(numbers: list[float]) -> float | None:
    """Return the mean, rounded so that equal values have the same mean, however many they are."""
    # The mean of 0.1 and 0.1 and 0.1 is not 0.1 in floating point, and would beat it.
    digits = 12
    return round(fsum(numbers) / len(numbers), digits) if numbers else None


def _fault(value: object) -> str:
    if value is None:
        return "is missing"
    if isinstance(value, Category):
        return "is a category, not a number"
    return "is no number"
