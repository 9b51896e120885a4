"""Keeping several boards up to date from one configuration, and comparing two boards."""

from surrogate.regeneration.board_diff import BoardDiff, diff_boards
from surrogate.regeneration.config_file import ConfiguredBoard, Leaderboards, read_configuration
from surrogate.regeneration.outcomes import RunReport, StepOutcome
from surrogate.regeneration.regenerate import check, regenerate

__all__ = [
    "BoardDiff",
    "ConfiguredBoard",
    "Leaderboards",
    "RunReport",
    "StepOutcome",
    "check",
    "diff_boards",
    "read_configuration",
    "regenerate",
]
