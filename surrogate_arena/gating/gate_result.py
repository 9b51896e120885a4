"""The result of a gate, with its evidence, and both in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import expit

from arena.data.answer_digests import outdated_remark
from arena.data.judges import UNKNOWN_JUDGE, is_person
from arena.data.languages import language_name
from arena.data.wording import count_of, sentence
from arena.quality.agreement import without_identical
from arena.quality.judge_report import JudgeLabel
from arena.quality.people_agreement import PeopleAgreement
from surrogate_arena.gating.comparison import SystemComparison
from surrogate_arena.gating.cost_comparison import CostComparison
from surrogate_arena.gating.equal_length import WinsAtEqualLength
from surrogate_arena.gating.fault_comparison import FaultComparison
from surrogate_arena.gating.lost_questions import LostQuestion, lost_line
from surrogate_arena.gating.rating_difference import GateRates, RatingDifference
from surrogate_arena.gating.sequential_test import EVEN, SequentialTest

GateVerdict = Literal["broken", "better", "same", "cheaper", "not cheaper", "worse", "cannot say"]
GateSource = Literal["answers", "surrogate", "verdicts", ""]

FAILED = ("broken", "not cheaper", "worse")
"""Verdicts that fail a pipeline."""
FEWEST_SHARED = 30
"""Pairs that people judged, too, from which their agreement says whether a judge can decide."""
SURROGATE_SHARE = 0.2
"""Share of the permitted error that a board's surrogate may use before verdicts."""


@dataclass(frozen=True)
class Gate:
    """Comparison of a candidate with a baseline.

    Attributes:
        verdict: With ``rates.cheaper``, ``cheaper`` and ``not cheaper`` replace ``better`` and
            ``same``.
        by: What decided; empty if nothing did.
        unanswered: Questions that only the baseline answered.
        variance: Of the score of a question: observed, or the arena's.
        people: Agreement of the judge with people, if known.
        lost: Questions that every verdict gives the baseline; without any, expected losses.
        costs: With ``rates.cheaper``, both costs.
        n_outdated: Verdicts that do not count, as an answer was edited.
        equal_length: Win rate at equal length, of a judge that may like length.
        language_notes: Languages of which many questions look like another one.
        choice: Systems taken by default, and why.
    """

    verdict: GateVerdict
    by: GateSource
    candidate: str
    baseline: str
    rates: GateRates
    faults: FaultComparison
    questions: int
    unanswered: int
    variance: float
    ratings: RatingDifference | None = None
    verdicts: SystemComparison | None = None
    judge: JudgeLabel | None = None
    people: PeopleAgreement | None = None
    lost: tuple[LostQuestion, ...] = ()
    costs: CostComparison | None = None
    n_outdated: int = 0
    equal_length: WinsAtEqualLength | None = None
    language_notes: tuple[str, ...] = ()
    choice: str = ""

    @property
    def questions_needed(self) -> int:
        """Questions that find a difference of the margin with the power."""
        return self._test.scores_needed(self.rates.margin, self.variance, self.rates.power)

    @property
    def difference_found(self) -> float:
        """Difference of a win rate that these questions find with the power."""
        return self._test.difference_found(self.questions, self.variance, self.rates.power)

    @property
    def questions_to_decide(self) -> int:
        """Further questions that decide if the difference stays; 0 where it is not known."""
        verdicts = self.verdicts
        if self.win_rate is None or verdicts is None:
            return 0
        difference = abs(self.win_rate - EVEN)
        # Below it, the margin says what it takes.
        if difference < self.rates.margin:
            return 0
        bound = verdicts.low if self.win_rate > EVEN else verdicts.high
        if bound in (0.0, 1.0):
            # A bound that is cut off there does not tell how wide the interval is.
            return 0
        half_width = abs(self.win_rate - bound)
        n_scores = len(verdicts.scores)
        # Intervals narrow with the square root of their scores.
        return max(1, math.ceil(n_scores * (half_width / difference) ** 2) - n_scores)

    @property
    def win_rate(self) -> float | None:
        """Win rate by verdicts."""
        verdicts = self.verdicts
        if verdicts is None or not len(verdicts.scores) or self.judge_doubt:
            return None
        return verdicts.win_rate

    @property
    def status(self) -> int:
        """Exit status: 0 passed, 3 failed, 4 cannot say."""
        if self.verdict == "cannot say":
            return 4
        return 3 if self.verdict in FAILED else 0

    @property
    def reasons(self) -> tuple[str, ...]:
        """Reasons why the gate fails or cannot say."""
        if self.verdict == "broken":
            return tuple(
                f"{count.check}: {count.new} new, {count.limit} allowed"
                for count in self.faults.exceeded
            )
        if self.verdict == "cannot say":
            return tuple(_open_questions(self))
        return (_headline(self),) if self.status else ()

    @property
    def is_one_sided(self) -> bool:
        """Return whether the judge says the same whatever the answers are."""
        is_constant = self.verdicts is not None and self.verdicts.one_side is not None
        return is_constant or (self.judge is not None and self.judge.is_one_sided)

    @property
    def judge_doubt(self) -> str:
        """Reason why the judge decides nothing, if any."""
        if self.is_one_sided:
            return "the judge says the same whatever the answers are"
        if self.judge is not None and self.judge.decides_by_length:
            return "the judge decides by length, whatever the answers say"
        length = self.equal_length
        if length is not None and length.is_liked and length.may_explain:
            return f"{length}, so the judge may have decided by length"
        people = self.people
        if people is None or people.items < FEWEST_SHARED or people.bounds[0] > 0:
            return ""
        low, high = people.bounds
        return (
            f"the judge does not agree with people beyond chance (kappa {people.kappa:.2f}, "
            f"{low:.2f} to {high:.2f}, on {people.items} pairs)"
        )

    @property
    def is_judge_unchecked(self) -> bool:
        """Return whether too few people have judged what the judge did."""
        is_by_people = self.judge is None or is_person(self.judge.judge)
        has_checked = self.people is not None and self.people.items >= FEWEST_SHARED
        return self.verdicts is not None and not is_by_people and not has_checked

    @property
    def sentences(self) -> tuple[str, ...]:
        """The verdict, what would make it surer, and its evidence."""
        return tuple(_sentences(self))

    @property
    def examples(self) -> tuple[str, ...]:
        """Answers to look at: the first fault of each check, then lost questions."""
        return (*self.faults.examples, *map(lost_line, self.lost))

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def __repr__(self) -> str:
        return f"<Gate: {self.candidate!r} against {self.baseline!r}: {self.verdict}>"

    @property
    def _test(self) -> SequentialTest:
        return self.rates.test(1.0 if self.ratings is None else 1 - SURROGATE_SHARE)


