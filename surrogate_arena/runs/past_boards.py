"""Past boards: what is kept of each, and how it is read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from pydantic import BaseModel, ConfigDict

from arena.data.errors import ArenaError, DataError, Problem, UsageError
from arena.data.tables import read_record
from surrogate.board import tables
from surrogate.board.board import Board
from surrogate_arena.pages.history import HistoryEntry
from surrogate_arena.runs.records import Ingredients

HISTORY = "history"
"""Folder of a board's past in the output folder of a run."""
RECORD_FILE = "record.json"
WHOLE = 10
"""Past boards that are kept whole, the latest; of older ones there are the records."""
Digests: TypeAlias = dict[str, dict[str, str]]
"""Name of a content to language to its digest."""


class PastRecord(BaseModel):
    """``record.json`` of a past board: remarks for pages, and ingredients.

    ``digest`` is of its tables, ``contents`` of the tables of its arena by language.
    """

    model_config = ConfigDict(frozen=True)

    entry: HistoryEntry
    digest: str
    ingredients: Ingredients = {}
    contents: Digests = {}


def past_board(folder: Path) -> Board:
    """Read a board that was kept.

    Raises:
        DataError: If a file of it is absent or damaged.
    """
    with _damage_named(folder):
        return Board.load(folder)


def board_before(folder: Path) -> Path:
    """Return the folder of the board before one that a run made."""
    folder = folder.resolve()
    past = folder.parent if (folder / RECORD_FILE).is_file() else folder.parent / HISTORY
    names = [record.entry.name for record in read_history(past)]
    # The board itself is the last of those that are kept.
    index = names.index(folder.name) if folder.name in names else len(names) - 1
    if index < 1 or index <= len(names) - WHOLE:
        raise UsageError(f"no board before {folder} was kept whole; name two boards")
    return past / names[index - 1]


def read_history(folder: Path) -> list[PastRecord]:
    """Return the records of past boards, oldest first."""
    records = []
    for path in folder.glob(f"*/{RECORD_FILE}"):
        with _damage_named(path.parent):
            record = read_record(PastRecord, path, tables.REBUILD)
            if record.entry.name != path.parent.name:
                fault = f"is the record of {record.entry.name}"
                raise DataError.of_file(path.name, fault, hint="")
        records.append(record)
    return sorted(records, key=lambda record: (record.entry.date, record.entry.number))


@contextmanager
def _damage_named(folder: Path) -> Iterator[None]:
    try:
        yield
    except ArenaError as error:
        problems = [Problem("", None, None, None, str(error), "")]
        if isinstance(error, DataError):
            problems = list(error.problems)
        hint = f"remove the folder {folder}; the other past boards stay"
        raise DataError(
            [
                replace(problem, source=f"{folder.name}/{problem.source}", hint=hint)
                for problem in problems
            ]
        ) from error
