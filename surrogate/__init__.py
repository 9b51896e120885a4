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
    from surrogate.learning.names import find_surrogate
    from surrogate.learning.saving import load_surrogate, save_surrogate
    from surrogate.learning.surrogate import Surrogate
    from surrogate.ranking.rank import RankedSystems, place_systems, rank_systems

_HOMES = {
    "Board": "board.board",
    "BoardSettings": "board.settings",
    "RankedSystems": "ranking.rank",
    "Surrogate": "learning.surrogate",
    "build_board": "board.build",
    "find_surrogate": "learning.names",
    "load_surrogate": "learning.saving",
    "place_systems": "ranking.rank",
    "rank_systems": "ranking.rank",
    "save_surrogate": "learning.saving",
}

__all__ = [
    "Board",
    "BoardSettings",
    "RankedSystems",
    "Surrogate",
    "build_board",
    "find_surrogate",
    "load_surrogate",
    "place_systems",
    "rank_systems",
    "save_surrogate",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
