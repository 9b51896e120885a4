"""All figures of a board, as files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from arena.errors import UsageError
from surrogate import plots
from surrogate.report.board_tables import BoardTables, read_board_tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("png", "svg")
NOT_DRAWN_FILE = "not_drawn.txt"
"""Which figures the board has not the tables for, and why."""


def write_figures(board_folder: Path, target: Path) -> None:
    """Draw a board's figures; what cannot be drawn is listed with the reason.

    Args:
        board_folder: What ``surrogate-arena board`` wrote.
        target: Folder to write to.

    Raises:
        MissingDependencyError: If matplotlib is not installed.
    """
    tables = read_board_tables(board_folder)
    reasons = []
    for name, draw in _figures(tables):
        try:
            figure = draw()
        except UsageError as error:
            reasons.append(f"{name}: {error}")
            continue
        for kind in FORMATS:
            plots.save(figure, target / f"{name}.{kind}")
    if reasons:
        (target / NOT_DRAWN_FILE).write_text("\n".join(reasons) + "\n", encoding="utf-8")


def _figures(tables: BoardTables) -> Iterator[tuple[str, Callable[[], Figure]]]:
    yield "ranks", partial(plots.rank_heat_map, tables)
    yield "agreement", partial(plots.tau_scatter, tables)
    yield "wins", partial(plots.win_matrix, tables)
    yield "importances", partial(plots.importance_boxes, tables)
    yield "features", partial(plots.feature_lollipops, tables)
    for language in tables.languages:
        yield f"ratings-{language}", partial(plots.rating_intervals, tables, language)
