"""Battles: judgments of one language as win counts per question and pair of systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from arena.data.errors import UsageError
from arena.data.schema import WINNERS

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]
TieRule = Literal["half", "drop"]
TIE_RULES: tuple[TieRule, ...] = ("half", "drop")


@dataclass(frozen=True)
class Battles:
    """Win counts of Q questions and the P pairs of systems that met at least once.

    Attributes:
        systems: The S systems, sorted by name.
        questions: The Q judged questions (query ids), sorted.
        first: Index of each pair's first system, shape (P,).
        second: Index of each pair's second system, greater than ``first``, shape (P,).
        points: Points of the first system of each pair, shape (Q, P): 1 a win, 0.5 a tie.
        counts: Number of battles, shape (Q, P).
        ties: How ties count: ``half`` a win for both, or ``drop``.
        dropped_ties: Ties left out under ``drop``.
    """

    systems: tuple[str, ...]
    questions: tuple[str, ...]
    first: Integers
    second: Integers
    points: Floats
    counts: Floats
    ties: TieRule
    dropped_ties: int

    def weighted(self, weights: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Sum points and counts over questions taken with multiplicity.

        Args:
            weights: How often each question is taken, shape (R, Q).

        Returns:
            Points and counts, each of shape (R, P).
        """
        multiplicity = np.asarray(weights, dtype=np.float64)
        return multiplicity @ self.points, multiplicity @ self.counts

    def wins_and_losses(self) -> tuple[Floats, Floats]:
        """Return each system's points won and points lost, two arrays of shape (S,)."""
        won, met = self.points.sum(axis=0), self.counts.sum(axis=0)
        lost = met - won
        return self._per_system(won, lost), self._per_system(lost, won)

    def _per_system(self, of_first: Floats, of_second: Floats) -> Floats:
        size = len(self.systems)
        total = np.bincount(self.first, of_first, size) + np.bincount(self.second, of_second, size)
        return np.asarray(total, dtype=np.float64)


def count_battles(
    judgments: pd.DataFrame, ties: TieRule = "half", systems: Sequence[str] | None = None
) -> Battles:
    """Count wins per question and pair of systems.

    Args:
        judgments: Columns ``query_id, system_a, system_b, winner``; one language, one judge.
        ties: ``half``: a tie is half a win for each system; ``drop``: ties are left out.
        systems: Systems to index, by default those judged.

    Raises:
        UsageError: If nothing is left to count, or a tie rule, winner or system is unknown.
    """
    ties = checked_tie_rule(ties)
    is_tie = judgments["winner"] == "tie"
    kept = judgments[~is_tie] if ties == "drop" else judgments
    if kept.empty:
        raise UsageError("there are no judgments to count")
    names = judged_systems(kept) if systems is None else sorted(systems)
    questions = sorted(kept["query_id"].unique())
    side_a = _positions(kept["system_a"], names, "system")
    side_b = _positions(kept["system_b"], names, "system")
    pairs = np.minimum(side_a, side_b) * len(names) + np.maximum(side_a, side_b)
    met, pair = np.unique(pairs, return_inverse=True)
    points_a = np.array([1.0, 0.0, 0.5])[_positions(kept["winner"], WINNERS, "winner")]
    points_first = np.where(side_a < side_b, points_a, 1.0 - points_a)
    cell = (_positions(kept["query_id"], questions, "question"), pair)
    shape = (len(questions), len(met))
    return Battles(
        systems=tuple(names),
        questions=tuple(questions),
        first=(met // len(names)).astype(np.intp),
        second=(met % len(names)).astype(np.intp),
        points=coo_array((points_first, cell), shape=shape).toarray(),
        counts=coo_array((np.ones_like(points_first), cell), shape=shape).toarray(),
        ties=ties,
        dropped_ties=int(is_tie.sum()) if ties == "drop" else 0,
    )


def checked_tie_rule(name: str) -> TieRule:
    """Return a tie rule by name.

    Raises:
        UsageError: If the name is unknown.
    """
    for rule in TIE_RULES:
        if rule == name:
            return rule
    raise UsageError(f"unknown tie rule {name!r}; use one of {', '.join(TIE_RULES)}")


def judged_systems(judgments: pd.DataFrame) -> list[str]:
    """Return the systems that judgments name, sorted."""
    return sorted({*judgments["system_a"].unique(), *judgments["system_b"].unique()})


def _positions(values: pd.Series, order: Sequence[str], noun: str) -> Integers:
    codes, distinct = pd.factorize(values)
    position_of_code = pd.Index(order).get_indexer(distinct)
    if (position_of_code < 0).any():
        unknown = sorted(set(distinct) - set(order))
        raise UsageError(f"judgments hold an unknown {noun}: {', '.join(unknown)}")
    return np.asarray(position_of_code[codes], dtype=np.intp)


def components(battles: Battles, counts: Floats) -> Integers:
    """Label the groups of systems that battles connect, largest group first.

    Args:
        battles: Which systems each pair holds.
        counts: Battles of each pair, shape (P,).

    Returns:
        Group of each system, shape (S,): 0 the largest, ties by first system.
    """
    met = counts > 0
    size = len(battles.systems)
    graph = coo_array(
        (np.ones(int(met.sum())), (battles.first[met], battles.second[met])), shape=(size, size)
    )
    _, labels = connected_components(graph, directed=False)
    order = np.argsort(-np.bincount(labels), kind="stable")
    rank_of_label = np.empty_like(order)
    rank_of_label[order] = np.arange(len(order))
    return np.asarray(rank_of_label[labels], dtype=np.intp)
