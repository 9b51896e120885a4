"""The result of a gate: its verdict, what it rests on, and both in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import expit

from arena.data.answer_digests import outdated_sentence
from arena.data.wording import count_of, sentence
from arena.quality.agreement import without_identical
from arena.quality.judge_report import JudgeLabel
from surrogate.checks.answer_checks import FEWEST_DIFFERENT, AnswerChecks
from surrogate_arena.gating.comparison import ORDERS, SystemComparison
from surrogate_arena.gating.cost_comparison import CostComparison
from surrogate_arena.gating.rating_difference import GateRates, RatingDifference
from surrogate_arena.gating.sequential_test import SequentialTest

GateVerdict = Literal["broken", "better", "same", "cheaper", "not cheaper", "worse", "cannot say"]
GateSource = Literal["answers", "surrogate", "verdicts", ""]

SURROGATE_SHARE = 0.2
"""Share of the permitted error that the surrogate may use where verdicts can be asked for."""


@dataclass(frozen=True)
class Gate:
    """How a candidate compares with a baseline.

    Attributes:
        verdict: Where the candidate is meant to be cheaper, ``cheaper`` and ``not cheaper`` stand
            in the place of ``better`` and ``same``, and ``worse`` is by more than the margin.
        by: What decided; empty where nothing did.
        candidate: The new system.
        baseline: The system that it is compared with.
        rates: How often the gate may be wrong.
        checks: What the answers show, question by question.
        questions: Questions that both answered.
        unanswered: Questions that the baseline alone answered.
        variance: Of the score of a question: observed, or that of the arena's verdicts.
        ratings: Comparison by the surrogate, if any.
        verdicts: Comparison by verdicts, if any.
        judge: Label of their judge.
        costs: What both cost; None unless the candidate is meant to be cheaper.
        n_outdated: Number of the arena's verdicts that do not count, since an answer was edited.
        longer_wins: Verdicts that the longer answer won, and those that were decided, where these
            are nearly the same.
        language_notes: Languages of which many questions look like another one.
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
    costs: CostComparison | None = None
    n_outdated: int = 0
    longer_wins: tuple[int, int] | None = None
    language_notes: tuple[str, ...] = ()

    @property
    def verdicts_needed(self) -> int:
        """Verdicts that find a difference of the margin with the power, in both orders."""
        return ORDERS * self._test.scores_needed(self.rates.margin, self.variance, self.rates.power)

    @property
    def difference_found(self) -> float:
        """Difference of a win rate that the questions here find with the power."""
        return self._test.difference_found(self.questions, self.variance, self.rates.power)

    @property
    def win_rate(self) -> float | None:
        """Win rate by verdicts."""
        verdicts = self.verdicts
        if verdicts is None or not len(verdicts.scores) or verdicts.one_side is not None:
            return None
        return verdicts.win_rate

    @property
    def sentences(self) -> tuple[str, ...]:
        """The verdict, what it rests on, and what would make it surer, in words."""
        return tuple(_sentences(self))

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def __repr__(self) -> str:
        return f"<Gate: {self.candidate!r} against {self.baseline!r}: {self.verdict}>"

    @property
    def _test(self) -> SequentialTest:
        return self.rates.test(1 - SURROGATE_SHARE)


def _sentences(result: Gate) -> Iterator[str]:
    yield _headline(result)
    # What a reader acts on comes first.
    if result.verdict == "cannot say":
        one_side = result.verdicts is not None and result.verdicts.one_side is not None
        one_side |= result.judge is not None and result.judge.is_one_sided
        lacks_savings = result.costs is not None and not result.costs.is_cheaper
        if not result.questions:
            yield f"{result.candidate} and {result.baseline} answered no question in common."
        elif not (one_side or lacks_savings):
            yield _outlook(result)
    if result.costs is not None and result.verdict != "broken":
        yield from result.costs.sentences
    if result.by == "answers" and result.verdict != "broken":
        return
    yield from _verdict_sentences(result)
    yield from result.checks.sentences
    if result.ratings is not None:
        yield from _rating_sentences(result.ratings)
    if result.n_outdated:
        yield f"In the arena {outdated_sentence(result.n_outdated)}."
    if result.unanswered:
        count_text = count_of(result.unanswered, "question")
        yield f"Not compared: {count_text} that the baseline alone answered."
    yield from map(sentence, result.language_notes)


