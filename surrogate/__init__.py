"""Top floor: surrogate judges, validation, ranking new systems, the command line.

Names are loaded on first use, so that the command line starts quickly.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from surrogate.board.board import Board
    from surrogate.board.build import build_board
    from surrogate.board.settings import BoardSettings
    from surrogate.learning.saving import load_judge, save_judge
    from surrogate.learning.surrogates import Recipe, SurrogateJudge
    from surrogate.ranking.rank import Placement, place_systems, rank_systems

_HOMES = {
    "Board": "board.board",
    "BoardSettings": "board.settings",
    "Placement": "ranking.rank",
    "Recipe": "learning.surrogates",
    "SurrogateJudge": "learning.surrogates",
    "build_board": "board.build",
    "load_judge": "learning.saving",
    "place_systems": "ranking.rank",
    "rank_systems": "ranking.rank",
    "save_judge": "learning.saving",
}

__all__ = [
    "Board",
    "BoardSettings",
    "Placement",
    "Recipe",
    "SurrogateJudge",
    "build_board",
    "load_judge",
    "place_systems",
    "rank_systems",
    "save_judge",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
