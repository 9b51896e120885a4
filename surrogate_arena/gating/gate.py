"""A gate for a new version: broken, better than a baseline, the same, or worse."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError, argument
from arena.data.folder import open_arena
from arena.data.judges import is_person, judges_named
from arena.quality.judge_label import label_judge
from arena.quality.people_agreement import (
    PeopleAgreement,
    agreement_with_people,
    recorded_agreement,
)
from arena.rating.judgments import points_of_a
from arena.rating.soft_verdicts import calibrated_judgments
from surrogate.board.board import Board, open_board
from surrogate.checks.languages import language_remarks
from surrogate.ranking.new_answers import measure_answers
from surrogate.ranking.rank import rank_systems
from surrogate.ranking.ranked_systems import RankedSystems
from surrogate_arena.costs.uncompared import uncompared_systems
from surrogate_arena.gating.arena_verdicts import compare_by_arena, read_failures
from surrogate_arena.gating.comparison import ORDERS, SystemComparison, compare_systems
from surrogate_arena.gating.contenders import Answers, Contenders, contenders
from surrogate_arena.gating.cost_comparison import compare_costs
from surrogate_arena.gating.equal_length import at_equal_length
from surrogate_arena.gating.expected_losses import expected_losses
from surrogate_arena.gating.fault_comparison import compare_faults
from surrogate_arena.gating.gate_result import SURROGATE_SHARE, Gate, GateVerdict
from surrogate_arena.gating.lost_questions import lost_questions
from surrogate_arena.gating.rating_difference import (
    GateRates,
    RatingDifference,
    rating_difference,
)
from surrogate_arena.gating.sequential_test import EVEN, Difference, SequentialTest

VERDICTS: Mapping[Difference, GateVerdict] = {
    "better": "better",
    "same": "same",
    "not worse": "cheaper",
    "worse": "worse",
}
"""Verdict of the gate for each difference; ``not worse`` is tested only of a cheaper candidate."""

if TYPE_CHECKING:
    from arena.data.types import Progress
    from arena.judging.llm_judge import LlmJudge
    from arena.llm.store import Store


@dataclass(frozen=True)
class GateJudging:
    """The judge to ask where the surrogate is inconclusive, and its budget."""

    judge: LlmJudge
    store: Store
    budget: int | None = None
    seed: int = 0
    progress: Progress | None = None


def gate(
    board: Board | Path | str | None = None,
    candidate: Answers | None = None,
    arena: Arena | Path | str | None = None,
    baseline: Answers | None = None,
    *,
    judging: GateJudging | None = None,
    rates: GateRates | None = None,
    languages: Collection[str] = (),
    feature_table: pd.DataFrame | None = None,
) -> Gate:
    """Compare a candidate with a system of a board, or with another version of an arena.

    What is broken needs no verdict; else the surrogate decides, or verdicts where it cannot. With
    ``rates.cheaper``, cost is compared first.

    Args:
        board: The board, or its folder, if any.
        candidate: Answers, their file, or a system; by default the latest.
        arena: The arena, or its folder; by default the board's.
        baseline: By default the board's best, or the latest other.
        judging: Judge to ask.
        rates: Permitted error, and what passes.
        languages: By default all.
        feature_table: Features at hand.

    Returns:
        The decision and its evidence.

    Raises:
        UsageError: If a system, or board and arena, are missing.
        DataError: For faulty answers.

    Examples:
        >>> from surrogate_arena import sample_arena
        >>> gate(arena=sample_arena(), candidate="llm-news", baseline="llm-bullet").verdict
        'cannot say'
    """
    if board is not None:
        board = open_board(board)
        arena = board.own_arena() if arena is None else arena
    if arena is None:
        raise UsageError(f"name a board ({argument('board')}) or an arena ({argument('arena')})")
    failures = read_failures(Path(arena)) if isinstance(arena, Path | str) else None
    pair = contenders(open_arena(arena), board, candidate, baseline, languages, failures)
    return compare_contenders(
        pair, board, judging=judging, rates=rates or GateRates(), feature_table=feature_table
    )


def compare_contenders(
    pair: Contenders,
    board: Board | None,
    *,
    judging: GateJudging | None,
    rates: GateRates,
    feature_table: pd.DataFrame | None,
) -> Gate:
    """Compare candidate and baseline; see ``gate``."""
    # A first board names the systems, and rests on no verdict to compare by.
    is_first = board is not None and board.summary.is_first
    board = None if is_first else board
    # Without a board, verdicts alone decide.
    test = rates.test() if board is None else rates.test(1 - SURROGATE_SHARE)
    faults = compare_faults(pair.arena, pair.answers, pair.baseline_answers, rates.allow)
    result = Gate(
        verdict="cannot say",
        by="",
        candidate=pair.candidate,
        baseline=pair.baseline,
        rates=rates,
        faults=faults,
        questions=pair.n_common,
        unanswered=pair.n_unanswered,
        variance=_planned_variance(board, pair.arena),
        n_outdated=len(pair.arena.outdated),
        language_notes=tuple(map(str, language_remarks(pair.arena))),
        choice=pair.choice,
    )
    if faults.exceeded:
        compared = _by_arena(board, pair, test, result)
        return replace(compared or result, verdict="broken", by="answers")
    if rates.cheaper:
        costs = compare_costs(pair)
        result = replace(result, costs=costs)
        if costs.is_dearer:
            return replace(result, verdict="not cheaper", by="answers")
        # Whether it is worse does not matter before it is known to save anything.
        if not costs.is_cheaper:
            return result
    if pair.is_same:
        return replace(result, verdict="cheaper" if rates.cheaper else "same", by="answers")
    by_arena = _by_arena(board, pair, test, result) if judging is None else None
    if board is not None:
        if feature_table is None:
            feature_table = measure_answers(board, pair.arena, pair.answers)
        placed = rank_systems(board, pair.answers, pair.arena, feature_table=feature_table)
        if by_arena is not None:
            result = replace(result, lost=by_arena.lost)
        elif judging is None:
            result = replace(result, lost=expected_losses(board, pair, feature_table))
        ratings = _compared_ratings(
            board,
            placed,
            pair.baseline,
            rates,
            has_verdicts=judging is not None or by_arena is not None,
        )
        result = replace(result, ratings=ratings)
        if ratings.difference is not None:
            return replace(result, verdict=VERDICTS[ratings.difference], by="surrogate")
    if by_arena is not None:
        return replace(by_arena, ratings=result.ratings)
    if judging is not None and pair.n_common:
        verdicts = _ask_judge(pair, judging, test, result)
        if verdicts.variance > 0:
            result = replace(result, variance=verdicts.variance)
        judgments = pd.concat([pair.arena.judgments, verdicts.judgments], ignore_index=True)
        return _decided_by(verdicts, judging.judge.judge, judgments, board, pair, test, result)
    return result


def _by_arena(
    board: Board | None, pair: Contenders, test: SequentialTest, result: Gate
) -> Gate | None:
    """Decide by the arena's verdicts on the two, if any."""
    board_judge = None if board is None else board.summary.judge
    compared = compare_by_arena(pair, board_judge, test, once=result.rates.once)
    if compared is None or not pair.n_common:
        return None
    judge, verdicts = compared
    return _decided_by(verdicts, judge, pair.arena.judgments, board, pair, test, result)


