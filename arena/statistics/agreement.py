"""Agreement of raters: Gwet's AC1, Cohen's and Fleiss' kappa, Krippendorff's alpha, percent."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from arena.data.errors import UsageError
from arena.data.seeds import generator
from arena.statistics.bootstrap import percentile_interval, resampled_sums

IntArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
Label: TypeAlias = str | int | float

MISSING = -1
"""Code of a rating that was not given."""
NO_RATINGS = "there are no ratings"
NO_PAIRS = "no item has two ratings"
ONE_CATEGORY = "only one category was chosen, so agreement by chance is certain"


@dataclass(frozen=True)
class RatedItems:
    """Who rated what how.

    Attributes:
        codes: Place of each rating among the categories, shape (items, raters); ``MISSING`` where
            a rater did not rate an item.
        categories: What could be chosen, in order.
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


def code_ratings(
    rows: Sequence[Sequence[Label | None]], categories: Sequence[Label] | None = None
) -> RatedItems:
    """Code ratings.

    Args:
        rows: The ratings of each item; None and NaN are missing. A shorter row is filled up with
            missing ratings. Raters are interchangeable: a column need not be
            the same person in every row.
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


def _estimate(
    name: str, ratings: RatedItems, sums: ItemSums, resampling: Resampling
) -> Coefficient:
    """Compute a coefficient and its interval."""
    if not ratings.given.any():
        return Coefficient(name, math.nan, reason=NO_RATINGS)
    if not ratings.items_with_pairs:
        return Coefficient(name, math.nan, reason=NO_PAIRS)
    value = float(sums.value(sums.parts.sum(axis=0, keepdims=True))[0])
    if math.isnan(value):
        return Coefficient(name, value, reason=ONE_CATEGORY)
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


def _quotient(above: FloatArray, below: FloatArray) -> FloatArray:
    """Divide; NaN where the divisor is 0, up to rounding."""
    sound = np.abs(below) > 1e-12
    return np.divide(above, below, out=np.full_like(above, np.nan), where=sound)


def percent_agreement(
    ratings: RatedItems, resampling: Resampling = DEFAULT_RESAMPLING
) -> Coefficient:
    """Return the share of pairs of ratings of an item that agree, averaged over items.

    It is 1 where only one category was chosen; NaN without an item that has two ratings.
    """
    sums = ItemSums(_parts(ratings), lambda sums: _agreement(sums)[0])
    return _estimate("percent agreement", ratings, sums, resampling)


def gwet_ac1(ratings: RatedItems, resampling: Resampling = DEFAULT_RESAMPLING) -> Coefficient:
    """Return Gwet's AC1: ``(p_a - p_e) / (1 - p_e)``, ``p_e = sum pi (1 - pi) / (q - 1)``.

    NaN where there is only one category to choose from (irrCAC gives 1 there). Where more were
    declared and all chose the same one, it is 1: ``p_e`` is 0.
    """
    others = len(ratings.categories) - 1
    scale = 1 / others if others > 0 else np.nan

    def coefficient(sums: FloatArray) -> FloatArray:
        agreement, shares = _agreement(sums)
        chance = scale * (shares * (1 - shares)).sum(axis=1)
        return _quotient(agreement - chance, 1 - chance)

    return _estimate("Gwet's AC1", ratings, ItemSums(_parts(ratings), coefficient), resampling)


def fleiss_kappa(ratings: RatedItems, resampling: Resampling = DEFAULT_RESAMPLING) -> Coefficient:
    """Return Fleiss' kappa: ``(p_a - p_e) / (1 - p_e)``, ``p_e = sum pi ** 2``.

    NaN where only one category was chosen: ``p_e`` is 1 (0 / 0, NaN in irrCAC too).
    """

    def kappa(sums: FloatArray) -> FloatArray:
        agreement, shares = _agreement(sums)
        chance = (shares**2).sum(axis=1)
        return _quotient(agreement - chance, 1 - chance)

    return _estimate("Fleiss' kappa", ratings, ItemSums(_parts(ratings), kappa), resampling)


def _parts(ratings: RatedItems) -> FloatArray:
    """Return, of each item: its agreement, whether it has pairs or ratings, its shares.

    Returns:
        Shape (items, 3 + categories).
    """
    counts = ratings.counts.astype(np.float64)
    given = ratings.given.astype(np.float64)
    agreeing = (counts * (counts - 1)).sum(axis=1)
    paired = given >= 2
    agreement = np.where(paired, agreeing / np.maximum(given * (given - 1), 1), 0.0)
    shares = counts / np.maximum(given, 1)[:, None]
    return np.column_stack([agreement, paired, given >= 1, shares])


def _agreement(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean agreement, shape (replicates,), and the shares of the categories."""
    return _quotient(sums[:, 0], sums[:, 1]), _quotient(
        sums[:, 3:], np.broadcast_to(sums[:, 2:3], sums[:, 3:].shape)
    )


