"""Ranks of systems by languages, arena beside surrogate (MIRAGE-Bench, figure 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from arena.errors import UsageError
from surrogate.palette import SEQUENTIAL
from surrogate.plots.figure import ROW_INCHES, Caption, label_inches, new_sheet, panels, style
from surrogate.plots.labels import longest_width, shown_names
from surrogate.plots.matrix import MISSING, Matrix, draw_matrix
from surrogate.report.board_tables import BoardTables
from surrogate.report.formats import count_of, decimal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLUMN_INCHES = 0.34
_MEAN = "mean"


@dataclass(frozen=True)
class RankPanel:
    """One heat map of a figure.

    Attributes:
        title: Whose ranks.
        ranks: Systems by languages, 1 the best; NaN where a system is unranked.
    """

    title: str
    ranks: pd.DataFrame


def rank_heat_map(tables: BoardTables) -> Figure:
    """Draw the ranks of a board: by the arena, where it ranks any, and by the surrogate.

    Args:
        tables: A board, as ``read_board_tables`` returns it.
    """
    found = [
        RankPanel(title, _ranks(tables, column))
        for title, column in [("Arena", "arena_rank"), ("Surrogate", "rank")]
    ]
    shown = [panel for panel in found if panel.ranks.notna().to_numpy().any()]
    caption = Caption(
        f"Ranks by language: {tables.summary.arena}",
        f"n = {count_of(len(tables.systems), 'system')}, "
        f"{count_of(len(tables.languages), 'language')}. Rank 1 is best; systems by the board's "
        f"mean rank; {MISSING} is unranked. Arena judged by {tables.summary.judge}.",
        tables.summary.signature,
    )
    return draw_ranks(shown, caption)


def draw_ranks(shown: Sequence[RankPanel], caption: Caption) -> Figure:
    """Draw heat maps of ranks side by side.

    Args:
        shown: Heat maps with the same systems in the same order.
        caption: Title, note and signature.

    Raises:
        UsageError: If there is nothing to draw.
    """
    if not shown or shown[0].ranks.empty:
        raise UsageError("no system is ranked, so there is no heat map to draw")
    systems = [str(name) for name in shown[0].ranks.index]
    columns = len(shown[0].ranks.columns) + 1
    labels = label_inches(longest_width(shown_names(systems).values()))
    width = max(labels + len(shown) * (columns * _COLUMN_INCHES + 0.3), 5.5)
    with style():
        sheet = new_sheet(width, len(systems) * ROW_INCHES + 0.7, caption)
        axes = panels(sheet, len(shown), len(shown), sharey=True)
        for place, panel in zip(axes, shown, strict=True):
            draw_matrix(place, _matrix(panel.ranks), SEQUENTIAL, ROW_INCHES)
            place.set_xlabel(panel.title)
            place.axvline(columns - 1.5, color="white", linewidth=3)
        for place in axes[1:]:
            place.tick_params(labelleft=False)
        axes[0].set_ylim(len(systems) - 0.5, -0.5)
    return sheet.figure


def _ranks(tables: BoardTables, column: str) -> pd.DataFrame:
    ranks = tables.board.pivot(index="system", columns="language", values=column)
    return ranks.reindex(index=list(tables.systems), columns=list(tables.languages)).astype(float)


def _matrix(ranks: pd.DataFrame) -> Matrix:
    values = ranks.to_numpy(float)
    complete = ~np.isnan(values).any(axis=1)
    means = np.where(complete, np.nan_to_num(values).mean(axis=1), np.nan)
    worst = np.nanmax(values, axis=0, initial=1.0)
    shades = (values - 1) / np.maximum(worst - 1, 1)
    mean_shades = (means - 1) / max(float(np.mean(worst)) - 1, 1)
    texts = [
        [*(decimal(rank, 0) for rank in row), decimal(mean, 1)]
        for row, mean in zip(values, means, strict=True)
    ]
    return Matrix(
        np.clip(np.column_stack([shades, mean_shades]), 0, 1),
        texts,
        [str(name) for name in ranks.index],
        [*map(str, ranks.columns), _MEAN],
    )
