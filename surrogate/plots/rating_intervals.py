"""Ratings with intervals, arena beside surrogate, and the tiers of systems that are tied."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from arena.errors import UsageError
from surrogate.palette import ARENA, SYNTHETIC
from surrogate.plots.board_parts import order_of, rows_of
from surrogate.plots.figure import (
    MUTED,
    ROW_INCHES,
    Caption,
    label_inches,
    legend,
    new_sheet,
    panels,
    style,
)
from surrogate.plots.labels import longest_width, shown_names
from surrogate.report.board_tables import BoardTables
from surrogate.report.formats import count_of, percent, rank_range

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_AXES_INCHES = 5.2
_OFFSET = 0.16
_BAND = "#EFEFEF"
_TIER_AT, _RANKS_AT = 1.05, 1.15
_RIGHT: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8}
"""Of the columns on the right."""


def rating_intervals(tables: BoardTables, language: str) -> Figure:
    """Draw the ratings of one language with their intervals, best arena rank at the top.

    Bands hold systems of one tier, which the arena's judgments cannot tell apart; on the right is
    the interval that holds all ranks at once. A board without ``tiers.csv`` is drawn without both,
    and says so.

    Args:
        tables: A board.
        language: Language code.

    Raises:
        UsageError: If the board has no such language, or no rating in it.
    """
    board = rows_of(tables.board, language).set_index("system")
    board = board.reindex(order_of(tables, language, board.index))
    board = board[board[["rating", "arena_rating"]].notna().any(axis=1)]
    if board.empty:
        raise UsageError(f"no system has a rating in {language!r}, so there are none to draw")
    names = shown_names(map(str, board.index))
    width = label_inches(longest_width(names.values())) + _AXES_INCHES + 0.9
    with style():
        sheet = new_sheet(width, len(board) * ROW_INCHES + 1.1, _caption(tables, board, language))
        (axes,) = panels(sheet, 1, 1)
        handles = _draw(axes, board)
        axes.set_yticks(range(len(board)), list(names.values()))
        axes.set_ylim(len(board) - 0.4, -0.6)
        axes.set_xlabel("Bradley-Terry rating (log-odds, 0 is the language's mean)")
        _draw_tiers(axes, board, _tiers(tables, board, language))
        legend(sheet, handles, 2)
    return sheet.figure


def _caption(tables: BoardTables, board: pd.DataFrame, language: str) -> Caption:
    summary = tables.summary.languages.get(language)
    judged = int(board["arena_rating"].notna().sum())
    note = f"n = {count_of(len(board), 'system')}, {judged} judged"
    if summary is not None:
        note += (
            f" in {count_of(summary.judgments, 'judgment')} of "
            f"{count_of(summary.questions_judged, 'question')} by {tables.summary.judge}"
        )
    note += ". Arena: 95% over tournaments. "
    if board["low"].notna().any():
        level = percent(summary.interval.level) if summary is not None else "90%"
        note += f"Surrogate: {level}, from ratings by surrogates that did not see the system. "
    else:
        note += "The surrogate's ratings have no intervals here. "
    if _tiers(tables, board, language).notna().any(axis=None):
        note += "Bands: tiers of systems that are not distinguishable; right: 95% for all ranks."
    elif tables.tiers is None:
        note += "This board holds no tiers: build it anew to see them."
    else:
        note += "No tiers in this language (tiers.csv says why)."
    return Caption(
        f"Ratings with intervals: {tables.summary.arena}, {language}",
        note,
        tables.summary.signature,
    )


def _tiers(tables: BoardTables, board: pd.DataFrame, language: str) -> pd.DataFrame:
    """Return tier, rank_low and rank_high in the board's order; NaN where there are none."""
    columns = ["tier", "rank_low", "rank_high"]
    if tables.tiers is None:
        return pd.DataFrame(np.nan, index=board.index, columns=columns)
    found = tables.tiers[tables.tiers["language"] == language].set_index("system")
    return found[columns].reindex(board.index)


def _draw(axes: Axes, board: pd.DataFrame) -> dict[str, Artist]:
    rows = np.arange(len(board))
    handles: dict[str, Artist] = {}
    for name, colour, marker, shift, columns in (
        ("arena", ARENA, "s", -_OFFSET, ("arena_rating", "arena_low", "arena_high")),
        ("surrogate", SYNTHETIC, "o", _OFFSET, ("rating", "low", "high")),
    ):
        rating, low, high = (board[column].to_numpy(float) for column in columns)
        if np.isnan(rating).all():
            continue
        axes.hlines(rows + shift, low, high, color=colour, linewidth=1.6, zorder=2)
        (handles[name],) = axes.plot(
            rating, rows + shift, marker, color=colour, markersize=4.5, linestyle="none"
        )
    axes.grid(axis="x")
    axes.axvline(0, color=MUTED, linewidth=0.8, zorder=1)
    axes.margins(x=0.04)
    return handles


def _draw_tiers(axes: Axes, board: pd.DataFrame, tiers: pd.DataFrame) -> None:
    """Draw bands of adjacent systems of one tier, and rank intervals on the right."""
    if tiers["tier"].isna().all():
        return
    along = axes.get_yaxis_transform()
    for tier, places in groupby(range(len(board)), key=lambda row: tiers["tier"].iloc[row]):
        rows = list(places)
        if pd.isna(tier):
            continue
        if int(tier) % 2:
            axes.axhspan(rows[0] - 0.5, rows[-1] + 0.5, color=_BAND, zorder=0)
        axes.text(_TIER_AT, rows[0], f"{int(tier)}", transform=along, **_RIGHT)
    for place, heading in ((_TIER_AT, "tier"), (_RANKS_AT, "ranks")):
        axes.text(
            place, -0.75, heading, transform=along, color=MUTED, **(_RIGHT | {"va": "bottom"})
        )
    for row, (low, high) in enumerate(zip(tiers["rank_low"], tiers["rank_high"], strict=True)):
        axes.text(_RANKS_AT, row, rank_range(low, high), transform=along, **_RIGHT)
