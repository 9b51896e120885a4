"""Files of one system's answers, and of questions without one."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from arena.data.errors import UsageError
from arena.data.schema import ANSWER_KEY, QUESTION_KEY
from arena.data.tables import read_rows, row_suffix, write_rows
from arena.judging.appending import list_failures
from surrogate_arena.generation.generate import Generated

FAILED_FILE = "failed_answers.jsonl"
SKIPPED_FILE = "skipped_questions.jsonl"


def write_answers(answers: pd.DataFrame, path: Path | str, system: str) -> None:
    """Write one system's answers to a file of their own, see ``check_own_file``."""
    path = Path(path)
    check_own_file(path, system)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_rows(answers, path)


def check_own_file(path: Path | str, system: str) -> None:
    """Make sure that a file may be replaced by one system's answers."""
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
    """Write questions without an answer, and those left out, to a folder; return the files."""
    settled = queries[QUESTION_KEY].assign(system=generated.system)
    failed = list_failures(folder / FAILED_FILE, generated.failures, ANSWER_KEY, settled)
    skipped = list_failures(folder / SKIPPED_FILE, generated.skipped, ANSWER_KEY, settled)
    return [path for path in (failed, skipped) if path is not None]
