"""Ratings by the arena against ratings by the surrogate, a panel a language."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd

from arena.errors import UsageError
from surrogate.palette import BLUE, BLUISH_GREEN, VERMILLION
from surrogate.plots.board_parts import judged_languages, rows_of
from surrogate.plots.figure import MUTED, Caption, legend, new_sheet, panels, style
from surrogate.plots.labels import drawable, shown_names
from surrogate.report.board_tables import BoardTables
from surrogate.report.formats import count_of, decimal, interval
from surrogate.summary import BoardSummary

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
    ("split not known", "", BLUISH_GREEN, "s"),
)


def tau_scatter(tables: BoardTables, language: str | None = None) -> Figure:
    """Draw each judged system's rating by the surrogate against that by the arena.

    Args:
        tables: A board.
        language: Language to take, with the systems named; None for all, a panel each.

    Raises:
        UsageError: If no system has both ratings, or the board has no such language.
    """
    board = rows_of(tables.board, language)
    both = board[board[["rating", "arena_rating"]].notna().all(axis=1)]
    if both.empty:
        raise UsageError("no system has a rating by both arena and surrogate, so nothing compares")
    languages = judged_languages(both)
    columns = min(_MOST_COLUMNS, len(languages))
    side = _SINGLE_INCHES if len(languages) == 1 else _PANEL_INCHES
    rows = -(-len(languages) // columns)
    with style():
        caption = _caption(tables.summary, both, len(board) - len(both), language)
        sheet = new_sheet(max(columns * side, 5.6), rows * (side + 0.1) + 0.5, caption)
        handles: dict[str, Artist] = {}
        for axes, name in zip(panels(sheet, len(languages), columns), languages, strict=True):
            part = both[both["language"] == name]
            handles |= _draw(axes, part)
            axes.set_title(_title(tables.summary, name, len(part)), loc="left", fontsize=8)
            if len(languages) == 1 and len(part) <= _MOST_NAMED:
                _name(axes, part)
        sheet.body.supxlabel("Arena rating (log-odds)", fontsize=9)
        sheet.body.supylabel("Surrogate rating (log-odds)", fontsize=9)
        legend(sheet, handles, 4)
    return sheet.figure


def _caption(
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


def _draw(axes: Axes, part: pd.DataFrame) -> dict[str, Artist]:
    handles: dict[str, Artist] = {}
    axes.axline((0, 0), slope=1, color=MUTED, linewidth=0.8, linestyle="--", zorder=1)
    for label, split, colour, marker in _SPLITS:
        rows = part[part["split"] == split]
        if rows.empty:
            continue
        (handles[label],) = axes.plot(
            rows["arena_rating"],
            rows["rating"],
            marker,
            color=colour,
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
