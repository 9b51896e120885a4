"""What the papers' figures share: a frame with title and note, and tables of colored cells."""

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
MISSING = "–"


@contextmanager
def plain_text() -> Iterator[None]:
    """Draw names as they are written, dollar signs too."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise MissingDependencyError("drawing", "matplotlib", "plots") from error
    with mpl.rc_context({"text.parse_math": False, "font.size": 9}):
        yield


def new_figure(
    title: str, note: str, panels: int, columns: int, width: float, height: float
) -> tuple[Figure, list[Axes]]:
    """Return a figure of so many inches and its panels, which share their rows."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", weight="bold")
    figure.supxlabel(note, x=0.01, ha="left", fontsize=7.5, wrap=True)
    n_rows = -(-panels // columns)
    grid = figure.subplots(n_rows, columns, squeeze=False, sharey="row").ravel()
    for spare in grid[panels:]:
        spare.remove()
    return figure, list(grid[:panels])


def draw_cells(
    axes: Axes,
    shades: Floats,
    texts: Sequence[Sequence[str]],
    rows: Sequence[str],
    columns: Sequence[str],
    colors: str = "Blues",
) -> None:
    """Draw cells with shades from 0 to 1, shape (R, C), and a text each; NaN stays white."""
    axes.imshow(np.ma.masked_invalid(shades), cmap=colors, vmin=0, vmax=1, aspect="auto")
    axes.set_yticks(range(len(rows)), rows)
    axes.set_xticks(range(len(columns)), columns, rotation=90)
    for (row, column), shade in np.ndenumerate(shades):
        color = "white" if shade > 0.5 else "black"
        axes.text(column, row, texts[row][column], ha="center", va="center", color=color)