def _verdict_sentences(result: Gate) -> Iterator[str]:
    verdicts = result.verdicts
    one_side = None if verdicts is None else verdicts.one_side
    if verdicts is not None:
        n_failed = len(verdicts.failures)
        failed = f"; {count_of(n_failed, 'pair')} without a verdict" if n_failed else ""
        # That the judge always names one side has a sentence of its own.
        reason = "" if one_side else f"; {verdicts.reason}"
        yield (
            f"{count_of(len(verdicts.judgments), 'verdict')} on {len(verdicts.scores)} of "
            f"{count_of(verdicts.questions, 'question')}{failed}{reason}."
        )
    if verdicts is not None and one_side:
        side, count = one_side
        n_asked = len(without_identical(verdicts.judgments))
        judge = f"{result.judge.short}: it" if result.judge is not None else "The judge"
        yield (
            f"{judge} chose side {side} in {count} of {n_asked} verdicts on answers that differ, "
            "whichever answer stood there, so they say nothing about the systems."
        )
    elif result.judge is not None:
        yield f"{result.judge.sentence}."
    if result.longer_wins is not None:
        n_won, n_decided = result.longer_wins
        yield (
            f"The longer answer won {n_won:,} of {n_decided:,} decided verdicts: two systems do "
            "not show whether it is better, or the judge likes length."
        )


def _outlook(result: Gate) -> str:
    needed = f"About {result.verdicts_needed:,} verdicts would"
    margin = f"{100 * result.rates.margin:g} points of win rate"
    power = f"{result.rates.power:.0%}"
    reach = f"{100 * result.difference_found:.0f} points"
    if result.rates.cheaper:
        return (
            f"{needed} show with power {power} that a system as good as the baseline is at most "
            f"{margin} worse. The {result.questions:,} questions here, each in both orders, would "
            f"show that it is at most {reach} worse."
        )
    return (
        f"{needed} find a difference of {margin} with power {power}. The {result.questions:,} "
        f"questions here, each in both orders, would find one of {reach}."
    )


def _headline(result: Gate) -> str:
    headline = f"{result.candidate} against {result.baseline}: {result.verdict}"
    points = f"{100 * result.rates.margin:g} points"
    if result.verdict == "cheaper":
        headline = f"{headline}, and at most {points} of win rate worse"
    elif result.verdict == "worse" and result.rates.cheaper:
        headline = f"{headline} by more than {points} of win rate"
    verdicts = result.verdicts
    if verdicts is not None and result.win_rate is not None:
        interval = f"{verdicts.level:.1%} interval {verdicts.low:.1%} to {verdicts.high:.1%}"
        return f"{headline}. Win rate by verdicts {result.win_rate:.1%}, {interval}."
    if result.by == "answers" and result.verdict in ("same", "cheaper"):
        return f"{headline}: its answers are the baseline's, word for word."
    if result.by == "surrogate":
        return f"{headline}, by the surrogate alone."
    if result.costs is not None and not result.costs.is_cheaper:
        return f"{headline}."
    is_checked = result.checks.questions >= FEWEST_DIFFERENT
    has_evidence = result.ratings is not None or verdicts is not None
    if result.verdict == "cannot say" and is_checked and not has_evidence:
        question = "which is better"
        if result.rates.cheaper:
            question = f"whether it is more than {points} worse"
        return f"{headline}. Nothing is broken; {question} needs verdicts."
    return f"{headline}."


def _rating_sentences(ratings: RatingDifference) -> Iterator[str]:
    if not np.isnan(ratings.rating):
        interval = ""
        if not np.isnan(ratings.low):
            low = expit(ratings.low)
            high = expit(ratings.high)
            interval = f", {1 - ratings.error:.0%} interval {low:.1%} to {high:.1%}"
        yield f"The surrogate expects a win rate of {ratings.win_rate:.1%}{interval}."
    if ratings.reason:
        yield f"The surrogate is inconclusive: {ratings.reason}."
