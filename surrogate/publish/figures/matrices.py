"""Matrices of colored cells that also say their value: who beats whom, ranks by language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError
from arena.data.wording import count_of
from surrogate.board.board import Board
from surrogate.publish.figures.figure import (
    NO_VALUE_GROUND,
    ROW_INCHES,
    Caption,
    judged_languages,
    label_inches,
    language_rows,
    new_sheet,
    order_of,
    panels,
    shown_names,
    style,
)
from surrogate.publish.formats import decimal, whole
from surrogate.publish.palette import BLUE, SEQUENTIAL, VERMILLION, text_on
from surrogate.publish.view import RankMatrix, rank_matrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]

MISSING = "–"
LOSES_TO_WINS = (VERMILLION, "#F7F7F7", BLUE)
MOST_VECTOR_CELLS = 4000
MOST_TEXTS = 8000
LARGEST_POINTS, SMALLEST_POINTS, POINTS_PER_CELL_INCH = 8.0, 4.5, 45.0
CELL_INCHES, SMALLEST_CELL_INCHES, WHOLE_INCHES = 0.42, 0.11, 20.0
RANK_INCHES = 0.34


@dataclass(frozen=True)
class Matrix:
    """What is drawn.

    Attributes:
        shades: Place of each cell on the color scale, 0 to 1, shape (rows, columns); NaN for none.
        texts: What each cell says, in the same shape.
        rows: Names of the rows.
        columns: Names of the columns.
    """

    shades: Floats
    texts: Sequence[Sequence[str]]
    rows: Sequence[str]
    columns: Sequence[str]


def draw_matrix(
    axes: Axes,
    matrix: Matrix,
    scale: Sequence[str],
    cell_inches: float,
    upright_columns: bool = False,
) -> None:
    """Draw a matrix, first row at the top, columns named above.

    Args:
        axes: Where to draw.
        matrix: What to draw.
        scale: Colors from shade 0 to 1, between which others are mixed.
        cell_inches: Height of a cell, which bounds the size of its text.
        upright_columns: Turn the names of columns by a quarter.
    """
    from matplotlib.colors import LinearSegmentedColormap, to_hex

    colors = LinearSegmentedColormap.from_list("scale", list(scale))
    cells = matrix.shades.size
    points = float(np.clip(cell_inches * POINTS_PER_CELL_INCH, SMALLEST_POINTS, LARGEST_POINTS))
    axes.set_facecolor(NO_VALUE_GROUND)
    axes.pcolormesh(
        *(np.arange(size + 1) - 0.5 for size in reversed(matrix.shades.shape)),
        np.ma.masked_invalid(matrix.shades),
        cmap=colors,
        vmin=0,
        vmax=1,
        edgecolors="none" if cells > MOST_VECTOR_CELLS else "white",
        linewidth=0 if cells > MOST_VECTOR_CELLS else 0.8,
        rasterized=cells > MOST_VECTOR_CELLS,
    )
    axes.invert_yaxis()
    rows, columns = shown_names(matrix.rows), shown_names(matrix.columns)
    axes.set_yticks(range(len(rows)), list(rows.values()))
    rotation = 90 if upright_columns else 0
    axes.set_xticks(range(len(columns)), list(columns.values()), rotation=rotation)
    axes.tick_params(length=0, labelsize=points)
    axes.tick_params(axis="x", labeltop=True, labelbottom=False)
    axes.xaxis.set_label_position("top")
    axes.spines[:].set_visible(False)
    if cells > MOST_TEXTS:
        return
    for (row, column), shade in np.ndenumerate(matrix.shades):
        ground = NO_VALUE_GROUND if np.isnan(shade) else to_hex(colors(float(shade)))
        text = matrix.texts[row][column]
        middle: dict[str, Any] = {"ha": "center", "va": "center", "clip_on": True}
        axes.text(
            column, row, text, fontsize=points, color=text_on(ground), **middle
        ).set_in_layout(False)


def draw_win_matrix(board: Board, language: str | None = None) -> Figure:
    """Draw each system's share of points against each other one; a tie is half a point.

    Args:
        board: A board.
        language: Language to take; None adds up the battles of all.

    Raises:
        UsageError: If the board has no win matrix, or not in this language.
    """
    counts = language_rows(board.win_matrix, language)
    if counts.empty:
        raise UsageError("win_matrix.csv holds no pair of judged systems, so there are no wins")
    names = order_of(board, language, counts["system"])
    summed = counts.groupby(["system", "opponent"])[["wins", "ties", "losses"]].sum()
    wins, ties, losses = (
        summed[name].unstack().reindex(index=names, columns=names).fillna(0).to_numpy(float)
        for name in ("wins", "ties", "losses")
    )
    battles = wins + ties + losses
    shares = np.full(battles.shape, np.nan)
    np.divide(wins + ties / 2, battles, out=shares, where=battles > 0)
    texts = [[decimal(100 * share, 0) for share in row] for row in shares]
    for place in range(len(names)):
        texts[place][place] = ""
    cell = float(np.clip(WHOLE_INCHES / len(names), SMALLEST_CELL_INCHES, CELL_INCHES))
    labels = label_inches(shown_names(names).values()) * min(cell / 0.2, 1)
    side = len(names) * cell
    languages = [language] if language else judged_languages(counts)
    caption = Caption(
        f"Who beats whom: {board.summary.arena}, {language or 'all languages'}",
        f"Share of points of the row's system against the column's, in %; a tie is half a point; "
        f"{MISSING} never met. n = {count_of(len(names), 'judged system')}, "
        f"{whole(battles.sum() / 2)} battles, {count_of(len(languages), 'language')}; best rank by "
        f"them first. Judge: {board.summary.judge}.",
        board.summary.signature,
    )
    with style():
        sheet = new_sheet(max(side + labels + 0.5, 6.0), side + labels + 0.4, caption)
        (axes,) = panels(sheet, 1, 1)
        matrix = Matrix(shares, texts, names, names)
        draw_matrix(axes, matrix, LOSES_TO_WINS, cell, upright_columns=True)
        axes.set_xlabel("opponent")
        axes.set_ylabel("system")
    return sheet.figure


def rank_heat_map(board: Board) -> Figure:
    """Draw the ranks of a board, and by verdicts alone (MIRAGE-Bench, figure 4)."""
    every = {
        board.summary.rated_by.capitalize(): rank_matrix(board),
        "Verdicts alone": rank_matrix(board, "arena_rank"),
    }
    caption = Caption(
        f"Ranks by language: {board.summary.arena}",
        f"n = {count_of(len(board.systems), 'system')}, "
        f"{count_of(len(board.languages), 'language')}. Rank 1 is best; systems by the board's "
        f"mean rank; {MISSING} is unranked. Verdicts by {board.summary.judge}.",
        board.summary.signature,
    )
    return draw_ranks({name: item for name, item in every.items() if not item.is_empty}, caption)


def draw_ranks(shown: Mapping[str, RankMatrix], caption: Caption) -> Figure:
    """Draw heat maps of ranks side by side.

    Args:
        shown: Title to ranks, with the same systems in the same order.
        caption: Title, note and signature.

    Raises:
        UsageError: If there is nothing to draw.
    """
    if not shown:
        raise UsageError("no system is ranked, so there is no heat map to draw")
    ranks = next(iter(shown.values())).ranks
    columns = len(ranks.columns) + 1
    labels = label_inches(shown_names(map(str, ranks.index)).values())
    width = max(labels + len(shown) * (columns * RANK_INCHES + 0.3), 5.5)
    with style():
        sheet = new_sheet(width, len(ranks) * ROW_INCHES + 0.7, caption)
        axes = panels(sheet, len(shown), len(shown), sharey=True)
        for place, (title, matrix) in zip(axes, shown.items(), strict=True):
            draw_matrix(place, _matrix_of_ranks(matrix), SEQUENTIAL, ROW_INCHES)
            place.set_xlabel(title)
            place.axvline(columns - 1.5, color="white", linewidth=3)
        for place in axes[1:]:
            place.tick_params(labelleft=False)
        axes[0].set_ylim(len(ranks) - 0.5, -0.5)
    return sheet.figure


def _matrix_of_ranks(matrix: RankMatrix) -> Matrix:
    shown = matrix.ranks.map(lambda rank: decimal(rank, 0))
    shown["mean"] = matrix.means.map(lambda mean: decimal(mean, 1))
    shades: Floats = np.column_stack([matrix.shades, matrix.mean_shades]).clip(0, 1)
    names: pd.Index = shown.index
    return Matrix(shades, shown.to_numpy().tolist(), list(map(str, names)), list(map(str, shown)))
