"""The picture that stands for a board where a link to it is shared."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from surrogate_arena.pages.figures.figure import MUTED, drawable, label_inches, shown_names, style
from surrogate_arena.pages.formats import BLUE

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_preview(title: str, sentence: str, systems: pd.DataFrame) -> Figure:
    """Draw the first systems with their wins, 1200 × 630 pixels where saved.

    Args:
        title: Of the board.
        sentence: Who is first.
        systems: Columns ``system, wins, wins_low, wins_high``, best first.

    Raises:
        MissingDependencyError: If Matplotlib is not installed.
    """
    rows = systems[systems["wins"].notna()][:8]
    wins = 100 * rows["wins"].to_numpy(np.float64)
    low = 100 * rows["wins_low"].astype(float).fillna(rows["wins"]).to_numpy(np.float64)
    high = 100 * rows["wins_high"].astype(float).fillna(rows["wins"]).to_numpy(np.float64)
    places = np.arange(len(rows))
    with style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8, 4.2))
        figure.set_label(drawable(title))
        lines = textwrap.wrap(drawable(sentence), 90, max_lines=2, placeholder=" …")
        heading = textwrap.shorten(drawable(title), 45, placeholder=" …")
        figure.text(0.02, 0.9, heading, fontsize=20, weight="bold")
        figure.text(0.02, 0.86, "\n".join(lines), fontsize=11, va="top")
        left = 0.04 + 1.05 * label_inches(rows["system"]) / 8
        axes = figure.add_axes((left, 0.14, 0.97 - left, 0.58))
        axes.hlines(places, low, high, color=BLUE, linewidth=5, alpha=0.35)
        axes.plot(wins, places, "o", color=BLUE, markersize=7)
        axes.set_yticks(places, list(shown_names(rows["system"]).values()), fontsize=11)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlabel("Wins (%) with 90% intervals", color=MUTED)
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x")
    return figure
