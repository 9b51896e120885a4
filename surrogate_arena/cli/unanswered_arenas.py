"""Arenas whose questions nobody has answered yet."""

from __future__ import annotations

from pathlib import Path

from arena.data.arena import Arena, checked_arena
from arena.data.errors import UsageError
from arena.data.folder import find_table_file, read_arena, read_info
from arena.data.frames import empty_rows
from arena.data.schema import ANSWERS
from arena.data.tables import read_rows


def read_arena_to_answer(folder: Path | str, *, without_answers: bool = False) -> Arena:
    """Read an arena folder to generate answers for."""
    folder = Path(folder)
    info = read_info(folder)
    if not without_answers and find_table_file(folder, "answers") is not None:
        return read_arena(folder)
    queries = find_table_file(folder, "queries")
    if queries is None:
        raise UsageError(f"{folder} has no file of queries; expected queries.jsonl or the like")
    return checked_arena(info, read_rows(queries), empty_rows(ANSWERS))
