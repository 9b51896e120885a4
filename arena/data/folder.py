"""The native arena folder: reading and writing it, and adding rows to its tables."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from pydantic import ValidationError

from arena.data.arena import Arena, checked_arena
from arena.data.checks import validation_problems
from arena.data.errors import DataError, UsageError
from arena.data.files import atomic_path, locked_folder, open_text, small_file
from arena.data.frames import empty_rows, row_problems, with_columns
from arena.data.published import TABLE as PUBLISHED_TABLE
from arena.data.rows import Rows
from arena.data.schema import (
    ANSWER_KEY,
    ANSWERS,
    INFO_FILE,
    JUDGMENTS,
    QUESTION_KEY,
    ArenaInfo,
    TableSchema,
)
from arena.data.systems import SYSTEMS_TABLE
from arena.data.tables import CSV_SUFFIXES, SUFFIXES, json_lines, read_rows, row_suffix, write_rows

TABLES = ("queries", "answers", "judgments")
ARENA_SUFFIXES = tuple(suffix for suffix in SUFFIXES if suffix not in CSV_SUFFIXES)
FAILED_JUDGMENTS = "failed_judgments.jsonl"
"""File of an arena folder that lists pairs without a verdict."""

Table = Literal["answers", "judgments"]
_APPENDED: dict[Table, tuple[TableSchema, list[str]]] = {
    "answers": (ANSWERS, ANSWER_KEY),
    "judgments": (JUDGMENTS, ["judge", *QUESTION_KEY, "system_a", "system_b"]),
}
"""Tables that rows are added to, with what tells their rows apart."""


def read_arena(
    folder: Path | str, questions: pd.DataFrame | None = None, *, is_judged: bool = True
) -> Arena:
    """Read and check an arena folder.

    Args:
        folder: Holds ``arena.json`` and the files ``queries``, ``answers``, ``judgments`` and
            ``published_ratings``, ``systems`` (all three optional), each as ``.jsonl``,
            ``.jsonl.gz``, ``.jsonl.zst``, ``.csv`` (not queries) or ``.parquet``, which may be a
            folder of part files, in folders such as ``language=en``.
        questions: Take only what is of these, by ``language`` and ``query_id``; None for all.
        is_judged: Read the judgments, too.

    Raises:
        UsageError: If the folder or one of its files is absent or there twice.
        DataError: If the content is at fault; lists all problems of all files.
    """
    folder = Path(folder)
    info = read_info(folder)
    queries = _table_file(folder, "queries")
    if queries.name.endswith(CSV_SUFFIXES):
        hint = "write them as queries.jsonl or queries.parquet"
        raise UsageError(f"{queries}: queries hold passages, which CSV cannot; {hint}")
    asked = None if questions is None else set(questions["query_id"])

    def kept(path: Path) -> Rows:
        rows = _read_answers(path, asked) if path == answers else read_rows(path, queries=asked)
        if questions is None:
            return rows
        keys = pd.MultiIndex.from_frame(rows.table.reindex(columns=QUESTION_KEY))
        is_in = keys.isin(pd.MultiIndex.from_frame(questions[QUESTION_KEY]))
        return replace(rows, table=rows.table[is_in], lines=rows.lines[is_in])

    answers = _table_file(folder, "answers")
    judged = find_table_file(folder, "judgments") if is_judged else None
    others = (
        read_rows(path) if (path := find_table_file(folder, name)) else None
        for name in (PUBLISHED_TABLE, SYSTEMS_TABLE)
    )
    judgments = None if judged is None else kept(judged)
    return checked_arena(info, kept(queries), kept(answers), judgments, *others)


def open_arena(arena: Arena | Path | str, *, is_judged: bool = True) -> Arena:
    """Return an arena, read from its folder if a path is given.

    Raises:
        UsageError: If it is something else, or the folder is no arena folder.
        DataError: If the content of the folder is at fault.
    """
    if isinstance(arena, Path | str):
        return read_arena(arena, is_judged=is_judged)
    if isinstance(arena, Arena):
        return arena
    raise UsageError(
        f"an object of type {type(arena).__name__} is not an arena; give "
        "Arena.from_frames(questions, answers, judgments), or the path of an arena folder"
    )


def write_arena(arena: Arena, folder: Path | str, suffix: str = ".jsonl.gz") -> None:
    """Write an arena folder; the same arena gives the same bytes.

    Args:
        arena: What to write.
        folder: Created if absent; files of the same name are replaced.
        suffix: One of ``ARENA_SUFFIXES``; published ratings and attributes are always CSV.

    Raises:
        UsageError: If the suffix is another one, or the folder holds a table in another format
            (which would then be there twice).
    """
    folder = Path(folder)
    if suffix not in ARENA_SUFFIXES:
        raise UsageError(f"cannot write an arena as {suffix}; use {', '.join(ARENA_SUFFIXES)}")
    tables = {f"{name}{suffix}": getattr(arena, name) for name in TABLES}
    beside = {
        f"{PUBLISHED_TABLE}.csv": arena.published_ratings,
        f"{SYSTEMS_TABLE}.csv": arena.attributes if len(arena.attributes.columns) > 1 else [],
    }
    there = [f"{name}{it}" for name in (*TABLES, PUBLISHED_TABLE, SYSTEMS_TABLE) for it in SUFFIXES]
    others = [
        name for name in there if name not in {**tables, **beside} and (folder / name).is_file()
    ]
    if others:
        raise UsageError(
            f"{folder} holds an arena in another format ({', '.join(others)}); "
            f"remove those files or write to a new folder"
        )
    folder.mkdir(parents=True, exist_ok=True)
    write_info(arena.info, folder)
    for name, table in {**tables, **beside}.items():
        if name in tables or len(table):
            write_rows(table, folder / name)
        else:
            (folder / name).unlink(missing_ok=True)


def read_info(folder: Path) -> ArenaInfo:
    """Read ``arena.json``.

    Raises:
        UsageError: If the folder or the file is absent.
        DataError: If the file is malformed; names each field.
    """
    path = folder / INFO_FILE
    if not path.is_file():
        raise UsageError(f"{folder} is not an arena folder: it has no {INFO_FILE}")
    try:
        return ArenaInfo.model_validate_json(small_file(path))
    except ValidationError as error:
        hint = "see the README for what arena.json holds"
        problems = validation_problems(error, INFO_FILE, None, lambda _: hint)
        raise DataError(problems) from error


def write_info(info: ArenaInfo, folder: Path) -> None:
    """Write ``arena.json``."""
    with atomic_path(folder / INFO_FILE) as path:
        text = json.dumps(info.model_dump(mode="json"), indent=2, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")


def _read_answers(path: Path, queries: Collection[str] | None = None) -> Rows:
    """Read answers; an empty CSV cell is the empty answer, for CSV has no null."""
    rows = read_rows(path, queries=queries)
    if path.name.endswith(CSV_SUFFIXES) and "answer" in rows.table.columns:
        return replace(rows, table=rows.table.assign(answer=rows.table["answer"].fillna("")))
    return rows


def find_table_file(folder: Path, name: str) -> Path | None:
    """Return the file of a table of an arena folder, or its folder of Parquet files, or None.

    Raises:
        UsageError: If there are several, or something else is in its place.
    """
    there = [folder / f"{name}{suffix}" for suffix in SUFFIXES]
    found = [path for path in there if path.is_file() or (path == there[-1] and path.is_dir())]
    for path in there:
        if path not in found and os.path.lexists(path):
            raise UsageError(f"{path} is not a file but a folder, a pipe or a broken link")
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise UsageError(f"{folder} holds the same table several times ({names}); keep one")
    return found[0] if found else None


def _table_file(folder: Path, name: str) -> Path:
    path = find_table_file(folder, name)
    if path is None:
        raise UsageError(f"{folder} has no {name} file; expected {name}.jsonl or the like")
    return path


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
    schema, key = _APPENDED[name]
    with locked_folder(folder):
        path, answers = find_table_file(folder, name), find_table_file(folder, "answers")
        held = empty_rows(schema) if path is None else with_columns(read_rows(path), schema)
        problems = row_problems(held, schema)
        if problems:
            raise DataError(problems)
        there = held.table
        old, coming = pd.MultiIndex.from_frame(there[key]), pd.MultiIndex.from_frame(rows[key])
        kept = ~old.isin(coming) if replacing else np.ones(len(there), dtype=np.bool_)
        new = rows if replacing else rows[~coming.isin(old)]
        unknown = [it for it in dict.fromkeys(new.get("system", ())) if it not in info.systems]
        if unknown:
            # Declared first: a system without answers is sound, answers of an unknown one are not.
            write_info(info.model_copy(update={"systems": (*info.systems, *unknown)}), folder)
        if path is None:
            path = folder / f"{name}{SUFFIXES[0] if answers is None else row_suffix(answers)}"
            if len(new):
                write_rows(new, path)
        elif ".jsonl" in path.name:
            with open_text(path) as stream:  # lines that are there stay as they are
                lines = [text for line in stream if (text := line.strip("\ufeff\r\n")).strip()]
            with atomic_path(path) as temporary, open_text(temporary, "wt") as stream:
                stream.writelines(f"{line}\n" for line in np.array(lines, dtype=object)[kept])
                stream.writelines(json_lines(new))
        else:
            parts = [part for part in (there[kept], new.astype(object)) if len(part)]
            write_rows(pd.concat(parts or [there[kept]], ignore_index=True), path)
    return path, len(new)


def list_failures(
    path: Path, failures: pd.DataFrame, key: list[str], settled: Collection[tuple[object, ...]]
) -> Path | None:
    """Bring a list of what failed up to date; there is no file where nothing is left in it.

    Args:
        path: The list, JSON lines.
        failures: What failed now: ``key``'s columns, ``reason``, ``detail`` and others.
        key: Columns that tell rows apart.
        settled: Keys that this run was about, failed or not: what was listed of them is replaced.
    """
    if path.is_file():
        old = read_rows(path).table
        left = old[[row not in settled for row in old[key].itertuples(index=False, name=None)]]
        failures = pd.concat([left, failures], ignore_index=True) if len(left) else failures
    if failures.empty:
        path.unlink(missing_ok=True)
        return None
    write_rows(failures, path)
    return path
