"""An arena folder that need not hold answers yet."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

from arena.data.errors import DataError, UsageError
from arena.data.files import atomic_path, locked_folder
from arena.data.folder import (
    ARENA_SUFFIXES,
    Arena,
    checked_arena,
    empty_rows,
    read_arena,
    read_info,
)
from arena.data.rows import SUFFIXES, read_rows, row_suffix, write_rows
from arena.data.schema import ANSWER_KEY, ANSWERS, INFO_FILE, ArenaInfo, check_table
from arena.generation.questions import question_keys
from arena.generation.summary import FAILURE_COLUMNS, SKIPPED_COLUMNS, Generated


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


FAILED_FILE = "failed_answers.jsonl"
SKIPPED_FILE = "skipped_questions.jsonl"


def write_answers(answers: pd.DataFrame, path: Path | str, system: str) -> None:
    """Write one system's answers to a file of their own.

    Args:
        answers: As in ``Generated``.
        path: File in any row format; this system's answers in it are replaced.
        system: Its name.

    Raises:
        UsageError: If the file is there and holds something else, or its format is unknown.
    """
    path = Path(path)
    check_own_file(path, system)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_rows(answers, path)


def check_own_file(path: Path | str, system: str) -> None:
    """Make sure that a file may be written anew with one system's answers.

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


def append_answers(folder: Path | str, answers: pd.DataFrame) -> tuple[Path, int]:
    """Add answers to an arena folder, whose ``arena.json`` then names their systems.

    Both files are replaced in one step each, under a lock, so that neither a crash nor another
    process that adds its own loses a row. An answer that is there stays.

    Args:
        folder: Arena folder.
        answers: Columns ``query_id, language, system, answer`` and others.

    Returns:
        The file of answers, and the number of rows added.

    Raises:
        UsageError: If the folder is no arena folder, or holds answers several times.
        DataError: If the answers there are damaged.
    """
    folder = Path(folder)
    with locked_folder(folder):
        info = read_info(folder)
        path = find_answers(folder) or folder / f"answers{SUFFIXES[0]}"
        there = _read_answers(path)
        known = set(_answer_keys(there))
        new = answers[np.array([key not in known for key in _answer_keys(answers)], np.bool_)]
        # Declared first: a system without answers is sound, answers of an unknown one are not.
        _declare(folder, info, list(dict.fromkeys(new["system"])))
        if len(new):
            write_rows(pd.concat([there, new.astype(object)], ignore_index=True), path)
    return path, len(new)


def note_missing(folder: Path, generated: Generated, queries: pd.DataFrame) -> list[Path]:
    """List beside the answers which questions have none, and which were left out.

    What earlier runs of the same system noted on the same questions is replaced.

    Args:
        folder: Where the answers are.
        generated: What generating brought.
        queries: Questions chosen.

    Returns:
        The files that list something; one with nothing left in it is removed.
    """
    system = generated.summary.system
    of_run: set[tuple[str, ...]] = {(system, *key) for key in question_keys(queries)}
    listings = (
        (folder / FAILED_FILE, generated.failures, FAILURE_COLUMNS),
        (folder / SKIPPED_FILE, generated.skipped, SKIPPED_COLUMNS),
    )
    return [path for path, rows, columns in listings if _listed(path, rows, columns, of_run)]


def _listed(
    path: Path, rows: pd.DataFrame, columns: list[str], of_run: set[tuple[str, ...]]
) -> bool:
    """Write a listing anew; False if nothing is left in it."""
    there = read_rows(path).table if path.is_file() else pd.DataFrame()
    old = there.reindex(columns=columns).astype(object)
    keys = zip(old["system"], *(old[name] for name in ("language", "query_id")), strict=True)
    kept = old[np.array([key not in of_run for key in keys], np.bool_)]
    table = pd.concat([kept, rows], ignore_index=True) if len(kept) else rows
    if table.empty:
        path.unlink(missing_ok=True)
        return False
    write_rows(table, path)
    return True


def _read_answers(path: Path) -> pd.DataFrame:
    if not path.is_file():
        return pd.DataFrame(columns=list(ANSWERS.columns), dtype=object)
    rows = read_rows(path)
    if rows.table.empty and not rows.problems:
        return pd.DataFrame(columns=list(ANSWERS.columns), dtype=object)
    problems = [*rows.problems, *check_table(rows.table, ANSWERS, rows.source, rows.lines)]
    if problems:
        raise DataError(problems)
    return rows.table


def _answer_keys(answers: pd.DataFrame) -> list[tuple[str, ...]]:
    return list(zip(*(answers[name] for name in ANSWER_KEY), strict=True))


def _declare(folder: Path, info: ArenaInfo, systems: list[str]) -> None:
    unknown = [system for system in systems if system not in info.systems]
    if not unknown:
        return
    declared = info.model_copy(update={"systems": (*info.systems, *unknown)})
    with atomic_path(folder / INFO_FILE) as path:
        text = json.dumps(declared.model_dump(mode="json"), indent=2, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")
