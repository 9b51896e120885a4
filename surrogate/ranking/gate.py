"""A gate for a new version of a system: better than a baseline, the same, worse, or cannot say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
from scipy.special import expit, ndtri

from arena.adapters.new_answers import open_answers
from arena.data.arena import Arena
from arena.data.errors import UsageError, argument
from arena.data.folder import open_arena
from arena.data.schema import QUESTION_KEY
from arena.data.wording import count_of
from arena.diagnostics.judge_label import JudgeLabel, label_judge
from arena.rating.battles import points_of_a
from arena.statistics.significance import EVEN, NORMAL_90, Difference, SequentialTest
from features.declare.feature import offer
from surrogate.board.board import Board, open_board
from surrogate.board.judge_report import recorded_agreement
from surrogate.ranking.comparison import ORDERS, SystemComparison, compare_systems
from surrogate.ranking.rank import RankedSystems, rank_systems

if TYPE_CHECKING:
    from arena.data.types import Progress
    from arena.judging.llm_judge import LlmJudge
    from arena.llm.store import Store

GateVerdict = Literal["better", "same", "worse", "cannot say"]
GateSource = Literal["answers", "surrogate", "verdicts", ""]
GATE_VERDICTS: tuple[GateVerdict, ...] = ("better", "same", "worse", "cannot say")

SURROGATE_SHARE = 0.2
"""Of the error that may be made: what is left to the surrogate where verdicts can be asked for."""
LEAST_VARIANCE = 0.05
NO_CALIBRATION = "no evidence that this surrogate beats chance on unseen systems"
NO_LANGUAGE = "there is no language in which both have a rating"
NO_INTERVAL = "a rating has no interval"
ROUGH = "intervals in {} rest on systems elsewhere"
UNRATED = "the candidate has no rating in {}: {}"
TOO_WIDE = "the interval of the difference is too wide"
CANDIDATE = "{} (candidate)"
SAID_BY = {
    "answers": ": its answers are the baseline's, word for word",
    "surrogate": ", by the surrogate alone",
}


@dataclass(frozen=True)
class GateRates:
    """How often a gate may be wrong.

    Attributes:
        error: Probability of a wrong statement: ``better`` or ``worse`` of a system as good as
            the baseline, ``same`` of one whose win rate differs by more than the margin.
        margin: Difference of a win rate from one half that matters.
        power: Probability with which such a difference is to be found.
    """

    error: float = 0.05
    margin: float = 0.05
    power: float = 0.8

    def __post_init__(self) -> None:
        self.test().scores_needed(self.margin, 1.0, self.power)

    def test(self, share: float = 1.0) -> SequentialTest:
        """Return the test of verdicts, with a share of the error."""
        return SequentialTest(share * self.error, self.margin)


@dataclass(frozen=True)
class GateJudging:
    """Who judges candidate and baseline where the surrogate is inconclusive.

    Attributes:
        judge: LLM that is asked about pairs.
        store: Where its replies are and go.
        budget: Most verdicts; None allows all questions.
        seed: Seed of the order of questions and sides.
        progress: Called with the judge's name, the questions done, and all.
    """

    judge: LlmJudge
    store: Store
    budget: int | None = None
    seed: int = 0
    progress: Progress | None = None


@dataclass(frozen=True)
class RatingDifference:
    """By how much a board's surrogate rates a candidate above a baseline.

    Attributes:
        difference: What it says; None if undecided.
        reason: Why it is None.
        languages: Columns ``language, rating, baseline_rating, standard_error`` (of the
            difference, logits).
        rating: Mean difference over languages, logits; NaN without any.
        low: Lower bound.
        high: Upper bound; infinite where the candidate may be better than every judged system.
        error: Probability that the bounds do not hold the difference.
    """

    difference: Difference | None
    reason: str
    languages: pd.DataFrame
    rating: float
    low: float
    high: float
    error: float

    @property
    def win_rate(self) -> float:
        """Expected win rate against the baseline."""
        return float(expit(self.rating))


@dataclass(frozen=True)
class Gate:
    """What is known of a candidate beside a baseline.

    Attributes:
        verdict: ``better``, ``same``, ``worse`` or ``cannot say``.
        by: ``surrogate`` or ``verdicts``, whichever says so, or ``answers`` where these are the
            baseline's, word for word; empty where nothing does.
        candidate: The new system.
        baseline: The system of the board that it is held against.
        rates: How often the gate may be wrong.
        ratings: What the surrogate says.
        verdicts: What an LLM's verdicts say, where they were asked for.
        questions: Questions that both answered.
        unanswered: Questions that the baseline answered and the candidate did not, in the languages
            that are compared.
        variance: Of the score of a question: observed, or that of the arena's verdicts.
        judge: What may be said of the judge that was asked; None where nobody was.
    """

    verdict: GateVerdict
    by: GateSource
    candidate: str
    baseline: str
    rates: GateRates
    ratings: RatingDifference
    verdicts: SystemComparison | None
    questions: int
    unanswered: int
    variance: float
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
        """What was found, and what would say more, in words."""
        return tuple(_sentences(self))

    @property
    def _test(self) -> SequentialTest:
        return self.rates.test(1 - SURROGATE_SHARE)


def gate(
    board: Board | Path | str,
    answers: pd.DataFrame | Path | str,
    arena: Arena | Path | str | None = None,
    baseline: str | None = None,
    *,
    judging: GateJudging | None = None,
    rates: GateRates | None = None,
    languages: Sequence[str] = (),
    feature_table: pd.DataFrame | None = None,
) -> Gate:
    """Say how a candidate differs from a system of a board.

    Answers that are the baseline's, word for word, are the same at once. Otherwise it is said
    first by the ratings: the candidate's by the surrogate, with the interval that systems unseen
    in training had, the baseline's as on the board. Where that is inconclusive and there is a
    judge, by its verdicts on the two, as many as find a difference of the margin
    (``compare_systems``), whatever the surrogate is worth. With a judge the
    surrogate may be wrong with a fifth of the error, the verdicts with the rest, so that the sum
    is the error asked for.

    Args:
        board: The board, or the path of its folder.
        answers: The candidate's, columns ``query_id, language, system, answer``, of one system,
            or the path of their file; one of a name on the board is taken for a new version of it.
        arena: The arena the board was built from, or the path of its folder; by default it is
            read from where it was.
        baseline: System of the board; its best one by default.
        judging: Judge to ask if the surrogate is inconclusive; None asks nobody.
        rates: How often the gate may be wrong.
        languages: Languages to compare in; all by default.
        feature_table: Features of the answers already at hand.

    Raises:
        UsageError: If the answers are of several systems, or the baseline is not on the board.
        DataError: For malformed or duplicate answers and answers to unknown questions.
    """
    rates = rates or GateRates()
    board = open_board(board)
    arena = open_arena(board.arena_folder() if arena is None else arena)
    answers, candidate = _candidate(board, open_answers(answers, arena.queries))
    against = board.systems[0] if baseline is None else baseline
    if against not in board.systems:
        offered = offer(against, list(board.systems))
        raise UsageError(
            f"the board has no system {baseline!r}, given as {argument('baseline')}; {offered}"
        )
    if languages:
        answers = answers[answers["language"].isin(languages)]
    if answers.empty:
        raise UsageError(f"{candidate} has no answer in these languages")
    placed = rank_systems(board, answers, arena, feature_table=feature_table)
    error = rates.error * (1.0 if judging is None else SURROGATE_SHARE)
    other = board.ratings[board.ratings["system"] == against]
    found = rating_difference(placed.new, other, rates, error)
    if doubts := "; ".join(_doubts(board, placed, list(found.languages["language"]))):
        found = replace(found, difference=None, reason=doubts)
    own, others = (
        set(rows[QUESTION_KEY].itertuples(index=False, name=None))
        for rows in (answers, arena.answers[arena.answers["system"] == against])
    )
    others = {key for key in others if not languages or key[0] in languages}
    columns = [*QUESTION_KEY, "answer"]
    theirs = arena.answers.loc[arena.answers["system"] == against, columns]
    is_same = own == others and len(answers.merge(theirs, on=columns)) == len(answers)
    if is_same:
        found = replace(found, difference="same", reason="")
    variance, verdicts = _planned_variance(board, arena), None
    label: JudgeLabel | None = None
    if found.difference is None and judging is not None and own & others:
        whole = _with_candidate(arena, answers, candidate)
        test = rates.test(1 - SURROGATE_SHARE)
        planned = ORDERS * test.scores_needed(rates.margin, variance, rates.power)
        verdicts = compare_systems(
            whole,
            (candidate, against),
            judging.judge,
            judging.store,
            test,
            budget=planned if judging.budget is None else min(judging.budget, planned),
            seed=judging.seed,
            progress=judging.progress,
        )
        label = _judge_label(board, whole, judging.judge.judge, verdicts.judgments)
    said: GateVerdict = found.difference or "cannot say"
    by: GateSource = "answers" if is_same else "surrogate" if found.difference else ""
    if verdicts is not None and verdicts.difference is not None and verdicts.one_side is None:
        said, by = verdicts.difference, "verdicts"
    known = float("nan") if verdicts is None else verdicts.variance
    return Gate(
        verdict=said,
        by=by,
        candidate=candidate,
        baseline=against,
        rates=rates,
        ratings=found,
        verdicts=verdicts,
        questions=len(own & others),
        unanswered=len(others - own),
        variance=known if known > 0 else variance,
        judge=label,
    )


def _judge_label(board: Board, arena: Arena, judge: str, verdicts: pd.DataFrame) -> JudgeLabel:
    """Say what may be said of a judge by its verdicts in the arena and on the candidate."""
    judgments = pd.concat([arena.judgments, verdicts], ignore_index=True)
    people = recorded_agreement(board.judge_report.metaevaluations, judge)
    return label_judge(judge, judgments, arena.answers, people=people)


def _candidate(board: Board, answers: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return the candidate's answers under a name that is not on the board."""
    systems = sorted(set(answers["system"]))
    if len(systems) != 1:
        raise UsageError(
            f"a gate is for one candidate, and the answers are of {len(systems)} systems: "
            f"{', '.join(systems[:5])}; give a file of one"
        )
    name = systems[0]
    while name in board.systems:
        name = CANDIDATE.format(name)
    return answers.assign(system=name), name


