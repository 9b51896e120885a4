"""An arena folder that need not hold answers yet."""

from __future__ import annotations

from pathlib import Path

from arena.errors import UsageError
from arena.folder import (
    ARENA_SUFFIXES,
    Arena,
    checked_arena,
    empty_rows,
    read_arena,
    read_info,
)
from arena.rows import SUFFIXES, read_rows
from arena.tables import ANSWERS


def read_arena_to_answer(folder: Path | str) -> Arena:
    """Read an arena folder to generate answers for, whether or not it holds any.

    Raises:
        UsageError: If the folder or its questions are absent, or a file is there twice.
        DataError: If the content is at fault; lists all problems of all files.
    """
    folder = Path(folder)
    info = read_info(folder)
    if find_answers(folder) is not None:
        return read_arena(folder)
    there = [path for suffix in ARENA_SUFFIXES if (path := folder / f"queries{suffix}").is_file()]
    if len(there) != 1:
        raise UsageError(f"{folder} has {len(there)} files of queries; expected queries.jsonl")
    return checked_arena(info, read_rows(there[0]), empty_rows(ANSWERS))


def find_answers(folder: Path) -> Path | None:
    """Return the file of answers of an arena folder, or None.

    Raises:
        UsageError: If there are several.
    """
    there = [path for suffix in SUFFIXES if (path := folder / f"answers{suffix}").is_file()]
    if len(there) > 1:
        names = ", ".join(path.name for path in there)
        raise UsageError(f"{folder} holds the same table several times ({names}); keep one")
    return there[0] if there else None