def _sentences(result: Gate) -> Iterator[str]:
    # What a reader acts on comes first.
    yield _headline(result)
    if result.choice:
        yield f"By default, {result.choice}."
    if result.verdict == "cannot say":
        yield from map(sentence, _open_questions(result))
        lacks_savings = result.costs is not None and not result.costs.is_cheaper
        cannot_count = result.verdicts is not None and result.verdicts.cannot_count
        if result.questions and not (result.is_one_sided or lacks_savings or cannot_count):
            yield _outlook(result)
    if result.unanswered:
        count_text = count_of(result.unanswered, "question")
        yield f"Not compared: {count_text} that the baseline alone answered."
    if result.costs is not None and result.verdict != "broken":
        yield from result.costs.sentences
    if result.by != "answers" or result.verdict == "broken":
        yield from _verdict_sentences(result)
        if result.ratings is not None:
            yield from _rating_sentences(result.ratings)
    yield from result.faults.sentences
    if result.n_outdated:
        yield f"In the arena {outdated_remark(result.n_outdated).sentence}."
    yield from map(sentence, result.language_notes)


def _open_questions(result: Gate) -> Iterator[str]:
    """Yield why the gate cannot say more."""
    verdicts = result.verdicts
    lacks_savings = result.costs is not None and not result.costs.is_cheaper
    if lacks_savings:
        yield "it is not known to cost less"
    elif not result.questions:
        yield f"{result.candidate} and {result.baseline} answered no question in common"
    elif result.judge_doubt:
        yield f"cannot say: {result.judge_doubt}; let people judge the two"
    elif verdicts is not None and verdicts.cannot_count:
        yield _why_none_counts(verdicts)
    elif verdicts is not None and verdicts.lacks_verdicts:
        yield (
            f"cannot say: {verdicts.unscored:,} of the {count_of(verdicts.differing, 'pair')} that "
            "differ have no verdict"
        )
    elif verdicts is None and result.rates.cheaper:
        points = f"{100 * result.rates.margin:g} points"
        yield f"whether it is more than {points} worse needs verdicts"
    elif verdicts is None:
        yield "which is better needs verdicts"


def _why_none_counts(verdicts: SystemComparison) -> str:
    return f"the {count_of(len(verdicts.judgments), 'verdict')} cannot count: {verdicts.reason}"


