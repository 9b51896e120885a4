"""Win rates as if both answers were equally long, of judges that may like length."""

from __future__ import annotations

from collections.abc import Mapping
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
WINNER_SIGNS: Mapping[Difference, int] = {"better": 1, "not worse": 1, "same": 0, "worse": -1}
"""1 where verdicts decide for the candidate, -1 where they decide for the baseline."""


@dataclass(frozen=True)
class WinsAtEqualLength:
    """A candidate's win rate as if both answers were equally long.

    It is unknown, and the bounds are 0 and 1, where one system writes less on too few questions.
    ``is_liked`` if verdicts show that the judge likes length, or shortness; it ``may_explain`` what
    verdicts decide unless that is the same at equal length.
    """

    is_liked: bool
    may_explain: bool
    win_rate: float = np.nan
    low: float = 0.0
    high: float = 1.0

    def __str__(self) -> str:
        if np.isnan(self.win_rate):
            return f"one of the two writes less on fewer than {FEWEST_SHORTER} questions"
        bounds = f"{100 * max(self.low, 0):.0f} to {100 * min(self.high, 1):.0f}"
        return f"the candidate's win rate at equal length is {self.win_rate:.0%} ({bounds})"


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

    None where there is nothing that length may explain: of people or of a judge that agrees with
    them, if verdicts decide nothing, if the winner wins more often than the longer answer or writes
    less of what the judge likes, or if the judge does not like length.
    """
    length = label.test("length")
    if length is None or length.low is None or length.high is None:
        return None
    if verdicts.difference is None or _agrees_with_people(label):
        return None
    # The most that length alone wins, whichever the judge likes
    most_by_length = max(length.high, 1 - length.low)
    if max(verdicts.low, 1 - verdicts.high) > most_by_length:
        return None
    # 1 if the judge likes longer answers, -1 if shorter ones
    preference = int(length.low > EVEN) - int(length.high < EVEN)
    measured = with_lengths(verdicts.judgments, arena.answers)
    measured = measured[measured[DIFFERENCE].notna()]
    excess = measured[DIFFERENCE].where(measured["system_a"] != baseline, -measured[DIFFERENCE])
    winner_sign = WINNER_SIGNS[verdicts.difference]
    is_against_winner = preference * np.sign(excess).sum() * winner_sign < 0
    if is_against_winner or not excess.any():
        return None
    for is_shorter in (excess < 0, excess > 0):
        if len(measured.loc[is_shorter, QUESTION_KEY].drop_duplicates()) < FEWEST_SHORTER:
            return WinsAtEqualLength(is_liked=preference != 0, may_explain=True)
    if not preference:
        return None
    scores = 1.0 - balanced_scores(measured, baseline)["score"]
    interval = test.once_interval if once else test.anytime_interval
    decide = test.decide_once if once else test.decide_anytime
    low, high, _ = interval(scores)
    is_same = decide(scores) == verdicts.difference
    return WinsAtEqualLength(True, not is_same, float(scores.mean()), low, high)


def _agrees_with_people(label: JudgeLabel) -> bool:
    return is_person(label.judge) or any(test.grade == "agrees" for test in label.tests)