def rating_difference(
    own: pd.DataFrame, other: pd.DataFrame, rates: GateRates, error: float
) -> RatingDifference:
    """Compare the ratings of two systems.

    The standard error of a rating is that whose normal density has its 90% interval. Errors of
    the two systems are taken for independent, those of one system in several languages for one
    and the same, so that more languages make no interval narrower.

    Args:
        own: Of the one, columns ``language, rating, low, high``.
        other: Of the other.
        rates: What counts as a difference.
        error: Probability with which the statement may be wrong.
    """
    columns = ["language", "rating", "low", "high"]
    both = own[columns].merge(other[columns], on="language", suffixes=("", "_other"))
    both = both.dropna(subset=["rating", "rating_other"], ignore_index=True)
    errors = [(both[f"rating{end}"] - both[f"low{end}"]) / NORMAL_90 for end in ("", "_other")]
    languages = both[["language", "rating"]].assign(
        baseline_rating=both["rating_other"],
        standard_error=np.hypot(*errors),
    )
    apart = float((both["rating"] - both["rating_other"]).mean())
    width = float(languages["standard_error"].mean(skipna=False))
    one_sided, reach = (float(ndtri(1 - share)) * width for share in (error, error / 2))
    low, high = apart - reach, apart + reach
    is_endless = bool(np.isinf(both["high"]).any())
    said: Difference | None = None
    if low > 0:
        said = "better"
    elif not is_endless and high < 0:
        said = "worse"
    elif (
        not is_endless
        and max(expit(apart + one_sided) - EVEN, EVEN - expit(apart - one_sided)) < rates.margin
    ):
        said = "same"
    reason = "" if said else TOO_WIDE if np.isfinite(width) else NO_INTERVAL
    high = np.inf if is_endless else high
    return RatingDifference(said, reason, languages, apart, low, high, error)


