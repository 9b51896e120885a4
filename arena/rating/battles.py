"""Battles: judgments of one language and judge by question, side and outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.cells import is_true
from arena.data.errors import UsageError
from arena.data.judge_names import chosen_judges, judges_named
from arena.data.judgments import copies_of_others
from arena.data.schema import (
    ADAPTIVE,
    ALL,
    CHOSEN,
    SOFT,
    SOFT_COLUMNS,
    WEIGHT,
    WINNERS,
)
from arena.data.types import Flags, Floats, Indices
from arena.data.wording import first_of
from arena.rating.pairs import JudgedItems, Pairs, connected_groups

TieRule = Literal["half", "drop"]
TIE_RULES: tuple[TieRule, ...] = ("half", "drop")

POINTS_OF_A = np.array([1.0, 0.0, 0.5])
"""Side A's points of each outcome, in the order of ``WINNERS``: a tie is half a one."""
TIE = WINNERS.index("tie")
_RECORD = ("wins", "losses", "ties")
_SHARES = list(SOFT_COLUMNS[1:])
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Battles:
    """N battles between S systems on Q questions.

    Attributes:
        systems: The systems, sorted by name.
        side_a: System on side A, shape (N,).
        side_b: System on side B, shape (N,).
        winner: 0 side A, 1 side B, 2 a tie, shape (N,).
        question: Question of each battle, shape (N,).
        n_questions: Number of questions Q.
        questions: Their query ids, sorted; empty where they were not read.
        adaptive: Whether battles were chosen by the outcomes of others.
        weight: How many battles each row counts for, shape (N,): the weight of its judgment,
            and of soft verdicts, which are spread over outcomes, the share. None where all are 1.
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

    @classmethod
    def from_judgments(cls, judgments: pd.DataFrame, systems: Sequence[str] = ()) -> Battles:
        """Take in judgments of one judge; copies of others count once (``copies_of_others``).

        Args:
            judgments: Columns ``system_a, system_b, winner`` and, optional, ``query_id`` (without
                it every judgment is a question of its own), ``language`` (questions of two
                languages are two, whatever their ids), ``chosen`` (``adaptive`` where a
                judgment was asked for because of others), ``soft`` (true where probabilities
                take the verdict's place; see ``spread``) and ``weight`` (how many judgments
                each counts for).
            systems: Systems that are to be among those of the battles, whether they met or not.

        Raises:
            UsageError: If there are none, a winner is unknown, a name is missing, a weight is
                not a number above 0, or a system is judged against itself.
        """
        if judgments.empty:
            raise UsageError("there are no judgments to count")
        counted = judgments[~copies_of_others(judgments)]
        judgments, position, weight = spread(counted)
        weight = _times(weight, weights_of(counted), position)
        sides = pd.concat([judgments["system_a"], judgments["system_b"]], ignore_index=True)
        if sides.isna().any():
            raise UsageError("judgments hold a system without a name")
        codes, met = pd.factorize(sides.astype(str))
        names = pd.Index(sorted({*met, *systems}), dtype=object)
        side_a, side_b = np.split(names.get_indexer(met)[codes], 2)
        if (same := np.flatnonzero(side_a == side_b)).size:
            raise UsageError(f"{names[side_a[same[0]]]} is judged against itself")
        question, questions = _questions(judgments)
        return cls(
            systems=tuple(names),
            side_a=side_a,
            side_b=side_b,
            winner=_outcomes(judgments),
            question=question,
            n_questions=len(questions) or len(judgments),
            questions=questions,
            adaptive=CHOSEN in judgments and bool((judgments[CHOSEN] == ADAPTIVE).any()),
            weight=weight,
        )

    @classmethod
    def none(cls, systems: Sequence[str], questions: Sequence[str]) -> Battles:
        """Return what there is where nobody has judged: systems and questions without battles."""
        nobody = np.empty(0, dtype=np.intp)
        return cls(tuple(systems), nobody, nobody, nobody, nobody, len(questions), tuple(questions))

    def __len__(self) -> int:
        return len(self.winner)

    def __getstate__(self) -> dict[str, object]:  # what can be counted again is not sent to workers
        return {item.name: getattr(self, item.name) for item in fields(self)}

    @property
    def judged(self) -> int:
        """Number of judgments: of rows, or the sum of their weights, rounded."""
        return len(self) if self.weight is None else round(float(self.weight.sum()))

    def decided(self) -> Battles:
        """Leave ties out, and questions and systems that have no other battles.

        Raises:
            UsageError: If there are only ties.
        """
        return self.only(self.winner != TIE)

    def only(self, rows: Flags) -> Battles:
        """Keep some battles, and of questions and systems those that have any; as ``decided``."""
        kept = self._take(rows)
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
        present, question = np.unique(self.question, return_inverse=True)
        names = tuple(self.questions[index] for index in present) if self.questions else ()
        return replace(self, question=question, n_questions=len(present), questions=names)

    def largest_group(self) -> Battles:
        """Keep the largest group of systems that battles connect, and its questions."""
        numbers = self._group_numbers()
        return self._group(numbers, 0) if numbers.any() else self

    def groups(self) -> list[Battles]:
        """Part the battles into the groups of systems that they connect, the largest first.

        Systems without a battle are in none.
        """
        numbers = self._group_numbers()
        has_battles = np.unique(numbers[self.side_a])
        if not numbers.any():
            return [self] if len(self) else []
        return [self._group(numbers, int(number)) for number in has_battles]

    def _group_numbers(self) -> Indices:
        size = len(self.systems)
        return connected_groups(self.side_a, self.side_b, size, battles=self.weight)

    def _group(self, numbers: Indices, number: int) -> Battles:
        names = [name for name, its in zip(self.systems, numbers, strict=True) if its == number]
        return self.among(names).on_battled_questions()

    def _take(self, rows: Flags) -> Battles:
        return replace(
            self,
            side_a=self.side_a[rows],
            side_b=self.side_b[rows],
            winner=self.winner[rows],
            question=self.question[rows],
            weight=None if self.weight is None else self.weight[rows],
        )

    @cached_property
    def items(self) -> JudgedItems:
        """Outcomes by pair and question, a pair's first system being the one first by name."""
        return self._items(self.side_a > self.side_b)

    @property
    def items_by_side(self) -> JudgedItems:
        """The same, a pair's first system being the one on side A."""
        return self._items(np.zeros(len(self), dtype=np.bool_))

    def _items(self, swapped: Flags) -> JudgedItems:
        size = len(self.systems)
        first = np.where(swapped, self.side_b, self.side_a)
        second = np.where(swapped, self.side_a, self.side_b)
        met, pair = np.unique(first * size + second, return_inverse=True)
        entry = self.question * max(len(met), 1) + pair
        keys, item = np.unique(entry, return_inverse=True)
        question, pair_of_item = np.divmod(keys, max(len(met), 1))
        points = POINTS_OF_A[self.winner]
        weight = np.ones(len(self)) if self.weight is None else self.weight
        won = weight * np.where(swapped, 1.0 - points, points)
        return JudgedItems(
            Pairs(met // max(size, 1), met % max(size, 1), size),
            question,
            pair_of_item,
            np.bincount(item, won, len(keys)).astype(np.float64),
            np.bincount(item, weight, len(keys)).astype(np.float64),
            self.n_questions,
        )

    def outcomes(self) -> pd.DataFrame:
        """Count wins, losses and ties of every two systems that met, in both directions.

        Returns:
            Columns ``system, opponent, wins, losses, ties``, sorted; whole numbers, of soft
            verdicts and weights sums of these.
        """
        weight: npt.NDArray[Any] = np.ones(len(self), dtype=np.intp)
        if self.weight is not None:
            is_whole = bool((self.weight == np.round(self.weight)).all())
            weight = self.weight.astype(np.intp) if is_whole else self.weight
        places = (self.winner, np.array([1, 0, TIE])[self.winner])
        sides = [(self.side_a, self.side_b), (self.side_b, self.side_a)]
        names = np.array(self.systems, dtype=object)
        tables = [
            pd.DataFrame({"system": names[own], "opponent": names[other]}).assign(
                **{name: (place == at) * weight for at, name in enumerate(_RECORD)}
            )
            for (own, other), place in zip(sides, places, strict=True)
        ]
        both = pd.concat(tables).groupby(["system", "opponent"], as_index=False).sum()
        return both.astype({"system": "str", "opponent": "str"})

    def records(self) -> pd.DataFrame:
        """Count each system's wins, losses and ties: columns ``system, wins, losses, ties``."""
        totals = self.outcomes().groupby("system")[list(_RECORD)].sum()
        return totals.reindex(list(self.systems), fill_value=0).rename_axis("system").reset_index()


def selected_judgments(
    judgments: pd.DataFrame, language: str | None = None, judge: str | None = None
) -> pd.DataFrame:
    """Keep the judgments of one language and one judge.

    Either may be left out where there is one, or be ``all``; several judges, with commas between,
    count as one (``arena.data.arena.judges_named``), as by default people do where people judged.

    Raises:
        UsageError: If there is no such one, or a choice to be made.
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
        chosen = judges_named(names, chosen_judges(names)[0] if judge is None else judge)
        judgments = judgments[judgments["judge"].isin(chosen)]
    return judgments.reset_index(drop=True)


def weights_of(judgments: pd.DataFrame) -> Floats | None:
    """Return how many judgments each counts for, shape (N,); None where each counts once.

    Raises:
        UsageError: If a weight is not a finite number above 0.
    """
    if WEIGHT not in judgments or judgments[WEIGHT].isna().all():
        return None
    numbers = pd.to_numeric(judgments[WEIGHT], errors="coerce").to_numpy(np.float64)
    is_given = judgments[WEIGHT].notna().to_numpy()
    is_sound = np.isfinite(numbers) & (numbers > 0)
    if (is_given & ~is_sound).any():
        wrong = judgments[WEIGHT].iloc[int(np.argmax(is_given & ~is_sound))]
        raise UsageError(f"the weight {wrong!r} of a judgment is not a finite number above 0")
    weights = np.where(is_given, numbers, 1.0)
    return None if (weights == 1.0).all() else weights


def _times(shares: Floats | None, weights: Floats | None, position: Indices) -> Floats | None:
    """Multiply the shares of rows by the weights of the judgments they are of."""
    if weights is None:
        return shares
    return weights[position] if shares is None else shares * weights[position]


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


def _outcomes(judgments: pd.DataFrame) -> Indices:
    """Return which of ``WINNERS`` each judgment names, shape (N,)."""
    codes, said = pd.factorize(judgments["winner"], use_na_sentinel=False)
    outcomes = pd.Index(WINNERS).get_indexer(pd.Index(said.astype(object)))[codes]
    if (outcomes < 0).any():
        unknown = sorted(set(judgments["winner"][outcomes < 0].astype(str)))
        raise UsageError(f"judgments hold an unknown winner: {', '.join(unknown)}")
    return np.asarray(outcomes, dtype=np.intp)


def _questions(judgments: pd.DataFrame) -> tuple[Indices, tuple[str, ...]]:
    """Code the questions of judgments, sorted by query id; without ids each has its own."""
    if "query_id" not in judgments:
        return np.arange(len(judgments)), ()
    ids = judgments["query_id"]
    if "language" in judgments and judgments["language"].nunique() > 1:
        ids = judgments["language"].astype(str) + "/" + ids.astype(str)
    codes, names = pd.factorize(ids, sort=True)
    if (codes < 0).any():
        raise UsageError("judgments hold a question without a query_id")
    return np.asarray(codes, dtype=np.intp), tuple(names)


def spread(
    judgments: pd.DataFrame,
) -> tuple[pd.DataFrame, Indices, Floats | None]:
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
        is_true(judgments[SOFT]).to_numpy(np.bool_)
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
