"""Pairs to judge: what is asked about them, in rounds, and what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import pandas as pd

from arena.data.rows import is_null
from arena.data.schema import REPEAT
from arena.data.types import Flags
from arena.data.wording import Remark
from arena.judging.answer_pairs import PAIR_COLUMNS, PairKey, QuestionKey, pair_keys, unordered
from arena.judging.records import FurtherRecords

ASKED_COLUMNS = [*PAIR_COLUMNS, REPEAT]

AskedKey = tuple[str, str, str, str, str]
"""A ``PairKey``, and the number of the vote; empty for the first."""


@dataclass(frozen=True)
class Verdicts:
    """Verdicts, pairs without one, what was made besides, what limits it."""

    judgments: pd.DataFrame
    failures: pd.DataFrame
    records: tuple[FurtherRecords, ...] = ()
    remarks: tuple[Remark, ...] = ()


Rounds = Generator["ChosenPairs", Verdicts, str]
"""Yields pairs to ask, is sent their outcome, and returns why it stops."""


class PairChooser(Protocol):
    """Chooses pairs to judge, all at once or as verdicts come."""

    @property
    def n_planned(self) -> int | None:
        """Return the maximum of pairs to ask, if known."""

    def rounds(self) -> Rounds:
        """Yield rounds of pairs until nothing is left to ask."""

    def chosen(self, rounds: Sequence[ChosenPairs]) -> ChosenPairs:
        """Join the rounds that were asked with what earlier runs chose."""


@dataclass(frozen=True)
class ChosenPairs:
    """Pairs of answers to judge, in the order of sides to ask in, question by question.

    Attributes:
        table: Columns ``language, query_id, system_a, system_b``, and ``repeat``: 2 where the same
            sides are asked again, else null.
        identical: Pairs of identical texts, which are ties without a call.
        questions: The questions drawn, language by language.
        adaptive: Whether pairs were chosen by verdicts on others, which their rows then state.
    """

    table: pd.DataFrame
    identical: pd.DataFrame
    questions: tuple[QuestionKey, ...]
    adaptive: bool

    @property
    def n_planned(self) -> int:
        """Return the number of pairs to ask."""
        return len(self.table)

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of questions by language."""
        return dict(Counter(language for language, _ in self.questions))

    def __len__(self) -> int:
        return len(self.table) + len(self.identical)

    def keys(self) -> Iterator[PairKey]:
        """Yield the key of every row, those of identical texts last."""
        yield from pair_keys(self.table)
        yield from pair_keys(self.identical)

    def rounds(self) -> Rounds:
        """Yield all of them at once."""
        yield self
        return ""

    def chosen(self, rounds: Sequence[ChosenPairs]) -> ChosenPairs:  # noqa: ARG002 - all are asked
        """Return these pairs."""
        return self

    def without(self, judgments: pd.DataFrame) -> ChosenPairs:
        """Leave out judged pairs: in this order if both are asked, else in either."""
        judged = set(asked_keys(judgments))
        asked = {*asked_keys(self.table), *asked_keys(self.identical)}

        def is_left(key: AskedKey) -> bool:
            language, query_id, system_a, system_b, repeat = key
            mirrored = (language, query_id, system_b, system_a, repeat)
            return key not in judged and (mirrored in asked or mirrored not in judged)

        return self._where(is_left)

    def on_sides_of(self, judgments: pd.DataFrame) -> ChosenPairs:
        """Turn pairs that were judged in the other order alone, so as to replace these."""
        judged = set(pair_keys(judgments))

        def on_sides(rows: pd.DataFrame) -> pd.DataFrame:
            is_turned = []
            for language, query_id, side_a, side_b in pair_keys(rows):
                is_same = (language, query_id, side_a, side_b) in judged
                is_turned.append(not is_same and (language, query_id, side_b, side_a) in judged)
            return turned(rows, np.array(is_turned, dtype=np.bool_))

        return replace(self, table=on_sides(self.table), identical=on_sides(self.identical))

    def on(self, questions: Collection[QuestionKey]) -> ChosenPairs:
        """Keep the pairs on some questions."""
        wanted = set(questions)
        return self._where(lambda key: key[:2] in wanted)

    def within(self, n_calls: int) -> ChosenPairs:
        """Keep the first pairs that a number of calls can ask, each in all its rows.

        Pairs of identical texts take no call, and are all kept.
        """
        keys = [unordered(key) for key in pair_keys(self.table)]
        n_kept = min(n_calls, len(keys))
        while 0 < n_kept < len(keys) and keys[n_kept] == keys[n_kept - 1]:
            n_kept -= 1
        return replace(self, table=self.table.iloc[:n_kept].reset_index(drop=True))

    def within_questions(self, n_calls: int, calls_on: Callable[[int], int]) -> ChosenPairs:
        """Keep the pairs on the first questions that a number of calls can ask.

        Pairs of identical texts take no call, and are all kept.
        """
        systems_on: dict[QuestionKey, set[str]] = {}
        for language, query_id, system_a, system_b in pair_keys(self.table):
            systems_on.setdefault((language, query_id), set()).update((system_a, system_b))
        kept: list[QuestionKey] = []
        for question, systems in systems_on.items():
            n_calls -= calls_on(len(systems))
            if n_calls < 0:
                break
            kept.append(question)
        return replace(self.on(kept), identical=self.identical)

    def _where(self, condition: Callable[[AskedKey], bool]) -> ChosenPairs:
        def filtered(rows: pd.DataFrame) -> pd.DataFrame:
            is_kept = np.array([condition(key) for key in asked_keys(rows)], dtype=np.bool_)
            return rows[is_kept].reset_index(drop=True)

        return replace(self, table=filtered(self.table), identical=filtered(self.identical))


def turned(rows: pd.DataFrame, is_turned: Flags) -> pd.DataFrame:
    """Swap the sides of some pairs, and their winners."""
    table = rows.assign(
        system_a=rows["system_a"].mask(is_turned, rows["system_b"]),
        system_b=rows["system_b"].mask(is_turned, rows["system_a"]),
    )
    if "winner" in rows:
        winners = rows["winner"].replace({"a": "b", "b": "a"})
        table["winner"] = rows["winner"].mask(is_turned, winners)
    return table


def asked_keys(table: pd.DataFrame) -> Iterator[AskedKey]:
    """Yield pairs and the number of the vote on them."""
    repeats = table[REPEAT] if REPEAT in table else [None] * len(table)
    for key, repeat in zip(pair_keys(table), repeats, strict=True):
        yield *key, "" if is_null(repeat) else str(repeat)


def joined_pairs(
    nothing: ChosenPairs, rounds: Sequence[ChosenPairs], earlier: pd.DataFrame | None = None
) -> ChosenPairs:
    """Join rounds after earlier pairs; ``nothing`` holds none."""
    first = nothing.table if earlier is None else earlier
    return replace(
        nothing,
        table=pd.concat([first, *(pairs.table for pairs in rounds)], ignore_index=True),
        identical=pd.concat([nothing.identical, *(pairs.identical for pairs in rounds)]),
    )
