"""The figure of quality against what systems take, with the frontier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from arena.data.wording import count_of
from surrogate.board.board import Board
from surrogate.board.costs import NO_CURRENCY, uncompared_board
from surrogate.publish.cost_page import MEASURES, Axis, costs_and_ratings, price_axis
from surrogate.publish.figures.figure import (
    MUTED,
    Caption,
    legend,
    new_figure,
    shown_names,
    style,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL_INCHES = (4.6, 3.4)
LEFT_EDGE = 40
"""Place in percent below which names are written to the right of their systems."""


def draw_costs(board: Board) -> Figure:
    """Draw mean ratings against costs and median latencies, a panel each, with the frontier.

    Systems on the frontier have their names.

    Raises:
        UsageError: If nothing can be drawn: no amount is stated, or no quality is compared.
    """
    panels = _panels(board)
    if not panels:
        reason = uncompared_board(board.summary) or "no system that is compared states one"
        raise UsageError(f"quality is held against no cost or latency: {reason}")
    width, height = PANEL_INCHES
    with style():
        figure, grid = new_figure(
            _caption(board, panels), width * len(panels), height, len(panels), len(panels)
        )
        handles: dict[str, Any] = {}
        for axes, (measure, label, drawn) in zip(grid, panels, strict=True):
            handles |= _draw_panel(axes, drawn, measure)
            axes.set_xlabel(label)
            axes.set_ylabel("Mean rating (logits)")
        legend(figure, handles, 3)
    return figure


def _caption(board: Board, panels: Sequence[tuple[str, str, pd.DataFrame]]) -> Caption:
    """Return the title, and a line that counts the systems that are drawn and left out."""
    n_drawn = len({system for *_, drawn in panels for system in drawn["system"]})
    n_left_out = len(board.costs) - n_drawn
    left_out = f", {count_of(n_left_out, 'system')} without amounts not drawn" if n_left_out else ""
    return Caption(
        f"Quality against cost: {board.summary.arena}",
        f"n = {count_of(n_drawn, 'system')}{left_out}. Ratings: mean over "
        f"{board.summary.parts}, with 90% intervals, by {board.summary.judge}. A system is on the "
        "frontier if no other is at least as good and takes less.",
        board.summary.signature,
    )


def _panels(board: Board) -> list[tuple[str, str, pd.DataFrame]]:
    """Return the measure, the label and the systems of each panel that has any."""
    table = costs_and_ratings(board)
    panels: list[tuple[str, str, pd.DataFrame]] = []
    for measure in MEASURES:
        drawn = table[table[f"on_{measure}_frontier"].notna()]
        if measure == "latency":
            panels.append((measure, "Median latency (seconds)", drawn))
            continue
        # Costs in different currencies have no common axis.
        for currency in sorted(drawn["currency"].unique()):
            label = f"Cost of 1,000 answers ({currency or NO_CURRENCY})"
            panels.append((measure, label, drawn[drawn["currency"] == currency]))
    return [panel for panel in panels if len(panel[2])]


def _draw_panel(axes: Axes, drawn: pd.DataFrame, measure: str) -> dict[str, Any]:
    """Draw one panel; return the handles of the legend."""
    prices = drawn[measure].to_numpy(np.float64)
    ratings = drawn["mean_rating"].to_numpy(np.float64)
    high = drawn["high"].to_numpy(np.float64)
    # An interval without an upper bound is drawn to the rating alone.
    high = np.where(np.isinf(high), ratings, high)
    axes.vlines(prices, drawn["low"].to_numpy(np.float64), high, color=MUTED, linewidth=1, zorder=1)
    is_on = drawn[f"on_{measure}_frontier"].eq(1).to_numpy()
    order = np.argsort(prices[is_on], kind="stable")
    (line,) = axes.step(
        prices[is_on][order], ratings[is_on][order], where="post", color="black", linewidth=1.2
    )
    look: dict[str, Any] = {"markersize": 6, "linestyle": "none", "color": "black"}
    (on,) = axes.plot(prices[is_on], ratings[is_on], "o", **look)
    (off,) = axes.plot(prices[~is_on], ratings[~is_on], "o", markerfacecolor="white", **look)
    across = price_axis(prices)
    _name_systems(axes, drawn[is_on], measure, across)
    _set_scale(axes, across)
    axes.margins(y=0.1)
    axes.grid(axis="y")
    return {"frontier": line, "on the frontier": on, "other systems": off}


def _name_systems(axes: Axes, systems: pd.DataFrame, measure: str, across: Axis) -> None:
    """Write the names of the systems on the frontier."""
    names = shown_names(systems["system"])
    prices = systems[measure].to_numpy(np.float64)
    points = zip(names.values(), prices, systems["mean_rating"], strict=True)
    for (name, price, rating), place in zip(points, across.places(prices), strict=True):
        # To the upper left of the frontier is nothing; names at the left edge have no room there.
        is_left = place < LEFT_EDGE
        axes.annotate(
            name,
            (price, rating),
            xytext=(5, -9) if is_left else (-5, 4),
            textcoords="offset points",
            ha="left" if is_left else "right",
            fontsize=7.5,
        )


def _set_scale(axes: Axes, across: Axis) -> None:
    """Set the scale of prices."""
    if across.is_log:
        axes.set_xscale("log")
    # Texts of our own: matplotlib's powers of ten need formulas, which names must not be read as.
    ticks = across.ticks()
    axes.set_xticks([value for value, _ in ticks], [text for _, text in ticks])
    axes.minorticks_off()
    axes.set_xlim(across.low, across.high)
