"""Figures of MIRAGE-Bench: features by system (3 and 9), their weight (5), sampling (6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from features.engine.extraction import feature_columns
from surrogate.board.board import Board
from surrogate_arena.papers.drawing import BLUE, LIGHT_BLUE, panels_of, plain_text
from surrogate_arena.studies.families import model_families
from surrogate_arena.studies.sampling import COLUMNS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OTHER_FAMILY = "family not known"
DESIGNS = {
    "questions": "Fewer questions, all their pairs",
    "pairs": "Random pairs of each question",
}
MOST_BANDS = 3
"""Languages above which bands would hide each other."""


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
    note = "Boxes: quartiles; lines: 95% of tournaments; points: the board."
    heading = "Share in the decisions"
    with plain_text():
        figure, panels = panels_of([heading], title, note, (5, 0.25 * len(shares) + 0.5))
        axes = panels[heading]
        axes.hlines(rows, shares["tournament_low"], shares["tournament_high"], color=BLUE)
        extent = shares["tournament_q3"] - shares["tournament_q1"]
        axes.barh(rows, extent, 0.5, left=shares["tournament_q1"], color=LIGHT_BLUE)
        axes.plot(shares["tournament_median"], rows, "|", color="black", markersize=12)
        axes.plot(shares["importance"], rows, "D", color="black", markersize=4)
        axes.set_yticks(rows, list(shares.index))
    return figure


def sampling_curves(table: pd.DataFrame, signature: str) -> Figure:
    """Draw Kendall tau with the whole arena against the share of judgments (figure 6).

    The table is of ``validate(arena, "sampling")``.
    """
    absent = [column for column in COLUMNS if column not in table]
    if absent or table["tau"].isna().all():
        raise UsageError("the table is of no study of sampling; figures are drawn of those alone")
    rated = table.dropna(subset="tau")
    designs = list(rated["design"].unique())
    n_judgments = rated.groupby("language")["judgments"].max()
    note = (
        f"Means over random parts of the arena, of {n_judgments.min():.0f} to "
        f"{n_judgments.max():.0f} judgments per language. Bands (of {MOST_BANDS} languages at "
        "most) hold 95% of the parts."
    )
    title = "How many judgments a ranking needs"
    with plain_text():
        figure, panels = panels_of(designs, title, note, (4.2, 3.5))
        for design, axes in panels.items():
            _draw_curves(axes, rated[rated["design"] == design])
            axes.set_title(DESIGNS.get(design, design))
        panels[designs[0]].set_ylabel("Kendall tau with the whole arena")
        panels[designs[-1]].legend()
    figure.set_label(f"{title}\n{signature}")
    return figure


def _draw_curves(axes: Axes, rows: pd.DataFrame) -> None:
    has_bands = rows["language"].nunique() <= MOST_BANDS
    for language, part in rows.groupby("language", sort=False):
        curve = part.sort_values("share").astype({"share": float, "low": float, "high": float})
        percents = 100 * curve["share"]
        (line,) = axes.plot(percents, curve["tau"], marker="o", label=language)
        if has_bands:
            color = line.get_color()
            axes.fill_between(percents, curve["low"], curve["high"], color=color, alpha=0.15)
    if not has_bands:
        mean = rows.groupby("share")["tau"].mean()
        axes.plot(100 * mean.index, mean, color="black", linewidth=3, label="mean")
    axes.set_xlabel("Share of the arena's judgments (%)")
    axes.grid()
