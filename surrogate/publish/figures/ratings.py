"""Ratings with intervals, arena beside surrogate, and the tiers of systems that are tied."""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from surrogate.board.board import Board
from surrogate.board.summary import BoardSummary
from surrogate.publish.figures.figure import (
    MUTED,
    ROW_INCHES,
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
from surrogate.publish.formats import count_of, decimal, interval, percent, rank_range
from surrogate.publish.palette import ARENA, BLUE, SYNTHETIC, VERMILLION
from surrogate.publish.view import TIER_COLUMNS

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


def draw_ratings(board: Board, language: str) -> Figure:
    """Draw the ratings of one language with their intervals, best arena rank at the top.

    Bands hold systems of one tier, which the arena's judgments cannot distinguish; on the right
    is the interval that holds all ranks at once.

    Args:
        board: A board.
        language: Language code.

    Raises:
        UsageError: If the board has no such language, or no rating in it.
    """
    rows = language_rows(board.ratings, language).set_index("system")
    rows = rows.reindex(order_of(board, language, rows.index))
    rows = rows[rows[["rating", "arena_rating"]].notna().any(axis=1)]
    if rows.empty:
        raise UsageError(f"no system has a rating in {language!r}, so there are none to draw")
    names = shown_names(map(str, rows.index))
    width = label_inches(longest_width(names.values())) + _AXES_INCHES + 0.9
    with style():
        sheet = new_sheet(width, len(rows) * ROW_INCHES + 1.1, _caption(board, rows, language))
        (axes,) = panels(sheet, 1, 1)
        handles = _draw(axes, rows)
        axes.set_yticks(range(len(rows)), list(names.values()))
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlabel("Bradley-Terry rating (logits, 0 is the language's mean)")
        _draw_tiers(axes, rows[TIER_COLUMNS].astype(float))
        legend(sheet, handles, 2)
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
    is_published = board.summary.is_published
    note += f". Arena: 95% {'as published' if is_published else 'over resampled questions'}. "
    if rows["low"].notna().any():
        level = percent(summary.interval.level) if summary is not None else "90%"
        note += f"Surrogate: {level}, from ratings by surrogates that did not see the system. "
    else:
        note += "The surrogate's ratings have no intervals here. "
    if rows[TIER_COLUMNS].astype(float).notna().any(axis=None):
        note += "Bands: tiers of systems that are not distinguishable; right: 95% for all ranks."
    else:
        note += "No tiers in this language (arena.csv says why)."
    return Caption(
        f"Ratings with intervals: {board.summary.arena}, {language}",
        note,
        board.summary.signature,
    )


def _draw(axes: Axes, table: pd.DataFrame) -> dict[str, Artist]:
    rows = np.arange(len(table))
    handles: dict[str, Artist] = {}
    for name, color, marker, shift, columns in (
        ("arena", ARENA, "s", -_OFFSET, ("arena_rating", "arena_low", "arena_high")),
        ("surrogate", SYNTHETIC, "o", _OFFSET, ("rating", "low", "high")),
    ):
        rating, low, high = (table[column].to_numpy(float) for column in columns)
        if np.isnan(rating).all():
            continue
        axes.hlines(rows + shift, low, high, color=color, linewidth=1.6, zorder=2)
        (handles[name],) = axes.plot(
            rating, rows + shift, marker, color=color, markersize=4.5, linestyle="none"
        )
    axes.grid(axis="x")
    axes.axvline(0, color=MUTED, linewidth=0.8, zorder=1)
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
_SPLITS = (
    ("trained on", "train", BLUE, "o"),
    ("held out", "holdout", VERMILLION, "D"),
)


def tau_scatter(board: Board, language: str | None = None) -> Figure:
    """Draw each judged system's rating by the surrogate against that by the arena.

    Args:
        board: A board.
        language: Language to take, with the systems named; None for all, a panel each.

    Raises:
        UsageError: If no system has both ratings, or the board has no such language.
    """
    ratings = language_rows(board.ratings, language)
    both = ratings[ratings[["rating", "arena_rating"]].notna().all(axis=1)]
    if both.empty:
        raise UsageError("no system has a rating by both arena and surrogate, so nothing compares")
    languages = judged_languages(both)
    columns = min(_MOST_COLUMNS, len(languages))
    side = _SINGLE_INCHES if len(languages) == 1 else _PANEL_INCHES
    rows = -(-len(languages) // columns)
    with style():
        caption = _caption_tau_scatter(board.summary, both, len(ratings) - len(both), language)
        sheet = new_sheet(max(columns * side, 5.6), rows * (side + 0.1) + 0.5, caption)
        handles: dict[str, Artist] = {}
        for axes, name in zip(panels(sheet, len(languages), columns), languages, strict=True):
            part = both[both["language"] == name]
            handles |= _draw_tau_scatter(axes, part)
            axes.set_title(_title(board.summary, name, len(part)), loc="left", fontsize=8)
            if len(languages) == 1 and len(part) <= _MOST_NAMED:
                _name(axes, part)
        sheet.body.supxlabel("Arena rating (logits)", fontsize=9)
        sheet.body.supylabel("Surrogate rating (logits)", fontsize=9)
        legend(sheet, handles, 4)
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
            f"Kendall tau, mean over languages: {decimal(macro.tau, 3)} "
            f"{interval(macro.tau_low, macro.tau_high, 3)}, unseen {decimal(macro.tau_unseen, 3)}. "
        )
    note += "Most systems were trained on: unseen tau is the figure for new ones."
    if without:
        note += f" Not drawn: {count_of(without, 'row')} of the board without both ratings."
    return Caption(
        f"Arena against surrogate: {summary.arena}, {language or 'all languages'}",
        note,
        summary.signature,
    )


def _title(summary: BoardSummary, language: str, systems: int) -> str:
    found = summary.languages.get(language)
    count = f"{drawable(language)}, n = {systems}"
    if found is None:
        return count
    bounds = interval(found.tau_low, found.tau_high)
    return f"{count}: tau {decimal(found.tau)} {bounds}\nunseen tau {decimal(found.tau_unseen)}"


def _draw_tau_scatter(axes: Axes, part: pd.DataFrame) -> dict[str, Artist]:
    handles: dict[str, Artist] = {}
    axes.axline((0, 0), slope=1, color=MUTED, linewidth=0.8, linestyle="--", zorder=1)
    for label, split, color, marker in _SPLITS:
        rows = part[part["split"] == split]
        if rows.empty:
            continue
        (handles[label],) = axes.plot(
            rows["arena_rating"],
            rows["rating"],
            marker,
            color=color,
            markersize=5,
            markeredgecolor="white",
            markeredgewidth=0.5,
            linestyle="none",
        )
    axes.grid()
    axes.margins(0.12)
    axes.locator_params(nbins=5)
    return handles


def _name(axes: Axes, part: pd.DataFrame) -> None:
    """Name the points: those in the better half on their left, the others on their right."""
    names = shown_names(part["system"], longest=28)
    better = part["arena_rating"] > part["arena_rating"].median()
    spread = max(float(part["rating"].max() - part["rating"].min()), 1e-9)
    points_per_unit = _AXES_POINTS / spread
    for on_left in (True, False):
        rows = part[better == on_left].sort_values("rating")
        lowest = -math.inf
        for row in rows.itertuples():
            height = row.rating * points_per_unit
            lowest = max(height, lowest + _LABEL_POINTS)
            axes.annotate(
                names[row.system],
                (row.arena_rating, row.rating),
                xytext=(-_LEADER_POINTS if on_left else _LEADER_POINTS, lowest - height),
                textcoords="offset points",
                ha="right" if on_left else "left",
                va="center",
                fontsize=7,
                arrowprops={"arrowstyle": "-", "color": MUTED, "linewidth": 0.5, "shrinkB": 3},
            )
