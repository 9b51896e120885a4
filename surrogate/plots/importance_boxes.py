"""Feature importances over tournaments as box plots (MIRAGE-Bench, figure 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from arena.errors import UsageError
from surrogate.palette import BLUE, SKY_BLUE, VERMILLION
from surrogate.plots.board_parts import judged_languages, needed, rows_of
from surrogate.plots.figure import (
    ROW_INCHES,
    Caption,
    label_inches,
    legend,
    new_sheet,
    panels,
    style,
)
from surrogate.plots.labels import longest_width, shown_names
from surrogate.report.board_tables import BoardTables
from surrogate.report.formats import count_of

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SHARES = ("importance", "tournament_low", "tournament_high")
_QUARTILES = ("tournament_q1", "tournament_median", "tournament_q3")
_BOX = 0.56
_AXES_INCHES = 5.0


def importance_boxes(tables: BoardTables, language: str | None = None) -> Figure:
    """Draw how each feature's share in the surrogate spreads over tournaments.

    Boxes are the quartiles and the median, whiskers hold 95% of the tournaments. An older board
    without quartiles gives whiskers alone; one that holds nothing out, the final shares alone.

    Args:
        tables: A board.
        language: Language to take; None averages every mark over the languages, as the paper does.

    Raises:
        UsageError: If the board has no importances, or not in this language.
    """
    table = needed(tables.importances, "importances.csv", "the box plot of importances")
    chosen = rows_of(table, language)
    columns = [name for name in (*_SHARES, *_QUARTILES) if name in chosen]
    shares = chosen.groupby("feature")[columns].mean().reindex(columns=[*_SHARES, *_QUARTILES])
    shares = shares[shares["importance"].notna()].sort_values(
        ["tournament_median", "tournament_low", "importance"], kind="stable", na_position="first"
    )
    if shares.empty:
        raise UsageError("no feature has an importance, as no surrogate was trained")
    languages = judged_languages(chosen)
    names = shown_names(map(str, shares.index))
    width = max(label_inches(longest_width(names.values())) + _AXES_INCHES, 6.5)
    with style():
        sheet = new_sheet(
            width, len(shares) * ROW_INCHES + 1.1, _caption(tables, chosen, shares, language)
        )
        (axes,) = panels(sheet, 1, 1)
        handles = _draw(axes, shares)
        axes.set_yticks(range(len(shares)), list(names.values()))
        axes.set_ylim(-0.7, len(shares) - 0.3)
        over = "" if len(languages) == 1 else f", mean over {count_of(len(languages), 'language')}"
        axes.set_xlabel(f"Share in the surrogate's decisions{over}")
        legend(sheet, handles, 4)
    return sheet.figure


def _caption(
    tables: BoardTables, chosen: pd.DataFrame, shares: pd.DataFrame, language: str | None
) -> Caption:
    languages = judged_languages(chosen)
    left_out = chosen["feature"].nunique() - len(shares)
    tournaments = [
        tables.summary.languages[name].holdout_r2.tournaments
        for name in languages
        if name in tables.summary.languages
    ]
    note = f"n = {count_of(len(shares), 'feature')}, {count_of(len(languages), 'language')}"
    if any(tournaments):
        spread = sorted({min(tournaments), max(tournaments)})
        note += f", {'–'.join(map(str, spread))} tournaments a language"
    note += "."
    if left_out:
        note += f" Not drawn, as no surrogate could use it: {count_of(left_out, 'feature')}."
    return Caption(
        f"What the surrogate looks at: {tables.summary.arena}, {language or 'all languages'}",
        note,
        tables.summary.signature,
    )


def _draw(axes: Axes, shares: pd.DataFrame) -> dict[str, Artist]:
    """Draw all rows, and return what the legend explains."""
    rows = np.arange(len(shares))
    handles: dict[str, Artist] = {}
    if shares["tournament_low"].notna().any():
        handles["95% of tournaments"] = axes.hlines(
            rows, shares["tournament_low"], shares["tournament_high"], color=BLUE, linewidth=1.2
        )
    if shares["tournament_q1"].notna().any():
        extent = shares["tournament_q3"] - shares["tournament_q1"]
        boxes = axes.barh(
            rows, extent, _BOX, shares["tournament_q1"], color=SKY_BLUE, edgecolor=BLUE
        )
        handles["quartiles"] = boxes[0]
        half = _BOX / 2
        handles["median"] = axes.vlines(
            shares["tournament_median"], rows - half, rows + half, color="black", linewidth=1.8
        )
    (handles["surrogate of the board (all tournaments)"],) = axes.plot(
        shares["importance"], rows, "D", color=VERMILLION, markersize=4.5, linestyle="none"
    )
    axes.grid(axis="x")
    axes.set_xlim(left=0)
    return handles
