"""Judging two systems, question by question, until the difference is clear."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.schema import QUESTION_KEY
from arena.data.types import Progress
from arena.judging.answer_pairs import ArenaTexts, QuestionKey
from arena.judging.choosing.chosen_pairs import ChosenPairs, Rounds, joined_pairs
from arena.judging.choosing.drawn_pairs import asked_pairs
from arena.judging.choosing.drawn_questions import (
    by_draw,
    question_keys,
    with_several_answers,
)
from arena.judging.judged_pairs import judge_pairs
from arena.judging.llm_judge import LlmJudge
from arena.llm.usage import Usage
from arena.quality.agreement import without_identical
from arena.quality.judge_tests import same_verdict
from arena.rating.judgments import points_of_a, shown_sides
from arena.rating.soft_verdicts import calibrated_judgments
from surrogate_arena.gating.sequential_test import EVEN, Difference, SequentialTest

if TYPE_CHECKING:
    from arena.llm.store import Store

ORDERS = 2
"""Verdicts on a question: one with either answer on side A."""
FEWEST_ON_A_SIDE = 0.25
"""Share of verdicts: fewer on one side that agree by chance would seem certain."""
SCORE_COLUMNS = [*QUESTION_KEY, "score"]

DECIDED = "these decide"
SPENT = "the planned {:,} verdicts are judged"
ALL_JUDGED = "every question that both answered is judged"
ALL_ASKED = "every question that both answered was asked, {:,} without a verdict in both orders"
Decide = Callable[[npt.ArrayLike], Difference | None]
Bounds = Callable[[npt.ArrayLike], tuple[float, float]]


@dataclass(frozen=True)
class SystemComparison:
    """Comparison of two systems by verdicts on questions that both answered.

    Attributes:
        difference: None if it is not clear yet.
        scores: ``SCORE_COLUMNS``: share of the points by question in both orders, 0 to 1.
        low: Lower bound of the win rate, questions without a score lost.
        high: Upper bound, these questions won.
        level: Probability that the bounds hold it.
        judgments: The verdicts.
        failures: Pairs without one.
        questions: Number of questions that both answered.
        reason: Why asking stopped, or which verdicts these are.
        usage: Calls and tokens.
        languages: Columns ``language, questions, win_rate, low, high``, the lowest win rate first;
            empty for one language.
        differing: Number of questions asked with different answers.
        unscored: Number of those without a verdict in both orders.
    """

    difference: Difference | None
    scores: pd.DataFrame
    low: float
    high: float
    level: float
    judgments: pd.DataFrame
    failures: pd.DataFrame
    questions: int
    reason: str
    usage: Usage
    languages: pd.DataFrame = field(default_factory=pd.DataFrame)
    differing: int = 0
    unscored: int = 0

    @property
    def lacks_verdicts(self) -> bool:
        """Return whether questions without a score may change the decision."""
        return self.unscored > 0 and self.difference is None

    @property
    def cannot_count(self) -> bool:
        """Return whether there are verdicts, but ``reason`` keeps all from being scored."""
        return len(self.judgments) > 0 and self.scores.empty and not self.one_side

    @property
    def win_rate(self) -> float:
        """Mean score, NaN without any."""
        return float(self.scores["score"].mean())

    @property
    def variance(self) -> float:
        """Mean squared deviation of the scores from one half."""
        return float(((self.scores["score"] - EVEN) ** 2).mean())

    @property
    def one_side(self) -> tuple[str, int] | None:
        """The side that nearly all verdicts choose, and their number."""
        return chosen_side(self.judgments)


def chosen_side(judgments: pd.DataFrame) -> tuple[str, int] | None:
    """Return the side that nearly all verdicts choose, and their number.

    There is none where one system nearly always stood there.
    """
    judgments = shown_sides(without_identical(judgments))
    if judgments.empty:
        return None
    if not is_on_both_sides(judgments, str(judgments["system_a"].iloc[0])):
        return None
    same = same_verdict(judgments["winner"])
    if same is None:
        return None
    winner, count = same
    return None if winner == "tie" else (winner.upper(), count)


def is_on_both_sides(judgments: pd.DataFrame, system: str) -> bool:
    """Return whether a system stood on each side often enough, or no sides were shown."""
    on_a = shown_sides(judgments)["system_a"].eq(system)
    if on_a.empty:
        return True
    return bool(FEWEST_ON_A_SIDE <= on_a.mean() <= 1 - FEWEST_ON_A_SIDE)


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
    """Judge a system against another until the test tells how they differ.

    Questions come in an order drawn by content, in both orders of sides; identical answers are ties
    without a call. A judge that always chooses one side, or gives no verdict, is stopped after 30.

    Args:
        arena: Questions, and the answers of both.
        systems: The system, and the one to compare with.
        judge: The judge.
        store: Store of replies.
        test: Difference that matters, and permitted error.
        budget: Maximum number of verdicts, stored ones included.
        seed: Seed of order and sides.
        progress: Called as pairs are judged.

    Returns:
        The difference, if known, with the verdicts.

    Raises:
        UsageError: If the judge, the budget or the answers do not suffice.
    """
    if budget is not None and budget < ORDERS:
        raise UsageError(f"a budget of {budget} judges no question, which takes {ORDERS} verdicts")
    # Without earlier judgments: verdicts of other runs would spoil the test's planned looks.
    arena = replace(
        arena,
        answers=arena.answers[arena.answers["system"].isin(systems)],
        judgments=arena.judgments.iloc[:0],
    )
    pairs = _ComparedPairs(arena, systems, test, budget, seed)
    judging = judge_pairs(arena, judge, pairs, store, progress=progress)
    scores = np.array(list(pairs.scores.values()), dtype=np.float64)
    low, high = bounded_interval(test.interval, scores, pairs.unscored)
    questions = pd.DataFrame(list(pairs.scores), columns=QUESTION_KEY, dtype=object)
    questions["score"] = scores
    (summary,) = judging.summaries
    return SystemComparison(
        difference=pairs.difference,
        scores=questions,
        low=low,
        high=high,
        level=test.level,
        judgments=judging.judgments,
        failures=judging.failures,
        questions=len(pairs.questions),
        reason=judging.reason,
        usage=summary.usage,
        languages=language_rates(questions, test.interval),
        differing=pairs.differing,
        unscored=pairs.unscored,
    )


def bounded_difference(decide: Decide, scores: npt.ArrayLike, unscored: int) -> Difference | None:
    """Decide what holds whether questions without a score were lost or won."""
    if_lost = decide(np.append(scores, np.zeros(unscored)))
    if_won = decide(np.append(scores, np.ones(unscored)))
    return if_lost if if_lost == if_won else None


def bounded_interval(bounds: Bounds, scores: npt.ArrayLike, unscored: int) -> tuple[float, float]:
    """Return bounds that hold whether questions without a score were lost or won."""
    low, _ = bounds(np.append(scores, np.zeros(unscored)))
    _, high = bounds(np.append(scores, np.ones(unscored)))
    return low, high


def language_rates(scores: pd.DataFrame, bounds: Bounds) -> pd.DataFrame:
    """Return win rates by language, with bounds; empty for one language."""
    rows = []
    for language, part in scores.groupby("language"):
        values = part["score"].to_numpy(np.float64)
        low, high = bounds(values)
        rows.append((str(language), len(values), float(values.mean()), low, high))
    columns = ["language", "questions", "win_rate", "low", "high"]
    rates = pd.DataFrame(rows, columns=columns).sort_values("win_rate", kind="stable")
    return rates.iloc[:0] if len(rates) == 1 else rates


class _ComparedPairs:
    """Chooses questions for two systems until a test tells the difference."""

    def __init__(
        self,
        arena: Arena,
        systems: tuple[str, str],
        test: SequentialTest,
        budget: int | None,
        seed: int,
    ) -> None:
        self._systems = systems
        self._test = test
        texts = ArenaTexts(arena)
        answered = with_several_answers(arena)
        if answered.empty:
            raise UsageError(f"no question has answers of both {systems[0]!r} and {systems[1]!r}")
        self.questions = question_keys(by_draw(answered, seed))
        n_questions = len(self.questions)
        if budget is not None:
            n_questions = min(n_questions, budget // ORDERS)
        self._n_questions = n_questions
        self.n_planned = ORDERS * n_questions
        keys = [(*question, *systems) for question in self.questions[:n_questions]]
        self._pairs = asked_pairs(texts, keys, tuple(self.questions), audit=1.0, seed=seed)
        self.scores: dict[QuestionKey, float] = {}
        self.difference: Difference | None = None
        self.differing = 0
        self.unscored = 0

    def rounds(self) -> Rounds:
        # A judge that says the same of every pair shows after these, before the first look.
        n_first = min(15, self._n_questions)
        looks = self._test.looks(self._n_questions)
        n_judged = 0
        for end in sorted({*looks, n_first}):
            questions = self.questions[n_judged:end]
            n_judged = end
            chosen = self._pairs.on(questions)
            outcome = yield chosen
            n_identical = len(chosen.identical[QUESTION_KEY].drop_duplicates())
            self.differing += len(questions) - n_identical
            scores = question_scores(outcome.judgments, self._systems[0])
            for question in questions:
                if question in scores:
                    self.scores[question] = scores[question]
            self.unscored = n_judged - len(self.scores)
            # The test's error holds for its own looks alone.
            if end not in looks:
                continue
            is_last = end == self._n_questions
            decide = partial(self._test.decide, is_last=is_last)
            self.difference = bounded_difference(decide, list(self.scores.values()), self.unscored)
            if self.difference is not None:
                return DECIDED
        if n_judged == len(self.questions):
            n_without_score = n_judged - len(self.scores)
            return ALL_ASKED.format(n_without_score) if n_without_score else ALL_JUDGED
        return SPENT.format(ORDERS * n_judged)

    def chosen(self, rounds: Sequence[ChosenPairs]) -> ChosenPairs:
        return joined_pairs(self._pairs.on([]), rounds)


def question_scores(judgments: pd.DataFrame, system: str) -> dict[QuestionKey, float]:
    """Return a system's share of points by question judged in both orders."""
    judgments = calibrated_judgments(judgments, hard=True)
    is_a = judgments["system_a"] == system
    points_a = points_of_a(judgments)
    points = judgments[QUESTION_KEY].assign(is_a=is_a, points=points_a.where(is_a, 1.0 - points_a))
    by_side = points.groupby([*QUESTION_KEY, "is_a"])["points"].mean().unstack("is_a")
    # A question with a verdict in one order alone has no score: the side could decide it.
    scores = by_side.reindex(columns=[True, False]).dropna().mean(axis=1)
    return {
        (str(language), str(query_id)): float(score)
        for (language, query_id), score in scores.items()
    }
