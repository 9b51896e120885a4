"""Adding answers or judgments to an arena folder, and listing beside them what failed."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import numpy as np
import pandas as pd

from arena.data.errors import DataError, Problem
from arena.data.files import atomic_path, locked_folder, open_text
from arena.data.folder import find_table_file, read_arena, read_info, write_info
from arena.data.frames import open_answers
from arena.data.rows import SUFFIXES, json_lines, read_rows, row_suffix, write_rows
from arena.data.schema import (
    ANSWER_KEY,
    ANSWERS,
    JUDGMENTS,
    QUESTION_KEY,
    ArenaInfo,
    TableSchema,
    check_table,
)

FAILED_JUDGMENTS = "failed_judgments.jsonl"
"""File of an arena folder that lists pairs without a verdict."""
JUDGMENT_KEY = ["judge", *QUESTION_KEY, "system_a", "system_b"]

Table = Literal["answers", "judgments"]
Key = tuple[object, ...]

_TABLES: MappingProxyType[Table, tuple[TableSchema, list[str]]] = MappingProxyType(
    {"answers": (ANSWERS, ANSWER_KEY), "judgments": (JUDGMENTS, JUDGMENT_KEY)}
)


def append_rows(
    folder: Path | str, name: Table, rows: pd.DataFrame, *, replacing: bool = False
) -> tuple[Path, int]:
    """Add rows to a table of an arena folder, in the format of those that are there.

    The file is replaced in one step, under a lock, so that neither a crash nor another process
    that adds its own loses a row. A row whose key is there already (an answer: language, question,
    system; a judgment: judge, language, question, sides) is not written twice. Systems of new
    answers are declared in ``arena.json``.

    Args:
        folder: Arena folder. Without such a file it gets one in the format of its answers.
        name: ``answers`` or ``judgments``.
        rows: The table's columns and others.
        replacing: Write these rows in the place of those of the same key, as for a panel's
            verdicts, which follow from its judges'.

    Returns:
        The file, and the number of rows added.

    Raises:
        UsageError: If the folder is no arena folder, or holds the table several times.
        DataError: If the rows there are damaged; nothing is added.
    """
    folder = Path(folder)
    info = read_info(folder)
    with locked_folder(folder):
        path = _file_of(folder, name)
        there = _read(path, name)
        key = _TABLES[name][1]
        old, coming = pd.MultiIndex.from_frame(there[key]), pd.MultiIndex.from_frame(rows[key])
        kept = ~old.isin(coming) if replacing else np.ones(len(there), dtype=np.bool_)
        new = rows if replacing else rows[~coming.isin(old)]
        if name == "answers":
            # Declared first: a system without answers is sound, answers of an unknown one are not.
            _declare(folder, info, list(dict.fromkeys(new["system"])))
        if path.is_file() and ".jsonl" in row_suffix(path):
            with atomic_path(path) as temporary, open_text(temporary, "wt") as stream:
                with open_text(path) as held:  # lines that are there stay as they are
                    lines = [line for line in held if line.removeprefix("\ufeff").strip()]
                for line, is_kept in zip(lines, kept, strict=True):
                    if is_kept:
                        stream.write(line.removeprefix("\ufeff").rstrip("\r\n") + "\n")
                stream.writelines(json_lines(new))
        elif path.is_file() or len(new):
            parts = [part for part in (there[kept], new.astype(object)) if len(part)]
            write_rows(pd.concat(parts or [there[kept]], ignore_index=True), path)
    return path, len(new)


def add_answers(folder: Path | str, answers: pd.DataFrame | Path | str) -> tuple[Path, int, int]:
    """Add a new system's answers, or further answers of a known one, to an arena folder.

    Args:
        folder: Arena folder; new systems are declared in its ``arena.json``.
        answers: Columns ``query_id, language, system, answer``, or the path of their file; those
            that are there already are left as they are.

    Returns:
        The file, how many were added, and how many were there.

    Raises:
        UsageError: If the folder is no arena folder, or there is no such file.
        DataError: For malformed answers, answers to unknown questions, and answers that differ
            from those that the same system has there; nothing is added.
    """
    arena = read_arena(folder)
    given = open_answers(answers, arena.queries)
    known = arena.answers.set_index(ANSWER_KEY)["answer"]
    before = pd.Series(known.reindex(pd.MultiIndex.from_frame(given[ANSWER_KEY])).to_numpy())
    source = answers.name if isinstance(answers, Path) else "answers"
    problems = [
        Problem(
            source,
            None,
            "+".join(ANSWER_KEY),
            tuple(given.loc[row, ANSWER_KEY]),
            "the arena holds another answer of this system to this question",
            "leave it out, or give the new version of the system a name of its own",
        )
        for row in before.index[before.notna() & (before != given["answer"])]
    ]
    if problems:
        raise DataError(problems)
    file, added = append_rows(folder, "answers", given)
    return file, added, len(given) - added


def list_failures(
    path: Path, failures: pd.DataFrame, key: list[str], settled: Collection[Key]
) -> Path | None:
    """Bring a list of what failed up to date; there is no file where nothing is left in it.

    Args:
        path: The list, JSON lines.
        failures: What failed now: ``key``'s columns, ``reason``, ``detail`` and others.
        key: Columns that tell rows apart.
        settled: Keys that this run was about, failed or not: what was listed of them is replaced.

    Returns:
        The file, or None.
    """
    if path.is_file():
        old = read_rows(path).table
        is_left = [row not in settled for row in old[key].itertuples(index=False, name=None)]
        left = old[np.array(is_left, dtype=np.bool_)]
        failures = pd.concat([left, failures], ignore_index=True) if len(left) else failures
    if failures.empty:
        path.unlink(missing_ok=True)
        return None
    write_rows(failures, path)
    return path


def _file_of(folder: Path, name: Table) -> Path:
    found = find_table_file(folder, name)
    if found is not None:
        return found
    answers = find_table_file(folder, "answers")
    return folder / f"{name}{SUFFIXES[0] if answers is None else row_suffix(answers)}"


def _read(path: Path, name: Table) -> pd.DataFrame:
    schema, key = _TABLES[name]
    empty = pd.DataFrame(columns=key, dtype=object)
    if not path.is_file():
        return empty
    rows = read_rows(path)
    if rows.table.empty and not rows.problems:
        return empty
    problems = [*rows.problems, *check_table(rows, schema)]
    if problems:
        raise DataError(problems)
    return rows.table


def _declare(folder: Path, info: ArenaInfo, systems: list[str]) -> None:
    unknown = [system for system in systems if system not in info.systems]
    if unknown:
        write_info(info.model_copy(update={"systems": (*info.systems, *unknown)}), folder)
