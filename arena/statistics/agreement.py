"""Agreement of raters: Gwet's AC1, Fleiss' and Cohen's kappa."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from arena.data.errors import UsageError
from arena.data.seeds import generator
from arena.data.types import Floats
from arena.statistics.bootstrap import percentile_interval, resampled_sums

Label: TypeAlias = str | int | float

NO_RATINGS = "there are no ratings"
NO_PAIRS = "no item has two ratings"
ONE_CATEGORY = "only one category was chosen, so agreement by chance is certain"
REPLICATES = 1000


def _gwet(shares: Floats) -> Floats:
    others = shares.shape[1] - 1
    return np.asarray((1 / others if others else np.nan) * (shares * (1 - shares)).sum(axis=1))


def _fleiss(shares: Floats) -> Floats:
    return np.asarray((shares**2).sum(axis=1))


BY_CHANCE: Mapping[str, tuple[str, Callable[[Floats], Floats]]] = MappingProxyType(
    {"ac1": ("Gwet's AC1", _gwet), "fleiss_kappa": ("Fleiss' kappa", _fleiss)}
)
"""Coefficients, and agreement by chance from shares of categories, (B, K) to (B,)."""


@dataclass(frozen=True)
class Coefficient:
    """A coefficient with its 95% interval; NaN where it is not defined, with the reason."""

    value: float
    low: float = math.nan
    high: float = math.nan
    reason: str | None = None


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
    coefficients: dict[str, Coefficient]

    def as_json(self) -> dict[str, object]:
        """Return plain values for JSON: numbers, ends of intervals, and reasons where none."""
        plain: dict[str, object] = asdict(self) | {"categories": list(self.categories)}
        del plain["coefficients"]
        for name, found in self.coefficients.items():
            for end, value in (("", found.value), ("_low", found.low), ("_high", found.high)):
                plain[f"{name}{end}"] = None if math.isnan(value) else value
        reasons = {name: found.reason for name, found in self.coefficients.items()}
        return plain | {"reasons": {name: reason for name, reason in reasons.items() if reason}}


def agreement_report(
    rows: Sequence[Sequence[Label | None]],
    categories: Sequence[Label] | None = None,
    replicates: int = REPLICATES,
    seed: int = 0,
) -> AgreementReport:
    """Measure how far raters who are interchangeable agree: ``(p_a - p_e) / (1 - p_e)``.

    By chance they agree by ``p_e = sum pi (1 - pi) / (q - 1)`` for AC1, which has 0 there and so is
    1 where all chose one of several categories; and by ``sum pi ** 2`` for Fleiss' kappa.

    Args:
        rows: The ratings of each item; None and NaN are missing.
        categories: All that could be chosen, in order; those that were chosen, sorted, if left out.
        replicates: Of the percentile intervals: items are drawn with all their ratings.
        seed: Seed of the draws.

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
    if len(set(categories)) < len(categories):
        raise UsageError("a category is given twice; give each once")
    if unknown := found - set(categories):
        raise UsageError(f"the rating {min(map(str, unknown))!r} is none of the categories")
    counts = np.array([[row.count(label) for label in categories] for row in given], np.float64)
    counts = counts.reshape(len(rows), len(categories))
    return AgreementReport(
        items=len(rows),
        items_with_pairs=int((counts.sum(axis=1) >= 2).sum()),
        raters=max(map(len, rows), default=0),
        categories=tuple(map(str, categories)),
        coefficients={name: _coefficient(counts, name, replicates, seed) for name in BY_CHANCE},
    )


def _coefficient(counts: Floats, name: str, replicates: int, seed: int) -> Coefficient:
    """Compute a coefficient from how often items got each category, shape (items, K)."""
    (title, by_chance), given = BY_CHANCE[name], counts.sum(axis=1)
    if not given.any():
        return Coefficient(math.nan, reason=NO_RATINGS)
    if not (given >= 2).any():
        return Coefficient(math.nan, reason=NO_PAIRS)
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
    drawn = coefficients(resampled_sums(parts, replicates, generator(seed, "agreement", title)))
    return Coefficient(value, *percentile_interval(drawn))


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
