"""The first number of a board: how the best system does against the version in use."""

from __future__ import annotations

from arena.data.arena import Arena
from surrogate.board.board import Board
from surrogate_arena.gating.gate import gate


def against_in_use(board: Board, arena: Arena, in_use: str) -> str:
    """Say how often the best other system beats the one in use, and what is broken: a gate's line.

    Args:
        board: The board.
        arena: Its arena, with all verdicts.
        in_use: Name of the version in use; empty for none.

    Returns:
        The sentence, by the verdicts of the board's judge; empty where nothing is to be compared.

    Raises:
        UsageError: If there is no such system.
    """
    if not in_use:
        return ""
    ranked = board.overall.loc[board.overall["rank"].notna(), "system"]
    others = [system for system in ranked if system != in_use]
    if not others:
        return ""
    judged = arena if board.summary.is_first else arena.judged_by(board.summary.judge)
    return gate(arena=judged, candidate=others[0], baseline=in_use).sentences[0]
