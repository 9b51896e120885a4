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
from surrogate_arena.generation.generate import Generated
from surrogate_arena.generation.questions import question_keys

FAILED_FILE = "failed_answers.jsonl"
SKIPPED_FILE = "skipped_questions.jsonl"


def read_arena_to_answer(folder: Path | str, *, without_answers: bool = False) -> Arena:
    """Read an arena folder to generate answers for, whether or not it holds answers already.

    Raises:
        UsageError: If the folder or its questions are absent, or a file is there twice.
        DataError: If the content is at fault; lists all problems of all files.
    """
    folder = Path(folder)
    info = read_info(folder)
    if not without_answers and find_table_file(folder, "answers") is not None:
        return read_arena(folder)
    queries = find_table_file(folder, "queries")
    if queries is None or not queries.name.endswith(ARENA_SUFFIXES):
        raise UsageError(f"{folder} has no file of queries; expected queries.jsonl or the like")
    return checked_arena(info, read_rows(queries), empty_rows(ANSWERS))


def write_answers(answers: pd.DataFrame, path: Path | str, system: str) -> None:
    """Write one system's answers to a file of their own, see ``check_own_file``."""
    path = Path(path)
    check_own_file(path, system)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_rows(answers, path)


def check_own_file(path: Path | str, system: str) -> None:
    """Make sure that a file may be replaced by one system's answers.

    Raises:
        UsageError: If it exists and has something else, or its format is unknown.
    """
    path = Path(path)
    row_suffix(path)
    if not path.is_file():
        return
    rows = read_rows(path)
    has_other_systems = not rows.table.empty and set(rows.table.get("system", [None])) != {system}
    if rows.problems or has_other_systems:
        raise UsageError(
            f"{path} exists and has more than answers of {system}; write to another file"
        )


def list_unanswered(folder: Path, generated: Generated, queries: pd.DataFrame) -> list[Path]:
    """Write the questions without an answer, and those left out, to files of the arena folder.

    They replace what earlier runs of the same system wrote about the same questions.

    Returns:
        The files that exist then.
    """
    settled = {(*question, generated.system) for question in question_keys(queries)}
    failed = list_failures(folder / FAILED_FILE, generated.failures, ANSWER_KEY, settled)
    skipped = list_failures(folder / SKIPPED_FILE, generated.skipped, ANSWER_KEY, settled)
    return [path for path in (failed, skipped) if path is not None]
