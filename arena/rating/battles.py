"""Battles: judgments of one language and judge by question, side and outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import compress
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError
from arena.data.judge_names import chosen_judges, judges_named
from arena.data.judgments import copies_of_others
from arena.data.schema import ADAPTIVE, ALL, CHOSEN
from arena.data.types import Flags, Floats, Indices
from arena.data.wording import first_of
from arena.rating.biases import TRAIT, Biases
from arena.rating.outcomes import (
    POINTS_OF_A,
    TIE,
    judge_codes,
    outcome_rows,
    soft_flags,
    trait_differences,
    weights_of,
    winner_codes,
)
from arena.rating.pairs import JudgedItems, Pairs, connected_groups

TieRule = Literal["half", "drop"]
TIE_RULES: tuple[TieRule, ...] = ("half", "drop")

_RECORD = ["wins", "losses", "ties"]
"""Columns of records, in the order of ``WINNERS`` for the system on side A."""


@dataclass(frozen=True)
class Battles:
    """N battles between S systems on Q questions, of one language, by one or more judges.

    Attributes:
        systems: The systems, sorted by name.
        side_a: System on side A, shape (N,).
        side_b: System on side B, shape (N,).
        winner: 0 side A, 1 side B, 2 a tie, shape (N,).
        question: Question of each battle, shape (N,).
        n_questions: Number of questions Q.
        questions: Their query ids, sorted; empty if the judgments have none.
        adaptive: Whether battles were chosen by the outcomes of others.
        weight: How many battles each row counts for, shape (N,): the weight of its judgment,
            times the probability of the outcome if the judgment is soft. None if all are 1.
        is_soft: Which rows are outcomes of judgments with probabilities, shape (N,). None if none.
        judge: Judge of each battle, shape (N,); None if there is one.
        judges: Their names; all people are one judge. One of no name by default.
        traits: Names of F traits that judges may like.
        differences: By how much A's answer exceeds B's in them, shape (N, F); None without traits.
    """

    systems: tuple[str, ...]
    side_a: Indices
    side_b: Indices
    winner: Indices
    question: Indices
    n_questions: int
    questions: tuple[str, ...] = ()
    adaptive: bool = False
    weight: Floats | None = None
    is_soft: Flags | None = None
    judge: Indices | None = None
    judges: tuple[str, ...] = ("",)
    traits: tuple[str, ...] = ()
    differences: Floats | None = None

    @classmethod
    def from_judgments(cls, judgments: pd.DataFrame, systems: Sequence[str] = ()) -> Battles:
        """Read the judgments of one judge; exact copies count once (``copies_of_others``).

        Args:
            judgments: Columns ``system_a, system_b, winner`` and, optional, ``query_id`` (without
                it every judgment is a question of its own), ``judge``, ``trait_...`` (by how much A
                exceeds B, see ``arena.rating.traits``), ``language`` (questions of two languages
                are two, whatever their ids), ``chosen`` (``adaptive`` if the outcomes
                of others led to a judgment), ``probability_a`` and ``probability_b`` (which count
                instead of the winner; see ``outcome_rows``) and ``weight`` (how many judgments it
                counts for).
            systems: Systems to include whether they met others or not.

        Raises:
            UsageError: If there are none, a winner is unknown, a name is missing, a weight is
                not a number above 0, or a system is judged against itself.
        """
        if judgments.empty:
            raise UsageError("there are no judgments to count")
        counted = judgments[~copies_of_others(judgments)]
        judgments, position, shares = outcome_rows(counted)
        sides = pd.concat([judgments["system_a"], judgments["system_b"]], ignore_index=True)
        if sides.isna().any():
            raise UsageError("judgments hold a system without a name")
        codes, met = pd.factorize(sides.astype(str))
        names = pd.Index(sorted({*met, *systems}), dtype=object)
        side_a, side_b = np.split(names.get_indexer(met)[codes], 2)
        is_same = side_a == side_b
        if is_same.any():
            raise UsageError(f"{names[side_a[is_same][0]]} is judged against itself")
        question, questions = _questions(judgments)
        judge, judges = judge_codes(judgments)
        trait_columns = [name for name in judgments if str(name).startswith(TRAIT)]
        return cls(
            systems=tuple(names),
            side_a=side_a,
            side_b=side_b,
            winner=winner_codes(judgments),
            question=question,
            n_questions=len(questions) or len(judgments),
            questions=questions,
            adaptive=CHOSEN in judgments and bool((judgments[CHOSEN] == ADAPTIVE).any()),
            weight=_row_weights(shares, weights_of(counted), position),
            is_soft=None if shares is None else soft_flags(counted)[position],
            judge=judge,
            judges=judges,
            traits=tuple(name.removeprefix(TRAIT) for name in trait_columns),
            differences=trait_differences(judgments[trait_columns]),
        )

    @classmethod
    def none(cls, systems: Sequence[str], questions: Sequence[str]) -> Battles:
        """Return systems and questions without any battle."""
        empty = np.empty(0, dtype=np.intp)
        return cls(
            systems=tuple(systems),
            side_a=empty,
            side_b=empty,
            winner=empty,
            question=empty,
            n_questions=len(questions),
            questions=tuple(questions),
        )

    def __len__(self) -> int:
        return len(self.winner)

    def __getstate__(self) -> dict[str, object]:
        # Cached properties are not sent to worker processes: they are larger than the battles.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def judged(self) -> int:
        """Number of judgments: the sum of their weights, rounded."""
        if self.weight is None:
            return len(self)
        return round(float(self.weight.sum()))

    def decided(self) -> Battles:
        """Drop ties, and questions and systems without other battles.

        Raises:
            UsageError: If there are only ties.
        """
        return self.only(self.winner != TIE)

    def only(self, rows: Flags) -> Battles:
        """Keep some battles, and the questions and systems that have any of them.

        Args:
            rows: Which battles to keep, shape (N,).

        Raises:
            UsageError: If it keeps none.
        """
        battles = self._take(rows)
        if not len(battles):
            raise UsageError("there are no judgments to count")
        met = np.unique(np.concatenate([battles.side_a, battles.side_b]))
        return battles.among([self.systems[index] for index in met]).on_battled_questions()

    def among(self, systems: Sequence[str]) -> Battles:
        """Keep the battles between some of the systems; all questions stay."""
        is_selected = pd.Index(self.systems, dtype=object).isin(list(systems))
        if is_selected.all():
            return self
        battles = self._take(is_selected[self.side_a] & is_selected[self.side_b])
        # Old system numbers to new ones; only those of selected systems are read.
        position = np.cumsum(is_selected) - 1
        return replace(
            battles,
            systems=tuple(compress(self.systems, is_selected)),
            side_a=position[battles.side_a],
            side_b=position[battles.side_b],
        )

    def on_battled_questions(self) -> Battles:
        """Drop questions without a battle."""
        present, question = np.unique(self.question, return_inverse=True)
        names: tuple[str, ...] = ()
        if self.questions:
            names = tuple(self.questions[index] for index in present)
        return replace(self, question=question, n_questions=len(present), questions=names)

    def largest_group(self) -> Battles:
        """Keep the largest group of systems that battles connect, and its questions."""
        numbers = self._group_numbers()
        if not numbers.any():
            return self
        return self._group(numbers, 0)

    def groups(self) -> list[Battles]:
        """Split the battles by the groups of systems that they connect, the largest group first.

        Systems without a battle are in no group.
        """
        if not len(self):
            return []
        numbers = self._group_numbers()
        if not numbers.any():
            return [self]
        return [self._group(numbers, number) for number in np.unique(numbers[self.side_a])]

    def _group_numbers(self) -> Indices:
        """Number the group of each system, shape (S,); 0 is the largest group."""
        return connected_groups(self.side_a, self.side_b, len(self.systems), battles=self.weight)

    def _group(self, numbers: Indices, number: int) -> Battles:
        """Keep the battles of one group, on its questions."""
        members = compress(self.systems, numbers == number)
        return self.among(list(members)).on_battled_questions()

    def _take(self, rows: Flags) -> Battles:
        """Keep some battles; all systems and questions stay."""
        return replace(
            self,
            side_a=self.side_a[rows],
            side_b=self.side_b[rows],
            winner=self.winner[rows],
            question=self.question[rows],
            weight=None if self.weight is None else self.weight[rows],
            is_soft=None if self.is_soft is None else self.is_soft[rows],
            judge=None if self.judge is None else self.judge[rows],
            differences=None if self.differences is None else self.differences[rows],
        )

    @cached_property
    def items(self) -> JudgedItems:
        """Outcomes by pair and question; a pair's first system is the one first by name."""
        is_swapped = self.side_a > self.side_b
        first = np.where(is_swapped, self.side_b, self.side_a)
        second = np.where(is_swapped, self.side_a, self.side_b)
        # A pair, and then an item, is coded as one number: sorting those is faster than rows.
        # At least 1, so that divisions work without systems.
        n_systems = max(len(self.systems), 1)
        pairs, pair = np.unique(first * n_systems + second, return_inverse=True)
        met = Pairs(pairs // n_systems, pairs % n_systems, len(self.systems))
        return self._items(met, pair, is_swapped)

    @cached_property
    def items_by_side(self) -> JudgedItems:
        """Outcomes by judge, pair and question; a pair's first system is the one on side A."""
        n_systems = max(len(self.systems), 1)
        codes = self.side_a * n_systems + self.side_b
        judges, judge = np.zeros(1, dtype=np.intp), None
        if self.judge is not None and len(self):
            judges, judge = np.unique(self.judge, return_inverse=True)
            codes = codes + judge * n_systems**2
        if self.differences is not None:
            # On each question the answers differ by something else.
            codes = codes * max(self.n_questions, 1) + self.question
        pairs, rows, pair = np.unique(codes, return_index=True, return_inverse=True)
        met = Pairs(self.side_a[rows], self.side_b[rows], len(self.systems))
        judge_of_pair = np.zeros(len(pairs), dtype=np.intp) if judge is None else judge[rows]
        names = tuple(self.judges[index] for index in judges)
        items = self._items(met, pair, np.zeros(len(self), dtype=np.bool_))
        differences = None if self.differences is None else self.differences[rows]
        biases = Biases.of_sides(judge_of_pair, names, self.traits, differences)
        return replace(items, biases=biases)

    def _items(self, pairs: Pairs, pair: Indices, is_swapped: Flags) -> JudgedItems:
        """Sum outcomes by pair and question.

        Args:
            pairs: The P pairs.
            pair: Pair of each battle, shape (N,).
            is_swapped: Whether side B is the first of the pair, shape (N,).
        """
        n_pairs = max(len(pairs), 1)
        items, item = np.unique(self.question * n_pairs + pair, return_inverse=True)
        question, pair_of_item = np.divmod(items, n_pairs)
        points = POINTS_OF_A[self.winner]
        weight = np.ones(len(self)) if self.weight is None else self.weight
        points_of_first = weight * np.where(is_swapped, 1.0 - points, points)
        soft_counts: Floats | None = None
        if self.is_soft is not None:
            soft_weight = weight * self.is_soft
            soft_counts = np.bincount(item, soft_weight, len(items)).astype(np.float64)
        return JudgedItems(
            pairs=pairs,
            question=question,
            pair=pair_of_item,
            points=np.bincount(item, points_of_first, len(items)).astype(np.float64),
            counts=np.bincount(item, weight, len(items)).astype(np.float64),
            n_questions=self.n_questions,
            soft_counts=soft_counts,
        )

    def outcomes(self) -> pd.DataFrame:
        """Count wins, losses and ties of every two systems that met, in both directions.

        Returns:
            Columns ``system, opponent, wins, losses, ties``, sorted; whole numbers unless verdicts
            are soft or have fractional weights.
        """
        weight: npt.NDArray[Any] = np.ones(len(self), dtype=np.intp)
        if self.weight is not None:
            is_whole = bool((self.weight == np.round(self.weight)).all())
            weight = self.weight.astype(np.intp) if is_whole else self.weight
        mirrored = np.array([1, 0, TIE])[self.winner]
        names = np.array(self.systems, dtype=object)
        tables = []
        for system, opponent, winner in (
            (self.side_a, self.side_b, self.winner),
            (self.side_b, self.side_a, mirrored),
        ):
            table = pd.DataFrame({"system": names[system], "opponent": names[opponent]})
            for code, column in enumerate(_RECORD):
                table[column] = (winner == code) * weight
            tables.append(table)
        totals = pd.concat(tables).groupby(["system", "opponent"], as_index=False).sum()
        return totals.astype({"system": "str", "opponent": "str"})

    def records(self) -> pd.DataFrame:
        """Count each system's wins, losses and ties: columns ``system, wins, losses, ties``."""
        totals = self.outcomes().groupby("system")[_RECORD].sum()
        return totals.reindex(list(self.systems), fill_value=0).rename_axis("system").reset_index()


def selected_judgments(
    judgments: pd.DataFrame, language: str | None = None, judge: str | None = None
) -> pd.DataFrame:
    """Keep the judgments of one language and one judge.

    Args:
        judgments: An arena's ``judgments``.
        language: Language code, or ``all``; may be None if there is only one.
        judge: Name of a judge, several separated by commas, which count as one, or ``all``; by
            default people if people judged (``arena.data.judge_names.chosen_judges``).

    Raises:
        UsageError: If the language or judge does not exist, or there are several languages and
            none is chosen.
    """
    if "language" in judgments:
        present = sorted(judgments["language"].astype(str).unique())
        if language is None and len(present) > 1:
            raise UsageError(f"several languages, choose one (or all): {first_of(present)}")
        if language not in (None, ALL, *present):
            raise UsageError(f"no language {language!r} here; available: {first_of(present)}")
        if language in present:
            judgments = judgments[judgments["language"] == language]
    if "judge" in judgments and judge != ALL and len(judgments):
        names = sorted(judgments["judge"].astype(str).unique())
        if judge is None:
            judge = chosen_judges(names)[0]
        judgments = judgments[judgments["judge"].isin(judges_named(names, judge))]
    return judgments.reset_index(drop=True)


def _row_weights(shares: Floats | None, weights: Floats | None, position: Indices) -> Floats | None:
    """Multiply the shares of rows by the weights of the judgments that they come from."""
    if weights is None:
        return shares
    if shares is None:
        return weights[position]
    return shares * weights[position]


def _questions(judgments: pd.DataFrame) -> tuple[Indices, tuple[str, ...]]:
    """Number the question of each judgment, and list the query ids, sorted.

    Without ids every judgment is a question of its own, and the list is empty.
    """
    if "query_id" not in judgments:
        return np.arange(len(judgments)), ()
    ids = judgments["query_id"]
    if "language" in judgments and judgments["language"].nunique() > 1:
        ids = judgments["language"].astype(str) + "/" + ids.astype(str)
    codes, names = pd.factorize(ids, sort=True)
    if (codes < 0).any():
        raise UsageError("judgments hold a question without a query_id")
    return np.asarray(codes, dtype=np.intp), tuple(names)