def krippendorff_alpha(
    ratings: RatedItems, resampling: Resampling = DEFAULT_RESAMPLING
) -> Coefficient:
    """Return Krippendorff's alpha of labels: ``1 - D_o / D_e``.

    Items with fewer than two ratings do not count. NaN where the items with pairs hold one category
    only: ``D_e`` is 0 (the package krippendorff refuses such data, irrCAC gives NaN).
    """
    counts = ratings.counts * (ratings.given >= 2)[:, None].astype(np.float64)
    agreeing = (counts * (counts - 1)).sum(axis=1) / np.maximum(ratings.given - 1, 1)

    def alpha(sums: FloatArray) -> FloatArray:
        totals = sums[:, 1:]
        size = totals.sum(axis=1)
        by_chance = size**2 - (totals**2).sum(axis=1)
        return 1 - _quotient((size - 1) * (size - sums[:, 0]), by_chance)

    sums = ItemSums(np.column_stack([agreeing, counts]), alpha)
    return _estimate("Krippendorff's alpha", ratings, sums, resampling)


def cohen_kappas(tables: FloatArray) -> FloatArray:
    """Return Cohen's kappa (1960) of tables that count what two raters said of the same items.

    Args:
        tables: Items by the category of either rater, shape (N, K, K).

    Returns:
        Shape (N,); NaN without items, or where agreement by chance is certain.
    """
    totals = tables.sum(axis=(1, 2))
    joint = tables / np.where(totals > 0, totals, np.nan)[:, None, None]
    agreement = np.trace(joint, axis1=1, axis2=2)
    chance = (joint.sum(axis=2) * joint.sum(axis=1)).sum(axis=1)
    return _quotient(agreement - chance, 1 - chance)


@dataclass(frozen=True)
class AgreementReport:
    """Agreement on one set of ratings.

    Attributes:
        items: Items, those without ratings among them.
        items_with_pairs: Items with two ratings or more, on which agreement rests.
        raters: Most ratings an item could have.
        categories: Labels that were given.
        coefficients: ``ac1``, ``fleiss_kappa``, ``krippendorff_alpha``, ``percent_agreement``.
    """

    items: int
    items_with_pairs: int
    raters: int
    categories: tuple[str, ...]
    coefficients: Mapping[str, Coefficient]

    def as_json(self) -> dict[str, object]:
        """Return plain values for JSON: numbers, ends of intervals, and reasons where none."""
        plain: dict[str, object] = {
            "items": self.items,
            "items_with_pairs": self.items_with_pairs,
            "raters": self.raters,
            "categories": list(self.categories),
        }
        for name, found in self.coefficients.items():
            plain[name] = _number(found.value)
            plain[f"{name}_low"] = _number(found.low)
            plain[f"{name}_high"] = _number(found.high)
        plain["reasons"] = {
            name: found.reason for name, found in self.coefficients.items() if found.reason
        }
        return plain


def agreement_report(
    ratings: RatedItems, resampling: Resampling = DEFAULT_RESAMPLING
) -> AgreementReport:
    """Compute AC1, Fleiss' kappa, Krippendorff's alpha (nominal) and percent agreement."""
    return AgreementReport(
        items=ratings.items,
        items_with_pairs=ratings.items_with_pairs,
        raters=ratings.raters,
        categories=tuple(str(category) for category in ratings.categories),
        coefficients={
            "ac1": gwet_ac1(ratings, resampling),
            "fleiss_kappa": fleiss_kappa(ratings, resampling=resampling),
            "krippendorff_alpha": krippendorff_alpha(ratings, resampling=resampling),
            "percent_agreement": percent_agreement(ratings, resampling=resampling),
        },
    )


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
