"""Battles: the judgments that are rated together, as arrays; wins, losses and ties of systems."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import compress
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.computing.codes import Distinct, blocks, distinct, looked_up, row_keys, summable
from arena.data.errors import UsageError
from arena.data.schema import ADAPTIVE, CHOSEN
from arena.data.types import Codes, Flags, Floats, Indices
from arena.rating.biases import TRAIT, Biases, trait_differences
from arena.rating.judgments import (
    MIRRORED,
    POINTS_OF_A,
    TIE,
    copies_of_others,
    judge_codes,
    outcome_rows,
    question_codes,
    side_codes,
    sided_flags,
    sideless_by_name,
    soft_flags,
    voter_codes,
    weights_of,
    winner_codes,
)
from arena.rating.pairs import JudgedItems, Pairs, connected_groups

TieRule = Literal["half", "drop"]
RECORD = ["wins", "losses", "ties"]
"""Columns of counts, in the order of ``WINNERS`` for the system on side A."""
TIE_RULES: tuple[TieRule, ...] = ("half", "drop")


@dataclass(frozen=True)
class Battles:
    """N battles between S systems on Q questions, by one judge or several.

    Each judge has biases of its own, but all have one rating of each system.

    Attributes:
        systems: The systems, sorted by name.
        side_a: System on side A, shape (N,).
        side_b: System on side B, shape (N,).
        winner: 0 side A, 1 side B, 2 a tie, shape (N,).
        question: Question of each battle, shape (N,).
        questions: Query ids, sorted; empty if the judgments have none.
        adaptive: Whether outcomes of battles chose later ones.
        weight: Battles that each row counts for, shape (N,); of a soft outcome its probability.
        is_sided: Whether sides were shown, shape (N,); else side A is first by name.
        is_soft: Whether rows come from judgments with probabilities, shape (N,).
        judge: Judge of each battle, shape (N,); all people are one.
        voter: Who voted, shape (N,); -1 where no one is named.
        differences: By how much A's answer exceeds B's in F traits, shape (N, F).
        n_copies: Exact copies left out on reading.
    """

    systems: tuple[str, ...]
    side_a: Codes
    side_b: Codes
    winner: Codes
    question: Indices
    n_questions: int
    questions: tuple[str, ...] = ()
    adaptive: bool = False
    weight: Floats | None = None
    is_sided: Flags | None = None
    is_soft: Flags | None = None
    judge: Indices | None = None
    judges: tuple[str, ...] = ("",)
    voter: Codes | None = None
    traits: tuple[str, ...] = ()
    differences: Floats | None = None
    n_copies: int = 0

    @classmethod
    def from_judgments(cls, judgments: pd.DataFrame, systems: Sequence[str] = ()) -> Battles:
        """Read judgments; exact copies count once.

        Without ``query_id`` every judgment is a question of its own; ids are by ``language``.
        Optional are ``sides, judge, voter, weight, trait_...``, ``chosen`` (``adaptive``), and
        ``probability_a, probability_b``, which count instead of the winner.
        """
        if judgments.empty:
            raise UsageError("there are no judgments to count")
        judgments = sideless_by_name(judgments)
        is_copy = copies_of_others(judgments)
        counted = judgments[~is_copy] if is_copy.any() else judgments
        judgments, position, shares = outcome_rows(counted)
        side_a, side_b, names = side_codes(judgments, systems)
        if min(side_a.min(), side_b.min()) < 0:
            raise UsageError("judgments hold a system without a name")
        is_same = side_a == side_b
        if is_same.any():
            raise UsageError(f"{names[side_a[is_same][0]]} is judged against itself")
        question, questions = question_codes(judgments)
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
            is_sided=sided_flags(judgments),
            is_soft=None if shares is None else soft_flags(counted)[position],
            judge=judge,
            judges=judges,
            voter=voter_codes(judgments),
            traits=tuple(name.removeprefix(TRAIT) for name in trait_columns),
            differences=trait_differences(judgments[trait_columns]),
            n_copies=int(is_copy.sum()),
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
        """Return the number of judgments: the sum of their weights, rounded."""
        if self.weight is None:
            return len(self)
        return round(float(self.weight.sum()))

    @property
    def weights(self) -> Floats:
        """Return how many battles each row counts for, shape (N,)."""
        if self.weight is None:
            # Ones that take no memory
            return np.broadcast_to(1.0, len(self))
        return self.weight

    def counted(self, ties: str) -> Battles:
        """Keep battles that count: ``drop`` leaves out ties."""
        return self.only(self.winner != TIE) if ties == "drop" else self

    def only(self, rows: Flags) -> Battles:
        """Keep battles by flags (N,), and questions and systems that have any."""
        battles = self._take(rows)
        if not len(battles):
            raise UsageError("there are no judgments to count")
        has_met = np.zeros(len(self.systems), dtype=np.bool_)
        has_met[battles.side_a] = True
        has_met[battles.side_b] = True
        return battles.among(list(compress(self.systems, has_met))).on_battled_questions()

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
        present = distinct(self.question, self.n_questions)
        if len(present.values) == self.n_questions:
            return self
        names: tuple[str, ...] = ()
        if self.questions:
            names = tuple(self.questions[index] for index in present.values)
        n_questions = len(present.values)
        return replace(self, question=present.codes, n_questions=n_questions, questions=names)

    def largest_group(self) -> Battles:
        """Keep the largest connected group, and its questions."""
        numbers = self._group_numbers()
        if not numbers.any():
            return self
        return self._group(numbers, 0)

    def groups(self) -> list[Battles]:
        """Split battles by connected groups, the largest first."""
        if not len(self):
            return []
        numbers = self._group_numbers()
        if not numbers.any():
            return [self]
        return [self._group(numbers, number) for number in np.unique(numbers[self.side_a])]

    def _group_numbers(self) -> Indices:
        items = self.items_by_side
        return connected_groups(
            items.pairs.first, items.pairs.second, len(self.systems), battles=items.totals[1]
        )

    def _group(self, numbers: Indices, number: int) -> Battles:
        members = compress(self.systems, numbers == number)
        return self.among(list(members)).on_battled_questions()

    def _take(self, rows: Flags) -> Battles:
        # Every array has one row per battle.
        taken: dict[str, Any] = {}
        for field in fields(self):
            values = getattr(self, field.name)
            if isinstance(values, np.ndarray):
                taken[field.name] = values[rows]
        return replace(self, **taken)

    @cached_property
    def items(self) -> JudgedItems:
        """Sum outcomes by pair and question, systems ordered by name."""
        is_swapped = self.side_a > self.side_b
        first = np.minimum(self.side_a, self.side_b).astype(np.intp)
        second = np.maximum(self.side_a, self.side_b)
        # A pair is coded as one number: sorting those is faster than rows.
        # At least 1, so that divisions work without systems.
        n_systems = max(len(self.systems), 1)
        met = distinct(first * n_systems + second, n_systems**2)
        first, second = np.divmod(met.values, n_systems)
        points = looked_up(POINTS_OF_A, self.winner)
        points = np.where(is_swapped, 1.0 - points, points)
        return self._items(Pairs(first, second, len(self.systems)), met.codes, points).merged()

    @cached_property
    def items_by_side(self) -> JudgedItems:
        """Return outcomes of pairs by judge; the first is on side A."""
        judges = distinct(np.zeros(1, np.intp), 1)
        if self.judge is not None and len(self):
            judges = distinct(self.judge, len(self.judges))
        met, (is_sided, judge, first, second) = self._met_by_side(judges)
        pairs = Pairs(first, second, len(self.systems))
        items = self._items(pairs, met.codes, looked_up(POINTS_OF_A, self.winner))
        names = tuple(self.judges[index] for index in judges.values)
        differences = None
        if self.differences is not None:
            differences = self.differences[met.first_rows]
        biases = Biases.of_judges(judge, names, is_sided, self.traits, differences)
        items = replace(items, biases=biases, voter=self._numbered_voters())
        # The outcomes of a soft verdict are one item.
        return items if self.is_soft is None else items.merged()

    def _numbered_voters(self) -> Indices | None:
        if self.voter is None:
            return None
        # Whoever is not named is a voter with one vote.
        n_named = int(self.voter.max(initial=-1)) + 1
        return np.where(self.voter >= 0, self.voter, n_named + np.arange(len(self)))

    def _met_by_side(self, judges: Distinct) -> tuple[Distinct, tuple[Indices, ...]]:
        n_systems = max(len(self.systems), 1)
        is_sided: Indices | int = 1 if self.is_sided is None else self.is_sided.astype(np.intp)
        looks = distinct(np.zeros(1, np.intp), 1)
        if self.differences is not None and len(self):
            # Answers that differ by something else are another pair.
            looks = distinct(*row_keys(pd.DataFrame(self.differences), is_sorted=True))
        sizes = (2, len(judges.values), n_systems, n_systems, len(looks.values))
        rows = (is_sided, judges.codes, self.side_a, self.side_b, looks.codes)
        met = distinct(np.ravel_multi_index(rows, sizes), math.prod(sizes))
        return met, np.unravel_index(met.values, sizes)[:-1]

    def _items(self, pairs: Pairs, pair: Indices, points: Floats) -> JudgedItems:
        weight = self.weights
        return JudgedItems(
            pairs=pairs,
            question=self.question,
            pair=pair,
            points=points if self.weight is None else weight * points,
            counts=weight,
            n_questions=self.n_questions,
            soft_counts=None if self.is_soft is None else weight * self.is_soft,
        )


def _row_weights(shares: Floats | None, weights: Floats | None, position: Indices) -> Floats | None:
    """Multiply the shares of rows by their judgments' weights; the order of rows changes no sum."""
    if weights is None:
        products = shares
    elif shares is None:
        products = weights[position]
    else:
        products = shares * weights[position]
    if products is None:
        return None
    return summable(products, len(products) * float(products.max(initial=0.0)))


