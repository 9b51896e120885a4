"""All figures of a board, as files."""

from __future__ import annotations

from pathlib import Path

from arena.errors import UsageError
from surrogate.plots.board_figures import board_drawings
from surrogate.plots.figure import save
from surrogate.report.board_tables import read_board_tables

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
    for drawing in board_drawings(tables):
        try:
            figure = drawing.draw()
        except UsageError as error:
            reasons.append(f"{drawing.name}: {error}")
            continue
        for suffix in FORMATS:
            save(figure, target / f"{drawing.name}.{suffix}")
    if reasons:
        (target / NOT_DRAWN_FILE).write_text("\n".join(reasons) + "\n", encoding="utf-8")
