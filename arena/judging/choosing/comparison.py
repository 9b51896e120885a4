"""Judging one system against another, question by question, until it is known which is better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.schema import QUESTION_KEY
from arena.data.types import Progress
from arena.diagnostics.judge_label import same_verdict, without_identical
from arena.judging.answer_pairs import ArenaTexts, QuestionKey
from arena.judging.choosing.chosen_pairs import (
    Batches,
    ChosenPairs,
    asked_pairs,
    by_draw,
    joined_pairs,
)
from arena.judging.llm_judge import LlmJudge
from arena.judging.run import judge as judge_pairs
from arena.llm.usage import Usage
from arena.rating.battles import points_of_a
from arena.statistics.significance import EVEN, Difference, SequentialTest

if TYPE_CHECKING:
    from arena.llm.store import Store

ORDERS = 2
"""Verdicts on a question: one with either answer on side A."""
SCORE_COLUMNS = [*QUESTION_KEY, "score"]

DECIDED = "the verdicts say it"
SIDES_SEEN = 10
"""Questions after which it is seen for the first time whether a judge is one-sided."""
ONE_SIDED = "stopped, since the judge chooses the same side whatever stands there"
SPENT = "the planned {:,} verdicts are judged"
ALL_JUDGED = "every question that both answered is judged"


@dataclass(frozen=True)
class SystemComparison:
    """What verdicts say of a system beside another.

    Attributes:
        difference: None where it is not known yet.
        scores: ``SCORE_COLUMNS``, in the order judged: its share of the points on a question in
            both orders, 0 to 1.
        low: Lower bound of its win rate.
        high: Upper bound.
        judgments: The verdicts.
        failures: Pairs without one; their questions have no score.
        questions: Questions that both answered.
        reason: Why no more was asked.
        usage: What it took.
    """

    difference: Difference | None
    scores: pd.DataFrame
    low: float
    high: float
    judgments: pd.DataFrame
    failures: pd.DataFrame
    questions: int
    reason: str
    usage: Usage

    @property
    def win_rate(self) -> float:
        """Mean score, NaN without any."""
        return float(self.scores["score"].mean())

    @property
    def variance(self) -> float:
        """Of the scores around one half; NaN without any."""
        return float(((self.scores["score"] - EVEN) ** 2).mean())

    @property
    def one_side(self) -> tuple[str, int] | None:
        """The side that nearly every verdict is for, and how many; None where there is none.

        Such a judge makes every two systems the same: each wins in one of the two orders.
        """
        return chosen_side(self.judgments)


def chosen_side(judgments: pd.DataFrame) -> tuple[str, int] | None:
    """Return the side that nearly every verdict is for, and how many; None where there is none."""
    if judgments.empty:
        return None
    same = same_verdict(without_identical(judgments)["winner"])
    if same is None or same[0] == "tie":
        return None
    return same[0].upper(), same[1]


def compare_systems(
    arena: Arena,
    systems: tuple[str, str],
    judge: LlmJudge,
    store: Store,
    test: SequentialTest,
    *,
    budget: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> SystemComparison:
    """Judge a system against another until the test says how they differ.

    Questions come in an order that is drawn by their content, all languages together, each in
    both orders of sides, as many at a time as lie between two looks of the test. Answers that are
    the same text are ties that nobody is asked about. After the first few questions, and at every
    look, it is seen whether the judge chooses the same side whatever stands there: then it is asked
    no more, and nothing is concluded.

    Args:
        arena: Questions, and the answers of both.
        systems: The system, and the one it is held against.
        judge: One that is asked about pairs.
        store: See ``arena.judging.judge``, as for ``progress``.
        test: What has to be known, and how surely.
        budget: Most verdicts, those in the store and of identical answers included; None asks all.
        seed: Of the order and the sides.
        progress: Callback.

    Raises:
        UsageError: If the judge cannot be used, no question has answers of both, or the budget
            is too small for one.
    """
    if budget is not None and budget < ORDERS:
        raise UsageError(f"a budget of {budget} judges no question, which takes {ORDERS} verdicts")
    answers = arena.answers[arena.answers["system"].isin(systems)]
    alone = replace(arena, answers=answers, judgments=arena.judgments.iloc[:0])
    pairs = _ComparedPairs(alone, systems, test, budget, seed)
    found = judge_pairs(alone, judge, pairs, store, progress=progress)
    low, high = test.interval(list(pairs.scores.values()))
    scores = pd.DataFrame(list(pairs.scores), columns=SCORE_COLUMNS[:-1], dtype=object)
    return SystemComparison(
        difference=pairs.difference,
        scores=scores.assign(score=np.array(list(pairs.scores.values()), dtype=np.float64)),
        low=low,
        high=high,
        judgments=found.judgments,
        failures=found.failures,
        questions=len(pairs.questions),
        reason=found.reason,
        usage=found.summaries[0].usage,
    )


class _ComparedPairs:
    """Chooses the questions on which two systems are compared, until a test says the difference."""

    def __init__(
        self,
        arena: Arena,
        systems: tuple[str, str],
        test: SequentialTest,
        budget: int | None,
        seed: int,
    ) -> None:
        self._systems, self._test = systems, test
        texts = ArenaTexts(arena)
        keys = [(each, query) for each in arena.info.languages for query in texts.questions(each)]
        able = [key for key in keys if len(texts.systems(key)) == ORDERS]
        if not able:
            raise UsageError(f"no question has answers of both {systems[0]!r} and {systems[1]!r}")
        self.questions = by_draw(texts, able, seed)
        most = len(able)
        self._planned = most if budget is None else min(most, budget // ORDERS)
        both = [(*key, *systems) for key in self.questions[: self._planned]]
        self._pairs = asked_pairs(texts, both, tuple(able), True, seed)
        self.whole = ORDERS * self._planned
        self.scores: dict[QuestionKey, float] = {}
        self.difference: Difference | None = None
        self._judgments: list[pd.DataFrame] = []

    def batches(self) -> Batches:
        done = 0
        looks = self._test.looks(self._planned)
        for end in sorted({*looks, min(SIDES_SEEN, self._planned)}):
            keys, done = self.questions[done:end], end
            judgments = (yield self._pairs.on(keys)).judgments
            self._judgments.append(judgments)
            scored = question_scores(judgments, self._systems[0])
            self.scores |= {key: scored[key] for key in keys if key in scored}
            if chosen_side(pd.concat(self._judgments, ignore_index=True)) is not None:
                return ONE_SIDED
            if end not in looks:
                continue
            is_last = end == self._planned
            self.difference = self._test.decide(list(self.scores.values()), is_last=is_last)
            if self.difference is not None:
                return DECIDED
        return ALL_JUDGED if done == len(self.questions) else SPENT.format(ORDERS * done)

    def chosen(self, asked: Sequence[ChosenPairs]) -> ChosenPairs:
        return joined_pairs(self._pairs.on([]), asked)


def question_scores(judgments: pd.DataFrame, system: str) -> dict[QuestionKey, float]:
    """Return a system's share of the points on each question that is judged in both orders."""
    is_a = judgments["system_a"] == system
    won = points_of_a(judgments)
    points = judgments[QUESTION_KEY].assign(is_a=is_a, points=won.where(is_a, 1.0 - won))
    sides = points.groupby([*QUESTION_KEY, "is_a"])["points"].mean().unstack("is_a")
    both = sides.reindex(columns=[True, False]).dropna().mean(axis=1)
    return {(str(language), str(query)): float(each) for (language, query), each in both.items()}