def _decided_by(
    verdicts: SystemComparison,
    judge: str,
    judgments: pd.DataFrame,
    board: Board | None,
    pair: Contenders,
    test: SequentialTest,
    result: Gate,
) -> Gate:
    """Decide by verdicts if they tell a difference, and nothing speaks against their judge.

    ``judge`` is empty for several; ``judgments`` are all verdicts of all judges.
    """
    result = replace(result, verdicts=verdicts)
    if judge:
        people = _people_agreement(board, judgments, judge)
        label = label_judge(judge, judgments, pair.arena.answers, people=people)
        equal_length = at_equal_length(
            verdicts, label, pair.arena, pair.baseline, test, once=result.rates.once
        )
        result = replace(result, judge=label, people=people, equal_length=equal_length)
    if result.judge_doubt:
        return result
    result = replace(result, lost=lost_questions(judgments, pair))
    if verdicts.difference is None:
        return result
    return replace(result, verdict=VERDICTS[verdicts.difference], by="verdicts")


def _people_agreement(
    board: Board | None, judgments: pd.DataFrame, judge: str
) -> PeopleAgreement | None:
    if board is not None:
        recorded = recorded_agreement(board.judge_report.metaevaluations, judge)
        if recorded is not None:
            return recorded
    judges: tuple[str, ...] = (judge,)
    with suppress(UsageError):  # a judge without a verdict
        judges = judges_named(sorted(judgments["judge"].unique()), judge)
    return None if all(map(is_person, judges)) else agreement_with_people(judgments, judges)


