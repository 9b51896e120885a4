"""An arena folder that need not hold answers yet, and files of one system's answers."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from arena.data.arena import Arena, checked_arena
from arena.data.errors import UsageError
from arena.data.folder import (
    ARENA_SUFFIXES,
    find_table_file,
    list_failures,
    read_arena,
    read_info,
)
from arena.data.frames import empty_rows
from arena.data.schema import ANSWER_KEY, ANSWERS
from arena.data.tables import read_rows, row_suffix, write_rows
from arena.generation.generate import Generated
from arena.generation.questions import question_keys

FAILED_FILE = "failed_answers.jsonl"
SKIPPED_FILE = "skipped_questions.jsonl"


def read_arena_to_answer(folder: Path | str, *, without_answers: bool = False) -> Arena:
    """Read an arena folder to generate answers for, whether or not it holds any to be read.

    Raises:
        UsageError: If the folder or its questions are absent, or a file is there twice.
        DataError: If the content is at fault; lists all problems of all files.
    """
    folder = Path(folder)
    info = read_info(folder)
    if not without_answers and find_table_file(folder, "answers") is not None:
        return read_arena(folder)
    there = find_table_file(folder, "queries")
    if there is None or not there.name.endswith(ARENA_SUFFIXES):
        raise UsageError(f"{folder} has no file of queries; expected queries.jsonl or the like")
    return checked_arena(info, read_rows(there), empty_rows(ANSWERS))


def write_answers(answers: pd.DataFrame, path: Path | str, system: str) -> None:
    """Write one system's answers to a file of their own, see ``check_own_file``."""
    path = Path(path)
    check_own_file(path, system)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_rows(answers, path)


def check_own_file(path: Path | str, system: str) -> None:
    """Make sure that a file may be replaced by one system's answers.

    Raises:
        UsageError: If it is there and holds something else, or its format is unknown.
    """
    path = Path(path)
    row_suffix(path)
    if not path.is_file():
        return
    rows = read_rows(path)
    is_own = rows.table.empty or set(rows.table.get("system", [None])) == {system}
    if rows.problems or not is_own:
        raise UsageError(
            f"{path} is there and holds more than answers of {system}; write to another file"
        )


def list_unanswered(folder: Path, generated: Generated, queries: pd.DataFrame) -> list[Path]:
    """List beside the answers which of the questions chosen have none, and which were left out.

    What earlier runs of the same system listed on the same questions is replaced.
    """
    settled = {(*question, generated.system) for question in question_keys(queries)}
    listed = ((FAILED_FILE, generated.failures), (SKIPPED_FILE, generated.skipped))
    files = [list_failures(folder / name, rows, ANSWER_KEY, settled) for name, rows in listed]
    return [path for path in files if path is not None]
