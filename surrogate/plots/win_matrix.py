"""Who won against whom, as shares of the battles of each pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from arena.errors import UsageError
from surrogate.palette import BLUE, VERMILLION
from surrogate.plots.board_parts import judged_languages, needed, order_of, rows_of
from surrogate.plots.figure import Caption, label_inches, new_sheet, panels, style
from surrogate.plots.labels import longest_width, shown_names
from surrogate.plots.matrix import MISSING, Matrix, draw_matrix
from surrogate.report.board_tables import BoardTables
from surrogate.report.formats import count_of, decimal, whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOSES_TO_WINS = (VERMILLION, "#F7F7F7", BLUE)

_CELL_INCHES = 0.42
_LEAST_CELL_INCHES = 0.11
_WHOLE_INCHES = 20.0


def win_matrix(tables: BoardTables, language: str | None = None) -> Figure:
    """Draw each system's share of points against each other one; a tie is half a point.

    Args:
        tables: A board.
        language: Language to take; None adds up the battles of all.

    Raises:
        UsageError: If the board has no win matrix, or not in this language.
    """
    counts = rows_of(needed(tables.win_matrix, "win_matrix.csv", "the win matrix"), language)
    points, battles = _sums(counts, order_of(tables, language, counts["system"]))
    names = [str(name) for name in battles.index]
    cell = float(np.clip(_WHOLE_INCHES / len(names), _LEAST_CELL_INCHES, _CELL_INCHES))
    labels = label_inches(longest_width(shown_names(names).values())) * min(cell / 0.2, 1)
    side = len(names) * cell
    languages = [language] if language else judged_languages(counts)
    caption = Caption(
        f"Who beats whom: {tables.summary.arena}, {language or 'all languages'}",
        f"Share of points of the row's system against the column's, in %; a tie is half a point; "
        f"{MISSING} never met. n = {count_of(len(names), 'judged system')}, "
        f"{whole(battles.to_numpy().sum() / 2)} battles, "
        f"{count_of(len(languages), 'language')}; best arena rank first. "
        f"Judge: {tables.summary.judge}.",
        tables.summary.signature,
    )
    with style():
        sheet = new_sheet(max(side + labels + 0.5, 6.0), side + labels + 0.4, caption)
        (axes,) = panels(sheet, 1, 1)
        draw_matrix(axes, _matrix(points, battles), LOSES_TO_WINS, cell, upright_columns=True)
        axes.set_xlabel("opponent")
        axes.set_ylabel("system")
    return sheet.figure


def _sums(counts: pd.DataFrame, order: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return points and battles, systems by opponents."""
    if counts.empty:
        raise UsageError("win_matrix.csv holds no pair of judged systems, so there are no wins")
    scored = counts.assign(
        points=counts["wins"] + counts["ties"] / 2,
        battles=counts["wins"] + counts["losses"] + counts["ties"],
    )
    summed = scored.groupby(["system", "opponent"])[["points", "battles"]].sum()
    points, battles = (
        summed[name].unstack().reindex(index=list(order), columns=list(order)).fillna(0.0)
        for name in ("points", "battles")
    )
    return points, battles


def _matrix(points: pd.DataFrame, battles: pd.DataFrame) -> Matrix:
    fought = battles.to_numpy(float)
    shares = np.divide(
        points.to_numpy(float), fought, out=np.full(fought.shape, np.nan), where=fought > 0
    )
    names = [str(name) for name in battles.index]
    texts = [
        ["" if row == column else decimal(100 * share, 0) for column, share in enumerate(line)]
        for row, line in enumerate(shares)
    ]
    return Matrix(shares, texts, names, names)
