"""What an estimator says of the systems of an arena, and the tables of a board that follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pandas as pd

from arena.quality.judge_report import JudgeReport
from features.declare.feature import Feature
from surrogate.board import tables
from surrogate.board.board import Board
from surrogate.board.detail_tables import difference_table, win_table
from surrogate.board.overall import overall_board
from surrogate.board.summary import BoardSummary
from surrogate.learning.surrogate import Surrogate

Rated = tuple[pd.DataFrame, pd.DataFrame]
"""``tables.RATINGS`` of one language, and the covariance of the ratings."""


@dataclass(frozen=True)
class Estimation:
    """What an estimator says of an arena's systems.

    Attributes:
        rated: Of each language, best first.
        judgments: The verdicts that it learned from.
        report: The quality of their judge.
        summary: Of the board.
        surrogate: For new systems.
        covariance: Of all ratings of all languages; None where the errors of a system's ratings in
            several languages are not known.
        arena_ratings: ``tables.ARENA``: ratings by verdicts alone.
        importances: ``tables.IMPORTANCES``.
    """

    rated: Sequence[Rated]
    judgments: pd.DataFrame
    report: JudgeReport
    summary: BoardSummary
    surrogate: Surrogate
    covariance: pd.DataFrame | None = None
    arena_ratings: pd.DataFrame = field(default_factory=tables.ARENA.empty)
    importances: pd.DataFrame = field(default_factory=tables.IMPORTANCES.empty)

    def board(self, features: pd.DataFrame, own_features: tuple[Feature, ...] = ()) -> Board:
        """Make a board of it.

        Args:
            features: Feature table, one row per answer.
            own_features: Features of the user's own, to measure new answers with.
        """
        ratings = stacked([rows for rows, _ in self.rated if not rows.empty])
        return Board(
            ratings=ratings,
            overall=overall_board(ratings, self.covariance, self.summary.settings.seed),
            arena=self.arena_ratings,
            importances=self.importances,
            win_matrix=win_table(self.judgments),
            differences=difference_table(self.rated),
            features=features,
            judge_report=self.report,
            summary=self.summary,
            surrogate_or_file=self.surrogate,
            own_features=own_features,
        )


def stacked(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Put tables of several languages one below the other."""
    return pd.concat(parts, ignore_index=True)
