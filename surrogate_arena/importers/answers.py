"""``import csv``: plain tables of answers as an arena."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from arena.data.errors import UsageError
from arena.data.frames import as_list
from arena.data.rows import Rows
from arena.data.types import Record
from surrogate_arena.importers.answer_rows import (
    Repeats,
    add_rows,
    check_repeats_choice,
    row_values,
)
from surrogate_arena.importers.collected import Collected, Place
from surrogate_arena.importers.contract import NO_COLUMNS
from surrogate_arena.importers.foreign_arena import ForeignArena, foreign_arena
from surrogate_arena.importers.plain_tables import (
    PlainTables,
    known_tables,
    tables_of_files,
    with_file,
)

TABLE = "csv"


def read_answer_tables(
    paths: Sequence[Path | str],
    *,
    columns: Mapping[str, str] = NO_COLUMNS,
    scores: Sequence[str] = (),
    lowest_wins: Sequence[str] = (),
    language: str | None = None,
    judge: str | None = None,
    name: str = "answers",
    repeats: Repeats | None = None,
) -> ForeignArena:
    """Read tables of answers: CSV, JSON, JSONL, Parquet or a workbook of Excel.

    A row is an answer: ``question, system, answer``, and perhaps further fields of ``names.toml``.
    Known metrics are judges, whose higher mark wins; so are ``scores``.

    Args:
        paths: Files, or folders of them; a file's name is the system if no column is.
        columns: Field to column, or path in its cells.
        scores: Further columns of marks.
        lowest_wins: Columns of marks, or judges, whose lowest mark wins; ``NAME=no`` says that the
            highest does.
        language: Language of rows that name none: a code, or by default ``auto``, which detects it
            by question.
        judge: Judge of rows that name none, or of a single column of scores.
        name: Name of the arena.
        repeats: Treatment of questions that a system answers again; None refuses them.

    Raises:
        UsageError: For an absent file, an unknown field or column, or an ambiguous table.
        DataError: With all problems of all files.
    """
    check_repeats_choice(repeats)
    known = known_tables(
        tables_of_files(paths),
        columns=columns,
        scores=scores,
        lowest_wins=lowest_wins,
        judge=judge,
        may_repeat=repeats is not None,
    )
    return foreign_arena(_collected(known, language, judge, repeats), name)


def _collected(
    known: PlainTables, language: str | None, judge: str | None, repeats: Repeats | None
) -> Collected:
    collected = Collected(
        names=known.columns.names, notes=list(known.notes), lowest_wins=known.directions
    )
    collected.skips.update(known.left_out)
    collected.unread = known.unread
    collected.n_empty = sum(n for (_, item, _), n in known.left_out.items() if item == "row")
    collected.score_columns = {judge: column for column, judge in known.scores.items()}
    rows: list[tuple[Place, Record, Mapping[str, float]]] = []
    for table in known.tables:
        for place, record in collected.raw(table):
            values = row_values(collected, place, known.columns.values(record))
            rows.append((place, values, known.marks(collected, place, record)))
    add_rows(collected, rows, language, judge, repeats)
    first_fields = rows[0][1] if rows else {}
    later_fields = {field for _, values, _ in rows for field in values if field not in first_fields}
    for field, column in collected.names.items():
        if field in later_fields:
            collected.notes.append(f"{field} is read from {column!r}; the first row has none")
    return collected


def _table_in_memory(name: str, frame: pd.DataFrame) -> Rows:
    table = frame.reset_index(drop=True).astype(object).map(as_list)
    table = table.where(table.notna(), None)
    return Rows(table, pd.Series(range(len(table)), dtype=int), name, is_frame=True)


def read_tables(
    tables: Mapping[str, pd.DataFrame],
    *,
    columns: Mapping[str, str] = NO_COLUMNS,
    scores: Sequence[str] = (),
    lowest_wins: Sequence[str] = (),
    language: str | None = None,
    repeats: Repeats | None = None,
) -> ForeignArena:
    """Read tables of answers in memory, as ``read_answer_tables`` does files.

    Names of ``tables`` are systems where no column is.
    """
    if not tables:
        raise UsageError("there is no table to read")
    rows = [with_file(_table_in_memory(name, frame), name) for name, frame in tables.items()]
    known = known_tables(
        rows,
        columns=columns,
        scores=scores,
        lowest_wins=lowest_wins,
        may_repeat=repeats is not None,
    )
    return foreign_arena(_collected(known, language, None, repeats), "answers")