def _compared_ratings(
    board: Board, placed: RankedSystems, baseline: str, rates: GateRates, *, has_verdicts: bool
) -> RatingDifference:
    error = rates.error * SURROGATE_SHARE if has_verdicts else rates.error
    baseline_ratings = board.ratings[board.ratings["system"] == baseline]
    # Where many systems are judged there is none, as of normal errors.
    freedoms = [board.prediction_interval(language).freedom for language in board.languages]
    freedom = min((value for value in freedoms if value is not None), default=math.inf)
    ratings = rating_difference(placed.new, baseline_ratings, rates, error, freedom)
    languages = list(ratings.languages["language"])
    doubts = list(_doubts(board, placed, languages))
    if rates.cheaper:
        uncompared = uncompared_systems(board, [baseline])
        doubts += [f"the baseline is not compared: {reason}" for reason in uncompared.values()]
    if doubts:
        ratings = replace(ratings, difference=None, reason="; ".join(doubts))
    if ratings.difference is not None:
        return ratings
    reasons = [ratings.reason]
    for language in languages:
        limit = board.prediction_interval(language).limit
        if limit:
            reasons.append(f"{language}: {limit}")
    return replace(ratings, reason="; ".join(reasons))


def _doubts(board: Board, placed: RankedSystems, compared: Sequence[str]) -> Iterator[str]:
    if board.summary.macro.standing != "shown":
        yield "the systems here do not show that it ranks unseen systems better than chance"
        return
    label = board.judge_report.label
    if label is not None and label.decides_by_length:
        yield "the judge of the board decides by length"
    unrated = placed.new[placed.new["rating"].isna() & (placed.new["answers"] > 0)]
    for note, rows in unrated.groupby("note", sort=False):
        yield f"the candidate has no rating in {', '.join(rows['language'])}: {note}"
    if not compared:
        yield "there is no language in which both have a rating"


def _planned_variance(board: Board | None, arena: Arena) -> float:
    """Return the largest variance of a question's score, given ties and doubts."""
    smallest_variance = 0.05
    judgments = arena.judgments
    if board is not None:
        judgments = arena.judged_by(board.summary.judge).judgments
    judgments = calibrated_judgments(judgments, hard=True)
    if not len(judgments):
        return 0.25  # as if each question were won or lost
    variance = ((points_of_a(judgments) - EVEN) ** 2).mean()
    return max(float(variance), smallest_variance)


def _ask_judge(
    pair: Contenders, judging: GateJudging, test: SequentialTest, result: Gate
) -> SystemComparison:
    budget = ORDERS * result.questions_needed
    if judging.budget is not None:
        budget = min(judging.budget, budget)
    return compare_systems(
        pair.arena,
        (pair.candidate, pair.baseline),
        judging.judge,
        judging.store,
        test,
        budget=budget,
        seed=judging.seed,
        progress=judging.progress,
    )
