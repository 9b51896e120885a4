"""Top floor: surrogate judges, validation, ranking new systems, the command line.

Names are loaded on first use, so that the command line starts quickly.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from surrogate.board import Board, build_board
    from surrogate.board_folder import PublishedBoard, read_board, write_board
    from surrogate.judge import Recipe, SurrogateJudge
    from surrogate.judge_file import load_judge, save_judge
    from surrogate.ranking import Placement, place_systems, rank_systems

_HOMES = {
    "Board": "board",
    "Placement": "ranking",
    "PublishedBoard": "board_folder",
    "Recipe": "judge",
    "SurrogateJudge": "judge",
    "build_board": "board",
    "load_judge": "judge_file",
    "place_systems": "ranking",
    "rank_systems": "ranking",
    "read_board": "board_folder",
    "save_judge": "judge_file",
    "write_board": "board_folder",
}

__all__ = [
    "Board",
    "Placement",
    "PublishedBoard",
    "Recipe",
    "SurrogateJudge",
    "build_board",
    "load_judge",
    "place_systems",
    "rank_systems",
    "read_board",
    "save_judge",
    "write_board",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
