"""The figure of quality against what systems take, with the frontier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from arena.data.wording import count_of
from surrogate.board.board import Board
from surrogate.board.costs import NO_CURRENCY, uncompared_board
from surrogate_arena.pages.cost_page import MEASURES, Axis, costs_and_ratings, price_axis
from surrogate_arena.pages.figures.figure import (
    CAPTION_POINTS,
    LINE_INCHES,
    MUTED,
    Caption,
    label_inches,
    legend,
    new_figure,
    shown_names,
    style,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL_INCHES = (4.6, 3.4)
MOST_NAMED = 24
"""Systems that are named; where there are more, only those on a frontier are."""
NUMBERED_POINTS, PLAIN_POINTS = 10.0, 5.0
"""Sizes of markers with and without a number."""
NUMBER_FONT_POINTS = 6.5


def draw_costs(board: Board) -> Figure:
    """Draw mean ratings against costs and median latencies, a panel each, with the frontier.

    Systems have numbers, in the order of the board; a list beside the panels has their names.

    Raises:
        UsageError: If nothing can be drawn: no amount is stated, or no quality is compared.
    """
    panels = _panels(board)
    if not panels:
        reason = uncompared_board(board.summary) or "no system that is compared states one"
        raise UsageError(f"quality is held against no cost or latency: {reason}")
    numbers = _numbers(board, panels)
    width, height = PANEL_INCHES
    with style():
        figure, grid = new_figure(
            _caption(board, panels, n_named=len(numbers)),
            width * len(panels) + label_inches(numbers),
            max(height, len(numbers) * LINE_INCHES),
            len(panels),
            len(panels),
        )
        handles: dict[str, Any] = {}
        for axes, (measure, label, drawn) in zip(grid, panels, strict=True):
            handles |= _draw_panel(axes, drawn, measure, numbers)
            axes.set_xlabel(label)
            axes.set_ylabel("Mean rating (logits)")
        legend(figure, handles, 3)
        _list_names(figure, numbers)
    return figure


def _numbers(board: Board, panels: Sequence[tuple[str, str, pd.DataFrame]]) -> dict[str, int]:
    """Return the number of each system that is named, best first."""
    drawn: set[str] = set()
    on_frontier: set[str] = set()
    for measure, _, table in panels:
        drawn |= set(table["system"])
        on_frontier |= set(table.loc[table[f"on_{measure}_frontier"].eq(1), "system"])
    named = drawn if len(drawn) <= MOST_NAMED else on_frontier
    in_order = [name for name in board.overall["system"] if name in named]
    return {name: number for number, name in enumerate(in_order, start=1)}


def _list_names(figure: Figure, numbers: Mapping[str, int]) -> None:
    """Write the names of systems beside the panels, each after its number."""
    from matplotlib.lines import Line2D

    names = shown_names(numbers)
    figure.subfigs[0].legend(
        [Line2D([], [], linestyle="none") for _ in numbers],
        [f"{number}  {names[system]}" for system, number in numbers.items()],
        loc="outside right upper",
        handlelength=0,
        handletextpad=0,
        fontsize=CAPTION_POINTS,
        labelspacing=0.3,
    )


def _caption(
    board: Board, panels: Sequence[tuple[str, str, pd.DataFrame]], n_named: int
) -> Caption:
    """Return the title, and a line that counts the systems that are drawn and left out."""
    n_drawn = len({system for *_, drawn in panels for system in drawn["system"]})
    n_left_out = len(board.costs) - n_drawn
    left_out = f", {count_of(n_left_out, 'system')} without amounts not drawn" if n_left_out else ""
    unnamed = "" if n_named == n_drawn else "; only systems on a frontier have one"
    return Caption(
        f"Quality against cost: {board.summary.arena}",
        f"n = {count_of(n_drawn, 'system')}{left_out}. Ratings: mean over "
        f"{board.summary.parts}, with 90% intervals, by {board.summary.judge}. A system is on the "
        f"frontier if no other is at least as good and takes less. Numbers: best first{unnamed}.",
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


def _draw_panel(
    axes: Axes, drawn: pd.DataFrame, measure: str, numbers: Mapping[str, int]
) -> dict[str, Any]:
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
    look: dict[str, Any] = {"marker": "o", "linestyle": "none", "markeredgewidth": 0.8}
    # Of two points that overlap, the edge of the upper one stays visible.
    looks = {
        True: {**look, "markerfacecolor": "black", "markeredgecolor": "white"},
        False: {**look, "markerfacecolor": "white", "markeredgecolor": "black"},
    }
    # Those on the frontier are drawn last, above the others.
    for row in np.argsort(is_on, kind="stable"):
        number = numbers.get(str(drawn["system"].iloc[row]))
        size = PLAIN_POINTS if number is None else NUMBERED_POINTS
        point = (prices[row], ratings[row])
        axes.plot(*point, markersize=size, zorder=3, **looks[bool(is_on[row])])
        if number is not None:
            axes.annotate(
                f"{number}",
                point,
                ha="center",
                va="center_baseline",
                fontsize=NUMBER_FONT_POINTS,
                color="white" if is_on[row] else "black",
                zorder=3,
            )
    _set_scale(axes, price_axis(prices))
    axes.margins(y=0.1)
    axes.grid(axis="y")
    (on,) = axes.plot([], [], markersize=PLAIN_POINTS, **looks[True])
    (off,) = axes.plot([], [], markersize=PLAIN_POINTS, **looks[False])
    return {"frontier": line, "on the frontier": on, "other systems": off}


def _set_scale(axes: Axes, across: Axis) -> None:
    """Set the scale of prices."""
    if across.is_log:
        axes.set_xscale("log")
    # Texts of our own: matplotlib's powers of ten need formulas, which names must not be read as.
    ticks = across.ticks()
    axes.set_xticks([value for value, _ in ticks], [text for _, text in ticks])
    axes.minorticks_off()
    axes.set_xlim(across.low, across.high)