def _doubts(board: Board, placed: RankedSystems, compared: Sequence[str]) -> Iterator[str]:
    """Yield why the surrogate may not say it alone."""
    if board.summary.macro.standing != "shown":
        yield NO_CALIBRATION
        return
    absent = placed.new[placed.new["rating"].isna() & (placed.new["answers"] > 0)]
    for note, rows in absent.groupby("note", sort=False):
        yield UNRATED.format(", ".join(rows["language"]), note)
    if not compared:
        yield NO_LANGUAGE
    summaries = board.summary.languages
    rough = [name for name in compared if name in summaries and summaries[name].interval.pooled]
    if rough:
        yield ROUGH.format(", ".join(rough))


def _with_candidate(arena: Arena, answers: pd.DataFrame, candidate: str) -> Arena:
    systems = (*arena.info.systems, candidate)
    return replace(
        arena,
        info=arena.info.model_copy(update={"systems": systems}),
        answers=pd.concat([arena.answers, answers], ignore_index=True),
    )


def _planned_variance(board: Board, arena: Arena) -> float:
    """Largest variance of a question's score that the judge's ties and doubts leave."""
    own = arena.judged_by(board.summary.judge).judgments
    points = points_of_a(own) if len(own) else pd.Series([1.0])
    return max(float(((points - EVEN) ** 2).mean()), LEAST_VARIANCE)


