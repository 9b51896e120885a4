"""Ground floor: records and formats, battles, Bradley-Terry, tournaments."""

from arena.data.errors import ArenaError, DataError, MissingDependencyError, Problem, UsageError
from arena.data.folder import Arena, read_answers, read_arena, write_arena
from arena.data.schema import ArenaInfo, Passage
from arena.data.version import __version__

__all__ = [
    "Arena",
    "ArenaError",
    "ArenaInfo",
    "DataError",
    "MissingDependencyError",
    "Passage",
    "Problem",
    "UsageError",
    "__version__",
    "read_answers",
    "read_arena",
    "write_arena",
]