def _verdict_sentences(result: Gate) -> Iterator[str]:
    verdicts = result.verdicts
    one_side = None if verdicts is None else verdicts.one_side
    if verdicts is not None and verdicts.cannot_count:
        # Where the gate cannot say, this stands first.
        if result.verdict != "cannot say":
            yield sentence(_why_none_counts(verdicts))
    elif verdicts is not None:
        n_failed = len(verdicts.failures)
        failed = f"; {count_of(n_failed, 'verdict')} missing" if n_failed else ""
        # That the judge always names one side has a sentence of its own.
        reason = "" if one_side else f"; {verdicts.reason}"
        yield (
            f"{count_of(len(verdicts.judgments), 'verdict')} on {len(verdicts.scores):,} of "
            f"{count_of(verdicts.questions, 'question')}{failed}{reason}."
        )
    if verdicts is not None and one_side:
        side, count = one_side
        n_asked = len(without_identical(verdicts.judgments))
        yield (
            f"The judge chose side {side} in {count} of {n_asked} verdicts on answers that differ, "
            "whichever answer stood there, so they say nothing about the systems."
        )
    elif result.judge is not None and result.judge.grade != "unreliable":
        yield f"{result.judge.sentence}."
    if result.equal_length is not None and result.by == "verdicts":
        means = "length does not explain the verdict"
        if result.equal_length.may_explain:
            means = "the judge may have decided by length"
        yield sentence(f"{result.equal_length}: {means}")
    if result.lost:
        n_lost = count_of(len(result.lost), "question")
        why = "every verdict gives the baseline"
        if result.lost[0].is_expected:
            why = "the surrogate expects it to lose, by the answers alone"
        yield f"Where to look: {n_lost} that {why}."


def _outlook(result: Gate) -> str:
    needed = f"about {result.questions_needed:,} questions"
    power = f"with a probability of {result.rates.power:.0%}"
    margin = f"{100 * result.rates.margin:g} points"
    reach = f"{100 * result.difference_found:.0f} points"
    asked = f"the {count_of(result.questions, 'question')} here"
    if result.rates.cheaper:
        return (
            f"To show {power} that a system as good as the baseline has a win rate at most "
            f"{margin} lower takes {needed}. With {asked}, the gate can show at most {reach}."
        )
    ability = "cannot show any"
    if result.difference_found < EVEN:
        ability = f"can show a difference of {reach}"
    outlook = (
        f"To show a difference of {margin} in the win rate {power} takes {needed}. With {asked}, "
        f"the gate {ability}."
    )
    if result.questions_to_decide:
        count_text = count_of(result.questions_to_decide, "more question")
        seen = f"If the difference stays as it is here, about {count_text} would show it."
        outlook = f"{seen} {outlook}"
    return outlook


def _headline(result: Gate) -> str:
    headline = f"{result.candidate} against {result.baseline}: {result.verdict}"
    points = f"{100 * result.rates.margin:g} points"
    if result.verdict == "cheaper":
        headline = f"{headline}, and at most {points} of win rate worse"
    elif result.verdict == "worse" and result.rates.cheaper:
        headline = f"{headline} by more than {points} of win rate"
    headline = f"{headline}."
    if result.win_rate is not None:
        headline = f"{headline} {_win_sentence(result)}"
    elif result.by == "answers" and result.verdict in ("same", "cheaper"):
        headline = f"{headline[:-1]}: its answers are the baseline's, word for word."
    elif result.by == "surrogate":
        headline = f"{headline[:-1]}, by the surrogate alone."
    if result.judge is not None and result.judge.grade == "unreliable":
        is_constant = result.verdicts is not None and result.verdicts.one_side is not None
        # That the judge always names one side has a sentence of its own.
        judge_text = result.judge.short if is_constant else result.judge.sentence
        headline = f"{headline} {judge_text}."
    elif result.is_judge_unchecked:
        if result.judge is not None and result.judge.judge == UNKNOWN_JUDGE:
            headline = (
                f"{headline} Who judged is unknown: if people did, import their verdicts with "
                "--judge people."
            )
        elif result.people is None:
            headline = f"{headline} No person has checked this judge."
        else:
            n_shared = count_of(result.people.items, "pair")
            headline = f"{headline} People have checked this judge on only {n_shared}."
    if not any(fault.is_new for fault in result.faults.faults):
        new = "new " if result.faults.faults else ""
        return f"{headline} No {new}fault was found."
    sentences = [result.faults.broken_sentence, result.faults.exceeded_sentence]
    return " ".join([headline, *(f"{text}." for text in sentences if text)])


def _win_sentence(result: Gate) -> str:
    """Say how often the candidate wins, and in which language least often."""
    verdicts = result.verdicts
    if verdicts is None:
        return ""
    parts = [
        f"{result.candidate}'s win rate is {verdicts.win_rate:.0%} ({100 * verdicts.level:.3g}% "
        f"interval {100 * verdicts.low:.0f} to {100 * verdicts.high:.0f}; a tie is half a win)"
    ]
    for row in verdicts.languages.head(1).itertuples():
        parts.append(
            f"least in {language_name(row.language)}: {row.win_rate:.0%} "
            f"({100 * row.low:.0f} to {100 * row.high:.0f})"
        )
    return f"{'; '.join(parts)}."


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
