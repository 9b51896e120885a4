"""Tests of a judge by its own verdicts: each has a statistic, an interval, a grade, a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pandas as pd

from arena.data.schema import REPEAT
from arena.data.wording import count_of
from arena.quality.verdicts import GROUP, ITEM, majorities
from arena.statistics.codes import row_keys
from arena.statistics.significance import wilson_interval

Grade = Literal["unreliable", "doubtful", "not known", "consistent", "agrees", "people"]
GRADES: tuple[Grade, ...] = (
    "unreliable",
    "doubtful",
    "not known",
    "consistent",
    "agrees",
    "people",
)
"""Worst first."""
FAULTS: tuple[Grade, ...] = ("unreliable", "doubtful")
FEWEST_VERDICTS = 10
"""Fewer verdicts may all be the same, or ties, by chance."""
NOTABLE_FLIPS = 0.1
UNRELIABLE_FLIPS = 0.25
"""Share of flips of a judge whose single verdicts cannot be relied on."""
NOTABLE_INVALID = 0.05
"""Share of unparsable replies above which a judge is doubtful."""


@dataclass(frozen=True)
class JudgeTest:
    """One test of a judge.

    Attributes:
        name: ``people``, ``replies``, ``length``, ``same verdict``, ``flips``, ``repeats``,
            ``side``, ``ties`` or ``circles``.
        grade: The best grade that it leaves the judge.
        sentence: Its result in words.
        statistic: Its result, such as the share of flips; None where it is not known.
        low: Lower bound of the statistic's 95% interval, if it has one.
        high: Upper bound.
    """

    name: str
    grade: Grade
    sentence: str
    statistic: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Share:
    """A share of N cases with its 95% Wilson interval."""

    count: int
    total: int

    @property
    def value(self) -> float:
        """The share; there must be a case."""
        return self.count / self.total

    @property
    def bounds(self) -> tuple[float, float]:
        """Lower and upper bound of the interval."""
        (low,), (high,) = wilson_interval([self.count], [self.total])
        return float(low), float(high)

    def __str__(self) -> str:
        low, high = self.bounds
        return f"{self.value:.1%}, 95% interval {low:.1%} to {high:.1%}"

    def test(self, name: str, grade: Grade, sentence: str) -> JudgeTest:
        """Return the test whose statistic it is."""
        low, high = self.bounds
        return JudgeTest(name, grade, sentence, self.value, low, high)


def same_verdict(winners: pd.Series) -> tuple[str, int] | None:
    """Return the verdict that nearly all are (``a``, ``b`` or ``tie``) and its count, or None."""
    if len(winners) < FEWEST_VERDICTS:
        return None
    counts = winners.value_counts()
    verdict = str(counts.index[0])
    count = int(counts.iloc[0])
    if count < 0.95 * len(winners):
        return None
    return verdict, count


def same_verdict_test(winners: pd.Series) -> JudgeTest | None:
    """Report a judge that gives one verdict to nearly all pairs."""
    constant = same_verdict(winners)
    if constant is None:
        return None
    verdict, count = constant
    winner = "a tie" if verdict == "tie" else f"side {verdict.upper()}"
    sentence = (
        f"{count:,} of {count_of(len(winners), 'verdict')} are {winner}: it says the same "
        "whatever the answers are"
    )
    return Share(count, len(winners)).test("same verdict", "unreliable", sentence)


def flip_test(oriented: pd.DataFrame) -> JudgeTest:
    """Compare the two orders of every question and pair that were judged in both.

    Several judgments in the same order count as one, their majority.

    Args:
        oriented: See ``oriented_verdicts``.
    """
    orders = majorities(oriented, [*ITEM, "first_on_a"])
    item, _ = row_keys(orders[ITEM])
    # Both orders of an item follow each other.
    has_both = item[1:] == item[:-1]
    outcome = orders["outcome"].to_numpy()
    n_items = int(has_both.sum())
    n_flipped = int((has_both & (outcome[1:] * outcome[:-1] == -1)).sum())
    if not n_items:
        sentence = "no pair is judged in both orders: how often verdicts flip is not known"
        return JudgeTest("flips", "not known", sentence)
    flips = Share(n_flipped, n_items)
    low, high = flips.bounds
    sentence = f"of {count_of(n_items, 'pair')} judged in both orders {n_flipped:,} flip ({flips})"
    grade: Grade = "consistent"
    if low < NOTABLE_FLIPS and high > UNRELIABLE_FLIPS:
        grade = "not known"
        sentence += ": too few to tell a good judge from an unreliable one"
    # A verdict of a judge that surely flips this often says little; many may average out.
    elif low > UNRELIABLE_FLIPS:
        grade = "unreliable"
    elif flips.value >= NOTABLE_FLIPS:
        grade = "doubtful"
    return flips.test("flips", grade, sentence)


def repeat_test(judgments: pd.DataFrame) -> JudgeTest | None:
    """Compare the votes of one judge that was asked twice about the same question and sides.

    Args:
        judgments: Of one judge; repeated votes have a number in the column ``repeat``.
    """
    if REPEAT not in judgments:
        return None
    repeated = judgments[judgments[REPEAT].notna()]
    key = [*GROUP, "query_id", "system_a", "system_b"]
    first = judgments.drop(repeated.index).drop_duplicates(key)
    votes = repeated.merge(first[[*key, "winner"]], on=key, suffixes=("", "_first"))
    if votes.empty:
        return None
    changes = Share(int((votes["winner"] != votes["winner_first"]).sum()), len(votes))
    sentence = (
        f"of {count_of(changes.total, 'pair')} asked twice in the same order {changes.count:,} got "
        f"another verdict ({changes})"
    )
    grade: Grade = "doubtful" if changes.bounds[0] >= NOTABLE_FLIPS else "consistent"
    return changes.test("repeats", grade, sentence)


def tie_test(winners: pd.Series, n_identical: int) -> JudgeTest:
    """Count ties, of verdicts without the ``n_identical`` on identical answers."""
    ties = Share(int((winners == "tie").sum()), len(winners))
    verdicts = count_of(ties.total, "verdict")
    if n_identical:
        verdicts += " on answers that differ"
    has_many_ties = ties.total >= FEWEST_VERDICTS and ties.value > 0.75
    grade: Grade = "doubtful" if has_many_ties else "consistent"
    sentence = f"{ties.count:,} of {verdicts} are ties ({ties.value:.1%})"
    return ties.test("ties", grade, sentence)


def reply_test(n_verdicts: int, n_invalid: int, n_replies: int | None) -> JudgeTest | None:
    """Test how many replies are unparsable."""
    if n_replies is None:
        n_replies = n_verdicts + n_invalid
    if not n_replies:
        return None
    if not n_verdicts and not n_invalid:
        return JudgeTest("replies", "not known", f"none of {n_replies:,} prompts got a verdict")
    invalid = Share(n_invalid, n_replies)
    grade: Grade = "consistent"
    if invalid.value > 0.5:
        grade = "unreliable"
    elif invalid.value > NOTABLE_INVALID:
        grade = "doubtful"
    verb = "is" if n_invalid == 1 else "are"
    shown_replies = count_of(n_replies, "reply", "replies")
    sentence = f"{n_invalid:,} of {shown_replies} {verb} unparsable ({invalid.value:.1%})"
    return invalid.test("replies", grade, sentence)
