"""Agreement of interchangeable raters on the same items: Gwet's AC1 and Fleiss' kappa."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from arena.data.types import Floats
from arena.statistics.agreement import quotient
from arena.statistics.bootstrap import (
    generator,
    percentile_interval,
    resampled_sums,
)

REPLICATES = 1000


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
        items: Number of items, with or without ratings.
        items_with_pairs: Items with two ratings or more, on which agreement rests.
        raters: Maximum number of ratings that an item could have.
        categories: Labels that could be given.
        coefficients: ``ac1`` and ``fleiss_kappa``.
    """

    items: int
    items_with_pairs: int
    raters: int
    categories: tuple[str, ...]
    coefficients: dict[str, Coefficient]

    def as_json(self) -> dict[str, object]:
        """Return plain values for JSON: numbers, bounds of intervals, and reasons for NaN."""
        plain = asdict(self)
        del plain["coefficients"]
        plain["categories"] = list(self.categories)
        reasons = {}
        for name, coefficient in self.coefficients.items():
            plain[name] = _none_for_nan(coefficient.value)
            plain[f"{name}_low"] = _none_for_nan(coefficient.low)
            plain[f"{name}_high"] = _none_for_nan(coefficient.high)
            if coefficient.reason:
                reasons[name] = coefficient.reason
        plain["reasons"] = reasons
        return plain


def _none_for_nan(value: float) -> float | None:
    return None if math.isnan(value) else value


def agreement_report(
    rows: Sequence[Sequence[str | None]],
    categories: Sequence[str] | None = None,
    replicates: int = REPLICATES,
    seed: int = 0,
    units: Sequence[Hashable] | None = None,
) -> AgreementReport:
    """Measure the agreement of interchangeable raters: ``(p_a - p_e) / (1 - p_e)``.

    Agreement by chance is ``p_e = sum pi (1 - pi) / (q - 1)`` for AC1 (Gwet, 2008), which is 0 and
    makes AC1 1 where all chose one of several categories; and ``sum pi ** 2`` for Fleiss' kappa
    (1971).

    Args:
        rows: The ratings of each item; None is missing.
        categories: All possible labels, in order; by default those that were given, sorted.
        replicates: Number of resamples of the units behind the percentile intervals.
        seed: Seed of the draws.
        units: What each item belongs to, such as a question; by default an item is a unit.

    Raises:
        UsageError: If a rating is none of the categories.
    """
    labels: set[str] = set()
    for row in rows:
        labels.update(label for label in row if label is not None)
    if categories is None:
        categories = sorted(labels)
    unknown = labels - set(categories)
    if unknown:
        raise UsageError(f"the rating {min(unknown)!r} is none of the categories")
    # How often items got each category, shape (items, categories).
    counts = np.zeros((len(rows), len(categories)))
    for index, row in enumerate(rows):
        counts[index] = [row.count(label) for label in categories]
    draws = partial(generator, seed, "agreement")
    units = range(len(rows)) if units is None else units
    return AgreementReport(
        items=len(rows),
        items_with_pairs=int((counts.sum(axis=1) >= 2).sum()),
        raters=max((len(row) for row in rows), default=0),
        categories=tuple(categories),
        coefficients={
            "ac1": _coefficient(counts, _gwet_chance, units, replicates, draws("Gwet's AC1")),
            "fleiss_kappa": _coefficient(
                counts, _fleiss_chance, units, replicates, draws("Fleiss' kappa")
            ),
        },
    )


def _coefficient(
    counts: Floats,
    by_chance: Callable[[Floats], Floats],
    units: Sequence[Hashable],
    replicates: int,
    random: np.random.Generator,
) -> Coefficient:
    n_ratings = counts.sum(axis=1)
    if not n_ratings.any():
        return Coefficient(math.nan, reason="there are no ratings")
    if not (n_ratings >= 2).any():
        return Coefficient(math.nan, reason="no item has two ratings")
    n_pairs = n_ratings * (n_ratings - 1)
    agreeing = (counts * (counts - 1)).sum(axis=1) / np.maximum(n_pairs, 1)
    shares = counts / np.maximum(n_ratings, 1)[:, None]
    # A coefficient is a function of sums over items, so that resampling is a matrix product.
    parts = np.column_stack([agreeing, n_ratings >= 2, n_ratings >= 1, shares])

    def coefficients(sums: Floats) -> Floats:
        agreeing, n_paired, n_rated, *_ = sums.T
        mean_shares = quotient(sums[:, 3:], np.broadcast_to(n_rated[:, None], sums[:, 3:].shape))
        chance = by_chance(mean_shares)
        return quotient(quotient(agreeing, n_paired) - chance, 1 - chance)

    value = float(coefficients(parts.sum(axis=0, keepdims=True))[0])
    if math.isnan(value):
        reason = "only one category was chosen, so agreement by chance is certain"
        return Coefficient(value, reason=reason)
    by_unit = pd.DataFrame(parts).groupby(np.asarray(units), sort=False).sum()
    sums = resampled_sums(by_unit, replicates, random)
    low, high = percentile_interval(coefficients(sums))
    return Coefficient(value, low, high)


def _gwet_chance(shares: Floats) -> Floats:
    n_others = shares.shape[1] - 1
    scale = 1 / n_others if n_others else np.nan
    return np.asarray(scale * (shares * (1 - shares)).sum(axis=1))


def _fleiss_chance(shares: Floats) -> Floats:
    return np.asarray((shares**2).sum(axis=1))
