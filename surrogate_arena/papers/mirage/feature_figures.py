"""Figures of features: their means by system, and what they weigh in the surrogate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from arena.data.wording import count_of
from features.engine.columns import feature_columns
from surrogate.board.board import Board
from surrogate_arena.pages.figures.figure import (
    MARKERS,
    MUTED,
    ROW_INCHES,
    Caption,
    drawable,
    label_inches,
    legend,
    new_figure,
    shown_names,
    style,
)
from surrogate_arena.pages.formats import BLUE, OKABE_ITO, SKY_BLUE, VERMILLION
from surrogate_arena.studies.families import model_families

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OTHER_FAMILY = "family not known"
BOX = 0.56


def counted_parts(board: Board) -> str:
    """Return how many languages, or slices, a board has, in words."""
    return count_of(len(board.languages), board.summary.part, board.summary.parts)


def feature_lollipops(board: Board) -> Figure:
    """Draw features' means a system, language by language (MIRAGE-Bench, figures 3 and 9).

    A feature that is the same for all systems is left out.

    Raises:
        UsageError: If no feature differs.
    """
    table = board.features
    table = table[table["system"].isin(board.overall["system"])]
    means = table.groupby(["language", "system"])[feature_columns(table)].mean()
    means = means.loc[:, means.nunique() > 1]
    if means.empty:
        raise UsageError("no feature differs between systems, so there are no lollipops to draw")
    languages, systems = (sorted(means.index.unique(name)) for name in ("language", "system"))
    caption = Caption(
        f"Features of the answers: {board.summary.arena}",
        f"A point is the mean over the answers of a system in a {board.summary.part}. "
        f"n = {count_of(len(systems), 'system')}, {counted_parts(board)}, "
        f"{count_of(len(table), 'answer')}. Model families are read off the names.",
        board.summary.signature,
    )
    n_panels = len(means.columns)
    n_columns = min(2, n_panels)
    height = 2.0 * ceil(n_panels / n_columns)
    width = n_columns * max(4.2, len(languages) * 0.36 + 0.7)
    with style():
        figure, grid = new_figure(caption, width, height, n_panels, n_columns)
        for axes, name in zip(grid, means.columns, strict=True):
            values = means[name].unstack("language").reindex(columns=languages)
            handles = _draw_lollipops(axes, values, families_of(systems))
            _label_lollipops(axes, str(name), languages, board.summary.part)
        legend(figure, handles, int(width / 1.5))
    return figure


def _label_lollipops(axes: Axes, title: str, languages: Sequence[str], part: str) -> None:
    labels = [drawable(language) for language in languages]
    axes.set_xticks(range(len(languages)), labels, rotation=0 if part == "language" else 90)
    axes.set_xlim(-0.6, len(languages) - 0.4)
    axes.set_ylabel("mean")
    axes.margins(y=0.12)
    axes.grid(axis="y")
    axes.set_title(drawable(title), loc="left")


def _draw_lollipops(
    axes: Axes, values: pd.DataFrame, families: Mapping[str, str]
) -> dict[str, Artist]:
    """Draw a feature's mean by system and language, colored by model family.

    Args:
        axes: The panel.
        values: One row per system, one column per language.
        families: System to its family.

    Returns:
        Family to what stands for it in the legend.
    """
    x = np.arange(len(values.columns))
    axes.vlines(x, values.min(), values.max(), color="#BBBBBB", zorder=1)
    handles: dict[str, Artist] = {}
    for number, family in enumerate(dict.fromkeys(families.values())):
        n_reuses, color = divmod(number, len(OKABE_ITO))
        rows = values.loc[[system for system in values.index if families[system] == family]]
        (handles[family],) = axes.plot(
            np.tile(x, len(rows)),
            rows.to_numpy(float).ravel(),
            MARKERS[(color + n_reuses) % len(MARKERS)],
            color=MUTED if family == OTHER_FAMILY else OKABE_ITO[color],
            markersize=5.5,
            markeredgecolor="white",
            markeredgewidth=0.5,
        )
    return handles


def families_of(systems: Sequence[str]) -> dict[str, str]:
    """Return the model family of each system, or both where its name tells of two; known first."""
    named = {system: " + ".join(sorted(model_families(system))) for system in systems}
    order = sorted(named.items(), key=lambda item: (not item[1], item[1]))
    return {system: family or OTHER_FAMILY for system, family in order}


def importance_boxes(board: Board) -> Figure:
    """Draw how each feature's share in the surrogate spreads over tournaments (figure 5).

    Boxes are the quartiles and the median, whiskers hold 95% of the tournaments. A board
    that holds nothing out gives the final shares alone.

    Raises:
        UsageError: If the board has no importances.
    """
    shares = board.importances.groupby("feature").mean(numeric_only=True)
    shares = shares[shares["importance"].notna()].sort_values(
        ["tournament_median", "tournament_low", "importance"], kind="stable", na_position="first"
    )
    if shares.empty:
        raise UsageError("no feature has an importance, as no surrogate was trained")
    caption = Caption(
        f"Features that the surrogate uses: {board.summary.arena}",
        f"n = {count_of(len(shares), 'feature')}, {counted_parts(board)}.",
        board.summary.signature,
    )
    rows = np.arange(len(shares))
    width = max(label_inches(shares.index) + 5.0, 6.5)
    with style():
        figure, (axes,) = new_figure(caption, width, len(shares) * ROW_INCHES + 0.9)
        handles = _draw_boxes(axes, shares)
        (handles["surrogate of the board (all tournaments)"],) = axes.plot(
            shares["importance"], rows, "D", color=VERMILLION, markersize=4.5
        )
        axes.grid(axis="x")
        axes.set_xlim(left=0)
        over = "" if len(board.languages) == 1 else f", mean over {counted_parts(board)}"
        axes.set_xlabel(f"Share in the surrogate's decisions{over}")
        axes.set_yticks(rows, list(shown_names(shares.index).values()))
        axes.set_ylim(-0.7, len(shares) - 0.3)
        legend(figure, handles, 4)
    return figure


def _draw_boxes(axes: Axes, shares: pd.DataFrame) -> dict[str, Any]:
    """Draw boxes and whiskers of shares over tournaments, a row per feature, if they are known.

    Returns:
        The legend's handles.
    """
    rows = np.arange(len(shares))
    handles: dict[str, Any] = {}
    if shares["tournament_low"].notna().any():
        handles["95% of tournaments"] = axes.hlines(
            rows, shares["tournament_low"], shares["tournament_high"], color=BLUE, linewidth=1.2
        )
    if shares["tournament_q1"].notna().any():
        extent = shares["tournament_q3"] - shares["tournament_q1"]
        (handles["quartiles"], *_) = axes.barh(
            rows, extent, BOX, left=shares["tournament_q1"], color=SKY_BLUE, edgecolor=BLUE
        )
        handles["median"] = axes.vlines(
            shares["tournament_median"],
            rows - BOX / 2,
            rows + BOX / 2,
            color="black",
            linewidth=1.8,
        )
    return handles
