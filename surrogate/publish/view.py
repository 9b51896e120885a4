"""What pages, figures and cards have in common: the tables of a board arranged to be shown."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from surrogate.board.board import Board
from surrogate.publish.formats import finite

STORED_DECIMALS = 4
"""Of numbers that scripts of pages read."""
SPLIT_NAMES = {"train": "trained on", "holdout": "held out", "unjudged": "not judged"}
"""What a system was to the surrogate, to words."""
TIER_COLUMNS = ["tier", "rank_low", "rank_high"]
RATINGS = {
    "both": ("rating", "low", "high"),
    "surrogate": ("surrogate_rating", "surrogate_low", "surrogate_high"),
    "verdicts": ("arena_rating", "arena_low", "arena_high"),
}
"""What a rating is by, to its columns of a board: point, lower and upper bound."""


@dataclass(frozen=True)
class RankMatrix:
    """Ranks of systems in languages.

    Attributes:
        ranks: Systems, in order of the board, by languages; NaN where a system is unranked.
        means: Mean rank of each system that every language ranks; NaN for others.
    """

    ranks: pd.DataFrame
    means: pd.Series

    @property
    def shades(self) -> pd.DataFrame:
        """Each rank on a scale from 0 for the best to 1 for the worst of its language."""
        return (self.ranks - 1) / (self.ranks.max() - 1).clip(lower=1)

    @property
    def mean_shades(self) -> pd.Series:
        """Each mean rank on a scale from 0 to 1 for the mean of the worst ranks."""
        worst = float(self.ranks.max().fillna(1).mean())
        return (self.means - 1) / max(worst - 1, 1)

    @property
    def is_empty(self) -> bool:
        """Whether no system is ranked."""
        return bool(self.ranks.isna().all(axis=None))


def rank_matrix(board: Board, column: str = "rank") -> RankMatrix:
    """Arrange the ranks of a board.

    Args:
        board: The board.
        column: ``rank`` for those of the board, ``arena_rank`` for those by verdicts alone.
    """
    ranks = board.ratings.pivot(index="system", columns="language", values=column)
    ranks = ranks.reindex(index=list(board.systems), columns=list(board.languages)).astype(float)
    return RankMatrix(ranks, ranks.mean(axis=1, skipna=False))


def compact_numbers(table: pd.DataFrame) -> list[list[float | int | None]]:
    """Return a table's numbers, row by row, as short as JSON has them; missing ones as None."""
    values = table.astype(float).round(STORED_DECIMALS).to_numpy().tolist()
    return [[_compact(value) for value in row] for row in values]


def _compact(value: float) -> float | int | None:
    number = finite(value)
    return int(number) if number is not None and number.is_integer() else number


def mean_importances(board: Board) -> dict[str, float]:
    """Return each feature's share in the surrogate, averaged over the languages that use it."""
    means = board.importances.groupby("feature")["importance"].mean().dropna()
    return {str(name): float(value) for name, value in means.items()}


def unranked_reason(board: Board, system: str, language: str) -> str:
    """Return why a language does not rank a system, from the board's own notes."""
    summary = board.summary.languages.get(language)
    if summary is None:
        return "the board gives no reason"
    rows = board.ratings[board.ratings["language"] == language].set_index("system")["note"]
    return rows.get(system) or "; ".join(summary.notes) or "the board gives no reason"
