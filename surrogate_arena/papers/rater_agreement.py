"""Agreement of interchangeable raters on the same items: Gwet's AC1 and Fleiss' kappa."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from arena.data.tables import plain_records
from arena.data.types import Floats
from arena.statistics.agreement import quotient
from arena.statistics.bootstrap import generator, percentile_interval, resampled_sums


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
        items_with_pairs: Those with two ratings or more.
        raters: Maximum number of ratings that an item could have.
        coefficients: ``ac1`` and ``fleiss_kappa``.
    """

    items: int
    items_with_pairs: int
    raters: int
    categories: tuple[str, ...]
    coefficients: dict[str, Coefficient]

    def as_json(self) -> dict[str, object]:
        """Return plain values, NaN as None: counts, and each coefficient with its bounds."""
        rows = pd.DataFrame([asdict(each) for each in self.coefficients.values()])
        plain = asdict(self)
        plain["coefficients"] = dict(zip(self.coefficients, plain_records(rows), strict=True))
        return plain


def agreement_report(
    rows: Sequence[Sequence[str | None]],
    categories: Sequence[str] | None = None,
    replicates: int = 1000,
    seed: int = 0,
    units: Sequence[Hashable] | None = None,
) -> AgreementReport:
    """Measure the agreement of interchangeable raters: ``(p_a - p_e) / (1 - p_e)``.

    Agreement by chance is ``p_e = sum pi (1 - pi) / (q - 1)`` for AC1 (Gwet, 2008), and ``sum pi **
    2`` for Fleiss' kappa.

    Args:
        rows: Ratings of each item; None is missing.
        categories: All possible labels, in order; by default those that were given, sorted.
        replicates: Resamples of the units, for percentile intervals.
        seed: Seed of the resamples.
        units: What items belong to, such as questions; by default each is a unit.

    Returns:
        AC1 and kappa with 95% intervals, and counts.

    Raises:
        UsageError: If a rating is none of the categories.
    """
    labels = _labels_in(rows)
    categories = sorted(labels) if categories is None else categories
    unknown = labels - set(categories)
    if unknown:
        raise UsageError(f"the rating {min(unknown)!r} is none of the categories")
    counts = _counts(rows, categories)
    n_ratings = counts.sum(axis=1)
    is_paired = n_ratings >= 2
    n_pairs = n_ratings * (n_ratings - 1)
    agreeing = (counts * (counts - 1)).sum(axis=1) / np.maximum(n_pairs, 1)
    shares = counts / np.maximum(n_ratings, 1)[:, None]
    # A coefficient is a function of sums over items, so that resampling is a matrix product.
    parts = pd.DataFrame(np.column_stack([agreeing, is_paired, n_ratings >= 1, shares]))
    by_unit = parts if units is None else parts.groupby(np.asarray(units), sort=False).sum()
    reason = None
    if not n_ratings.any():
        reason = "there are no ratings"
    elif not is_paired.any():
        reason = "no item has two ratings"
    n_resamples = 0 if reason else replicates
    resampled = resampled_sums(by_unit, n_resamples, generator(seed, "agreement"))
    sums = np.vstack([parts.sum(), resampled])
    return AgreementReport(
        items=len(rows),
        items_with_pairs=int(is_paired.sum()),
        raters=max((len(row) for row in rows), default=0),
        categories=tuple(categories),
        coefficients={
            "ac1": _coefficient(sums, _gwet_chance, reason),
            "fleiss_kappa": _coefficient(sums, _fleiss_chance, reason),
        },
    )


def _labels_in(rows: Sequence[Sequence[str | None]]) -> set[str]:
    labels: set[str] = set()
    for row in rows:
        labels.update(label for label in row if label is not None)
    return labels


def _counts(rows: Sequence[Sequence[str | None]], categories: Sequence[str]) -> Floats:
    """Count how often items got each category, shape (items, categories)."""
    counts = np.zeros((len(rows), len(categories)))
    for index, row in enumerate(rows):
        counts[index] = [row.count(label) for label in categories]
    return counts


def _coefficient(
    sums: Floats, by_chance: Callable[[Floats], Floats], reason: str | None
) -> Coefficient:
    """Compute a coefficient of sums over all items (first row) and over resamples."""
    if reason is not None:
        return Coefficient(math.nan, reason=reason)
    agreeing, n_paired, n_rated = sums[:, :3].T
    mean_shares = quotient(sums[:, 3:], np.broadcast_to(n_rated[:, None], sums[:, 3:].shape))
    chance = by_chance(mean_shares)
    values = quotient(quotient(agreeing, n_paired) - chance, 1 - chance)
    if math.isnan(values[0]):
        reason = "only one category was chosen, so agreement by chance is certain"
        return Coefficient(math.nan, reason=reason)
    low, high = percentile_interval(values[1:])
    return Coefficient(float(values[0]), low, high)


def _gwet_chance(shares: Floats) -> Floats:
    n_others = shares.shape[1] - 1
    scale = 1 / n_others if n_others else np.nan
    return np.asarray(scale * (shares * (1 - shares)).sum(axis=1))


def _fleiss_chance(shares: Floats) -> Floats:
    return np.asarray((shares**2).sum(axis=1))
