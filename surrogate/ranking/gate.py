"""A gate for a new version of a system: better than a baseline, the same, worse, or cannot say."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from arena.adapters.new_answers import open_answers
from arena.data.arena import Arena
from arena.data.errors import UsageError, argument
from arena.data.folder import open_arena
from arena.data.schema import QUESTION_KEY
from arena.diagnostics.judge_label import JudgeLabel, label_judge
from arena.rating.outcomes import points_of_a
from arena.rating.soft_verdicts import calibrated_judgments
from arena.statistics.significance import EVEN
from features.declare.feature import offer
from surrogate.board.board import Board, open_board
from surrogate.board.judge_report import recorded_agreement
from surrogate.ranking.comparison import ORDERS, SystemComparison, compare_systems
from surrogate.ranking.gate_result import (
    SURROGATE_SHARE,
    Gate,
    GateSource,
    GateVerdict,
)
from surrogate.ranking.judged import interval_of
from surrogate.ranking.rank import rank_systems
from surrogate.ranking.ranked_systems import RankedSystems
from surrogate.ranking.rating_difference import (
    GateRates,
    RatingDifference,
    rating_difference,
)

if TYPE_CHECKING:
    from arena.data.types import Progress
    from arena.judging.llm_judge import LlmJudge
    from arena.llm.store import Store


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
    """Compare a candidate with a system of a board.

    Answers that are the baseline's, word for word, are the same at once. Otherwise the ratings
    decide first: the candidate's by the surrogate, with the interval of systems unseen in training,
    the baseline's as on the board. Where they are inconclusive and there is a judge, its verdicts
    on the two decide, as many as find a difference of the margin (``compare_systems``). With a
    judge the surrogate may use a fifth of the permitted error and the verdicts the rest, so that
    the sum is the error asked for.

    Args:
        board: The board, or the path of its folder.
        answers: The candidate's answers, columns ``query_id, language, system, answer``, or the
            path of their file. If its name is on the board, it is a new version of that system.
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
    baseline = _baseline(board, baseline)
    baseline_answers = arena.answers[arena.answers["system"] == baseline]
    if languages:
        answers = answers[answers["language"].isin(languages)]
        baseline_answers = baseline_answers[baseline_answers["language"].isin(languages)]
    if answers.empty:
        raise UsageError(f"{candidate} has no answer in these languages")
    overlap = _Overlap.of(answers, baseline_answers)
    placed = rank_systems(board, answers, arena, feature_table=feature_table)
    ratings = _compared_ratings(board, placed, baseline, rates, has_judge=judging is not None)
    if overlap.is_same:
        ratings = replace(ratings, difference="same", reason="")
    variance = _planned_variance(board, arena)
    verdicts: SystemComparison | None = None
    label: JudgeLabel | None = None
    if ratings.difference is None and judging is not None and overlap.n_common:
        arena = _with_candidate(arena, answers, candidate)
        verdicts = _ask_judge(arena, (candidate, baseline), judging, rates, variance)
        label = _judge_label(board, arena, judging.judge.judge, verdicts.judgments)
        if verdicts.variance > 0:
            variance = verdicts.variance
    verdict, source = _verdict(ratings, verdicts, is_same=overlap.is_same)
    return Gate(
        verdict=verdict,
        by=source,
        candidate=candidate,
        baseline=baseline,
        rates=rates,
        ratings=ratings,
        verdicts=verdicts,
        questions=overlap.n_common,
        unanswered=overlap.n_unanswered,
        variance=variance,
        judge=label,
    )


