"""Agreement of rankings of the same systems: Kendall's tau-b and its bootstrap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.data.seeds import SAME_DECIMALS, places_by_value
from arena.data.types import Floats, Indices
from arena.statistics.bootstrap import percentile_interval

BLOCK_ENTRIES = 500_000
"""Orders (ratings x pairs of systems) held at a time."""


def kendall_tau(first: Floats, second: Floats) -> float:
    """Kendall tau-b (1945) of two ratings, each of shape (S,); a NaN leaves its system out.

    Returns:
        A value in [-1, 1]; NaN with fewer than two systems or where a rating is constant.
    """
    return float(kendall_taus(first[None], second[None])[0, 0])


def kendall_taus(first: Floats, second: Floats, groups: npt.NDArray[Any] | None = None) -> Floats:
    """Kendall tau-b of every rating of one kind with every one of another.

    Args:
        first: M ratings of S systems, shape (M, S); a NaN leaves its system out.
        second: T ratings of them, shape (T, S); likewise.
        groups: Group of each system, shape (S,): only pairs of one group are compared.

    Returns:
        Shape (M, T); NaN where it is not defined.
    """
    concordant, apart, other_apart = np.zeros((3, len(first), len(second)))
    for pairs in _pair_blocks(first.shape[1], len(first) + len(second), groups):
        order, has_order = _orders(first, pairs)
        other, has_other = _orders(second, pairs)
        concordant += order @ other.T
        apart += np.abs(order) @ has_other.T
        other_apart += has_order @ np.abs(other).T
    return _quotient(concordant, apart * other_apart)


def resampled_taus(
    first: Floats, second: Floats, times: npt.ArrayLike, groups: npt.NDArray[Any] | None = None
) -> Floats:
    """Kendall tau-b of resamples of the systems.

    Args:
        first: Rating of S systems, shape (S,); a NaN leaves its system out.
        second: Another, shape (S,), or one a resample, shape (B, S); likewise.
        times: How often each of B resamples holds each system, shape (B, S).
        groups: Group of each system, shape (S,): only pairs of one group are compared.

    Returns:
        Shape (B,); NaN where a resample has no two different ratings.
    """
    drawn = np.asarray(times, dtype=np.float64)
    others = np.atleast_2d(second)
    concordant, apart, other_apart = np.zeros((3, len(drawn)))
    systems = len(first)
    step = max(1, BLOCK_ENTRIES // max(systems * len(others), 1))
    for start in range(0, systems, step):  # sums of whole numbers: exact in any order
        rows = np.arange(start, min(start + step, systems))
        pairs = np.repeat(rows, systems), np.tile(np.arange(systems), len(rows))
        order, has_order = _orders(first[None], pairs)
        other, has_other = _orders(others, pairs)
        if groups is not None:
            is_together = groups[pairs[0]] == groups[pairs[1]]
            order, has_order = order * is_together, has_order * is_together
        parts = (order * other, np.abs(order) * has_other, has_order * np.abs(other))
        for total, part in zip((concordant, apart, other_apart), parts, strict=True):
            cube = part.reshape(len(part), len(rows), systems)
            beside = drawn @ cube[0].T if len(cube) == 1 else np.einsum("brs,bs->br", cube, drawn)
            total += (drawn[:, rows] * beside).sum(axis=1) / 2
    return _quotient(concordant, apart * other_apart)


def _pair_blocks(
    systems: int, rows: int, groups: npt.NDArray[Any] | None
) -> Iterator[tuple[Indices, Indices]]:
    """Yield some pairs of systems at a time, so that memory does not grow with their number."""
    first, second = np.triu_indices(systems, 1)
    if groups is not None:
        is_together = groups[first] == groups[second]
        first, second = first[is_together], second[is_together]
    step = max(1, BLOCK_ENTRIES // max(rows, 1))
    for start in range(0, len(first), step):
        yield first[start : start + step], second[start : start + step]


def _orders(ratings: Floats, pairs: tuple[Indices, Indices]) -> tuple[Floats, Floats]:
    """Return the order of each pair of systems, 0 where it has none, and whether it has both."""
    difference = ratings[:, pairs[0]] - ratings[:, pairs[1]]
    has_both = np.isfinite(difference)
    difference = np.where(has_both, difference, 0.0)
    return np.sign(np.round(difference, SAME_DECIMALS)), has_both.astype(np.float64)


def _quotient(concordant: Floats, apart: Floats) -> Floats:
    undefined = np.full(concordant.shape, np.nan)
    return np.asarray(np.divide(concordant, np.sqrt(apart), out=undefined, where=apart > 0))


@dataclass(frozen=True)
class Agreement:
    """Kendall tau-b with its bootstrap replicates; NaN where it is not defined.

    Attributes:
        tau: Agreement of the two ratings.
        replicates: Agreement in each bootstrap replicate.
    """

    tau: float
    replicates: Floats

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% percentile interval of the replicates, centered on tau and cut at -1 and 1.

        Each replicate holds the noise of one tournament, which the arena's rating does not, so
        replicates lie lower than tau; the interval takes their spread, not their location.
        NaN where nothing is defined.
        """
        low, high = percentile_interval(self.replicates)
        shift = self.tau - percentile_interval(self.replicates, (50.0, 50.0))[0]
        return float(np.clip(low + shift, -1, 1)), float(np.clip(high + shift, -1, 1))


def agreement(
    rating: Floats, arena_rating: Floats, tournaments: Floats, random: np.random.Generator
) -> Agreement:
    """Compare a rating with the arena's, with an interval over systems and questions.

    Each replicate resamples the systems and takes one tournament's coefficients (one resample of
    the questions): the Boot-Both procedure of Deutsch et al., 2021, "A statistical analysis of
    summarization evaluation metrics using resampling methods", section 4.

    Args:
        rating: Rating to validate, shape (S,).
        arena_rating: The arena's reported ratings, shape (S,).
        tournaments: Coefficients of each tournament, shape (T, S).
        random: Generator of the resamples.
    """
    systems = rating.size
    places = places_by_value(arena_rating, rating)
    resamples = random.integers(systems, size=(len(tournaments), systems))
    times = np.array([np.bincount(drawn, minlength=systems) for drawn in resamples])
    replicates = resampled_taus(rating, tournaments, times[:, places])
    return Agreement(kendall_tau(rating, arena_rating), replicates)


def macro_agreement(agreements: Sequence[Agreement]) -> Agreement:
    """Average agreements over languages, each language with the same weight.

    Languages where tau is not defined are left out.
    """
    defined = [item for item in agreements if np.isfinite(item.tau)]
    if not defined:
        return Agreement(float("nan"), np.empty(0))
    replicates = np.vstack([item.replicates for item in defined])
    complete = replicates[:, np.isfinite(replicates).all(axis=0)]
    return Agreement(float(np.mean([item.tau for item in defined])), complete.mean(axis=0))
