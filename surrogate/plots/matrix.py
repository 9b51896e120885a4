"""Matrices of coloured cells that also say their value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from surrogate.palette import text_on
from surrogate.plots.figure import NO_VALUE_GROUND
from surrogate.plots.labels import shown_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

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
        shades: Place of each cell on the colour scale, 0 to 1, shape (rows, columns); NaN for none.
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
        scale: Colours from shade 0 to 1, between which others are mixed.
        cell_inches: Height of a cell, which bounds the size of its text.
        upright_columns: Turn the names of columns by a quarter.
    """
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("scale", list(scale))
    rows, columns = matrix.shades.shape
    points = min(_POINTS, max(_LEAST_POINTS, cell_inches * _POINTS_PER_INCH * _SHARE_OF_CELL))
    many = rows * columns > _MOST_VECTOR_CELLS
    axes.set_facecolor(NO_VALUE_GROUND)
    axes.pcolormesh(
        np.arange(columns + 1) - 0.5,
        np.arange(rows + 1) - 0.5,
        np.ma.masked_invalid(matrix.shades),
        cmap=colours,
        vmin=0,
        vmax=1,
        edgecolors="none" if many else "white",
        linewidth=0 if many else 0.8,
        rasterized=many,
    )
    axes.invert_yaxis()
    _name(axes, matrix, points, upright_columns)
    if rows * columns <= _MOST_TEXTS:
        _write_cells(axes, matrix, colours, points)


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


def _write_cells(axes: Axes, matrix: Matrix, colours: Colormap, points: float) -> None:
    from matplotlib.colors import to_hex

    for row, texts in enumerate(matrix.texts):
        for column, text in enumerate(texts):
            shade = matrix.shades[row, column]
            ground = NO_VALUE_GROUND if np.isnan(shade) else to_hex(colours(float(shade)))
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
