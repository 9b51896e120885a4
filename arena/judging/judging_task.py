"""What a judge is asked in a round of pairs, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from arena.data.arena import Arena
from arena.judging.answer_pairs import PairKey
from arena.judging.choosing.chosen_pairs import ChosenPairs
from arena.judging.records import FurtherRecords
from arena.judging.verdict_parsing import PairVerdict
from arena.llm.replies import Reply
from arena.llm.usage import Usage


@dataclass(frozen=True)
class JudgingTask:
    """The pairs that one judge is asked about.

    Attributes:
        arena: Questions and answers, and the judgments so far.
        judge: Name in the ``judge`` column.
        pairs: All pairs chosen.
        left: Those of them that the judge has not judged in the arena.
    """

    arena: Arena
    judge: str
    pairs: ChosenPairs
    left: ChosenPairs


class PairOutcome(NamedTuple):
    """A pair, the judge's verdict or why there is none, and flags of what in the answers is odd."""

    key: PairKey
    reply: Reply[PairVerdict]
    flags: tuple[str, ...]


@dataclass(frozen=True)
class Outcomes:
    """What came of a task.

    Attributes:
        outcomes: One for each pair left, in the order of their table.
        usage: Calls, tokens, and failures by reason.
        records: What was made besides verdicts.
        notes: What limits the verdicts.
    """

    outcomes: list[PairOutcome]
    usage: Usage
    records: tuple[FurtherRecords, ...] = ()
    notes: tuple[str, ...] = ()
