"""The contract of plain tables: which column is read as which field.

``names.toml`` holds the names of columns, which count only where cells agree: numbers are no
passages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from types import MappingProxyType
from typing import Any

import jmespath
import pandas as pd

from arena.data.errors import UsageError, checked_choice
from arena.data.wording import first_of
from surrogate_arena.importers.values import (
    contract,
    is_missing_cell,
    is_value,
    number_of,
    opened_or_same,
    option,
    with_places,
)

FILE = "file"
"""What a user writes for a field that is the name of a row's file."""
Frames = Sequence[pd.DataFrame]
"""Tables of one layout."""
NO_COLUMNS: Mapping[str, str] = MappingProxyType({})
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+|[^\W\d_]+")
MOST_NAMED = 10
"""Names that a message lists."""
MOST_ROWS = 200
"""Rows that tell what a column holds."""


def field_names(kind: str) -> Mapping[str, tuple[str, ...]]:
    """Return fields of ``answers`` or ``battles`` with the names of their columns."""
    return {name: tuple(names) for name, names in contract()[kind].items()}


@cache
def words_for_winners() -> Mapping[str, str]:
    """Return words in columns of winners, with their meanings."""
    meanings = contract()["winners"]
    return {word: meaning for meaning, words in meanings.items() for word in words}


@cache
def bare_column(name: str) -> str:
    """Return ``model_a`` for ``Model A``."""
    return "_".join(_WORDS.findall(name.strip())).casefold()


@dataclass(frozen=True)
class Columns:
    """Fields and their columns.

    Attributes:
        names: Field to its column.
        competitors: Field to further columns that might be meant.
        unread: Columns that no field is read from.
    """

    names: Mapping[str, str]
    competitors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unread: tuple[str, ...] = ()

    def notes(self) -> list[str]:
        """Say which column was taken of fields with competitors, and how to take another."""
        notes = []
        for name, others in self.competitors.items():
            chosen = self.names[name]
            for other in others:
                notes.append(
                    f"{name} is read from {chosen!r}, not from {other!r}: "
                    f"to change that, {option('column', f'{name}={other}')}"
                )
        return notes

    def values(self, record: Mapping[str, object]) -> dict[str, object]:
        """Return the fields that have a value in a row."""
        values = {name: record.get(column) for name, column in self.names.items()}
        kept = {name: value for name, value in values.items() if is_value(value)}
        answer = values.get("answer")
        # A word for a missing value, such as None, is what a reader sees of an answer.
        if isinstance(answer, str) and answer.strip() and is_missing_cell(answer):
            kept["answer"] = answer
        return kept


def with_paths(frame: pd.DataFrame, chosen: Mapping[str, str]) -> pd.DataFrame:
    """Add a column for each path that a user names, unless a column has this name."""
    paths = [path for path in chosen.values() if path not in frame and re.search(r"[.\[]", path)]
    if not paths or frame.empty:
        return frame
    records = [
        {str(name): opened_or_same(cell) for name, cell in record.items()}
        for record in frame.to_dict(orient="records")
    ]
    columns = {}
    for path in paths:
        found = [value_at(record, path) for record in records]
        if any(map(is_value, found)):
            columns[path] = pd.Series(found, frame.index, dtype=object)
    return frame.assign(**columns)


def paired_columns(columns: Iterable[str], *kinds: str) -> Iterator[tuple[str, str]]:
    """Yield two columns whose names differ in a pair of words: ``left_bot`` and ``right_bot``."""
    pairs = [pair for kind in kinds for pair in contract()["pairs"][kind]]
    by_words = {tuple(bare_column(name).split("_")): name for name in columns}
    for words, column in by_words.items():
        for first, second in pairs:
            other = by_words.get(tuple(second if word == first else word for word in words))
            if first in words and other is not None:
                yield column, other


_VERSUS = re.compile(r".+[ ._-]vs[ ._-].+", re.IGNORECASE)


def has_columns_of_pairs(frames: Frames) -> bool:
    """Return whether a column is of a pair, such as ``gpt-4o_vs_llama``."""
    return any(_VERSUS.fullmatch(column) for column in columns_in(frames))


def n_asking(cells: Sequence[object]) -> int:
    """Return how many cells end with a question mark."""
    return sum(str(cell).strip().endswith(("?", "？", "؟")) for cell in cells)


OTHER_SHAPES = (
    "a table begins with the names of its columns; the reference has short recipes for other "
    "shapes, such as 'A matrix of wins', 'A column per pair' and 'Rankings in columns', and a map "
    "reads records within records: import --map FILE.toml"
)
"""What a refusal ends with."""


def root_of(path: str) -> str:
    """Return the column that a path begins with."""
    return path.partition(".")[0].partition("[")[0]


def whole_columns(path: str) -> set[str]:
    """Return columns that a path of JMESPath reads whole, as in ``[context, notes]``."""
    try:
        expression = jmespath.compile(with_places(path))
    except jmespath.exceptions.JMESPathError:
        return {path}
    return _whole_fields(expression.parsed)


