"""Past boards: what is kept of each, and how it is read."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import pandas as pd
from pydantic import BaseModel, ConfigDict

from arena.data.errors import ArenaError, DataError, Problem, UsageError
from arena.data.tables import read_record, write_record
from surrogate.board import tables
from surrogate.board.board import Board
from surrogate.board.summary import BoardSummary
from surrogate_arena.pages.history import HistoryEntry
from surrogate_arena.runs.records import Ingredients

EPOCH = "SOURCE_DATE_EPOCH"
"""Environment variable that fixes the date; see https://reproducible-builds.org."""
HISTORY = "history"
"""Folder of a board's past in the output folder of a run."""
RECORD_FILE = "record.json"
Digests: TypeAlias = dict[str, dict[str, str]]
"""Name of a content to language to its digest."""
KEPT = ("ratings", "overall")
"""Tables that are kept of a past board: those that two boards are compared by."""


@dataclass(frozen=True, eq=False)
class PastBoard:
    """What is kept of a board: enough to compare it with another."""

    ratings: pd.DataFrame
    overall: pd.DataFrame
    summary: BoardSummary

    @property
    def languages(self) -> list[str]:
        """Languages with ratings."""
        return sorted(self.ratings["language"].unique())

    @classmethod
    def load(cls, folder: Path) -> PastBoard:
        """Read a past board."""
        names = [tables.table_file(tables.TABLES[name]) for name in KEPT]
        absent = [name for name in (*names, tables.SUMMARY_FILE) if not (folder / name).is_file()]
        with _damage_named(folder):
            if absent:
                raise DataError(
                    [Problem(name, None, None, None, "is missing", "") for name in absent]
                )
            read = {name: tables.read_board_table(tables.TABLES[name], folder) for name in KEPT}
            summary = read_record(BoardSummary, folder / tables.SUMMARY_FILE, tables.REBUILD)
        return cls(summary=summary, **read)

    def save(self, folder: Path) -> None:
        """Write it to a folder that is there."""
        for name in KEPT:
            tables.write_board_table(getattr(self, name), tables.TABLES[name], folder)
        # Where the arena lies says nothing of what it was.
        summary = self.summary.model_copy(update={"arena_folder": None})
        write_record(summary, folder / tables.SUMMARY_FILE)


class PastRecord(BaseModel):
    """``record.json`` of a past board: what pages show of it, and what it was made from.

    ``digest`` is of its tables, ``contents`` of the tables of its arena by language.
    """

    model_config = ConfigDict(frozen=True)

    entry: HistoryEntry
    digest: str
    ingredients: Ingredients = {}
    contents: Digests = {}


def open_compared(folder: Path) -> Board | PastBoard:
    """Read a board folder, or a past board that ``run`` kept."""
    if (folder / RECORD_FILE).is_file():
        return PastBoard.load(folder)
    return Board.load(folder)


def board_before(folder: Path) -> Path:
    """Return the folder of the board before one that a run made."""
    folder = folder.resolve()
    past = folder.parent if (folder / RECORD_FILE).is_file() else folder.parent / HISTORY
    names = [record.entry.name for record in read_history(past)]
    # The board itself is the last of those that are kept.
    index = names.index(folder.name) if folder.name in names else len(names) - 1
    if index < 1:
        raise UsageError(f"no board before {folder} was kept; name two boards")
    return past / names[index - 1]


def now() -> datetime.datetime:
    """Return the time in UTC, or that of ``SOURCE_DATE_EPOCH``."""
    text = os.environ.get(EPOCH)
    if not text:
        return datetime.datetime.now(datetime.UTC)
    try:
        return datetime.datetime.fromtimestamp(int(text), datetime.UTC)
    except (ValueError, OverflowError, OSError):
        raise UsageError(f"{EPOCH} is {text!r}; set it to seconds since 1970") from None


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
