"""The rows of a board that are exported: of a language, of all, or over all languages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from arena.errors import UsageError
from surrogate.report.board_tables import BoardTables

OVERALL = "overall"
ALL = "all"

COUNTS = ("rank", "arena_rank", "languages", "answers")
"""Columns of whole numbers."""
_OVERALL_COLUMNS = (
    *("system", "rank", "mean_rank", "mean_rating", "languages", "coverage"),
    *("arena_rank", "arena_mean_rank"),
)
_BOARD_COLUMNS = (
    *("language", "system", "rank", "rating", "low", "high", "coverage", "answers"),
    *("arena_rank", "arena_rating", "arena_low", "arena_high", "split", "note"),
)


@dataclass(frozen=True)
class ExportedBoard:
    """What is exported.

    Attributes:
        table: Columns of ``board.csv`` or ``overall.csv``; ranks and counts are ``Int64``.
        language: A language code, ``overall`` or ``all``.
        arena: Name of the arena.
        judge: Whose judgments the board rests on.
        signature: Settings that reproduce the board.
    """

    table: pd.DataFrame
    language: str
    arena: str
    judge: str
    signature: str

    @property
    def title(self) -> str:
        """What the table shows, in a few words."""
        part = {OVERALL: "mean rank over languages", ALL: "every language"}
        return f"Synthetic leaderboard of {self.arena}, {part.get(self.language, self.language)}"

    @property
    def printed_columns(self) -> Sequence[str]:
        """Columns that a printed table has room for; those without any value are left out."""
        first = ["language"] if self.language == ALL else []
        wanted = (
            ["rank", "system", "mean_rank", "mean_rating", "languages", "arena_rank"]
            if self.language == OVERALL
            else [*first, "rank", "system", "rating", "low", "high", "coverage", "arena_rank"]
        )
        present = self.table.notna().any()
        return [name for name in wanted if name in {"rank", "system"} or present.get(name, False)]


def exported_board(tables: BoardTables, language: str = OVERALL) -> ExportedBoard:
    """Choose rows of a board.

    Args:
        tables: A board.
        language: A language code, ``overall`` for ranks over all languages, or ``all`` for the
            rows of every language.

    Raises:
        UsageError: If the board has no such language.
    """
    if language == OVERALL:
        table = tables.overall
    elif language == ALL:
        table = tables.board
    elif language in tables.languages:
        table = tables.board[tables.board["language"] == language]
    else:
        present = ", ".join([OVERALL, ALL, *tables.languages])
        raise UsageError(f"the board has no language {language!r}; use one of {present}")
    counts = {name: "Int64" for name in COUNTS if name in table}
    columns = _OVERALL_COLUMNS if language == OVERALL else _BOARD_COLUMNS
    summary = tables.summary
    return ExportedBoard(
        table.astype(counts)[list(columns)].reset_index(drop=True),
        language,
        summary.arena,
        summary.judge,
        summary.signature,
    )
