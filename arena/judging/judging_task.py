"""What a judge is asked in a round of pairs, and what came of it."""

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
    """A pair, its verdict or why there is none, and flags of what in the answers is odd."""

    key: PairKey
    reply: Reply[PairVerdict]
    flags: tuple[str, ...]


@dataclass(frozen=True)
class Outcomes:
    """What came of a task: an outcome per pair left, in order, and what was made besides."""

    outcomes: list[PairOutcome]
    usage: Usage
    records: tuple[FurtherRecords, ...] = ()
    remarks: tuple[Remark, ...] = ()
