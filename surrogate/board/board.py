"""A board: a synthetic leaderboard with everything it rests on."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from surrogate.board.judge_report import JudgeReport
from surrogate.board.summary import BoardSummary
from surrogate.learning.surrogates import SurrogateJudge


@dataclass(frozen=True)
class Board:
    """A synthetic leaderboard with everything it rests on.

    Attributes:
        features: Feature table, one row an answer.
        arena: Arena ratings: ``language, system, rank, rating, low, high, note``.
        board: Synthetic ratings a language; see ``language_board.synthetic_ratings``.
        overall: Ranks over all languages; see ``overall.overall_board``.
        importances: Feature importances a language.
        tiers: Judged systems that cannot be told apart; see ``tiers.tiers_table``.
        win_matrix: Who won against whom; see ``tiers.win_matrix``.
        neighbours: Nearest systems of every system; see ``system_space.neighbours_table``.
        examples: Some answers with their verdicts; see ``examples.choose_examples``.
        judge: The surrogate judge, for new systems.
        judge_report: What is known of the judge whose judgments it learned from.
        summary: Agreement, holdout scores, what was skipped, signature.
    """

    features: pd.DataFrame
    arena: pd.DataFrame
    board: pd.DataFrame
    overall: pd.DataFrame
    importances: pd.DataFrame
    tiers: pd.DataFrame
    win_matrix: pd.DataFrame
    neighbours: pd.DataFrame
    examples: pd.DataFrame
    judge: SurrogateJudge
    judge_report: JudgeReport
    summary: BoardSummary
