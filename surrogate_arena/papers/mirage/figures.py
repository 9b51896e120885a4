"""Figures of MIRAGE-Bench: features by system (3 and 9), their weight (5), sampling (6)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.quality.families import model_families
from features.engine.extraction import feature_columns
from surrogate.board.board import Board
from surrogate_arena.papers.mirage.tournament_fits import share_quantiles
from surrogate_arena.studies.drawing import BLUE, LIGHT_BLUE, panels_of, plain_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
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
    languages = sorted(means.index.unique("language"))
    note = "A point is the mean over a system's answers; families are read off the names."
    title = f"Features of the answers: {board.summary.arena}"
    size = (max(4.2, len(languages) * 0.36 + 0.7), 2)
    with plain_text():
        figure, panels = panels_of(list(means.columns), title, note, size, columns=2)
        for name, axes in panels.items():
            _draw_lollipops(axes, means[name].unstack("language").reindex(columns=languages))
        panels[means.columns[0]].legend()
    return figure


def _draw_lollipops(axes: Axes, values: pd.DataFrame) -> None:
    places = np.arange(len(values.columns))
    axes.vlines(places, values.min(), values.max(), color="lightgray", zorder=1)
    families = values.index.map(lambda system: " + ".join(sorted(model_families(system))))
    for family in sorted(set(families), reverse=True):
        rows = values[families == family].to_numpy(float)
        axes.plot(np.tile(places, len(rows)), rows.ravel(), "o", label=family or OTHER_FAMILY)
    axes.set_xticks(places, list(values.columns))


def importance_boxes(board: Board, arena: Arena | Path | str | None = None) -> Figure:
    """Draw how each feature's share in the surrogate spreads over tournaments (figure 5).

    A surrogate of all languages together has the board's shares alone. ``arena`` is by default the
    board's.
    """
    final = board.importances.groupby("feature")["importance"].mean().dropna()
    if final.empty:
        raise UsageError("no feature has an importance, as no surrogate was trained")
    shares = share_quantiles(board, arena).assign(board=final)
    shares = shares.sort_values([0.5, 0.025, "board"], kind="stable", na_position="first")
    rows = np.arange(len(shares))
    title = f"Features that the surrogate uses: {board.summary.arena}"
    note = "Boxes: quartiles; lines: 95% of tournaments; points: the board."
    heading = "Share in the decisions"
    with plain_text():
        figure, panels = panels_of([heading], title, note, (5, 0.25 * len(shares) + 0.5))
        axes = panels[heading]
        axes.hlines(rows, shares[0.025], shares[0.975], color=BLUE)
        axes.barh(rows, shares[0.75] - shares[0.25], 0.5, left=shares[0.25], color=LIGHT_BLUE)
        axes.plot(shares[0.5], rows, "|", color="black", markersize=12)
        axes.plot(shares["board"], rows, "D", color="black", markersize=4)
        axes.set_yticks(rows, list(shares.index))
    return figure
