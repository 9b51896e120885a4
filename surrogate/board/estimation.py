"""What an estimator says of an arena's systems, and the tables of a board that follow from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy.special import ndtr

from arena.quality.judge_label import JudgeReport
from arena.quality.preferences import EQUAL_LENGTH
from arena.rating.battles import Battles
from arena.rating.published import NO_ERRORS
from arena.rating.ratings import TOO_MANY, Ratings
from arena.rating.soft_verdicts import calibrated_judgments
from arena.statistics.significance import NORMAL_90
from features.declare.feature import Feature
from surrogate.board import tables
from surrogate.board.board import Board
from surrogate.board.overall import overall_board
from surrogate.board.summary import BoardSummary
from surrogate.board.tables import ARENA, DIFFERENCES, WIN_MATRIX
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


def arena_table(ratings: Ratings, language: str, moves: pd.Series) -> pd.DataFrame:
    """Arrange the arena's ratings of a language as ``tables.ARENA``, best first.

    ``rank_low, rank_high`` hold all ranks at once at 95%, systems of a ``tier`` (1 the best) are
    not distinguishable from its best one, and ``note`` says why a system has no rating or tier;
    see ``arena.rating.intervals``.

    Args:
        ratings: Of the language.
        language: Language code.
        moves: By language and system, how far ratings move at equal length.
    """
    reason = ""
    for note in ratings.notes:
        if note in (TOO_MANY, NO_ERRORS):
            reason = note
            break
    table = ratings.table.assign(language=language)
    has_own_note = (table["note"] != "") | table["rating"].isna()
    table["note"] = table["note"].where(has_own_note, reason)
    keys = pd.MultiIndex.from_frame(table[["language", "system"]])
    table[EQUAL_LENGTH] = table["rating"] + moves.reindex(keys).to_numpy(np.float64)
    return table[list(ARENA.names)]


def win_table(judgments: pd.DataFrame) -> pd.DataFrame:
    """Count who won against whom by one judge: whole verdicts, a soft one by its likelier winner.

    Returns:
        ``tables.WIN_MATRIX``, each pair in both directions, sorted; pairs that never met are not
        there.
    """
    parts = [WIN_MATRIX.empty()]
    judgments = calibrated_judgments(judgments, hard=True)
    for language, rows in judgments.groupby("language"):
        parts.append(Battles.from_judgments(rows).outcomes().assign(language=str(language)))
    table = pd.concat(parts[1:] or parts, ignore_index=True)
    table = table.sort_values(["language", "system", "opponent"], ignore_index=True)
    return table[list(WIN_MATRIX.names)]


def difference_table(rated: Iterable[tuple[pd.DataFrame, pd.DataFrame]]) -> pd.DataFrame:
    """Say of every two systems of a language by how much one is better, and how surely.

    Ratings are taken as jointly normal: Var(a - b) = Var(a) + Var(b) - 2 Cov(a, b).

    Args:
        rated: For each language ``tables.RATINGS``, best first, and the covariance of the ratings,
            systems by systems; NaN where it is not known.

    Returns:
        ``tables.DIFFERENCES``, each pair once, ``system`` the better rated one: its rating less
        the opponent's, the 90% interval of that, and the ``probability`` that it is better; NaN
        where the covariance is. Sorted by language.
    """
    rounding_error = 1e-12  # variances below it are 0, but for rounding
    parts = [DIFFERENCES.empty()]
    for table, covariance in rated:
        ratings = table[table["rating"].notna()].set_index("system")["rating"]
        if len(ratings) < 2:
            continue
        first, second = np.triu_indices(len(ratings), 1)
        names = ratings.index.to_numpy(object)
        values = ratings.to_numpy(np.float64)
        covariances = covariance.loc[names, names].to_numpy(np.float64)
        variance = np.diag(covariances)[first] + np.diag(covariances)[second]
        variance -= 2 * covariances[first, second]
        error = np.sqrt(np.where(variance > rounding_error, variance, np.nan))
        difference = values[first] - values[second]
        columns = {
            "language": table["language"].iloc[0],
            "system": names[first],
            "opponent": names[second],
            "difference": difference,
            "low": difference - NORMAL_90 * error,
            "high": difference + NORMAL_90 * error,
            "probability": ndtr(difference / error),
        }
        parts.append(pd.DataFrame(columns))
    stacked = pd.concat(parts[1:] or parts, ignore_index=True)
    return stacked.sort_values("language", kind="stable", ignore_index=True)
