"""The board over all languages: systems by their mean rank (MIRAGE-Bench, figure 4)."""

from __future__ import annotations

import pandas as pd


def overall_board(board: pd.DataFrame) -> pd.DataFrame:
    """Average each system's ranks over languages, each language with the same weight.

    Args:
        board: Rows of all languages with ``language, system, rank, rating, coverage,
            arena_rank``.

    Returns:
        Columns ``system, rank, mean_rank, mean_rating, languages, coverage, arena_rank,
        arena_mean_rank``. A system that is unranked in a language is unranked here, with the
        number of languages that rank it and its mean coverage. ``arena_rank`` likewise.
    """
    languages = board["language"].nunique()
    grouped = board.groupby("system")
    table = pd.DataFrame(
        {
            "mean_rank": _complete_mean(grouped["rank"], languages),
            "mean_rating": _complete_mean(grouped["rating"], languages),
            "languages": grouped["rank"].count(),
            "coverage": grouped["coverage"].mean(),
            "arena_mean_rank": _complete_mean(grouped["arena_rank"], languages),
        }
    )
    table["rank"] = table["mean_rank"].rank(method="min").astype("Int64")
    table["arena_rank"] = table["arena_mean_rank"].rank(method="min").astype("Int64")
    columns = ["system", "rank", "mean_rank", "mean_rating", "languages", "coverage"]
    ordered = table.reset_index().sort_values(["rank", "system"], kind="stable")
    return ordered[[*columns, "arena_rank", "arena_mean_rank"]].reset_index(drop=True)


def _complete_mean(grouped: pd.api.typing.SeriesGroupBy, languages: int) -> pd.Series:
    return grouped.mean().astype(float).where(grouped.count() == languages)
