"""Means of features by system (figures 3 and 9), and what they weigh in the surrogate (5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from arena.data.errors import UsageError
from features.engine.extraction import feature_columns
from surrogate.board.board import Board
from surrogate_arena.papers.drawing import BLUE, LIGHT_BLUE, new_figure, plain_text
from surrogate_arena.studies.families import model_families

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OTHER_FAMILY = "family not known"


def feature_lollipops(board: Board) -> Figure:
    """Draw features' means a system, language by language (MIRAGE-Bench, figures 3 and 9).

    Systems of one family of models share a color.
    """
    table = board.features[board.features["system"].isin(board.overall["system"])]
    means = table.groupby(["language", "system"])[feature_columns(table)].mean()
    means = means.loc[:, means.nunique() > 1]
    if means.empty:
        raise UsageError("no feature differs between systems, so there are no lollipops to draw")
    systems = sorted(means.index.unique("system"))
    families = {system: " + ".join(sorted(model_families(system))) for system in systems}
    languages = sorted(means.index.unique("language"))
    places = np.arange(len(languages))
    note = "A point is the mean over a system's answers; families are read off the names."
    title = f"Features of the answers: {board.summary.arena}"
    n_panels = len(means.columns)
    n_columns = min(2, n_panels)
    with plain_text():
        width = n_columns * max(4.2, len(languages) * 0.36 + 0.7)
        height = 2 * -(-n_panels // n_columns) + 1
        figure, panels = new_figure(title, note, n_panels, n_columns, width, height)
        for axes, name in zip(panels, means.columns, strict=True):
            values = means[name].unstack("language").reindex(columns=languages)
            axes.vlines(places, values.min(), values.max(), color="lightgray", zorder=1)
            for family in sorted(set(families.values()), reverse=True):
                rows = values[values.index.map(families) == family].to_numpy(float)
                x = np.tile(places, len(rows))
                axes.plot(x, rows.ravel(), "o", label=family or OTHER_FAMILY)
            axes.set_xticks(places, languages)
            axes.set_title(str(name), loc="left")
        panels[0].legend()
    return figure


def importance_boxes(board: Board) -> Figure:
    """Draw how each feature's share in the surrogate spreads over tournaments (figure 5).

    A board that holds nothing out gives the final shares alone.
    """
    shares = board.importances.groupby("feature").mean(numeric_only=True)
    shares = shares[shares["importance"].notna()].sort_values(
        ["tournament_median", "tournament_low", "importance"], kind="stable", na_position="first"
    )
    if shares.empty:
        raise UsageError("no feature has an importance, as no surrogate was trained")
    rows = np.arange(len(shares))
    title = f"Features that the surrogate uses: {board.summary.arena}"
    note = "Share in the decisions. Boxes: quartiles; lines: 95% of tournaments; points: the board."
    with plain_text():
        figure, (axes,) = new_figure(title, note, 1, 1, 6.5, 0.25 * len(shares) + 1.5)
        axes.hlines(rows, shares["tournament_low"], shares["tournament_high"], color=BLUE)
        extent = shares["tournament_q3"] - shares["tournament_q1"]
        axes.barh(rows, extent, 0.5, left=shares["tournament_q1"], color=LIGHT_BLUE)
        axes.plot(shares["tournament_median"], rows, "|", color="black", markersize=12)
        axes.plot(shares["importance"], rows, "D", color="black", markersize=4)
        axes.set_yticks(rows, list(shares.index))
    return figure