def _whole_fields(node: Mapping[str, Any]) -> set[str]:
    if node["type"] == "field":
        return {node["value"]}
    children = node["children"]
    if node["type"] in _PARTS_OF_FIELDS:
        children = [child for child in children[:1] if child["type"] != "field"]
    return set().union(*map(_whole_fields, children))


_PARTS_OF_FIELDS = {
    "subexpression",
    "index_expression",
    "projection",
    "value_projection",
    "filter_projection",
    "flatten",
}


def value_at(record: object, path: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the value of a record's literal name, or at a path of JMESPath, if any."""
    if isinstance(record, Mapping) and path in record:
        return record[path]
    try:
        found = jmespath.search(with_places(path), record)
    except jmespath.exceptions.JMESPathTypeError:
        return None  # a function of the path does not fit what is there
    except jmespath.exceptions.JMESPathError as error:
        raise UsageError(f"{path!r} is neither a column nor a path: {error}") from None
    return _at_dotted_names(record, path) if found is None else found


def _at_dotted_names(record: object, path: str) -> object:
    if not isinstance(record, dict):
        return None
    if path in record:
        return record[path]
    for end, character in enumerate(path):
        if character == "." and path[:end] in record:
            return _at_dotted_names(record[path[:end]], path[end + 1 :])
    return None


def chosen_columns(
    frames: Frames, kind: str, chosen: Mapping[str, str], scores: Sequence[str] = ()
) -> Columns:
    """Choose each field's column: named by the user, or by a known name.

    A column of ``scores`` is a judge of its own, so it does not hold verdicts as well.
    """
    fields = field_names(kind)
    columns = columns_in(frames)
    names = {name: _stated_column(name, column, fields, columns) for name, column in chosen.items()}
    competitors: dict[str, tuple[str, ...]] = {}
    taken = set(names.values())
    for name, known in fields.items():
        if name in names:
            continue
        passed = taken.union(scores) if name == "verdict" else taken
        fitting = [
            column
            for wanted in known
            for column in columns
            if bare_column(column) == wanted and column not in passed
        ]
        if not fitting:
            continue
        filled = [column for column in fitting if cells_of(frames, column)]
        names[name], *competing = filled or fitting[:1]
        taken.add(names[name])
        if competing:
            competitors[name] = tuple(competing)
    read = taken.union(*competitors.values())
    return Columns(names, competitors, tuple(name for name in columns if name not in read))


def _stated_column(name: str, column: str, fields: Iterable[str], columns: Sequence[str]) -> str:
    checked_choice(name, list(fields), "field")
    if column in columns or column == FILE:
        return column
    alike = [other for other in columns if bare_column(other) == bare_column(column)]
    if len(alike) != 1:
        raise UsageError(
            f"no column {column!r}; the columns are {first_of(list(columns), MOST_NAMED)}"
        )
    return alike[0]


def columns_in(frames: Frames) -> list[str]:
    """Return tables' columns in the order of first appearance."""
    return list(dict.fromkeys(str(name) for frame in frames for name in frame))


def cells_of(frames: Frames, column: str) -> list[object]:
    """Return a column's first cells that hold something."""
    return list(islice(_filled_cells(frames, column), MOST_ROWS))


def _filled_cells(frames: Frames, column: str) -> Iterator[object]:
    rows_at_once = 1_000
    for frame in frames:
        if column not in frame:
            continue
        cells = frame[column].dropna()
        for start in range(0, len(cells), rows_at_once):
            yield from filter(is_value, cells.iloc[start : start + rows_at_once])


_FILE_NAME = re.compile(
    r"https?://\S+|\S+\.[A-Za-z][A-Za-z0-9]{1,4}"
    r"|.+\.(?:pdf|docx?|pptx?|xlsx?|txt|md|html?|csv|json|xml)"
)


def are_numbers(cells: Sequence[object]) -> bool:
    """Return whether all cells are numbers."""
    return bool(cells) and all(number_of(cell) is not None for cell in cells)


def are_addresses(cells: Sequence[object]) -> bool:
    """Return whether all cells name files or addresses."""
    texts = [cell.strip() for cell in cells if isinstance(cell, str)]
    return len(texts) == len(cells) > 0 and all(map(_FILE_NAME.fullmatch, texts))


def are_labels(cells: Sequence[object]) -> bool:
    """Return whether cells are a few short values that repeat, such as verdicts."""
    # Such as ``PASS``
    longest_label = 24
    texts = [str(cell).strip() for cell in cells]
    if are_numbers(cells):
        return True
    is_short = all(len(text) <= longest_label and len(text.split()) <= 2 for text in texts)
    return is_short and len(set(texts)) <= max(2, len(texts) // 4)


_ID = re.compile(r"[A-Za-z0-9_.:/#-]*\d[A-Za-z0-9_.:/#-]*")


def are_ids(cells: Sequence[object]) -> bool:
    """Return whether all cells are words with a digit, such as ``q-12``."""
    return bool(cells) and all(_ID.fullmatch(str(cell).strip()) for cell in cells)


def are_texts(cells: Sequence[object]) -> bool:
    """Return whether cells may be answers: neither labels, addresses nor ids."""
    if not cells or not all(isinstance(cell, str) for cell in cells):
        return False
    return not (are_labels(cells) or are_addresses(cells) or are_ids(cells))
