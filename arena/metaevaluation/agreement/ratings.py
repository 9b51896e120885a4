"""Ratings of items by any number of raters, some of them missing, as arrays."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from arena.errors import UsageError

IntArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
Label: TypeAlias = str | int | float

MISSING = -1
"""Code of a rating that was not given."""


@dataclass(frozen=True)
class Ratings:
    """Who rated what how.

    Attributes:
        codes: Place of each rating among the categories, shape (items, raters); ``MISSING`` where
            a rater did not rate an item.
        categories: What could be chosen, in order; the order matters to weights and levels.
    """

    codes: IntArray
    categories: tuple[Label, ...]

    @cached_property
    def counts(self) -> IntArray:
        """How often each item got each category, shape (items, categories)."""
        places = np.arange(len(self.categories))
        return np.asarray((self.codes[:, :, None] == places).sum(axis=1), dtype=np.int64)

    @cached_property
    def given(self) -> IntArray:
        """Number of ratings of each item, shape (items,)."""
        return np.asarray(self.counts.sum(axis=1), dtype=np.int64)

    @property
    def items(self) -> int:
        """Number of items, those without a rating among them."""
        return len(self.codes)

    @property
    def raters(self) -> int:
        """Number of columns, whether or not anything stands in them."""
        return int(self.codes.shape[1])

    @property
    def items_with_pairs(self) -> int:
        """Number of items with two ratings or more: only these can show agreement."""
        return int((self.given >= 2).sum())

    @property
    def used_categories(self) -> int:
        """Number of categories that were chosen at all."""
        return int(self.counts.any(axis=0).sum())

    @property
    def values(self) -> FloatArray:
        """What categories stand for on a scale: themselves if numbers, else their places from 1."""
        if all(_is_number(category) for category in self.categories):
            return np.array(self.categories, dtype=np.float64)
        return np.arange(1, len(self.categories) + 1, dtype=np.float64)


def code_ratings(
    rows: Sequence[Sequence[Label | None]], categories: Sequence[Label] | None = None
) -> Ratings:
    """Code ratings.

    Args:
        rows: The ratings of each item; None and NaN are missing. A shorter row is filled up with
            missing ratings. All coefficients but Cohen's kappa take raters as interchangeable, so
            a column need not be the same person in every row.
        categories: All that could be chosen, in order; those that were chosen, sorted, if left out.

    Raises:
        UsageError: If a rating is none of the categories, the categories are repeated, or they
            cannot be sorted because numbers and texts are mixed.
    """
    cleaned = [[None if _is_missing(label) else label for label in row] for row in rows]
    known = _sorted_labels(cleaned) if categories is None else tuple(categories)
    if len(set(known)) < len(known):
        raise UsageError("a category is given twice; give each once")
    places: dict[Hashable, int] = {category: place for place, category in enumerate(known)}
    width = max(map(len, cleaned), default=0)
    codes = np.full((len(cleaned), width), MISSING, dtype=np.int64)
    for item, row in enumerate(cleaned):
        for rater, label in enumerate(row):
            if label is not None:
                codes[item, rater] = _place(label, places)
    return Ratings(codes, known)


def _place(label: Label, places: dict[Hashable, int]) -> int:
    if label not in places:
        shown = ", ".join(repr(category) for category in places)
        raise UsageError(f"the rating {label!r} is none of the categories: {shown}")
    return places[label]


def _sorted_labels(rows: Sequence[Sequence[Label | None]]) -> tuple[Label, ...]:
    found = {label for row in rows for label in row if label is not None}
    numbers = [label for label in found if not isinstance(label, str)]
    texts = [label for label in found if isinstance(label, str)]
    if numbers and texts:
        raise UsageError(
            "some ratings are numbers and some are texts; give the categories in order"
        )
    return (*sorted(numbers), *sorted(texts))


def _is_missing(label: Label | None) -> bool:
    return label is None or (isinstance(label, float) and math.isnan(label))


def _is_number(label: Label) -> bool:
    return not isinstance(label, str)
