"""Battles: judgments of one language and judge by question, side and outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import coo_array, csr_array

from arena.data.errors import UsageError
from arena.data.schema import ADAPTIVE, CHOSEN, QUESTION_KEY, SOFT, SOFT_COLUMNS, WINNERS
from arena.rating.pairs import (
    OUTCOMES,
    POINTS_OF_A,
    JudgedItems,
    Pairs,
    WinCounts,
    connected_groups,
    split_outcomes,
)

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.intp]
Booleans = npt.NDArray[np.bool_]
TieRule = Literal["half", "drop"]
TIE_RULES: tuple[TieRule, ...] = ("half", "drop")

TIE = WINNERS.index("tie")
_SHARES = list(SOFT_COLUMNS[1:])
_TRUE = ("true", "1", "1.0")
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Battles:
    """N battles between S systems on Q questions.

    Attributes:
        systems: The systems, sorted by name.
        side_a: System on side A, shape (N,).
        side_b: System on side B, shape (N,).
        winner: 0 side A, 1 side B, 2 a tie, shape (N,).
        question: Question of each battle, shape (N,); None where every battle has its own.
        n_questions: Number of questions Q.
        questions: Their query ids, sorted; empty where they were not read.
        covariates: Of each battle's logit, side A minus side B, shape (N, C); None without.
        adaptive: Whether battles were chosen by the outcomes of others.
        weight: What share of a battle each row is, where soft verdicts are spread over outcomes,
            shape (N,); None where every row is a whole one.
    """

    systems: tuple[str, ...]
    side_a: Integers
    side_b: Integers
    winner: Integers
    question: Integers | None
    n_questions: int
    questions: tuple[str, ...] = ()
    covariates: Floats | None = None
    adaptive: bool = False
    weight: Floats | None = None

    @classmethod
    def from_judgments(
        cls,
        judgments: pd.DataFrame,
        covariates: npt.NDArray[np.float64] | None = None,
        systems: Sequence[str] = (),
    ) -> Battles:
        """Take in judgments of one judge; copies of others count once (``copies_of_others``).

        Args:
            judgments: Columns ``system_a, system_b, winner`` and, optional, ``query_id`` (without
                it every judgment is a question of its own), ``language`` (questions of two
                languages are two, whatever their ids), ``chosen`` (``adaptive`` where a
                judgment was asked for because of others) and ``soft`` (true where probabilities
                take the verdict's place; see ``spread``).
            covariates: Of each judgment's logit, shape (N, C).
            systems: Systems that are to be among those of the battles, whether they met or not.

        Raises:
            UsageError: If there are none, a winner is unknown, a name is missing, or a system is
                judged against itself.
        """
        if judgments.empty:
            raise UsageError("there are no judgments to count")
        single = ~copies_of_others(judgments)
        judgments, position, weight = spread(judgments[single])
        covariates = None if covariates is None else covariates[single][position]
        winner = _outcomes(judgments)
        side_a, names_a = pd.factorize(judgments["system_a"])
        side_b, names_b = pd.factorize(judgments["system_b"])
        if (side_a < 0).any() or (side_b < 0).any():
            raise UsageError("judgments hold a system without a name")
        question, questions = _questions(judgments)
        names = [*names_a, *systems]
        battles = cls.from_codes(side_a, names, side_b, list(names_b), winner, question, questions)
        same = np.flatnonzero(battles.side_a == battles.side_b)
        if same.size:
            name = battles.systems[battles.side_a[same[0]]]
            raise UsageError(f"{name} is judged against itself")
        adaptive = CHOSEN in judgments and bool((judgments[CHOSEN] == ADAPTIVE).any())
        return replace(battles, covariates=covariates, adaptive=adaptive, weight=weight)

    @classmethod
    def none(cls, systems: Sequence[str], questions: Sequence[str]) -> Battles:
        """Return what there is where nobody has judged: systems and questions without battles."""
        nobody = np.empty(0, dtype=np.intp)
        return cls(tuple(systems), nobody, nobody, nobody, nobody, len(questions), tuple(questions))

    @classmethod
    def from_codes(
        cls,
        side_a: npt.ArrayLike,
        names_a: Sequence[str],
        side_b: npt.ArrayLike,
        names_b: Sequence[str],
        winner: npt.ArrayLike,
        question: npt.ArrayLike | None = None,
        questions: tuple[str, ...] = (),
    ) -> Battles:
        """Build battles from codes of either side's names; see ``Battles`` for the others."""
        systems = sorted({*map(str, names_a), *map(str, names_b)})
        position = pd.Index(systems)
        a = position.get_indexer(pd.Index(names_a, dtype=object))[np.asarray(side_a)]
        b = position.get_indexer(pd.Index(names_b, dtype=object))[np.asarray(side_b)]
        codes = None if question is None else np.asarray(question, dtype=np.intp)
        return cls(
            systems=tuple(systems),
            side_a=np.asarray(a, dtype=np.intp),
            side_b=np.asarray(b, dtype=np.intp),
            winner=np.asarray(winner, dtype=np.intp),
            question=codes,
            n_questions=len(a) if codes is None else len(np.unique(codes)),
            questions=questions,
        )

    def __len__(self) -> int:
        return len(self.winner)

    @property
    def judged(self) -> int:
        """Number of judgments: of rows, or of the whole battles that their shares make."""
        return len(self) if self.weight is None else round(float(self.weight.sum()))

    def decided(self) -> Battles:
        """Leave ties out, and questions and systems that have no other battles.

        Raises:
            UsageError: If there are only ties.
        """
        kept = self._take(self.winner != TIE)
        if not len(kept):
            raise UsageError("there are no judgments to count")
        met = np.unique(np.concatenate([kept.side_a, kept.side_b]))
        return kept.among([self.systems[index] for index in met]).on_battled_questions()

    def among(self, systems: Sequence[str]) -> Battles:
        """Keep the battles between some of the systems; all questions stay."""
        wanted = set(systems)
        inside = np.array([name in wanted for name in self.systems])
        if inside.all():
            return self
        kept = self._take(inside[self.side_a] & inside[self.side_b])
        position = np.cumsum(inside) - 1
        return replace(
            kept,
            systems=tuple(name for name in self.systems if name in wanted),
            side_a=position[kept.side_a],
            side_b=position[kept.side_b],
        )

    def on_battled_questions(self) -> Battles:
        """Leave out questions without a battle."""
        if self.question is None:
            return replace(self, n_questions=len(self))
        present, question = np.unique(self.question, return_inverse=True)
        names = tuple(self.questions[index] for index in present) if self.questions else ()
        return replace(self, question=question, n_questions=len(present), questions=names)

    def largest_group(self) -> Battles:
        """Keep the largest group of systems that battles connect, and its questions."""
        groups = connected_groups(self.side_a, self.side_b, len(self.systems))
        if not groups.any():
            return self
        names = [name for name, group in zip(self.systems, groups, strict=True) if group == 0]
        return self.among(names).on_battled_questions()

    def _take(self, rows: Booleans) -> Battles:
        return replace(
            self,
            side_a=self.side_a[rows],
            side_b=self.side_b[rows],
            winner=self.winner[rows],
            question=None if self.question is None else self.question[rows],
            covariates=None if self.covariates is None else self.covariates[rows],
            weight=None if self.weight is None else self.weight[rows],
        )

    def count(self, by_side: bool = False, by_question: bool = False) -> WinCounts:
        """Count wins, losses and ties of every pair of systems that met.

        With covariates, every battle is a pair of its own.

        Args:
            by_side: Keep apart which system stood on side A.
            by_question: Count by question too, also where every question has but one battle.
        """
        if self.covariates is not None:
            return self._count_singly(self.covariates)
        size = len(self.systems)
        own_questions = self.n_questions == len(self) and not by_question
        if own_questions and size * size <= 4 * len(self):
            met, totals = self._pair_totals(by_side)
            return WinCounts(_pairs(met, size), split_outcomes(totals), self.n_questions)
        swapped = np.zeros(len(self), dtype=bool) if by_side else self.side_a > self.side_b
        first = np.where(swapped, self.side_b, self.side_a)
        second = np.where(swapped, self.side_a, self.side_b)
        outcome = np.where(swapped & (self.winner != TIE), 1 - self.winner, self.winner)
        met, pair = _distinct(first * size + second, size)
        entry = outcome * len(met) + pair
        totals = np.bincount(entry, self.weight, OUTCOMES * len(met))
        counted = None if own_questions else self._by_question(entry, len(met))
        return WinCounts(_pairs(met, size), split_outcomes(totals), self.n_questions, counted)

    def _pair_totals(self, by_side: bool) -> tuple[Integers, npt.NDArray[Any]]:
        """Return the distinct pairs, sorted, and how often each has each outcome."""
        size = len(self.systems)
        entry = self.side_a * size
        entry += self.side_b
        entry *= OUTCOMES
        entry += self.winner
        entries = np.bincount(entry, self.weight, OUTCOMES * size * size)
        table = entries.reshape(size, size, OUTCOMES)
        if not by_side:
            table = table + table.transpose(1, 0, 2)[:, :, [1, 0, 2]]
            table[np.tril_indices(size)] = 0
        outcomes = table.reshape(-1, OUTCOMES)
        met = np.flatnonzero(outcomes.any(axis=1))
        return met, outcomes[met].T.ravel()

    def _count_singly(self, covariates: Floats) -> WinCounts:
        entry = self.winner * len(self) + np.arange(len(self))
        totals = np.bincount(entry, self.weight, OUTCOMES * len(self))
        pairs = Pairs(self.side_a, self.side_b, len(self.systems))
        counted = self._by_question(entry, len(self))
        return WinCounts(pairs, split_outcomes(totals), self.n_questions, counted, covariates)

    def _by_question(self, entry: Integers, pairs: int) -> csr_array:
        question = np.arange(len(self)) if self.question is None else self.question
        shape = (OUTCOMES * pairs, self.n_questions)
        weight = np.ones(len(entry)) if self.weight is None else self.weight
        return coo_array((weight, (entry, question)), shape=shape).tocsr()

    def records(self) -> pd.DataFrame:
        """Count each system's wins, losses and ties: columns ``system, wins, losses, ties``.

        Counts are whole numbers, of soft verdicts sums of their shares.
        """
        counts = self.count(by_side=True)
        totals, size = counts.totals, len(self.systems)
        kind = np.intp if self.weight is None else np.float64

        def summed(of_first: Floats, of_second: Floats) -> npt.NDArray[Any]:
            of_side_a = np.bincount(counts.pairs.first, of_first[:, 0], size)
            of_side_b = np.bincount(counts.pairs.second, of_second[:, 0], size)
            return np.asarray(of_side_a + of_side_b, dtype=kind)

        return pd.DataFrame(
            {
                "system": self.systems,
                "wins": summed(totals.wins, totals.losses),
                "losses": summed(totals.losses, totals.wins),
                "ties": summed(totals.ties, totals.ties),
            }
        )

    @cached_property
    def by_question(self) -> WinCounts:
        """Wins, losses and ties of every pair, whatever its sides, by question."""
        return self.count(by_question=True)

    @cached_property
    def items(self) -> JudgedItems:
        """Outcomes by pair and question, a pair's first system being the one first by name."""
        return self.by_question.items


def copies_of_others(judgments: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Tell which judgments are copies of others, as of a file that was joined twice.

    A copy has the question, sides, judge and winner of another. Where a judge contradicts itself
    somewhere it was asked more than once, and all it said is its own.

    Returns:
        Shape (N,); nobody's where questions have no ids.
    """
    if "query_id" not in judgments:
        return np.zeros(len(judgments), dtype=np.bool_)
    asked = [*QUESTION_KEY, "system_a", "system_b", "judge"]
    asked = [name for name in asked if name in judgments]
    said = [name for name in ("winner", *SOFT_COLUMNS) if name in judgments]
    same = judgments.duplicated([*asked, *said]).to_numpy()
    if not same.any():
        return np.asarray(same)
    again = judgments.duplicated(asked).to_numpy() & ~same
    by = [name for name in ("language", "judge") if name in judgments]
    if not by:
        return np.asarray(same & (not again.any()))
    varied = pd.Series(again, judgments.index).groupby([judgments[name] for name in by])
    return np.asarray(same & ~varied.transform("any").to_numpy(bool))


def points_of_a(judgments: pd.DataFrame) -> pd.Series:
    """Return what each judgment gives side A: 1 for a win, half for a tie, else 0.

    A soft judgment gives what is to be expected by its probabilities.

    Args:
        judgments: Column ``winner`` and, where some are soft, what ``spread`` asks for.

    Returns:
        Points from 0 to 1, shape (N,), with the index of the judgments.

    Raises:
        UsageError: If a winner is unknown, or a soft judgment has no probabilities.
    """
    rows, position, weight = spread(judgments)
    points = POINTS_OF_A[_outcomes(rows)]
    shares = points if weight is None else points * weight
    return pd.Series(np.bincount(position, shares, len(judgments)), index=judgments.index)


def _outcomes(judgments: pd.DataFrame) -> Integers:
    """Return which of ``WINNERS`` each judgment names, shape (N,)."""
    outcomes = pd.Index(WINNERS).get_indexer(pd.Index(judgments["winner"].astype(object)))
    if (outcomes < 0).any():
        unknown = sorted(set(judgments["winner"][outcomes < 0].astype(str)))
        raise UsageError(f"judgments hold an unknown winner: {', '.join(unknown)}")
    return np.asarray(outcomes, dtype=np.intp)


def _questions(judgments: pd.DataFrame) -> tuple[Integers | None, tuple[str, ...]]:
    """Code the questions of judgments, sorted by query id."""
    if "query_id" not in judgments:
        return None, ()
    ids = judgments["query_id"]
    if "language" in judgments and judgments["language"].nunique() > 1:
        ids = judgments["language"].astype(str) + "/" + ids.astype(str)
    codes, names = pd.factorize(ids, sort=True)
    if (codes < 0).any():
        raise UsageError("judgments hold a question without a query_id")
    return np.asarray(codes, dtype=np.intp), tuple(names)


def _pairs(met: Integers, size: int) -> Pairs:
    return Pairs((met // size).astype(np.intp), (met % size).astype(np.intp), size)


def _distinct(pairs: Integers, size: int) -> tuple[Integers, Integers]:
    """Return the distinct pairs, sorted, and the index of each battle's pair among them."""
    if size * size > 4 * len(pairs):
        met, pair = np.unique(pairs, return_inverse=True)
        return met, pair
    met = np.flatnonzero(np.bincount(pairs, minlength=size * size))
    index = np.zeros(size * size, dtype=np.intp)
    index[met] = np.arange(len(met))
    return met, index[pairs]


def spread(
    judgments: pd.DataFrame,
) -> tuple[pd.DataFrame, npt.NDArray[np.intp], Floats | None]:
    """Make a row of every verdict that a soft judgment gives some probability.

    Args:
        judgments: An arena's ``judgments``; those whose ``soft`` is true hold ``probability_a``
            and ``probability_b``, of which a tie has the rest. All others count as they are.

    Returns:
        The rows; which judgment each is of, shape (N,); and their weights, shape (N,), those of a
        judgment summing to 1, or None where no judgment is soft.

    Raises:
        UsageError: If a soft judgment has no probabilities, or questions no ids.
    """
    every = np.arange(len(judgments), dtype=np.intp)
    is_soft = (
        np.array([str(value).lower() in _TRUE for value in judgments[SOFT]], dtype=np.bool_)
        if SOFT in judgments
        else np.zeros(len(judgments), dtype=np.bool_)
    )
    if not is_soft.any():
        return judgments, every, None
    if "query_id" not in judgments or not set(_SHARES) <= set(judgments):
        raise UsageError("soft judgments need query_id, probability_a and probability_b")
    shares = _checked_shares(judgments.loc[is_soft, _SHARES])
    soft = every[is_soft]
    position = np.concatenate([every[~is_soft], np.repeat(soft, len(WINNERS))])
    weight = np.concatenate([np.ones(int((~is_soft).sum())), shares.ravel()])
    winner = np.concatenate(
        [
            judgments["winner"].to_numpy(dtype=object)[~is_soft],
            np.tile(np.array(WINNERS, dtype=object), len(soft)),
        ]
    )
    kept = np.flatnonzero(weight > 0)
    order = kept[np.argsort(position[kept], kind="stable")]
    rows = judgments.iloc[position[order]].reset_index(drop=True).assign(winner=winner[order])
    return rows, position[order], weight[order]


def _checked_shares(told: pd.DataFrame) -> Floats:
    """Return the probability of a, b and a tie, in the order of ``WINNERS``, shape (N, 3)."""
    known = told.apply(pd.to_numeric, errors="coerce").to_numpy(np.float64)
    tie = 1.0 - known.sum(axis=1)
    shares = np.column_stack([known, tie])
    if not (np.isfinite(shares).all() and (shares >= -_ROUNDING).all()):
        raise UsageError(
            "a soft judgment has no sound probability_a and probability_b: each from 0 to 1, "
            "together at most 1"
        )
    return np.where(shares < _ROUNDING, 0.0, shares)
