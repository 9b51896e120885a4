"""Arena folders that are replaced, and kept next to the new one where they hold work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from arena.data.arena import Arena
from arena.data.errors import DataError, UsageError
from arena.data.files import resolved
from arena.data.folder import (
    VOTES_FILE,
    find_table_file,
    read_votes,
    table_files,
    with_votes,
    write_arena,
)
from arena.data.schema import INFO_FILE, JUDGMENTS
from arena.data.tables import read_rows
from arena.data.wording import count_of, first_of
from arena.data.writing import LOCK_FILE, replaced_folder

FEATURES_FILE = "published_features.parquet"
APART_FILE = "apart_answers.jsonl.gz"
_IMPORTED = (
    INFO_FILE,
    LOCK_FILE,
    FEATURES_FILE,
    APART_FILE,
    *table_files(),
)
"""What an import writes, so that another one can write it again, and what holds nothing."""


@dataclass(frozen=True)
class Backup:
    """Where an arena folder goes that is replaced, and what would be lost otherwise."""

    folder: Path
    contents: str

    @property
    def sentence(self) -> str:
        """What became of the replaced folder, for the user."""
        return f"The folder before, with {self.contents}, is kept in {self.folder}"


def backup_of(folder: Path) -> Backup | None:
    """Return where a folder goes if it is replaced."""
    if not folder.is_dir():
        return None
    names = sorted(path.name for path in folder.iterdir())
    # Votes are among the judgments.
    further = [name for name in names if name not in (*_IMPORTED, VOTES_FILE)]
    reasons = [_judgments_in(folder), first_of(further, 3)]
    contents = ", ".join(filter(None, reasons))
    if not contents:
        return None
    folder = resolved(folder)
    for number in count(1):
        ending = f"-{number}" if number > 1 else ""
        free = folder.with_name(f"{folder.name}.replaced{ending}")
        if not free.exists():
            break
    return Backup(free, contents)


def _judgments_in(folder: Path) -> str:
    try:
        path = find_table_file(folder, JUDGMENTS.name)
        judgments = None if path is None else read_rows(path)
        votes = read_votes(folder)
        if votes is not None:
            judgments = with_votes(judgments, votes)
    except (UsageError, DataError):
        return "judgments that cannot be read"
    if judgments is None or judgments.table.empty:
        return ""
    return count_of(len(judgments.table), "judgment")


@contextmanager
def replaced_arena(folder: Path, backup: Backup | None) -> Iterator[Path]:
    """Yield an empty folder that takes the place of an arena folder when the block succeeds."""
    folder = resolved(folder)
    is_moved = False
    try:
        with replaced_folder(folder) as writing:
            yield writing
            if backup is not None:
                folder.rename(backup.folder)
                is_moved = True
    except BaseException:
        if backup is not None and is_moved and not folder.exists():
            backup.folder.rename(folder)
        raise


def check_arena_target(folder: Path | str, is_replaced: bool = False) -> None:
    """Make sure, before anything is read, that an arena can be written to a folder."""
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; name a folder to write to")
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    if not (folder / INFO_FILE).is_file():
        raise UsageError(f"{folder} holds something that is not an arena; name another folder")
    if not is_replaced:
        backup = backup_of(folder)
        fate = "which removes this one"
        if backup is not None:
            fate = f"which keeps this one, with {backup.contents}, in {backup.folder}"
        raise UsageError(f"{folder} holds an arena; name another folder, or say --replace, {fate}")


def write_over(arena: Arena, folder: Path, suffix: str = ".jsonl.gz") -> Backup | None:
    """Write an arena in the place of a folder; return where that is kept, if it held work."""
    backup = backup_of(folder)
    with replaced_arena(folder, backup) as writing:
        write_arena(arena, writing, suffix)
    return backup
