"""Parts of a board that figures are drawn from, or what to run where they are missing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import pandas as pd

from arena.errors import UsageError
from surrogate.report.board_tables import BoardTables

REBUILD = "build the board anew with  surrogate-arena board ARENA --out DIR"


def needed(table: pd.DataFrame | None, file: str, drawn: str) -> pd.DataFrame:
    """Return a table.

    Raises:
        UsageError: If the board has none; says what it is for and how to get it.
    """
    if table is None:
        raise UsageError(f"{drawn} cannot be drawn: the board has no {file}; {REBUILD}")
    return table


def rows_of(table: pd.DataFrame, language: str | None) -> pd.DataFrame:
    """Return the rows of a language; all of them for None.

    Raises:
        UsageError: If there are none of that language.
    """
    if language is None:
        return table
    present = judged_languages(table)
    if language not in present:
        raise UsageError(
            f"the board has no language {language!r} here; there is {', '.join(present) or 'none'}"
        )
    return table[table["language"] == language]


def judged_languages(table: pd.DataFrame) -> list[str]:
    """Return the languages of a table, sorted."""
    return sorted(str(language) for language in table["language"].unique())


def order_of(tables: BoardTables, language: str | None, systems: Iterable[str]) -> Sequence[str]:
    """Order systems by arena rank, those without one by name behind them.

    Args:
        tables: A board.
        language: Language whose ranks count; None for those over all languages.
        systems: Systems to order; repetitions do not count.
    """
    ranked = tables.overall
    if language is not None:
        ranked = tables.board[tables.board["language"] == language]
    ranks = {
        str(system): float(rank)
        for system, rank in zip(ranked["system"], ranked["arena_rank"], strict=True)
        if pd.notna(rank)
    }
    names = {str(system) for system in systems}
    return sorted(names, key=lambda system: (ranks.get(system, math.inf), system))
