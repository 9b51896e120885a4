"""Agreement of raters: Gwet's AC1, Fleiss' and Cohen's kappa."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from arena.data.errors import UsageError
from arena.data.seeds import generator
from arena.statistics.bootstrap import percentile_interval, resampled_sums

Floats: TypeAlias = npt.NDArray[np.float64]
Label: TypeAlias = str | int | float

NO_RATINGS = "there are no ratings"
NO_PAIRS = "no item has two ratings"
ONE_CATEGORY = "only one category was chosen, so agreement by chance is certain"


@dataclass(frozen=True)
class Resampling:
    """How 95% intervals are made: items are drawn with replacement, with all their ratings.

    Attributes:
        replicates: Number of draws; 0 for no interval.
        seed: Seed of the draws.
    """

    replicates: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        if self.replicates < 0:
            raise UsageError("replicates must be 0 or more")


DEFAULT_RESAMPLING = Resampling()


@dataclass(frozen=True)
class RatedItems:
    """How items were rated by raters who are interchangeable.

    Attributes:
        counts: How often each item got each category, shape (items, categories).
        categories: What could be chosen, in order.
        raters: Most ratings an item could have.
    """

    counts: Floats
    categories: tuple[Label, ...]
    raters: int

    @property
    def given(self) -> Floats:
        """Number of ratings of each item, shape (items,)."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def items_with_pairs(self) -> int:
        """Number of items with two ratings or more: only these can show agreement."""
        return int((self.given >= 2).sum())


def code_ratings(
    rows: Sequence[Sequence[Label | None]], categories: Sequence[Label] | None = None
) -> RatedItems:
    """Count ratings.

    Args:
        rows: The ratings of each item; None and NaN are missing.
        categories: All that could be chosen, in order; those that were chosen, sorted, if left out.

    Raises:
        UsageError: If a rating is none of the categories, the categories are repeated, or they
            cannot be sorted because numbers and texts are mixed.
    """
    given = [[label for label in row if label is not None and label == label] for row in rows]
    found = {label for row in given for label in row}
    if categories is None:
        if len({isinstance(label, str) for label in found}) > 1:
            raise UsageError("some ratings are numbers and some texts; name the categories")
        categories = sorted(found)
    known = tuple(categories)
    if len(set(known)) < len(known):
        raise UsageError("a category is given twice; give each once")
    if unknown := found - set(known):
        raise UsageError(f"the rating {min(map(str, unknown))!r} is none of the categories")
    counts = np.array([[row.count(label) for label in known] for row in given], dtype=np.float64)
    raters = max(map(len, rows), default=0)
    return RatedItems(counts.reshape(len(rows), len(known)), known, raters)


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of agreement.

    Attributes:
        value: The coefficient; NaN where it is not defined.
        low: Lower end of its percentile interval; NaN without one.
        high: Upper end.
        reason: Why ``value`` is NaN; None if it is a number.
        replicates: Replicates in which the coefficient was defined: the interval is theirs.
    """

    value: float
    low: float = math.nan
    high: float = math.nan
    reason: str | None = None
    replicates: int = 0


def gwet_ac1(ratings: RatedItems, resampling: Resampling = DEFAULT_RESAMPLING) -> Coefficient:
    """Return Gwet's AC1: ``(p_a - p_e) / (1 - p_e)``, ``p_e = sum pi (1 - pi) / (q - 1)``.

    NaN where there is only one category to choose from (irrCAC gives 1 there). Where more were
    declared and all chose the same one, it is 1: ``p_e`` is 0.
    """
    others = len(ratings.categories) - 1
    scale = 1 / others if others > 0 else np.nan
    return _estimate(
        "Gwet's AC1", ratings, lambda pi: scale * (pi * (1 - pi)).sum(axis=1), resampling
    )


def fleiss_kappa(ratings: RatedItems, resampling: Resampling = DEFAULT_RESAMPLING) -> Coefficient:
    """Return Fleiss' kappa: ``(p_a - p_e) / (1 - p_e)``, ``p_e = sum pi ** 2``.

    NaN where only one category was chosen: ``p_e`` is 1 (0 / 0, NaN in irrCAC too).
    """
    return _estimate("Fleiss' kappa", ratings, lambda pi: (pi**2).sum(axis=1), resampling)


def _estimate(
    name: str, ratings: RatedItems, by_chance: Callable[[Floats], Floats], resampling: Resampling
) -> Coefficient:
    """Compute a coefficient; ``by_chance`` takes shares of categories (B, K) to agreement (B,)."""
    if not ratings.given.any():
        return Coefficient(math.nan, reason=NO_RATINGS)
    if not ratings.items_with_pairs:
        return Coefficient(math.nan, reason=NO_PAIRS)
    counts, given = ratings.counts, ratings.given
    agreeing = (counts * (counts - 1)).sum(axis=1) / np.maximum(given * (given - 1), 1)
    shares = counts / np.maximum(given, 1)[:, None]
    # A coefficient is a function of sums over items, so that resampling is a matrix product.
    parts = np.column_stack([agreeing, given >= 2, given >= 1, shares])

    def coefficients(sums: Floats) -> Floats:
        rated = np.broadcast_to(sums[:, 2:3], sums[:, 3:].shape)
        chance = by_chance(_quotient(sums[:, 3:], rated))
        return _quotient(_quotient(sums[:, 0], sums[:, 1]) - chance, 1 - chance)

    value = float(coefficients(parts.sum(axis=0, keepdims=True))[0])
    if math.isnan(value):
        return Coefficient(value, reason=ONE_CATEGORY)
    random = generator(resampling.seed, "agreement", name)
    drawn = coefficients(resampled_sums(parts, resampling.replicates, random))
    defined = drawn[~np.isnan(drawn)]
    return Coefficient(value, *percentile_interval(defined), replicates=len(defined))


def _quotient(above: Floats, below: Floats) -> Floats:
    """Divide; NaN where the divisor is 0, up to rounding."""
    sound = np.abs(below) > 1e-12
    return np.divide(above, below, out=np.full_like(above, np.nan), where=sound)


def cohen_kappas(tables: Floats) -> Floats:
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
        categories: Labels that could be given.
        coefficients: ``ac1`` and ``fleiss_kappa``.
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
            for end, value in (("", found.value), ("_low", found.low), ("_high", found.high)):
                plain[f"{name}{end}"] = None if math.isnan(value) else value
        reasons = {name: found.reason for name, found in self.coefficients.items()}
        return plain | {"reasons": {name: reason for name, reason in reasons.items() if reason}}


def agreement_report(
    ratings: RatedItems, resampling: Resampling = DEFAULT_RESAMPLING
) -> AgreementReport:
    """Compute AC1 and Fleiss' kappa."""
    return AgreementReport(
        items=len(ratings.counts),
        items_with_pairs=ratings.items_with_pairs,
        raters=ratings.raters,
        categories=tuple(map(str, ratings.categories)),
        coefficients={
            "ac1": gwet_ac1(ratings, resampling),
            "fleiss_kappa": fleiss_kappa(ratings, resampling),
        },
    )
