"""Exact Poisson draws for many cells of small integer means, by table lookup.

A condensed table (Marsaglia, Tsang and Wang, 2004): of 4096 equally likely slots, floor(4096 p_k)
hold the value k; the few slots left over are resolved from what the rounding left of each
probability. A draw costs 12 random bits and one gather, an order of magnitude less than the
rejection sampler of numpy, and follows the same distribution.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array
from scipy.special import gammaln

from arena.rating.battle_codes import BattleCodes
from arena.rating.likelihoods import Counts

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]

SLOTS = 4096
LARGEST_MEAN = 400
"""Of means above this, the draws are numpy's: too many values for the slots."""
PIECE = 65_536
"""Draws made at a time."""
LEFT_OVER = np.iinfo(np.uint16).max


class PoissonDraws:
    """Draws from Poisson distributions, one a cell, with integer means.

    Attributes:
        means: Mean of each cell, shape (M,).
    """

    def __init__(self, means: Floats) -> None:
        self.means = means
        self._large = np.flatnonzero(means > LARGEST_MEAN)
        small = np.where(means > LARGEST_MEAN, 0, means).astype(np.intp)
        distinct, self._place = np.unique(small, return_inverse=True)
        self._tables, left = _tables(distinct)
        self._left, self._width = left.ravel(), left.shape[1]

    def draw(self, size: int, random: np.random.Generator) -> Floats:
        """Return draws of shape (size, M), each cell's beside each other in memory."""
        drawn = np.empty((len(self.means), size))
        step = max(1, PIECE // size)
        for start in range(0, len(drawn), step):
            self._draw_piece(drawn[start : start + step], start, random)
        if self._large.size:
            shape = (len(self._large), size)
            drawn[self._large] = random.poisson(self.means[self._large, None], size=shape)
        return drawn.T

    def _draw_piece(self, out: Floats, start: int, random: np.random.Generator) -> None:
        """Draw the cells from ``start`` on; pieces are small enough to stay in the cache."""
        place = self._place[start : start + len(out)]
        index = random.integers(0, SLOTS, size=out.shape, dtype=np.uint16) + place[:, None] * SLOTS
        values = self._tables.take(index)
        open_draws = np.flatnonzero(values.ravel() == LEFT_OVER)
        row = place[open_draws // out.shape[1]]
        found = np.searchsorted(self._left, row + random.random(len(row)), side="right")
        values.ravel()[open_draws] = found - row * self._width
        out[:] = values


def _tables(means: Integers) -> tuple[npt.NDArray[np.uint16], Floats]:
    """Return the slots of every mean, flat, and the running sums of what is left of each value."""
    highest = int(means.max(initial=0))
    values = np.arange(int(highest + 12 * np.sqrt(highest) + 40))
    mean = means[:, None].astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        chances = np.exp(
            np.where(mean > 0, values * np.log(mean), 0.0) - mean - gammaln(values + 1)
        )
    chances[means == 0] = values == 0
    scaled = chances * (SLOTS / chances.sum(axis=1, keepdims=True))
    full = np.floor(scaled).astype(np.intp)
    slots = np.full((len(means), SLOTS), LEFT_OVER, dtype=np.uint16)
    for row, times in zip(slots, full, strict=True):
        held = np.repeat(values.astype(np.uint16), times)
        row[: len(held)] = held
    left = np.cumsum(scaled - full, axis=1)
    total = np.where(left[:, -1:] > 0, left[:, -1:], 1.0)
    place = np.arange(len(means), dtype=np.float64)[:, None]
    return slots.reshape(-1), np.asarray(place + np.minimum(left / total, 1.0))


BLOCK_ENTRIES = 3_000_000
"""Counts (replicates x cells x outcomes) held at a time while resampling."""


@dataclass(frozen=True)
class Outcomes:
    """Outcomes of battles in M cells, each a pair of systems.

    Attributes:
        systems: The S systems.
        first: First system of each cell, shape (M,): the one on side A where sides matter, else
            the one that comes first by name.
        second: Second system of each cell, shape (M,).
        totals: Wins, losses and ties of the first system, each of shape (1, M).
        n_questions: Number of questions Q.
        per_question: The same for each question, shape (Q, 3 M); None where every battle is a
            question of its own.
        covariates: Covariates of each cell's log-odds, shape (M, C).
    """

    systems: tuple[str, ...]
    first: Integers
    second: Integers
    totals: Counts
    n_questions: int
    per_question: csr_array | None
    covariates: Floats

    def resampled(self, rounds: int, random: np.random.Generator) -> Iterator[Counts]:
        """Resample questions with replacement, in blocks that bound memory.

        Where every battle is its own question, each count of a cell is drawn from a Poisson
        distribution (the Poisson bootstrap over battles, whose weights add up within a cell).

        Args:
            rounds: Number of replicates in all.
            random: Generator of the draws.

        Yields:
            Counts of some replicates, each array of shape (replicates, M).
        """
        block = max(1, BLOCK_ENTRIES // (3 * len(self.first)))
        for start in range(0, rounds, block):
            size = min(block, rounds - start)
            if self.per_question is None:
                yield self._poisson(size, random)
            else:
                yield self._multinomial(size, random)

    @cached_property
    def _samplers(self) -> tuple[PoissonDraws, ...]:
        parts = (self.totals.wins, self.totals.losses, self.totals.ties)
        return tuple(PoissonDraws(part[0]) for part in parts)

    def _poisson(self, size: int, random: np.random.Generator) -> Counts:
        return Counts(*(sampler.draw(size, random) for sampler in self._samplers))

    def _multinomial(self, size: int, random: np.random.Generator) -> Counts:
        chances = np.full(self.n_questions, 1.0 / self.n_questions)
        weights = random.multinomial(self.n_questions, chances, size=size).astype(np.float64)
        return _split((self.per_question.T @ weights.T).T)  # type: ignore[union-attr]


def count_outcomes(codes: BattleCodes, by_side: bool = False) -> Outcomes:
    """Count wins, losses and ties of every pair of systems that met.

    Args:
        codes: Battles.
        by_side: Keep apart which system stood on side A.
    """
    size = len(codes.systems)
    if codes.question is None and size * size <= 4 * len(codes.winner):
        met, totals = _pair_totals(codes, by_side)
        per_question = None
    else:
        met, totals, per_question = _question_totals(codes, by_side)
    return Outcomes(
        systems=codes.systems,
        first=(met // size).astype(np.intp),
        second=(met % size).astype(np.intp),
        totals=_split(totals.reshape(1, -1)),
        n_questions=codes.n_questions,
        per_question=per_question,
        covariates=np.zeros((len(met), 0)),
    )


def _pair_totals(codes: BattleCodes, by_side: bool) -> tuple[Integers, Integers]:
    """Return the distinct pairs, sorted, and the outcomes of each, shape (M, 3)."""
    size = len(codes.systems)
    entry = codes.side_a * size
    entry += codes.side_b
    entry *= 3
    entry += codes.winner
    table = np.bincount(entry, minlength=3 * size * size).reshape(size, size, 3)
    if not by_side:
        table = table + table.transpose(1, 0, 2)[:, :, [1, 0, 2]]
        table[np.tril_indices(size)] = 0
    outcomes = table.reshape(-1, 3)
    met = np.flatnonzero(outcomes.any(axis=1))
    return met, outcomes[met]


def _question_totals(
    codes: BattleCodes, by_side: bool
) -> tuple[Integers, Integers, csr_array | None]:
    """Return the distinct pairs, sorted, the outcomes of each, and those of each question."""
    size = len(codes.systems)
    swapped = np.zeros(len(codes.winner), bool) if by_side else codes.side_a > codes.side_b
    first = np.where(swapped, codes.side_b, codes.side_a)
    second = np.where(swapped, codes.side_a, codes.side_b)
    outcome = np.where(swapped & (codes.winner < 2), 1 - codes.winner, codes.winner)
    met, cell = _cells(first * size + second, size)
    entry = cell * 3 + outcome
    totals = np.bincount(entry, minlength=3 * len(met))
    if codes.question is None:
        return met, totals, None
    shape = (codes.n_questions, 3 * len(met))
    ones = np.ones(len(entry))
    per_question = coo_array((ones, (codes.question, entry)), shape=shape).tocsr()
    return met, totals, per_question


def outcomes_of_battles(codes: BattleCodes, covariates: Floats) -> Outcomes:
    """Give every battle a cell of its own, as covariates of single battles need.

    Args:
        codes: Battles.
        covariates: Covariates of each battle's log-odds, side A minus side B, shape (N, C).
    """
    size = len(codes.winner)
    battle = np.arange(size)
    totals = np.zeros((1, 3 * size))
    totals[0, 3 * battle + codes.winner] = 1.0
    question = battle if codes.question is None else codes.question
    shape = (codes.n_questions, 3 * size)
    entries = (np.ones(size), (question, 3 * battle + codes.winner))
    return Outcomes(
        systems=codes.systems,
        first=codes.side_a.astype(np.intp),
        second=codes.side_b.astype(np.intp),
        totals=_split(totals),
        n_questions=codes.n_questions,
        per_question=coo_array(entries, shape=shape).tocsr(),
        covariates=covariates,
    )


def _cells(pairs: npt.NDArray[np.int64], size: int) -> tuple[Integers, Integers]:
    """Return the distinct pairs, sorted, and the place of each battle's pair among them."""
    if size * size > 4 * len(pairs):
        met, cell = np.unique(pairs, return_inverse=True)
        return met, cell
    met = np.flatnonzero(np.bincount(pairs, minlength=size * size))
    place = np.zeros(size * size, dtype=np.intp)
    place[met] = np.arange(len(met))
    return met, place[pairs]


def _split(counts: npt.ArrayLike) -> Counts:
    parts = np.asarray(counts, dtype=np.float64)
    return Counts(
        np.ascontiguousarray(parts[:, 0::3]),
        np.ascontiguousarray(parts[:, 1::3]),
        np.ascontiguousarray(parts[:, 2::3]),
    )
