"""The best system compared with the version in use."""

from __future__ import annotations

from arena.data.arena import Arena
from surrogate.board.board import Board
from surrogate.board.view import with_own_verdicts
from surrogate_arena.gating.gate import gate


def against_in_use(board: Board, arena: Arena, in_use: str) -> str:
    """Say how often the best other system beats the one in use, if compared."""
    if not in_use:
        return ""
    ranked = board.overall.loc[board.overall["rank"].notna(), "system"]
    others = [system for system in ranked if system != in_use]
    if not others:
        return ""
    judged = with_own_verdicts(arena, board.summary.settings)
    return gate(arena=judged, candidate=others[0], baseline=in_use).sentences[0]
