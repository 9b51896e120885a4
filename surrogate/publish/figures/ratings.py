"""The three ratings of every system with their intervals, and the tiers of the board."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from arena.data.wording import count_of
from surrogate.board.board import Board
from surrogate.board.summary import LEVEL
from surrogate.publish.figures.figure import (
    MUTED,
    Caption,
    label_inches,
    language_rows,
    legend,
    new_sheet,
    order_of,
    panels,
    shown_names,
    style,
)
from surrogate.publish.formats import percent, rank_range
from surrogate.publish.palette import BOTH, SURROGATE, VERDICTS
from surrogate.publish.view import RATINGS, TIER_COLUMNS

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_AXES_INCHES = 5.2
_ROW_INCHES = 0.32
_LOOKS = {
    "both": ("", BOTH, "D", -0.25),
    "surrogate": ("surrogate alone", SURROGATE, "o", 0.03),
    "verdicts": ("verdicts alone", VERDICTS, "s", 0.28),
}
"""What a rating is by, to its label, color, marker and place in the row of its system.

What the board's own are by, it says itself.
"""
_BAND = "#EFEFEF"
_TIER_AT, _RANKS_AT = 1.05, 1.15
_RIGHT: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8}
"""Of the columns on the right."""


def draw_ratings(board: Board, language: str) -> Figure:
    """Draw the ratings of one language with their intervals, best rank of the board at the top.

    Each system has three: the board's, and those by surrogates that had not seen it and by
    verdicts alone. Bands hold systems of one tier, which the board's ratings cannot distinguish;
    on the right is the interval that holds all ranks at once.

    Args:
        board: A board.
        language: Language code.

    Raises:
        UsageError: If the board has no such language, or no rating in it.
    """
    rows = language_rows(board.ratings, language).set_index("system")
    rows = rows.reindex(order_of(board, language, rows.index, "rank"))
    rows = rows[rows["rating"].notna()]
    if rows.empty:
        raise UsageError(f"no system has a rating in {language!r}, so there are none to draw")
    names = shown_names(map(str, rows.index))
    width = label_inches(names.values()) + _AXES_INCHES + 0.9
    with style():
        sheet = new_sheet(width, len(rows) * _ROW_INCHES + 1.1, _caption(board, rows, language))
        (axes,) = panels(sheet, 1, 1)
        handles = _draw(axes, rows, board.summary.rated_by)
        axes.axvline(0.5 if board.summary.is_first else 0, color=MUTED, linewidth=0.8, zorder=1)
        axes.set_yticks(range(len(rows)), list(names.values()))
        axes.set_ylim(len(rows) - 0.4, -0.6)
        if board.summary.is_first:
            axes.set_xlabel("Share of the others' answers below a system's (no verdict, no logits)")
        else:
            axes.set_xlabel("Bradley-Terry rating (logits, 0 is the language's mean)")
        _draw_tiers(axes, rows[TIER_COLUMNS].astype(float))
        legend(sheet, handles, 3)
    return sheet.figure


def _caption(board: Board, rows: pd.DataFrame, language: str) -> Caption:
    """Say whose ratings these are, what they rest on, and what intervals mean."""
    summary = board.summary
    found = summary.languages.get(language)
    judged = int(rows["arena_rating"].notna().sum())
    note = f"n = {count_of(len(rows), 'system')}, {judged or 'none'} judged"
    if summary.is_first:
        title = f"Ratings without verdicts: {summary.arena}, {language}"
        note += ". Intervals, bands (tiers) and ranks on the right are of resampled questions "
        note += "(90%; 95% for all ranks): none says how far verdicts will differ."
        return Caption(title, note, summary.signature)
    if found is not None and found.judgments:
        note += f" in {count_of(found.judgments, 'judgment')} of "
        note += count_of(found.questions_judged, "question")
    note += f" by {summary.judge}. Intervals: 90% of ratings by {summary.rated_by}; 95% of those "
    note += f"by verdicts{' as published' if summary.is_published else ''}; "
    if rows["surrogate_low"].notna().any():
        note += percent(LEVEL)
    else:
        note += "none"
    note += " of those by surrogates that had not seen the system. "
    if rows[TIER_COLUMNS].astype(float).notna().any(axis=None):
        note += "Bands: tiers of systems that are not distinguishable; right: 95% for all ranks."
    title = f"Ratings with intervals: {summary.arena}, {language}"
    return Caption(title, note, summary.signature)


def _draw(axes: Axes, table: pd.DataFrame, rated_by: str) -> dict[str, Artist]:
    rows = np.arange(len(table))
    handles: dict[str, Artist] = {}
    for by, (name, color, marker, shift) in _LOOKS.items():
        rating, low, high = (table[column].to_numpy(float) for column in RATINGS[by])
        if np.isnan(rating).all():
            continue
        right = np.where(np.isinf(high), rating, high)
        axes.hlines(rows + shift, low, right, color=color, linewidth=1.4, zorder=2)
        (handles[name or rated_by],) = axes.plot(
            rating, rows + shift, marker, color=color, markersize=4, linestyle="none"
        )
    axes.grid(axis="x")
    axes.margins(x=0.04)
    return handles


def _draw_tiers(axes: Axes, tiers: pd.DataFrame) -> None:
    """Draw bands of adjacent systems of one tier, and rank intervals on the right."""
    if tiers["tier"].isna().all():
        return
    along = axes.get_yaxis_transform()
    for tier, places in groupby(range(len(tiers)), key=lambda row: tiers["tier"].iloc[row]):
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
