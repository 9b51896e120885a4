"""Agreement of raters: Gwet's AC1, Fleiss' and Cohen's kappa; and of rankings: Kendall's tau-b."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.data.types import Floats, Indices
from arena.statistics.bootstrap import (
    SAME_DECIMALS,
    percentile_interval,
    places_by_value,
)


def quotient(numerator: Floats, divisor: Floats) -> Floats:
    """Divide; NaN where the divisor is 0, up to rounding."""
    is_defined = np.abs(divisor) > 1e-12
    return np.divide(numerator, divisor, out=np.full_like(numerator, np.nan), where=is_defined)


def cohen_kappas(tables: Floats) -> Floats:
    """Return Cohen's kappa (1960) of two raters' tables (N, K, K), (N,)."""
    totals = tables.sum(axis=(1, 2))
    joint = tables / np.where(totals > 0, totals, np.nan)[:, None, None]
    agreement = np.trace(joint, axis1=1, axis2=2)
    chance = (joint.sum(axis=2) * joint.sum(axis=1)).sum(axis=1)
    return quotient(agreement - chance, 1 - chance)


BLOCK_ENTRIES = 500_000
"""Orders (ratings x pairs of systems) held at a time."""


def kendall_tau(first: Floats, second: Floats) -> float:
    """Return Kendall tau-b (1945) of two ratings (S,), NaNs left out."""
    return float(kendall_taus(first[None], second[None])[0, 0])


def largest_tau(ratings: Floats) -> float:
    """Return the largest tau-b of ratings (S,) with untied ones."""
    first, second = np.triu_indices(len(ratings), 1)
    orders, _ = _orders(ratings[None], (first, second))
    share_untied = float(np.abs(orders).mean()) if len(first) else 0.0
    return float(np.sqrt(share_untied)) if share_untied else np.nan


def kendall_taus(first: Floats, second: Floats, groups: npt.NDArray[Any] | None = None) -> Floats:
    """Return Kendall tau-b of ratings (M, S) with (T, S), shape (M, T).

    A NaN leaves its system out; only pairs of one group (S,) are compared.
    """
    # tau-b = sum(o p) / sqrt(n_o n_p): o and p are the orders (-1, 0, 1) of a pair by either
    # rating, n_o and n_p count the pairs that it does not tie.
    products, untied_first, untied_second = np.zeros((3, len(first), len(second)))
    for pairs in _pair_blocks(first.shape[1], len(first) + len(second), groups):
        orders_1, is_rated_1 = _orders(first, pairs)
        orders_2, is_rated_2 = _orders(second, pairs)
        products += orders_1 @ orders_2.T
        untied_first += np.abs(orders_1) @ is_rated_2.T
        untied_second += is_rated_1 @ np.abs(orders_2).T
    return _tau_of(products, untied_first * untied_second)


def resampled_taus(
    first: Floats, second: Floats, times: npt.ArrayLike, groups: npt.NDArray[Any] | None = None
) -> Floats:
    """Return tau-b of resamples holding systems ``times`` (B, S), (B,).

    Ratings have shape (S,), or (B, S) for one per resample.
    """
    weights = np.asarray(times, dtype=np.float64)
    n_resamples, n_systems = weights.shape
    products, untied_first, untied_second = np.zeros((3, n_resamples))
    for pairs in _pair_blocks(n_systems, n_resamples, groups):
        # How often a resample holds a pair. Sums of whole numbers are exact in any order.
        counts = weights[:, pairs[0]] * weights[:, pairs[1]]
        orders_1, is_rated_1 = _orders(np.atleast_2d(first), pairs)
        orders_2, is_rated_2 = _orders(np.atleast_2d(second), pairs)
        products += _row_sums(counts, orders_1 * orders_2)
        untied_first += _row_sums(counts, np.abs(orders_1) * is_rated_2)
        untied_second += _row_sums(counts, is_rated_1 * np.abs(orders_2))
    return _tau_of(products, untied_first * untied_second)


def concordance(predicted: Floats, ratings: Floats, groups: npt.NDArray[Any]) -> float:
    """Return the share of pairs within groups that predictions, (S,), order as ratings do.

    Predicted ties count half; pairs that the ratings tie are left out.
    """
    points = 0.0
    n_pairs = 0.0
    for pairs in _pair_blocks(len(ratings), 1, groups):
        orders, _ = _orders(ratings[None], pairs)
        predicted_orders, is_predicted = _orders(predicted[None], pairs)
        is_compared = np.abs(orders) * is_predicted
        points += float((is_compared * (1 + orders * predicted_orders) / 2).sum())
        n_pairs += float(is_compared.sum())
    return points / n_pairs if n_pairs else np.nan


def _row_sums(counts: Floats, values: Floats) -> Floats:
    """Sum values, (1 or B, P), as often as each row of counts has them, (B, P)."""
    if len(values) == 1:
        return np.asarray(counts @ values[0])
    return np.asarray(np.einsum("bp,bp->b", counts, values))


def _pair_blocks(
    n_systems: int, n_ratings: int, groups: npt.NDArray[Any] | None
) -> Iterator[tuple[Indices, Indices]]:
    if groups is None:
        groups = np.zeros(n_systems)
    order = np.argsort(groups, kind="stable")
    group_starts = np.flatnonzero(np.diff(groups[order])) + 1
    pairs = []
    for members in np.split(order, group_starts):
        pairs.append(members[np.array(np.triu_indices(len(members), 1))])
    first, second = np.concatenate(pairs, axis=1)
    step = max(1, BLOCK_ENTRIES // max(n_ratings, 1))
    for start in range(0, len(first), step):
        yield first[start : start + step], second[start : start + step]


def _orders(ratings: Floats, pairs: tuple[Indices, Indices]) -> tuple[Floats, Floats]:
    first, second = pairs
    differences = ratings[:, first] - ratings[:, second]
    is_rated = np.isfinite(differences)
    differences = np.where(is_rated, differences, 0.0)
    # Ratings that differ by rounding alone are ties.
    return np.sign(np.round(differences, SAME_DECIMALS)), is_rated.astype(np.float64)


def _tau_of(products: Floats, untied: Floats) -> Floats:
    taus = np.full(products.shape, np.nan)
    return np.asarray(np.divide(products, np.sqrt(untied), out=taus, where=untied > 0))


def lowest_tau(n_systems: int) -> float:
    """Return the lowest tau under which so few systems may agree perfectly by chance.

    With it, n systems of a bivariate normal population are all in the same order with probability
    2.5%, fitted to simulations with 5 to 20 systems, off by at most 0.01.
    """
    if n_systems < 5:
        return 0.0
    return 1 - 15.4 / (n_systems**2 - 1.5 * n_systems + 2.3)


def tau_interval(replicates: npt.ArrayLike, n_systems: int) -> tuple[float, float]:
    """Return tau's 95% percentile interval (B,), allowing for perfect agreement.

    Resamples of systems that all agree agree as well: they say nothing of the error.
    """
    low, high = percentile_interval(replicates)
    if low > 1 - 1e-9:
        low = lowest_tau(n_systems)
    if high < -1 + 1e-9:
        high = -lowest_tau(n_systems)
    return low, high


def difference_interval(replicates: npt.ArrayLike, n_systems: int) -> tuple[float, float]:
    """Return the 95% percentile interval of a difference of taus, (B,).

    Two ratings alike may still differ in ``1 - lowest_tau`` of the pairs, each counted twice.
    """
    low, high = percentile_interval(replicates)
    if low == high == 0:
        high = 1 - lowest_tau(n_systems)
        low = -high
    return low, high


@dataclass(frozen=True)
class Agreement:
    """Kendall tau-b with its bootstrap replicates; NaN where it is not defined."""

    tau: float
    replicates: Floats

    @property
    def interval(self) -> tuple[float, float]:
        """Return the 95% interval, centered on tau, within -1 and 1.

        Replicates hold the noise of one tournament and so lie lower than tau: only their spread
        counts.
        """
        low, high = percentile_interval(self.replicates)
        median, _ = percentile_interval(self.replicates, (50.0, 50.0))
        shift = self.tau - median
        return float(np.clip(low + shift, -1, 1)), float(np.clip(high + shift, -1, 1))


def agreement(
    rating: Floats, arena_rating: Floats, tournaments: Floats, random: np.random.Generator
) -> Agreement:
    """Compare a rating (S,) with the arena's, over systems and questions.

    Each replicate resamples the systems and takes one tournament's coefficients (T, S): the
    Boot-Both procedure of Deutsch et al., 2021, "A statistical analysis of summarization evaluation
    metrics using resampling methods", section 4.
    """
    n_systems = rating.size
    draws = random.integers(n_systems, size=(len(tournaments), n_systems))
    times = np.array([np.bincount(draw, minlength=n_systems) for draw in draws])
    # Draws belong to places in the order of ratings, so that names change nothing.
    places = places_by_value(arena_rating, rating)
    replicates = resampled_taus(rating, tournaments, times[:, places])
    return Agreement(kendall_tau(rating, arena_rating), replicates)


def macro_agreement(agreements: Sequence[Agreement]) -> Agreement:
    """Average agreements over languages; undefined ones are left out."""
    defined = [agreement for agreement in agreements if np.isfinite(agreement.tau)]
    if not defined:
        return Agreement(float("nan"), np.empty(0))
    replicates = np.vstack([agreement.replicates for agreement in defined])
    # A mean over fewer languages would be another statistic.
    is_complete = np.isfinite(replicates).all(axis=0)
    return Agreement(
        tau=float(np.mean([agreement.tau for agreement in defined])),
        replicates=replicates[:, is_complete].mean(axis=0),
    )
