"""Panels and colored cells that figures of studies and papers share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from arena.data.errors import MissingDependencyError
from arena.data.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, LIGHT_BLUE = "#0072B2", "#56B4E9"
HATCH = "////"


@contextmanager
def plain_text() -> Iterator[None]:
    """Draw names as they are written, dollar signs too."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise MissingDependencyError("drawing", "matplotlib", "plots") from error
    with mpl.rc_context({"text.parse_math": False, "font.size": 9}):
        yield


def panels_of(
    names: Sequence[str],
    title: str,
    note: str,
    size: tuple[float, float],
    columns: int | None = None,
    *,
    share_rows: bool = True,
) -> tuple[Figure, dict[str, Axes]]:
    """Return a figure and a panel under each name.

    ``size`` is a panel's, in inches. Without ``columns`` all panels stand in a row.
    """
    from matplotlib.figure import Figure

    n_columns = min(columns or len(names), len(names))
    n_rows = -(-len(names) // n_columns)
    width, height = size
    # The first column has the labels of rows; title and note stand above and below.
    figure = Figure(figsize=(n_columns * width + 1.5, n_rows * height + 1), layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", weight="bold")
    figure.supxlabel(note, x=0.01, ha="left", fontsize=7.5, wrap=True)
    subplots = figure.subplots(
        n_rows, n_columns, squeeze=False, sharey="row" if share_rows else "none"
    )
    grid = subplots.ravel()
    for spare in grid[len(names) :]:
        spare.remove()
    panels = dict(zip(names, grid[: len(names)], strict=True))
    for name, axes in panels.items():
        axes.set_title(name)
    return figure, panels


def draw_cells(
    axes: Axes,
    shades: Floats,
    texts: Sequence[Sequence[str]],
    rows: Sequence[str],
    columns: Sequence[str],
    colors: str = "Blues",
) -> None:
    """Draw cells with shades (0 to 1, or NaN), shape (R, C), and texts."""
    axes.imshow(np.ma.masked_invalid(shades), cmap=colors, vmin=0, vmax=1, aspect="auto")
    axes.set_yticks(range(len(rows)), rows)
    axes.set_xticks(range(len(columns)), columns, rotation=90)
    for (row, column), shade in np.ndenumerate(shades):
        color = "white" if shade > 0.5 else "black"
        axes.text(column, row, texts[row][column], ha="center", va="center", color=color)