def _sentences(found: Gate) -> Iterator[str]:
    rates, ratings, verdicts = found.rates, found.ratings, found.verdicts
    headline = f"{found.candidate} against {found.baseline}: {found.verdict}"
    if verdicts is not None and len(verdicts.scores):
        confidence = rates.test(1 - SURROGATE_SHARE).level
        yield (
            f"{headline}. Win rate by verdicts {verdicts.win_rate:.1%}, {confidence:.1%} interval "
            f"{verdicts.low:.1%} to {verdicts.high:.1%}."
        )
    else:
        yield f"{headline}{SAID_BY.get(found.by, '')}."
    if found.by == "answers":
        return
    if not np.isnan(ratings.rating):
        low, high = expit(ratings.low), expit(ratings.high)
        level = f"{1 - ratings.error:.0%} interval"
        bounds = "" if np.isnan(low) else f", {level} {low:.1%} to {high:.1%}"
        yield f"The surrogate expects a win rate of {ratings.win_rate:.1%}{bounds}."
    if ratings.reason:
        yield f"The surrogate is inconclusive: {ratings.reason}."
    if verdicts is not None:
        failed = len(verdicts.failures)
        lost = f"; {count_of(failed, 'pair')} without a verdict" if failed else ""
        yield (
            f"{count_of(len(verdicts.judgments), 'verdict')} on {len(verdicts.scores)} of "
            f"{count_of(verdicts.questions, 'question')}{lost}; {verdicts.reason}."
        )
    if verdicts is not None and (side := verdicts.one_side):
        yield (
            f"The judge chose side {side[0]} in {side[1]} of {len(verdicts.judgments)} verdicts, "
            "whichever answer stood there: they say nothing of the systems."
        )
    elif found.judge is not None:
        yield f"{found.judge.sentence}."
    if found.unanswered:
        alone = count_of(found.unanswered, "question")
        yield f"Not compared: {alone} that the baseline alone answered."
    if found.verdict == "cannot say":
        yield (
            f"About {found.verdicts_needed:,} verdicts would find a difference of "
            f"{100 * rates.margin:g} points of win rate with power {rates.power:.0%}; both orders "
            f"of the {found.questions:,} questions here, one of {100 * found.difference_found:.0f}."
        )
