"""Matrices of colored cells that also say their value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    longest_width,
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
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]

MISSING = "–"

_MOST_VECTOR_CELLS = 4000
_MOST_TEXTS = 8000
_POINTS = 8.0
_LEAST_POINTS = 4.5
_SHARE_OF_CELL = 0.62
_POINTS_PER_INCH = 72


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
    from matplotlib.colors import LinearSegmentedColormap

    colors = LinearSegmentedColormap.from_list("scale", list(scale))
    rows, columns = matrix.shades.shape
    points = min(_POINTS, max(_LEAST_POINTS, cell_inches * _POINTS_PER_INCH * _SHARE_OF_CELL))
    many = rows * columns > _MOST_VECTOR_CELLS
    axes.set_facecolor(NO_VALUE_GROUND)
    axes.pcolormesh(
        np.arange(columns + 1) - 0.5,
        np.arange(rows + 1) - 0.5,
        np.ma.masked_invalid(matrix.shades),
        cmap=colors,
        vmin=0,
        vmax=1,
        edgecolors="none" if many else "white",
        linewidth=0 if many else 0.8,
        rasterized=many,
    )
    axes.invert_yaxis()
    _name(axes, matrix, points, upright_columns)
    if rows * columns <= _MOST_TEXTS:
        _write_cells(axes, matrix, colors, points)


def _name(axes: Axes, matrix: Matrix, points: float, upright: bool) -> None:
    rows, columns = shown_names(matrix.rows), shown_names(matrix.columns)
    axes.set_yticks(range(len(matrix.rows)), [rows[name] for name in matrix.rows])
    axes.set_xticks(
        range(len(matrix.columns)),
        [columns[name] for name in matrix.columns],
        rotation=90 if upright else 0,
    )
    axes.tick_params(length=0, labelsize=points)
    axes.tick_params(axis="x", labeltop=True, labelbottom=False)
    axes.xaxis.set_label_position("top")
    axes.spines[:].set_visible(False)


def _write_cells(axes: Axes, matrix: Matrix, colors: Colormap, points: float) -> None:
    from matplotlib.colors import to_hex

    for row, texts in enumerate(matrix.texts):
        for column, text in enumerate(texts):
            shade = matrix.shades[row, column]
            ground = NO_VALUE_GROUND if np.isnan(shade) else to_hex(colors(float(shade)))
            axes.text(
                column,
                row,
                text,
                ha="center",
                va="center",
                fontsize=points,
                color=text_on(ground),
                clip_on=True,
            ).set_in_layout(False)


LOSES_TO_WINS = (VERMILLION, "#F7F7F7", BLUE)

_CELL_INCHES = 0.42
_LEAST_CELL_INCHES = 0.11
_WHOLE_INCHES = 20.0


def draw_win_matrix(board: Board, language: str | None = None) -> Figure:
    """Draw each system's share of points against each other one; a tie is half a point.

    Args:
        board: A board.
        language: Language to take; None adds up the battles of all.

    Raises:
        UsageError: If the board has no win matrix, or not in this language.
    """
    counts = language_rows(board.win_matrix, language)
    points, battles = _sums(counts, order_of(board, language, counts["system"]))
    names = [str(name) for name in battles.index]
    cell = float(np.clip(_WHOLE_INCHES / len(names), _LEAST_CELL_INCHES, _CELL_INCHES))
    labels = label_inches(longest_width(shown_names(names).values())) * min(cell / 0.2, 1)
    side = len(names) * cell
    languages = [language] if language else judged_languages(counts)
    caption = Caption(
        f"Who beats whom: {board.summary.arena}, {language or 'all languages'}",
        f"Share of points of the row's system against the column's, in %; a tie is half a point; "
        f"{MISSING} never met. n = {count_of(len(names), 'judged system')}, "
        f"{whole(battles.to_numpy().sum() / 2)} battles, "
        f"{count_of(len(languages), 'language')}; best rank by them first. "
        f"Judge: {board.summary.judge}.",
        board.summary.signature,
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


_COLUMN_INCHES = 0.34
_MEAN = "mean"


def rank_heat_map(board: Board) -> Figure:
    """Draw the ranks of a board, and by verdicts alone."""
    panels_of = {
        board.summary.rated_by.capitalize(): rank_matrix(board),
        "Verdicts alone": rank_matrix(board, "arena_rank"),
    }
    shown = {title: matrix for title, matrix in panels_of.items() if not matrix.is_empty}
    caption = Caption(
        f"Ranks by language: {board.summary.arena}",
        f"n = {count_of(len(board.systems), 'system')}, "
        f"{count_of(len(board.languages), 'language')}. Rank 1 is best; systems by the board's "
        f"mean rank; {MISSING} is unranked. Verdicts by {board.summary.judge}.",
        board.summary.signature,
    )
    return draw_ranks(shown, caption)


def draw_ranks(shown: Mapping[str, RankMatrix], caption: Caption) -> Figure:
    """Draw heat maps of ranks side by side.

    Args:
        shown: Title to ranks, with the same systems in the same order.
        caption: Title, note and signature.

    Raises:
        UsageError: If there is nothing to draw.
    """
    first = next(iter(shown.values()), None)
    if first is None:
        raise UsageError("no system is ranked, so there is no heat map to draw")
    systems = [str(name) for name in first.ranks.index]
    columns = len(first.ranks.columns) + 1
    labels = label_inches(longest_width(shown_names(systems).values()))
    width = max(labels + len(shown) * (columns * _COLUMN_INCHES + 0.3), 5.5)
    with style():
        sheet = new_sheet(width, len(systems) * ROW_INCHES + 0.7, caption)
        axes = panels(sheet, len(shown), len(shown), sharey=True)
        for place, (title, matrix) in zip(axes, shown.items(), strict=True):
            draw_matrix(place, _matrix_of_ranks(matrix), SEQUENTIAL, ROW_INCHES)
            place.set_xlabel(title)
            place.axvline(columns - 1.5, color="white", linewidth=3)
        for place in axes[1:]:
            place.tick_params(labelleft=False)
        axes[0].set_ylim(len(systems) - 0.5, -0.5)
    return sheet.figure


def _matrix_of_ranks(matrix: RankMatrix) -> Matrix:
    means = matrix.means.to_numpy(float)
    texts = [
        [*(decimal(rank, 0) for rank in row), decimal(mean, 1)]
        for row, mean in zip(matrix.ranks.to_numpy(), means, strict=True)
    ]
    return Matrix(
        np.clip(np.column_stack([matrix.shades, matrix.mean_shades]), 0, 1),
        texts,
        [str(name) for name in matrix.ranks.index],
        [*map(str, matrix.ranks.columns), _MEAN],
    )
