"""The three ratings of every system with their intervals, and the tiers of the board."""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from arena.data.wording import count_of
from surrogate.board.board import Board
from surrogate.board.summary import BoardSummary
from surrogate.publish.figures.figure import (
    MUTED,
    Caption,
    drawable,
    judged_languages,
    label_inches,
    language_rows,
    legend,
    longest_width,
    new_sheet,
    order_of,
    panels,
    shown_names,
    style,
)
from surrogate.publish.formats import decimal, interval, percent, rank_range
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
    width = label_inches(longest_width(names.values())) + _AXES_INCHES + 0.9
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
    summary = board.summary.languages.get(language)
    judged = int(rows["arena_rating"].notna().sum())
    note = f"n = {count_of(len(rows), 'system')}, {judged} judged"
    if summary is not None:
        note += (
            f" in {count_of(summary.judgments, 'judgment')} of "
            f"{count_of(summary.questions_judged, 'question')} by {board.summary.judge}"
            if summary.judgments
            else f": ratings by {board.summary.judge}"
        )
    if board.summary.is_first:
        note = f"n = {count_of(len(rows), 'system')}, none judged. Intervals, bands (tiers) and "
        note += "ranks on the right are of resampled questions (90%; 95% for all ranks): none says "
        note += "how far verdicts will differ."
        title = f"Ratings without verdicts: {board.summary.arena}, {language}"
        return Caption(title, note, board.summary.signature)
    is_published = board.summary.is_published
    note += f". Intervals: 90% of ratings by {board.summary.rated_by}; 95% of those by verdicts "
    note += f"{'as published' if is_published else 'over resampled questions'}; "
    if rows["surrogate_low"].notna().any():
        level = percent(summary.interval.level) if summary is not None else "90%"
        note += f"{level} of those by surrogates that had not seen the system. "
    else:
        note += "none of those by surrogates that had not seen the system. "
    if rows[TIER_COLUMNS].astype(float).notna().any(axis=None):
        note += "Bands: tiers of systems that are not distinguishable; right: 95% for all ranks."
    else:
        note += "No tiers in this language."
    return Caption(
        f"Ratings with intervals: {board.summary.arena}, {language}",
        note,
        board.summary.signature,
    )


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


_PANEL_INCHES = 2.7
_SINGLE_INCHES = 5.6
_MOST_COLUMNS = 4
_MOST_NAMED = 25
_AXES_POINTS = 270.0
"""Height of the points' range where there is one panel."""
_LABEL_POINTS = 9.5
_LEADER_POINTS = 12.0


def tau_scatter(board: Board, language: str | None = None) -> Figure:
    """Draw each judged system's rating by surrogates that had not seen it against its verdicts'.

    Args:
        board: A board.
        language: Language to take, with the systems named; None for all, a panel each.

    Raises:
        UsageError: If no system has both ratings, or the board has no such language.
    """
    ratings = language_rows(board.ratings, language)
    both = ratings[ratings[["surrogate_rating", "arena_rating"]].notna().all(axis=1)]
    if both.empty:
        raise UsageError(
            "no system has a rating by verdicts and one by surrogate, so nothing compares"
        )
    languages = judged_languages(both)
    columns = min(_MOST_COLUMNS, len(languages))
    side = _SINGLE_INCHES if len(languages) == 1 else _PANEL_INCHES
    rows = -(-len(languages) // columns)
    with style():
        caption = _caption_tau_scatter(board.summary, both, len(ratings) - len(both), language)
        sheet = new_sheet(max(columns * side, 5.6), rows * (side + 0.1) + 0.5, caption)
        for axes, name in zip(panels(sheet, len(languages), columns), languages, strict=True):
            part = both[both["language"] == name]
            _draw_tau_scatter(axes, part)
            axes.set_title(_title(board.summary, name, len(part)), loc="left", fontsize=8)
            if len(languages) == 1 and len(part) <= _MOST_NAMED:
                _name(axes, part)
        sheet.body.supxlabel("Rating by verdicts alone (logits)", fontsize=9)
        sheet.body.supylabel(
            "Rating by surrogates that had not seen the system (logits)", fontsize=9
        )
    return sheet.figure


def _caption_tau_scatter(
    summary: BoardSummary, both: pd.DataFrame, without: int, language: str | None
) -> Caption:
    macro = summary.macro
    note = (
        f"n = {count_of(both['system'].nunique(), 'system')}, "
        f"{count_of(both['language'].nunique(), 'language')}; judged by {summary.judge}. "
    )
    if language is None:
        note += (
            f"Kendall tau, mean over languages: {decimal(macro.tau_unseen, 3)} "
            f"{interval(macro.tau_unseen_low, macro.tau_unseen_high, 3)}. "
        )
    note += (
        "Each system is rated by surrogates trained without it and its verdicts; tau with 95% "
        "intervals over systems."
    )
    if without:
        note += f" Not drawn: {count_of(without, 'row')} of the board without both ratings."
    return Caption(
        f"Surrogate against verdicts: {summary.arena}, {language or 'all languages'}",
        note,
        summary.signature,
    )


def _title(summary: BoardSummary, language: str, systems: int) -> str:
    found = summary.languages.get(language)
    count = f"{drawable(language)}, n = {systems}"
    if found is None:
        return count
    bounds = interval(found.tau_unseen_low, found.tau_unseen_high)
    return f"{count}\ntau {decimal(found.tau_unseen)} {bounds}"


def _draw_tau_scatter(axes: Axes, part: pd.DataFrame) -> None:
    axes.axline((0, 0), slope=1, color=MUTED, linewidth=0.8, linestyle="--", zorder=1)
    axes.plot(
        part["arena_rating"],
        part["surrogate_rating"],
        "o",
        color=SURROGATE,
        markersize=5,
        markeredgecolor="white",
        markeredgewidth=0.5,
        linestyle="none",
    )
    axes.grid()
    axes.margins(0.12)
    axes.locator_params(nbins=5)


def _name(axes: Axes, part: pd.DataFrame) -> None:
    """Name the points: those in the better half on their left, the others on their right."""
    names = shown_names(part["system"], longest=28)
    better = part["arena_rating"] > part["arena_rating"].median()
    spread = max(float(part["surrogate_rating"].max() - part["surrogate_rating"].min()), 1e-9)
    points_per_unit = _AXES_POINTS / spread
    for on_left in (True, False):
        rows = part[better == on_left].sort_values("surrogate_rating")
        lowest = -math.inf
        for row in rows.itertuples():
            height = row.surrogate_rating * points_per_unit
            lowest = max(height, lowest + _LABEL_POINTS)
            axes.annotate(
                names[row.system],
                (row.arena_rating, row.surrogate_rating),
                xytext=(-_LEADER_POINTS if on_left else _LEADER_POINTS, lowest - height),
                textcoords="offset points",
                ha="right" if on_left else "left",
                va="center",
                fontsize=7,
                arrowprops={"arrowstyle": "-", "color": MUTED, "linewidth": 0.5, "shrinkB": 3},
            )
