"""The native arena folder: reading and writing it, its votes, and files of new answers.

Votes are only appended; one counts once its line has ended, and replaces one of the same judge on
the same sides.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from pydantic import ValidationError

from arena.data.arena import Arena, checked_arena
from arena.data.checks import validation_problems
from arena.data.errors import CONVERT, DataError, UsageError
from arena.data.files import small_file
from arena.data.frames import (
    answers_of_frame,
    checked_answers,
    empty_rows,
    keys_of_rows,
    row_problems,
    with_columns,
    with_language_of,
    with_no_passages,
)
from arena.data.rows import Rows, are_in, plain_table, rows_of_records
from arena.data.schema import (
    INFO_FILE,
    JUDGMENT_KEY,
    JUDGMENTS,
    PUBLISHED_RATINGS,
    QUESTION_KEY,
    ArenaInfo,
)
from arena.data.systems import SYSTEMS_TABLE, unlisted_systems
from arena.data.tables import CSV_SUFFIXES, SUFFIXES, json_records, read_rows, write_rows
from arena.data.writing import atomic_path

TABLES = ("queries", "answers", "judgments")
ARENA_SUFFIXES = tuple(suffix for suffix in SUFFIXES if suffix not in CSV_SUFFIXES)
VOTES_FILE = "votes.jsonl"
FAILED_JUDGMENTS = "failed_judgments.jsonl"
"""File of an arena folder that lists pairs without a verdict."""
FURTHER_FOLDER = "further"
"""Folder of further tables, which people may edit: they are plain lines of JSON."""


def read_arena(
    folder: Path | str,
    questions: pd.DataFrame | None = None,
    *,
    is_judged: bool = True,
    has_unlisted: bool = False,
) -> Arena:
    """Read an arena folder and check it.

    Args:
        folder: Holds ``arena.json`` and the tables ``queries``, ``answers`` and, optional,
            ``judgments``, ``published_ratings`` and ``systems``, as ``.jsonl`` (also ``.gz``,
            ``.zst``), ``.csv`` or ``.parquet``, which may be a folder of part files. Votes in
            ``votes.jsonl`` count as judgments.
        questions: Questions to read, by ``language`` and ``query_id``; None for all.
        is_judged: Whether to read the judgments.
        has_unlisted: Keep systems that ``systems.csv`` calls ``held`` or ``withdrawn``.

    Returns:
        The arena, checked.

    Raises:
        UsageError: If the folder or a table is absent, or exists in two formats.
        DataError: With all problems of all files.

    Examples:
        >>> from arena.sample import sample_folder
        >>> read_arena(sample_folder()).judges
        ('crowd', 'gpt-4o')
    """
    folder = Path(folder)
    info = read_info(folder)
    queries = _table_file(folder, "queries")
    answers = _table_file(folder, "answers")
    judgments = _read_judgments(folder, questions) if is_judged else None
    # Parquet skips what is not needed by ids alone, before the keys are compared.
    query_ids = None if questions is None else set(questions["query_id"])
    arena = checked_arena(
        info,
        _rows_of_questions(with_no_passages(read_rows(queries, queries=query_ids)), questions),
        _rows_of_questions(_read_answers(answers, query_ids), questions),
        judgments,
        _optional_rows(folder, PUBLISHED_RATINGS.name),
        _optional_rows(folder, SYSTEMS_TABLE),
        {path.stem: _rows_of_questions(read_rows(path), questions) for path in _further(folder)},
    )
    unlisted = unlisted_systems(arena.attributes)
    if has_unlisted or not unlisted:
        return arena
    return arena.select(systems=[name for name in info.systems if name not in unlisted])


def read_unlisted(folder: Path) -> dict[str, str]:
    """Return the systems that a folder holds back or has withdrawn, with their state."""
    rows = _optional_rows(folder, SYSTEMS_TABLE)
    return {} if rows is None else unlisted_systems(rows.table)


def _read_judgments(folder: Path, questions: pd.DataFrame | None) -> Rows | None:
    path = find_table_file(folder, JUDGMENTS.name)
    query_ids = None if questions is None else set(questions["query_id"])
    judgments = None if path is None else read_rows(path, queries=query_ids)
    votes = read_votes(folder)
    if votes is not None:
        judgments = with_votes(judgments, votes)
    return None if judgments is None else _rows_of_questions(judgments, questions)


def _further(folder: Path) -> list[Path]:
    return sorted((folder / FURTHER_FOLDER).glob("*.jsonl"))


def _rows_of_questions(rows: Rows, questions: pd.DataFrame | None) -> Rows:
    if questions is None:
        return rows
    # A file without a key column has no row of these questions; the checks name the column.
    is_in = are_in(rows.table.reindex(columns=QUESTION_KEY), questions, QUESTION_KEY)
    return replace(rows, table=rows.table[is_in], lines=rows.lines[is_in])


def _read_answers(path: Path, query_ids: Collection[str] | None) -> Rows:
    """Read answers; an empty CSV cell is the empty answer."""
    rows = read_rows(path, queries=query_ids)
    if path.name.endswith(CSV_SUFFIXES) and "answer" in rows.table.columns:
        return replace(rows, table=rows.table.assign(answer=rows.table["answer"].fillna("")))
    return rows


def _optional_rows(folder: Path, name: str) -> Rows | None:
    path = find_table_file(folder, name)
    return None if path is None else read_rows(path)


def open_arena(arena: Arena | Path | str, *, is_judged: bool = True) -> Arena:
    """Return an arena, perhaps read from its folder."""
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
        arena: The arena.
        folder: Created if absent; files of the same name are replaced.
        suffix: One of ``ARENA_SUFFIXES``; some tables have one format.

    Raises:
        UsageError: If the suffix is unknown, or the folder holds a table in another format.

    Examples:
        >>> from arena import read_arena, sample_arena
        >>> write_arena(sample_arena(), "my-arena")
        >>> read_arena("my-arena").info.name
        'crowd-rag-sample'
    """
    folder = Path(folder)
    if suffix not in ARENA_SUFFIXES:
        raise UsageError(f"cannot write an arena as {suffix}; use {', '.join(ARENA_SUFFIXES)}")
    tables = {
        f"queries{suffix}": arena.queries,
        f"answers{suffix}": arena.answers,
        f"judgments{suffix}": arena.judgments,
    }
    has_attributes = len(arena.attributes.columns) > 1  # "system" alone tells nothing
    optional_tables = {
        f"{PUBLISHED_RATINGS.name}.csv": arena.published_ratings,
        f"{SYSTEMS_TABLE}.csv": arena.attributes if has_attributes else arena.attributes[:0],
    }
    others = [name for name in table_files() if name not in tables | optional_tables]
    stale = [name for name in others if (folder / name).is_file()]
    if stale:
        raise UsageError(
            f"{folder} holds an arena in another format ({', '.join(stale)}); "
            f"remove those files or write to a new folder"
        )
    folder.mkdir(parents=True, exist_ok=True)
    write_info(arena.info, folder)
    for name, table in tables.items():
        write_rows(table, folder / name)
    for name, table in optional_tables.items():
        if len(table):
            write_rows(table, folder / name)
        else:
            (folder / name).unlink(missing_ok=True)
    for path in _further(folder):
        path.unlink()
    for name, table in arena.further.items():
        if len(table):
            (folder / FURTHER_FOLDER).mkdir(exist_ok=True)
            write_rows(table, folder / FURTHER_FOLDER / f"{name}.jsonl")
    (folder / VOTES_FILE).unlink(missing_ok=True)  # they are among the judgments, or of others