def system_records(battles: Battles) -> pd.DataFrame:
    """Count each system's ``wins, losses, ties``."""
    table = pd.DataFrame({"system": pd.Series(battles.systems, dtype="str")})
    table[RECORD] = _counts(battles, battles.side_a, battles.side_b, len(battles.systems))
    return table


def pair_records(battles: Battles) -> pd.DataFrame:
    """Count ``wins, losses, ties`` of pairs, in both directions."""
    n_systems = max(len(battles.systems), 1)
    system = np.concatenate([battles.side_a, battles.side_b]).astype(np.intp)
    opponent = np.concatenate([battles.side_b, battles.side_a])
    met = distinct(system * n_systems + opponent, n_systems**2)
    code_a, code_b = np.split(met.codes, 2)
    first, second = np.divmod(met.values, n_systems)
    names = np.array(battles.systems, dtype=object)
    table = pd.DataFrame({"system": names[first], "opponent": names[second]})
    table[RECORD] = _counts(battles, code_a, code_b, len(met.values))
    return table.astype({"system": "str", "opponent": "str"})


def _counts(battles: Battles, row_a: Codes, row_b: Codes, n_rows: int) -> npt.NDArray[Any]:
    n_outcomes = len(RECORD)
    counts = np.zeros(n_rows * n_outcomes)
    weight = battles.weights
    for rows in blocks(len(battles)):
        winner = battles.winner[rows]
        np.add.at(counts, row_a[rows] * n_outcomes + winner, weight[rows])
        np.add.at(counts, row_b[rows] * n_outcomes + MIRRORED[winner], weight[rows])
    if battles.weight is None or bool((weight == np.round(weight)).all()):
        counts = counts.astype(np.intp)
    return counts.reshape(n_rows, n_outcomes)
