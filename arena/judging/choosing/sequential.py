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
from arena.diagnostics.self_check import FEWEST, SAME_LETTER
from arena.judging.choosing.drawn import asked_pairs, question_draw
from arena.judging.graded import GradedPrompt
from arena.judging.judge import LlmJudge, ask_judge
from arena.judging.pairs import ArenaTexts, QuestionKey
from arena.judging.summary import (
    FAILURE_COLUMNS,
    IDENTICAL,
    VERDICT_COLUMNS,
    Verdicts,
    stacked,
)
from arena.llm.ask import Progress
from arena.llm.usage import Usage
from arena.rating.battles import points_of_a
from arena.statistics.betting import EVEN, Difference, SequentialTest

if TYPE_CHECKING:
    from arena.llm.store import Store

ORDERS = 2
"""Verdicts on a question: one with either answer on side A."""
LOOKS = 8
"""A further lot is no smaller than the questions judged by this."""
SCORE_COLUMNS = [*QUESTION_KEY, "score"]

DECIDED = "the verdicts say it"
SPENT = "the budget of {:,} verdicts is spent"
ALL_JUDGED = "every question that both answered is judged"


@dataclass(frozen=True)
class SystemComparison:
    """What verdicts say of a system beside another.

    Attributes:
        difference: What is known of it; None where it is not known yet.
        scores: ``SCORE_COLUMNS``, in the order judged: its share of the points on a question in
            both orders, 0 to 1.
        low: Lower bound of its win rate, which holds at any time with the test's error.
        high: Upper bound.
        judgments: The verdicts, an arena's ``judgments``.
        failures: Pairs without a verdict; their questions have no score.
        questions: Questions that both answered.
        reason: Why no more was asked.
        usage: Calls and tokens.
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
        asked = self.judgments[self.judgments["flags"] != IDENTICAL]
        counts = asked.loc[asked["winner"] != "tie", "winner"].value_counts()
        if len(asked) < FEWEST or counts.empty or counts.iloc[0] < SAME_LETTER * len(asked):
            return None
        return str(counts.index[0]).upper(), int(counts.iloc[0])


def compare_systems(
    arena: Arena,
    system: str,
    other: str,
    judge: LlmJudge,
    store: Store,
    test: SequentialTest,
    *,
    budget: int | None = None,
    languages: Sequence[str] = (),
    seed: int = 0,
    progress: Progress | None = None,
) -> SystemComparison:
    """Judge a system against another until the test says how they differ.

    Questions come in an order that is drawn by their content, all languages together, each in
    both orders of sides, some at a time; after each lot the test looks at all scores, which it may
    as often as one likes. Answers that are the same text are ties that nobody is asked about.
    Replies that are in the store are not asked for again.

    Args:
        arena: Questions, and the answers of both.
        system: The one.
        other: The one it is held against.
        judge: Who judges; one that is asked about pairs.
        store: Where replies are and go.
        test: What has to be known, and how surely.
        budget: Most verdicts to ask for, those in the store included, those of identical answers
            not; None asks all.
        languages: Languages to judge; all by default.
        seed: Seed of the order and the sides.
        progress: Called with the judge's name, the questions done, and all.

    Raises:
        UsageError: If the judge cannot be used so, no question has answers of both, or the
            budget is too small for one.
        MissingDependencyError: If the extra ``llm`` is not installed.
    """
    if isinstance(judge.asked_by, GradedPrompt):
        raise UsageError("two systems are compared pair by pair; leave `form` pairwise")
    if budget is not None and budget < ORDERS:
        raise UsageError(f"a budget of {budget} judges no question, which takes {ORDERS} verdicts")
    answers = arena.answers[arena.answers["system"].isin([system, other])]
    if languages:
        answers = answers[answers["language"].isin(languages)]
    alone = replace(arena, answers=answers, judgments=arena.judgments.iloc[:0])
    run = _Run(alone, (system, other), judge, store, test, budget, seed, progress)
    if not run.questions:
        raise UsageError(f"no question has answers of both {system!r} and {other!r}")
    while run.reason is None:
        run.judge_lot()
    return run.finished()


class _Run:
    """One comparison, lot by lot."""

    def __init__(
        self,
        arena: Arena,
        systems: tuple[str, str],
        judge: LlmJudge,
        store: Store,
        test: SequentialTest,
        budget: int | None,
        seed: int,
        progress: Progress | None,
    ) -> None:
        self._arena = arena
        self._systems = systems
        self._judge = judge
        self._store = store
        self._test = test
        self._budget = budget
        self._seed = seed
        self._progress = progress
        self._texts = ArenaTexts(arena)
        self._parts: list[Verdicts] = []
        self._scored: dict[QuestionKey, float] = {}
        self._asked = 0
        self._done = 0
        self.questions = _drawn(self._texts, arena, seed)
        self.difference: Difference | None = None

    @property
    def reason(self) -> str | None:
        """Why no more is to be asked, if so."""
        if self.difference is not None:
            return DECIDED
        if self._done == len(self.questions):
            return ALL_JUDGED
        if self._budget is not None and self._budget - self._asked < ORDERS:
            return SPENT.format(self._budget)
        return None

    def judge_lot(self) -> None:
        size = max(self._judge.settings.concurrency // ORDERS, self._done // LOOKS, 1)
        if self._budget is not None:
            size = min(size, (self._budget - self._asked) // ORDERS)
        keys = [(*key, *self._systems) for key in self.questions[self._done : self._done + size]]
        show = self._judge.asked_by.show
        pairs = asked_pairs(self._texts, keys, True, self._seed, 0, 0, show)
        judged = ask_judge(
            self._arena, self._judge, pairs, self._store, progress=self._counted_from(self._done)
        )
        self._parts.append(judged)
        self._asked += len(pairs.table)
        self._done += len(keys)
        scored = question_scores(judged.judgments, self._systems[0])
        self._scored |= {key[:2]: scored[key[:2]] for key in keys if key[:2] in scored}
        self.difference = self._test.decide(self._scores)

    @property
    def _scores(self) -> list[float]:
        return list(self._scored.values())

    def _counted_from(self, done: int) -> Progress | None:
        if self._progress is None:
            return None
        progress, whole = self._progress, len(self.questions)

        def of_all(name: str, of_lot: int, _: int) -> None:
            progress(name, done + of_lot // ORDERS, whole)

        return of_all

    def finished(self) -> SystemComparison:
        """Put together what was found."""
        low, high = self._test.interval(self._scores)
        scores = pd.DataFrame(list(self._scored), columns=SCORE_COLUMNS[:-1], dtype=object)
        return SystemComparison(
            difference=self.difference,
            scores=scores.assign(score=np.array(self._scores, dtype=np.float64)),
            low=low,
            high=high,
            judgments=stacked([part.judgments for part in self._parts], VERDICT_COLUMNS),
            failures=stacked([part.failures for part in self._parts], FAILURE_COLUMNS),
            questions=len(self.questions),
            reason=self.reason or "",
            usage=Usage.total(self._judge.settings.model, [part.usage for part in self._parts]),
        )


def question_scores(judgments: pd.DataFrame, system: str) -> dict[QuestionKey, float]:
    """Return a system's share of the points on each question that is judged in both orders.

    Args:
        judgments: Of the system and one other; a tie counts one half.
        system: The system.
    """
    is_a = judgments["system_a"] == system
    won = points_of_a(judgments)
    points = pd.DataFrame(
        {
            "language": judgments["language"],
            "query_id": judgments["query_id"],
            "is_a": is_a,
            "points": won.where(is_a, 1.0 - won),
        }
    )
    sides = points.groupby([*QUESTION_KEY, "is_a"])["points"].mean().unstack("is_a")
    both = sides.reindex(columns=[True, False]).dropna().mean(axis=1)
    return {(str(language), str(query)): float(each) for (language, query), each in both.items()}


def _drawn(texts: ArenaTexts, arena: Arena, seed: int) -> list[QuestionKey]:
    """Questions that both systems answered, in the order drawn."""
    keys = [
        (language, query_id)
        for language in arena.info.languages
        for query_id in texts.questions(language)
        if len(texts.systems((language, query_id))) == 2  # both systems
    ]
    return sorted(
        keys, key=lambda key: (question_draw(key[0], key[1], texts.question(key), seed), key)
    )