def read_info(folder: Path) -> ArenaInfo:
    """Read ``arena.json``."""
    path = folder / INFO_FILE
    if not path.is_file():
        raise UsageError(f"{folder} is not an arena folder: it has no {INFO_FILE}")
    try:
        return ArenaInfo.model_validate_json(small_file(path))
    except ValidationError as error:
        hint = "docs/reference/arena_folder.md says what arena.json holds"
        problems = validation_problems(error, INFO_FILE, None, lambda _: hint)
        raise DataError(problems) from error


def write_info(info: ArenaInfo, folder: Path) -> None:
    """Write ``arena.json``."""
    with atomic_path(folder / INFO_FILE) as path:
        text = json.dumps(info.model_dump(mode="json"), indent=2, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")


def table_files() -> list[str]:
    """Return the names that files of an arena's tables may have."""
    names = []
    for table in (*TABLES, PUBLISHED_RATINGS.name, SYSTEMS_TABLE):
        names += [f"{table}{suffix}" for suffix in SUFFIXES]
    return names


def find_table_file(folder: Path, name: str) -> Path | None:
    """Return a table's file, or folder of Parquet files, or None."""
    found_paths = []
    for suffix in SUFFIXES:
        path = folder / f"{name}{suffix}"
        if path.is_file() or (suffix == ".parquet" and path.is_dir()):
            found_paths.append(path)
        elif os.path.lexists(path):
            raise UsageError(f"{path} is not a file but a folder, a pipe or a broken link")
    if len(found_paths) > 1:
        names = ", ".join(path.name for path in found_paths)
        raise UsageError(f"{folder} holds the same table several times ({names}); keep one")
    return found_paths[0] if found_paths else None


def _table_file(folder: Path, name: str) -> Path:
    path = find_table_file(folder, name)
    if path is None:
        raise UsageError(f"{folder} has no {name} file such as {name}.jsonl; {CONVERT}")
    return path


def read_votes(folder: Path) -> Rows | None:
    """Read each judge's last vote on the same sides, if any."""
    path = folder / VOTES_FILE
    if not os.path.lexists(path):
        return None
    content = small_file(path)
    complete = content[: content.rfind(b"\n") + 1].decode("utf-8", "surrogateescape")
    rows = rows_of_records(json_records(complete.split("\n"), VOTES_FILE), VOTES_FILE)
    if rows.table.empty and not rows.problems:
        return None
    problems = row_problems(rows, JUDGMENTS)
    if problems:
        raise DataError(problems)
    is_last = ~keys_of_rows(rows.table, JUDGMENT_KEY).duplicated(keep="last")
    return replace(rows, table=rows.table[is_last], lines=rows.lines[is_last])


def with_votes(judgments: Rows | None, votes: Rows) -> Rows:
    """Add votes, replacing the same judge's on the same sides."""
    judgments = with_columns(judgments or empty_rows(JUDGMENTS), JUDGMENTS)
    if row_problems(judgments, JUDGMENTS):
        return judgments  # the checks of the arena report them
    keys = keys_of_rows(judgments.table, JUDGMENT_KEY)
    is_left = ~keys.isin(keys_of_rows(votes.table, JUDGMENT_KEY))
    table = pd.concat([judgments.table[is_left], votes.table], ignore_index=True)
    lines = pd.concat([judgments.lines[is_left], votes.lines], ignore_index=True)
    sources = np.repeat([judgments.source, votes.source], [is_left.sum(), len(votes.table)])
    return replace(
        judgments, table=plain_table(table), lines=lines, sources=pd.Series(sources, dtype=object)
    )


def read_own_answers(answers: pd.DataFrame | Path | str, queries: pd.DataFrame) -> pd.DataFrame:
    """Check answers (table or file) to the questions of an arena.

    ``language`` may be absent where ids are unique, ``passages`` where they are the question's.
    """
    if not isinstance(answers, Path | str):
        return answers_of_frame(answers, queries)
    path = Path(answers)
    if not path.is_file():
        raise UsageError(f"there is no file of answers at {path}")
    return checked_answers(with_language_of(read_rows(path), queries), queries)
