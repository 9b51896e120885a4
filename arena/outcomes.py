"""Wins, losses and ties of pairs of systems, by question where questions hold several battles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array

from arena.battle_codes import BattleCodes
from arena.likelihoods import Counts
from arena.poisson_draws import PoissonDraws

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]

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
