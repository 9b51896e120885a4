"""The native arena folder: reading and writing it, and adding rows to its tables."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from pydantic import ValidationError

from arena.data.answer_digests import replaced_flags
from arena.data.arena import Arena, checked_arena
from arena.data.checks import validation_problems
from arena.data.errors import CONVERT, DataError, UsageError
from arena.data.files import atomic_path, locked_folder, open_text, small_file, synchronize
from arena.data.frames import (
    empty_rows,
    keys_of_rows,
    row_problems,
    with_columns,
    with_no_passages,
)
from arena.data.published import TABLE as PUBLISHED_TABLE
from arena.data.rows import Rows
from arena.data.schema import (
    ANSWER_KEY,
    ANSWERS,
    FURTHER,
    INFO_FILE,
    JUDGMENT_KEY,
    JUDGMENTS,
    QUESTION_KEY,
    ArenaInfo,
    TableSchema,
)
from arena.data.selection import are_in
from arena.data.systems import SYSTEMS_TABLE
from arena.data.tables import CSV_SUFFIXES, SUFFIXES, json_lines, read_rows, row_suffix, write_rows
from arena.data.types import Flags
from arena.data.votes import VOTES_FILE, read_votes, with_votes

TABLES = ("queries", "answers", "judgments")
ARENA_SUFFIXES = tuple(suffix for suffix in SUFFIXES if suffix not in CSV_SUFFIXES)
FAILED_JUDGMENTS = "failed_judgments.jsonl"
"""File of an arena folder that lists pairs without a verdict."""

Table = Literal["answers", "judgments"]
_APPENDED: dict[Table, tuple[TableSchema, list[str]]] = {
    "answers": (ANSWERS, ANSWER_KEY),
    "judgments": (JUDGMENTS, JUDGMENT_KEY),
}
"""Tables that rows are added to, with the columns that tell their rows apart."""
FURTHER_FOLDER = "further"
"""Folder of further tables, which people may edit: they are plain lines of JSON."""


def read_arena(
    folder: Path | str, questions: pd.DataFrame | None = None, *, is_judged: bool = True
) -> Arena:
    """Read and check an arena folder.

    Args:
        folder: Holds ``arena.json`` and the files ``queries``, ``answers``, ``judgments`` and
            ``published_ratings`` and ``systems`` (all three optional), each as ``.jsonl``,
            ``.jsonl.gz``, ``.jsonl.zst``, ``.csv`` or ``.parquet``, which may be a folder of part
            files, in folders such as ``language=en``. Votes in ``votes.jsonl`` count as judgments.
            Further tables by question are ``further/NAME.jsonl``.
        questions: Questions to read, by ``language`` and ``query_id``; None for all.
        is_judged: Whether to read the judgments.

    Raises:
        UsageError: If the folder or a table is absent, or a table exists in two formats.
        DataError: If the content is at fault; lists all problems of all files.
    """
    folder = Path(folder)
    info = read_info(folder)
    queries = _table_file(folder, "queries")
    answers = _table_file(folder, "answers")
    judgments = _read_judgments(folder, questions) if is_judged else None
    # Parquet skips what is not needed by ids alone, before the keys are compared.
    query_ids = None if questions is None else set(questions["query_id"])
    return checked_arena(
        info,
        _rows_of_questions(with_no_passages(read_rows(queries, queries=query_ids)), questions),
        _rows_of_questions(_read_answers(answers, query_ids), questions),
        judgments,
        _optional_rows(folder, PUBLISHED_TABLE),
        _optional_rows(folder, SYSTEMS_TABLE),
        {path.stem: _rows_of_questions(read_rows(path), questions) for path in _further(folder)},
    )


def _read_judgments(folder: Path, questions: pd.DataFrame | None) -> Rows | None:
    """Read judgments, with the votes that replace some of them or come in addition."""
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
    """Read answers; an empty CSV cell is the empty answer, for CSV has no null."""
    rows = read_rows(path, queries=query_ids)
    if path.name.endswith(CSV_SUFFIXES) and "answer" in rows.table.columns:
        return replace(rows, table=rows.table.assign(answer=rows.table["answer"].fillna("")))
    return rows


def _optional_rows(folder: Path, name: str) -> Rows | None:
    path = find_table_file(folder, name)
    return None if path is None else read_rows(path)


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
        suffix: One of ``ARENA_SUFFIXES``; published ratings and attributes are always CSV,
            further tables always ``.jsonl``.

    Raises:
        UsageError: If the suffix is another one, or the folder holds a table in another format
            (of which there would be two then).
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
        f"{PUBLISHED_TABLE}.csv": arena.published_ratings,
        f"{SYSTEMS_TABLE}.csv": arena.attributes if has_attributes else arena.attributes[:0],
    }
    stale = []
    for table_name in (*TABLES, PUBLISHED_TABLE, SYSTEMS_TABLE):
        for other_suffix in SUFFIXES:
            name = f"{table_name}{other_suffix}"
            if name in tables or name in optional_tables:
                continue
            if (folder / name).is_file():
                stale.append(name)
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


def find_table_file(folder: Path, name: str) -> Path | None:
    """Return the file of a table of an arena folder, or its folder of Parquet files, or None.

    Raises:
        UsageError: If there are several, or something else is in its place.
    """
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


def append_rows(
    folder: Path | str, name: Table, rows: pd.DataFrame, *, replacing: bool = False
) -> tuple[Path, int]:
    """Add rows to a table of an arena folder, in the format of the existing file.

    The file is replaced in one step, under a lock, so that neither a crash nor another process
    that adds rows loses one. Votes in ``votes.jsonl`` become judgments first. A row whose key
    exists already (an answer: language, question, system; a judgment: judge, language, question,
    sides, number of the vote) is not written twice. A judgment takes the place of those of the
    pair's former texts (``replaced_flags``). Systems of new answers are declared in ``arena.json``.

    Args:
        folder: Arena folder. A table that does not exist yet gets the format of the answers.
        name: ``answers`` or ``judgments``.
        rows: The table's columns and others.
        replacing: Replace rows of the same key, as for a panel's verdicts, which follow from its
            judges'.

    Returns:
        The file, and the number of rows added.

    Raises:
        UsageError: If the folder is no arena folder, or holds the table several times.
        DataError: If the existing rows are damaged; nothing is added.
    """
    folder = Path(folder)
    with locked_folder(folder):
        if name == JUDGMENTS.name:
            _settle_votes(folder)
        return _add_rows(folder, name, rows, replacing)


def append_further(
    folder: Path, name: str, rows: pd.DataFrame, key: list[str], *, replacing: bool = False
) -> None:
    """Add rows to a further table, whose ``key`` tells rows apart, as ``append_rows`` does."""
    path = folder / FURTHER_FOLDER / f"{name}.jsonl"
    with locked_folder(folder):
        path.parent.mkdir(exist_ok=True)
        if not path.exists():
            write_rows(rows, path)
            return
        _, is_kept, new = _merged(path, FURTHER, key, rows, replacing)
        _rewrite_lines(path, is_kept, new)


def settle_votes(folder: Path) -> None:
    """Move the votes of ``votes.jsonl`` into the judgments; see ``append_rows`` for errors."""
    with locked_folder(folder):
        _settle_votes(folder)


def _settle_votes(folder: Path) -> None:
    votes = read_votes(folder)
    if votes is None:
        return
    path, _ = _add_rows(folder, "judgments", votes.table, replacing=True)
    # On the disk before the votes leave it: the power may fail in between.
    synchronize(path)
    (folder / VOTES_FILE).unlink()


def _add_rows(folder: Path, name: Table, rows: pd.DataFrame, replacing: bool) -> tuple[Path, int]:
    """Add rows to a table of a locked folder; see ``append_rows``."""
    info = read_info(folder)
    schema, key = _APPENDED[name]
    path = find_table_file(folder, name)
    old, is_kept, new = _merged(path, schema, key, rows, replacing)
    # Declared first: a system without answers is sound, answers of an unknown one are not.
    _declare_systems(new.get("system", ()), info, folder)
    if path is None:
        path = folder / f"{name}{_suffix_of_new(folder)}"
        if len(new):
            write_rows(new, path)
    elif ".jsonl" in path.name:
        _rewrite_lines(path, is_kept, new)
    else:
        parts = [part for part in (old[is_kept], new.astype(object)) if len(part)]
        write_rows(pd.concat(parts or [old[is_kept]], ignore_index=True), path)
    return path, len(new)


def _merged(
    path: Path | None, schema: TableSchema, key: list[str], rows: pd.DataFrame, replacing: bool
) -> tuple[pd.DataFrame, Flags, pd.DataFrame]:
    """Return the rows of a file, which of them stay, and which rows are new."""
    old_rows = empty_rows(schema) if path is None else with_columns(read_rows(path), schema)
    problems = row_problems(old_rows, schema)
    if problems:
        raise DataError(problems)
    old = old_rows.table
    old_keys = keys_of_rows(old, key)
    new_keys = keys_of_rows(rows, key)
    if replacing:
        return old, ~old_keys.isin(new_keys), rows
    is_kept = ~replaced_flags(old, rows)
    return old, is_kept, rows[~new_keys.isin(old_keys[is_kept])]


def _suffix_of_new(folder: Path) -> str:
    """Return the suffix of a table that the folder does not hold yet."""
    answers = find_table_file(folder, "answers")
    return SUFFIXES[0] if answers is None else row_suffix(answers)


def _declare_systems(systems: Iterable[str], info: ArenaInfo, folder: Path) -> None:
    new = [name for name in dict.fromkeys(systems) if name not in info.systems]
    if new:
        write_info(info.model_copy(update={"systems": (*info.systems, *new)}), folder)


def _rewrite_lines(path: Path, is_kept: Flags, new: pd.DataFrame) -> None:
    """Write the lines that are kept byte for byte as they are, then new rows."""
    lines = []
    with open_text(path) as stream:
        for line in stream:
            text = line.strip("\ufeff\r\n")
            if text.strip():
                lines.append(text)
    with atomic_path(path) as temporary, open_text(temporary, "wt") as stream:
        for text in np.array(lines, dtype=object)[is_kept]:
            stream.write(f"{text}\n")
        stream.writelines(json_lines(new))


def list_failures(
    path: Path, failures: pd.DataFrame, key: list[str], settled: Collection[tuple[object, ...]]
) -> Path | None:
    """Bring a list of failures up to date; the file is removed where none is left.

    Args:
        path: The list, JSON lines.
        failures: New failures: ``key``'s columns, ``reason``, ``detail`` and others.
        key: Columns that tell rows apart.
        settled: Keys of this run, failed or not: their earlier failures are dropped.
    """
    if path.is_file():
        old = read_rows(path).table
        keys = old[key].itertuples(index=False, name=None)
        left = old[[row_key not in settled for row_key in keys]]
        if len(left):
            failures = pd.concat([left, failures], ignore_index=True)
    if failures.empty:
        path.unlink(missing_ok=True)
        return None
    write_rows(failures, path)
    return path


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
    if queries is None:
        raise UsageError(f"{folder} has no file of queries; expected queries.jsonl or the like")
    return checked_arena(info, read_rows(queries), empty_rows(ANSWERS))
