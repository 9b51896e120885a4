"""Ratings of items by raters."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from arena.data.errors import UsageError, checked_choice
from arena.data.seeds import generator
from arena.statistics.bootstrap import percentile_interval, resampled_sums

IntArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
Label: TypeAlias = str | int | float

MISSING = -1
"""Code of a rating that was not given."""


@dataclass(frozen=True)
class RatedItems:
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
) -> RatedItems:
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
    return RatedItems(codes, known)


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


NO_RATINGS = "there are no ratings"
NO_PAIRS = "no item has two ratings"
ONE_CATEGORY = "only one category was chosen, so agreement by chance is certain"


@dataclass(frozen=True)
class Resampling:
    """How intervals are made: items are drawn with replacement, with all their ratings.

    Attributes:
        replicates: Number of draws; 0 for no interval.
        level: Share of the replicates that the interval holds.
        seed: Seed of the draws.
    """

    replicates: int = 1000
    level: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        if self.replicates < 0 or not 0 < self.level < 1:
            raise UsageError("give 0 replicates or more, and a level between 0 and 1")


DEFAULT_RESAMPLING = Resampling()


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of agreement.

    Attributes:
        name: Such as ``Gwet's AC1``.
        value: The coefficient; NaN where it is not defined.
        low: Lower end of its percentile interval; NaN without one.
        high: Upper end.
        reason: Why ``value`` is NaN; None if it is a number.
        replicates: Replicates in which the coefficient was defined: the interval is theirs.
    """

    name: str
    value: float
    low: float = math.nan
    high: float = math.nan
    reason: str | None = None
    replicates: int = 0


@dataclass(frozen=True)
class ItemSums:
    """A coefficient as a function of sums over items, so that resampling is a matrix product.

    Attributes:
        parts: What each item adds, shape (items, parts).
        value: From sums of shape (replicates, parts) to coefficients of shape (replicates,), NaN
            where undefined.
    """

    parts: FloatArray
    value: Callable[[FloatArray], FloatArray]


def estimate(
    name: str,
    ratings: RatedItems,
    sums: ItemSums,
    resampling: Resampling,
    reason_if_undefined: str = ONE_CATEGORY,
) -> Coefficient:
    """Compute a coefficient and its interval."""
    if not ratings.given.any():
        return Coefficient(name, math.nan, reason=NO_RATINGS)
    if not ratings.items_with_pairs:
        return Coefficient(name, math.nan, reason=NO_PAIRS)
    value = float(sums.value(sums.parts.sum(axis=0, keepdims=True))[0])
    if math.isnan(value):
        return Coefficient(name, value, reason=reason_if_undefined)
    replicates = _replicates(name, sums, resampling)
    if not len(replicates):
        return Coefficient(name, value)
    tail = 50 * (1 - resampling.level)
    low, high = percentile_interval(replicates, (tail, 100 - tail))
    return Coefficient(name, value, low, high, replicates=len(replicates))


def _replicates(name: str, sums: ItemSums, resampling: Resampling) -> FloatArray:
    """Return the coefficient in each replicate where it is defined."""
    random = generator(resampling.seed, "agreement", name)
    replicates = sums.value(resampled_sums(sums.parts, resampling.replicates, random))
    return replicates[~np.isnan(replicates)]


def quotient(above: FloatArray, below: FloatArray) -> FloatArray:
    """Divide; NaN where the divisor is 0, up to rounding."""
    sound = np.abs(below) > 1e-12
    return np.divide(above, below, out=np.full_like(above, np.nan), where=sound)


Weights = Literal["identity", "linear", "quadratic", "ordinal"]
WEIGHTS: tuple[Weights, ...] = get_args(Weights)


def agreement_weights(ratings: RatedItems, weights: Weights) -> FloatArray:
    """Return the weight of each pair of categories, shape (categories, categories).

    ``linear`` and ``quadratic`` look at the distance of the categories' values (1, 2, 3, … for
    texts), ``ordinal`` at the number of pairs of categories from one to the other.

    Raises:
        UsageError: For unknown weights.
    """
    checked_choice(weights, WEIGHTS, "weights")
    size = len(ratings.categories)
    if weights == "identity" or size < 2:
        return np.eye(size)
    if weights == "ordinal":
        ranks = np.arange(size)
        between = np.abs(ranks[:, None] - ranks) + 1
        distances = between * (between - 1) / 2
    else:
        values = ratings.values
        distances = np.abs(values[:, None] - values)
        if weights == "quadratic":
            distances = distances**2
    return np.asarray(1 - distances / distances.max(), dtype=np.float64)
