"""Win rates as if both answers were equally long, of judges that may like length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from arena.data.arena import Arena
from arena.data.judges import is_person
from arena.data.schema import QUESTION_KEY
from arena.quality.judge_report import JudgeLabel
from arena.quality.preferences import DIFFERENCE
from arena.rating.biases import with_lengths
from surrogate_arena.gating.arena_verdicts import balanced_scores
from surrogate_arena.gating.comparison import SystemComparison
from surrogate_arena.gating.sequential_test import EVEN, Difference, SequentialTest

FEWEST_SHORTER = 5
"""Questions on which each of two systems must write less to tell its strength from its length."""


@dataclass(frozen=True)
class WinsAtEqualLength:
    """A candidate's win rate as if both answers were equally long.

    ``difference`` is what it decides, None if that is not clear. All is unknown, and the bounds
    are 0 and 1, where one system nearly always writes more. ``is_liked`` if verdicts show that the
    judge likes length, or shortness.
    """

    is_liked: bool
    win_rate: float = np.nan
    low: float = 0.0
    high: float = 1.0
    difference: Difference | None = None

    def explains(self, difference: Difference | None) -> bool:
        """Return whether length may explain what verdicts decide."""
        return self.is_liked and difference not in (None, self.difference)

    def __str__(self) -> str:
        if np.isnan(self.win_rate):
            return "one of the two nearly always writes more"
        bounds = f"{100 * max(self.low, 0):.0f} to {100 * min(self.high, 1):.0f}"
        return f"at equal length, its win rate is {self.win_rate:.0%} ({bounds})"


def at_equal_length(
    verdicts: SystemComparison,
    label: JudgeLabel,
    arena: Arena,
    baseline: str,
    test: SequentialTest,
    *,
    once: bool,
) -> WinsAtEqualLength | None:
    """Rate the baseline's opponent with both lengths held equal.

    None where length does not explain the verdicts: of people or of a judge that agrees with them,
    if the winner wins more often than the longer answer, or if the judge does not like length.
    """
    length = label.test("length")
    is_trusted = is_person(label.judge) or any(made.grade == "agrees" for made in label.tests)
    if length is None or length.low is None or length.high is None or is_trusted:
        return None
    most_by_length = max(length.high, 1 - length.low)
    if max(verdicts.low, 1 - verdicts.high) > most_by_length:
        return None
    is_liked = not length.low <= EVEN <= length.high
    measured = with_lengths(verdicts.judgments, arena.answers)
    measured = measured[measured[DIFFERENCE].notna()]
    excess = measured[DIFFERENCE].where(measured["system_a"] == baseline, -measured[DIFFERENCE])
    for is_shorter in (excess < 0, excess > 0):
        if len(measured.loc[is_shorter, QUESTION_KEY].drop_duplicates()) < FEWEST_SHORTER:
            return WinsAtEqualLength(is_liked)
    if not is_liked:
        return None
    scores = 1.0 - balanced_scores(measured, baseline)["score"]
    interval = test.once_interval if once else test.anytime_interval
    decide = test.decide_once if once else test.decide_anytime
    low, high, _ = interval(scores)
    return WinsAtEqualLength(is_liked, float(scores.mean()), low, high, decide(scores))
