"""The result of a gate: its verdict, what it rests on, and both in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import expit

from arena.data.wording import count_of
from arena.diagnostics.judge_label import JudgeLabel
from arena.statistics.significance import SequentialTest
from surrogate.ranking.answer_checks import FEWEST_DIFFERENT, AnswerChecks
from surrogate.ranking.comparison import ORDERS, SystemComparison
from surrogate.ranking.rating_difference import GateRates, RatingDifference

GateVerdict = Literal["broken", "better", "same", "worse", "cannot say"]
GateSource = Literal["answers", "surrogate", "verdicts", ""]
GATE_VERDICTS: tuple[GateVerdict, ...] = ("broken", "better", "same", "worse", "cannot say")

SURROGATE_SHARE = 0.2
"""Share of the permitted error that the surrogate may use where verdicts can be asked for."""


@dataclass(frozen=True)
class Gate:
    """How a candidate compares with a baseline.

    Attributes:
        verdict: ``broken``, ``better``, ``same``, ``worse`` or ``cannot say``.
        by: ``surrogate`` or ``verdicts``, whichever decided, or ``answers`` where these are broken,
            or the baseline's, word for word; empty where nothing did.
        candidate: The new system.
        baseline: The system that it is compared with.
        rates: How often the gate may be wrong.
        checks: What the answers show, question by question.
        questions: Questions that both answered.
        unanswered: Questions that the baseline answered and the candidate did not, in the languages
            that are compared.
        variance: Of the score of a question: observed, or that of the arena's verdicts.
        ratings: Comparison by the surrogate; None where there is none, or answers decided.
        verdicts: Comparison by an LLM's verdicts, where they were asked for.
        judge: Label of the judge that was asked; None where nobody was.
    """

    verdict: GateVerdict
    by: GateSource
    candidate: str
    baseline: str
    rates: GateRates
    checks: AnswerChecks
    questions: int
    unanswered: int
    variance: float
    ratings: RatingDifference | None = None
    verdicts: SystemComparison | None = None
    judge: JudgeLabel | None = None

    @property
    def verdicts_needed(self) -> int:
        """Verdicts that find a difference of the margin with the power, in both orders."""
        return ORDERS * self._test.scores_needed(self.rates.margin, self.variance, self.rates.power)

    @property
    def difference_found(self) -> float:
        """Difference of a win rate that the questions here find with the power."""
        return self._test.difference_found(self.questions, self.variance, self.rates.power)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The verdict, what it rests on, and what would make it surer, in words."""
        return tuple(_sentences(self))

    @property
    def _test(self) -> SequentialTest:
        return self.rates.test(1 - SURROGATE_SHARE)


def _sentences(result: Gate) -> Iterator[str]:
    """Say what was found, and what would say more."""
    verdicts = result.verdicts
    yield _headline(result)
    if result.verdict == "same" and result.by == "answers":
        return
    yield from result.checks.sentences
    if result.ratings is not None:
        yield from _rating_sentences(result.ratings)
    if verdicts is not None:
        n_failed = len(verdicts.failures)
        failed = f"; {count_of(n_failed, 'pair')} without a verdict" if n_failed else ""
        yield (
            f"{count_of(len(verdicts.judgments), 'verdict')} on {len(verdicts.scores)} of "
            f"{count_of(verdicts.questions, 'question')}{failed}; {verdicts.reason}."
        )
    if verdicts is not None and verdicts.one_side:
        side, count = verdicts.one_side
        yield (
            f"The judge chose side {side} in {count} of {len(verdicts.judgments)} verdicts, "
            "whichever answer stood there: they say nothing of the systems."
        )
    elif result.judge is not None:
        yield f"{result.judge.sentence}."
    if result.unanswered:
        count_text = count_of(result.unanswered, "question")
        yield f"Not compared: {count_text} that the baseline alone answered."
    is_one_sided = verdicts is not None and verdicts.one_side is not None
    # More verdicts by a judge that always names one side would not help.
    if result.verdict == "cannot say" and not is_one_sided:
        yield (
            f"About {result.verdicts_needed:,} verdicts would find a difference of "
            f"{100 * result.rates.margin:g} points of win rate with power "
            f"{result.rates.power:.0%}. The {result.questions:,} questions here, each in both "
            f"orders, would find one of {100 * result.difference_found:.0f} points."
        )


def _headline(result: Gate) -> str:
    """Say the verdict, with the win rate or the source that it rests on."""
    headline = f"{result.candidate} against {result.baseline}: {result.verdict}"
    verdicts = result.verdicts
    if verdicts is not None and len(verdicts.scores):
        level = result.rates.test(1 - SURROGATE_SHARE).level
        return (
            f"{headline}. Win rate by verdicts {verdicts.win_rate:.1%}, {level:.1%} interval "
            f"{verdicts.low:.1%} to {verdicts.high:.1%}."
        )
    if result.verdict == "same" and result.by == "answers":
        return f"{headline}: its answers are the baseline's, word for word."
    if result.by == "surrogate":
        return f"{headline}, by the surrogate alone."
    is_checked = result.checks.questions >= FEWEST_DIFFERENT
    if result.verdict == "cannot say" and result.ratings is None and is_checked:
        return f"{headline}. Nothing is broken; which is better needs verdicts."
    return f"{headline}."


def _rating_sentences(ratings: RatingDifference) -> Iterator[str]:
    """Say what the surrogate expects."""
    if not np.isnan(ratings.rating):
        interval = ""
        if not np.isnan(ratings.low):
            low = expit(ratings.low)
            high = expit(ratings.high)
            interval = f", {1 - ratings.error:.0%} interval {low:.1%} to {high:.1%}"
        yield f"The surrogate expects a win rate of {ratings.win_rate:.1%}{interval}."
    if ratings.reason:
        yield f"The surrogate is inconclusive: {ratings.reason}."
