"""What a judge's own verdicts say of it, in words: whether it contradicts itself or sees sides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from arena.data.schema import WINNERS
from arena.data.wording import count_of
from arena.diagnostics.bias import (
    NOTABLE_FLIPS,
    order_consistency_table,
    preference_severity,
    shown_share,
)
from arena.diagnostics.verdicts import verdicts, won_by_a
from arena.statistics.significance import wilson_interval

Grade = Literal["unreliable", "doubtful", "not known", "reliable"]
GRADES: tuple[Grade, ...] = ("unreliable", "doubtful", "not known", "reliable")
"""Worst first."""

MANY_FLIPS = 0.25
"""Of pairs judged in both orders: surely more are no judgment of the answers."""
MANY_TIES = 0.75
SAME_LETTER = 0.95
"""Share of verdicts from which a judge says one and the same."""
FEWEST = 10
"""Verdicts from which it is told that all are the same."""
NOTABLE_INVALID = 0.05
MOSTLY_INVALID = 0.5


@dataclass(frozen=True)
class SelfCheck:
    """What a judge's verdicts say of it.

    Attributes:
        grade: ``reliable``: no fault was found; ``doubtful``: one that limits what its verdicts
            are worth; ``unreliable``: they are about something else than the answers; ``not
            known``: none was found, but nothing was judged in both orders.
        faults: What is wrong, sentences.
        facts: What was looked at and is as it should be, sentences.
    """

    grade: Grade
    faults: tuple[str, ...]
    facts: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.grade}: {'; '.join([*self.faults, *self.facts])}"


@dataclass(frozen=True)
class _Look:
    """One thing that was looked at."""

    grade: Grade
    sentence: str


def self_check(
    judgments: pd.DataFrame,
    invalid: int = 0,
    asked: int | None = None,
) -> SelfCheck:
    """Say what one judge's verdicts say of it; all languages together.

    Args:
        judgments: Its verdicts on answers that differ, an arena's columns.
        invalid: Replies without a verdict.
        asked: Replies in all; verdicts and invalid ones by default.
    """
    replies = len(judgments) + invalid if asked is None else asked
    looks = [*_failures(invalid, replies)]
    if replies and not len(judgments) and not invalid:
        looks = [_Look("not known", f"none of {replies:,} prompts brought a verdict")]
    if len(judgments):
        table = verdicts(judgments)
        looks += [*_constant(judgments), *_flips(table), *_sides(table), *_ties(judgments)]
    found = [look.grade for look in looks]
    grade: Grade = next((worst for worst in GRADES if worst in found), GRADES[2])
    faults = [look.sentence for look in looks if look.grade in ("doubtful", "unreliable")]
    facts = [look.sentence for look in looks if look.grade in ("reliable", "not known")]
    return SelfCheck(grade, tuple(faults), tuple(facts))


def _failures(invalid: int, replies: int) -> Iterator[_Look]:
    if not replies:
        return
    share = invalid / replies
    grade: Grade = "reliable"
    if share > NOTABLE_INVALID:
        grade = "unreliable" if share > MOSTLY_INVALID else "doubtful"
    noun = "reply holds" if replies == 1 else "replies hold"
    yield _Look(grade, f"{invalid:,} of {replies:,} {noun} no verdict ({share:.1%})")


def _constant(judgments: pd.DataFrame) -> Iterator[_Look]:
    """Tell of a judge that nearly always says the same."""
    counts = judgments["winner"].value_counts()
    said, times = str(counts.index[0]), int(counts.iloc[0])
    if len(judgments) >= FEWEST and times >= SAME_LETTER * len(judgments):
        shown = "a tie" if said == "tie" else f"side {said.upper()}"
        yield _Look(
            "unreliable",
            f"{times:,} of {count_of(len(judgments), 'verdict')} are {shown}: it says one and the "
            "same whatever the answers are",
        )


def _flips(table: pd.DataFrame) -> Iterator[_Look]:
    both = order_consistency_table(table)[["items", "flipped"]].sum()
    items, flipped = int(both["items"]), int(both["flipped"])
    if not items:
        yield _Look(
            "not known",
            "no pair is judged in both orders (--both-orders), so that how often verdicts flip is "
            "not known",
        )
        return
    low, high = (float(bound[0]) for bound in wilson_interval([flipped], [items]))
    rate = flipped / items
    grade: Grade = "doubtful" if rate >= NOTABLE_FLIPS else "reliable"
    if low > MANY_FLIPS:
        grade = "unreliable"
    yield _Look(
        grade,
        f"{flipped:,} of {count_of(items, 'pair')} judged in both orders flip "
        f"({shown_share(rate, low, high)})",
    )


def _sides(table: pd.DataFrame) -> Iterator[_Look]:
    sides = won_by_a(table)
    decided, won = int((sides != 0).sum()), int((sides == 1).sum())
    if not decided:
        return
    low, high = (float(bound[0]) for bound in wilson_interval([won], [decided]))
    is_fault = preference_severity(won / decided, low, high) == "warning"
    favored = "" if not is_fault else f": it favors side {'A' if 2 * won > decided else 'B'}"
    yield _Look(
        "doubtful" if is_fault else "reliable",
        f"side A wins {won:,} of {count_of(decided, 'decided verdict')} "
        f"({shown_share(won / decided, low, high)}){favored}",
    )


def _ties(judgments: pd.DataFrame) -> Iterator[_Look]:
    ties = int((judgments["winner"] == WINNERS[-1]).sum())
    share = ties / len(judgments)
    grade: Grade = "doubtful" if share > MANY_TIES else "reliable"
    yield _Look(grade, f"{ties:,} of {count_of(len(judgments), 'verdict')} are ties ({share:.1%})")
