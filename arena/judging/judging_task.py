"""A judge's task in a round of pairs, and its outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from arena.data.arena import Arena
from arena.data.wording import Remark
from arena.judging.answer_pairs import PairKey
from arena.judging.choosing.chosen_pairs import ChosenPairs
from arena.judging.records import FurtherRecords
from arena.judging.verdict_parsing import PairVerdict
from arena.llm.replies import Reply
from arena.llm.usage import Usage


@dataclass(frozen=True)
class JudgingTask:
    """The pairs that one judge is asked about, and those of them left to judge."""

    arena: Arena
    judge: str
    pairs: ChosenPairs
    left: ChosenPairs


class PairOutcome(NamedTuple):
    """A pair, its verdict or why there is none, and flags of its answers."""

    key: PairKey
    reply: Reply[PairVerdict]
    flags: tuple[str, ...]


@dataclass(frozen=True)
class Outcomes:
    """An outcome per pair left, in order, and other results."""

    outcomes: list[PairOutcome]
    usage: Usage
    records: tuple[FurtherRecords, ...] = ()
    remarks: tuple[Remark, ...] = ()