def _candidate(board: Board, answers: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return the candidate's answers under a name that is not on the board, and the name."""
    systems = sorted(set(answers["system"]))
    if len(systems) != 1:
        raise UsageError(
            f"a gate is for one candidate, and the answers are of {len(systems)} systems: "
            f"{', '.join(systems[:5])}; give a file of one"
        )
    name = systems[0]
    while name in board.systems:
        name = f"{name} (candidate)"
    return answers.assign(system=name), name


def _baseline(board: Board, baseline: str | None) -> str:
    """Return the system to compare with; by default the best one of the board."""
    if baseline is None:
        return board.systems[0]
    if baseline not in board.systems:
        offered = offer(baseline, list(board.systems))
        raise UsageError(
            f"the board has no system {baseline!r}, given as {argument('baseline')}; {offered}"
        )
    return baseline


@dataclass(frozen=True)
class _Overlap:
    """The questions that a candidate and the baseline both answered.

    Attributes:
        n_common: Questions that both answered.
        n_unanswered: Questions that the baseline alone answered.
        is_same: Whether all answers are the baseline's, word for word.
    """

    n_common: int
    n_unanswered: int
    is_same: bool

    @classmethod
    def of(cls, answers: pd.DataFrame, baseline_answers: pd.DataFrame) -> _Overlap:
        """Compare the questions and texts of two systems' answers."""
        keys = set(answers[QUESTION_KEY].itertuples(index=False, name=None))
        baseline_keys = set(baseline_answers[QUESTION_KEY].itertuples(index=False, name=None))
        columns = [*QUESTION_KEY, "answer"]
        same_texts = answers.merge(baseline_answers[columns], on=columns)
        return cls(
            n_common=len(keys & baseline_keys),
            n_unanswered=len(baseline_keys - keys),
            is_same=keys == baseline_keys and len(same_texts) == len(answers),
        )


def _compared_ratings(
    board: Board, placed: RankedSystems, baseline: str, rates: GateRates, *, has_judge: bool
) -> RatingDifference:
    """Compare candidate and baseline by their ratings, unless the surrogate may not decide."""
    error = rates.error * SURROGATE_SHARE if has_judge else rates.error
    baseline_ratings = board.ratings[board.ratings["system"] == baseline]
    freedom = min(_freedom(board, language) for language in board.languages)
    ratings = rating_difference(placed.new, baseline_ratings, rates, error, freedom)
    languages = list(ratings.languages["language"])
    doubts = list(_doubts(board, placed, languages))
    if doubts:
        ratings = replace(ratings, difference=None, reason="; ".join(doubts))
    if ratings.difference is not None:
        return ratings
    reasons = [ratings.reason]
    for language in languages:
        narrowing = interval_of(board, language).narrowing
        if narrowing:
            reasons.append(f"intervals in {language} are wide: {narrowing}")
    return replace(ratings, reason="; ".join(reasons))


def _freedom(board: Board, language: str) -> float:
    """Return the degrees of freedom of intervals; infinite where many systems are judged."""
    freedom = interval_of(board, language).freedom
    return math.inf if freedom is None else freedom


def _doubts(board: Board, placed: RankedSystems, compared: Sequence[str]) -> Iterator[str]:
    """Yield why the surrogate may not decide alone."""
    if board.summary.macro.standing != "shown":
        yield "the systems here do not show that it ranks unseen systems better than chance"
        return
    unrated = placed.new[placed.new["rating"].isna() & (placed.new["answers"] > 0)]
    for note, rows in unrated.groupby("note", sort=False):
        yield f"the candidate has no rating in {', '.join(rows['language'])}: {note}"
    if not compared:
        yield "there is no language in which both have a rating"


def _planned_variance(board: Board, arena: Arena) -> float:
    """Return the largest variance of a question's score that the judge's ties and doubts leave."""
    smallest_variance = 0.05
    judgments = arena.judged_by(board.summary.judge).judgments
    judgments = calibrated_judgments(judgments, hard=True)
    if not len(judgments):
        return 0.25  # as if each question were won or lost
    variance = ((points_of_a(judgments) - EVEN) ** 2).mean()
    return max(float(variance), smallest_variance)


def _with_candidate(arena: Arena, answers: pd.DataFrame, candidate: str) -> Arena:
    """Add the candidate's answers to an arena."""
    systems = (*arena.info.systems, candidate)
    return replace(
        arena,
        info=arena.info.model_copy(update={"systems": systems}),
        answers=pd.concat([arena.answers, answers], ignore_index=True),
    )


def _ask_judge(
    arena: Arena,
    systems: tuple[str, str],
    judging: GateJudging,
    rates: GateRates,
    variance: float,
) -> SystemComparison:
    """Have a judge compare two systems, by as many verdicts as find a difference of the margin."""
    test = rates.test(1 - SURROGATE_SHARE)
    budget = ORDERS * test.scores_needed(rates.margin, variance, rates.power)
    if judging.budget is not None:
        budget = min(judging.budget, budget)
    return compare_systems(
        arena,
        systems,
        judging.judge,
        judging.store,
        test,
        budget=budget,
        seed=judging.seed,
        progress=judging.progress,
    )


def _judge_label(board: Board, arena: Arena, judge: str, verdicts: pd.DataFrame) -> JudgeLabel:
    """Label a judge by its verdicts in the arena and on the candidate."""
    judgments = pd.concat([arena.judgments, verdicts], ignore_index=True)
    people = recorded_agreement(board.judge_report.metaevaluations, judge)
    return label_judge(judge, judgments, arena.answers, people=people)


def _verdict(
    ratings: RatingDifference, verdicts: SystemComparison | None, *, is_same: bool
) -> tuple[GateVerdict, GateSource]:
    """Return the verdict of a gate, and what it rests on."""
    if verdicts is not None and verdicts.difference is not None and verdicts.one_side is None:
        return verdicts.difference, "verdicts"
    if ratings.difference is None:
        return "cannot say", ""
    return ratings.difference, "answers" if is_same else "surrogate"
