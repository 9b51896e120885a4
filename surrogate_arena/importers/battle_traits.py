"""Differences of answers A and B in counts that the file holds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from arena.data.errors import UsageError, argument
from arena.data.types import Floats
from arena.data.wording import first_of
from arena.rating.biases import TRAIT
from surrogate_arena.importers.answer_traits import COUNTED, count_trait, relative_difference
from surrogate_arena.importers.columnar import ColumnTable
from surrogate_arena.importers.contract import (
    MOST_NAMED,
    bare_column,
    field_names,
    paired_columns,
    root_of,
    with_paths,
)
from surrogate_arena.importers.values import contract, is_missing_cell, number_of, opened_or_same


class _TraitColumns(NamedTuple):
    """The columns of a trait, numbers or texts in which it is counted."""

    trait: str
    columns: tuple[str, str]
    is_text: bool = False


def with_trait_columns(
    table: ColumnTable, traits: Sequence[str]
) -> tuple[ColumnTable, dict[str, tuple[str, ...]]]:
    """Add a column ``trait_...`` for each trait; also return the columns read.

    A trait is ``length``, ``lists``, ``headings`` or ``bold``, or two columns that differ in a word
    for a side (``tokens`` for ``tokens_a`` and ``tokens_b``). Records of numbers are added up.
    """
    read: dict[str, tuple[str, ...]] = {}
    for trait in traits:
        table, chosen = _chosen(table, trait)
        counts_a, counts_b = (_counts(table, column, chosen) for column in chosen.columns)
        difference = relative_difference(trait, counts_a, counts_b)
        table = replace(table, frame=table.frame.assign(**{f"{TRAIT}{trait}": difference}))
        read[trait] = chosen.columns
    return table, read


def trait_lines(read: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Say where each trait is read from."""
    return [
        f"{trait} is read from {' and '.join(map(repr, columns))}"
        for trait, columns in read.items()
    ]


def _chosen(table: ColumnTable, trait: str) -> tuple[ColumnTable, _TraitColumns]:
    usual = contract()["traits"].get(trait, [])
    for name in (*usual, trait):
        other = _of_other_side(name)
        with_both = _with_paths(table, (name, other))
        if name in with_both.frame and other in with_both.frame and name != other:
            return with_both, _TraitColumns(trait, (name, other))
    columns = list(map(str, table.frame))
    for first, second in paired_columns(columns, "sides"):
        if _without_side(first) == bare_column(trait):
            return table, _TraitColumns(trait, (first, second))
    if trait in COUNTED:
        answers = _column_of(columns, "answer_a"), _column_of(columns, "answer_b")
        if all(answers):
            return table, _TraitColumns(trait, answers, is_text=True)
    listed = first_of(columns, MOST_NAMED)
    in_texts = ""
    if trait in COUNTED:
        in_texts = "; in an arena folder with answers it is counted in their texts"
    raise UsageError(
        f"{table.source}: no columns of {trait!r} ({argument('equal')}): name two that differ in "
        f"a and b; the columns are {listed}{in_texts}"
    )


def _with_paths(table: ColumnTable, paths: Sequence[str]) -> ColumnTable:
    roots = [name for name in dict.fromkeys(map(root_of, paths)) if name in table.frame]
    inside = with_paths(table.frame[roots], dict(zip(paths, paths, strict=True)))
    added = inside.columns.difference(table.frame.columns)
    return replace(table, frame=table.frame.assign(**inside[added])) if len(added) else table


def _of_other_side(name: str) -> str:
    for first, second in contract()["pairs"]["sides"]:
        other = re.sub(rf"(?<![^\W_]){first}(?![^\W_])", second, name)
        if other != name:
            return other
    return name


def _without_side(column: str) -> str:
    sides = {first for first, _ in contract()["pairs"]["sides"]}
    return "_".join(word for word in bare_column(column).split("_") if word not in sides)


def _column_of(columns: Sequence[str], name: str) -> str:
    known = field_names("battles")[name]
    return next((column for column in columns if bare_column(column) in known), "")


def _counts(table: ColumnTable, column: str, chosen: _TraitColumns) -> Floats:
    cells = table.column(column)
    if chosen.is_text:
        return np.asarray(
            cells.mapped(lambda cell: count_trait(chosen.trait, str(cell)), np.nan),
            dtype=np.float64,
        )
    numbers = {cell: _number_in(cell) for cell in cells.cells}
    for cell, number in numbers.items():
        if number is None:
            raise UsageError(
                f"{table.source}: {column!r} holds {cell!s:.60} ({argument('equal')}), "
                "which is no number, nor a record of numbers"
            )
    return np.asarray(cells.mapped(numbers.get, np.nan), dtype=np.float64)


def _number_in(cell: object) -> float | None:
    """Return a cell's number, or a record's sum; NaN if it holds nothing."""
    if is_missing_cell(cell):
        return np.nan
    inside = opened_or_same(cell)
    if not isinstance(inside, dict):
        return number_of(inside)
    numbers = [number_of(value) for value in inside.values()]
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None
