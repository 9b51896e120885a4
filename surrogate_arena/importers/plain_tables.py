"""Plain tables of answers: a row is an answer, its columns the contract's."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from arena.data.errors import DataError, UsageError, counted_problems
from arena.data.rows import Rows
from arena.data.types import Record
from arena.data.wording import all_of, first_of
from surrogate_arena.importers.clone_files import distinct_names, files_below, shown_path
from surrogate_arena.importers.collected import Collected, Place
from surrogate_arena.importers.column_hints import systems_in_order
from surrogate_arena.importers.contract import (
    FILE,
    MOST_NAMED,
    NO_COLUMNS,
    Columns,
    Frames,
    bare_column,
    chosen_columns,
    columns_in,
    root_of,
    with_paths,
)
from surrogate_arena.importers.left_out import (
    n_unread_marks,
    reasons_unread,
    with_true_passages,
    without_empty_rows,
)
from surrogate_arena.importers.refused_tables import (
    check_answers,
    check_files_of_answers,
    check_needed,
    check_questions,
    check_repeats,
)
from surrogate_arena.importers.score_columns import (
    judges_of_scores,
    score_columns,
    stated_directions,
)
from surrogate_arena.importers.tables import SHEET, read_table
from surrogate_arena.importers.values import mark_of, option

NEEDED = ("question", "system", "answer")
_SHARED_FIELDS = (
    "question",
    "query_id",
    "language",
    "system",
    "answer",
    "reference",
    "passages",
    "history",
)
"""Fields that are read from a row with several systems' answers; others belong to one answer."""


class PlainTables(NamedTuple):
    """Tables of answers whose columns are known.

    Attributes:
        tables: The tables, each with a column ``file``.
        scores: Columns of marks, and the judge of each.
        directions: Score or judge to whether the user says that its lowest mark wins.
        left_out: Source, item and reason to the count of what was left out.
        unread: Columns that are not read, and the reason of each in ``left_out``.
    """

    tables: Sequence[Rows]
    columns: Columns
    scores: Mapping[str, str]
    directions: dict[str, bool]
    notes: Sequence[str]
    left_out: Mapping[tuple[str, str, str], int]
    unread: Mapping[str, str]

    def marks(self, collected: Collected, place: Place, record: Record) -> dict[str, float]:
        """Return the marks of a row by judge; keep faults of their scales."""
        marks: dict[str, float] = {}
        for column, judge in self.scores.items():
            number = mark_of(record.get(column))
            if number is not None:
                collected.check_scale(place, judge, record[column], number)
                marks[judge] = number
        return marks


def tables_of_files(paths: Sequence[Path | str]) -> list[Rows]:
    """Read tables, each with a column ``file``."""
    files = files_below(paths)
    tables = [read_table(path, shown_path(path, paths)) for path in files]
    broken = [problem for rows in tables for problem in rows.problems]
    if broken:
        raise DataError(counted_problems(broken))
    return list(map(with_file, tables, distinct_names(files)))


def known_tables(
    tables: Sequence[Rows],
    *,
    columns: Mapping[str, str] = NO_COLUMNS,
    scores: Sequence[str] = (),
    lowest_wins: Sequence[str] = (),
    judge: str | None = None,
    needed: Sequence[str] = NEEDED,
    may_repeat: bool = False,
) -> PlainTables:
    """Find the columns of tables of answers; those of ``lowest_wins`` are scores, too."""
    directions = stated_directions(lowest_wins)
    tables, notes = _in_one_layout(tables, columns)
    systems = _columns_of_answers(tables, columns)
    if systems:
        of_one_answer = [name for name in columns if name not in _SHARED_FIELDS]
        _refuse_fields(systems, [*of_one_answer, *scores, *directions])
        tables = [_one_answer_per_row(rows, systems) for rows in tables]
        held = systems_in_order([rows.table for rows in tables], "system")
        for name in systems:
            if name not in held:
                raise UsageError(f"no row has anything at {name!r}, which --column answer names")
        columns = {**columns, "answer": "answer"}
    named = {**columns, **{name: name for name in (*scores, *directions)}}
    tables = [replace(rows, table=with_paths(rows.table, named)) for rows in tables]
    known, system_notes = _found_columns(tables, columns, scores, needed, may_repeat=may_repeat)
    notes += system_notes
    if systems:
        known = _shared_fields(known)
    filled = [without_empty_rows(rows, known.names) for rows in tables]
    passed: Mapping[str, str] = {}
    if "passages" not in columns:
        known, passed = with_true_passages([rows.table for rows in filled], known)
    frames = [rows.table for rows in filled]
    marked = [] if systems else _marked_columns(frames, known, scores, directions)
    unread = reasons_unread(frames, known, [*marked, *systems], n_answers=len(systems) or 1)
    left_out = _left_out(tables, filled, passed, marked, unread.values())
    notes += _notes(known, passed, columns)
    for rows in tables:
        notes += rows.notes
    # Where a column holds verdicts, the judge is theirs.
    judges = judges_of_scores(marked, None if "verdict" in known.names else judge)
    return PlainTables(filled, known, judges, directions, notes, left_out, unread)


def _marked_columns(
    frames: Frames, known: Columns, scores: Sequence[str], directions: Collection[str]
) -> list[str]:
    """Return columns of marks; of names with a direction, those that are no columns are judges."""
    directed = {*directions}.intersection(columns_in(frames)) - {known.names.get("verdict")}
    return score_columns(frames, known.names.values(), [*scores, *sorted(directed)])


def _in_one_layout(
    tables: Sequence[Rows], stated: Mapping[str, str]
) -> tuple[list[Rows], list[str]]:
    """Rename columns to the name that the first table has for the field; also say which."""
    names: dict[str, str] = {}
    renamed: list[Rows] = []
    sources = defaultdict[tuple[str, str], list[str]](list)
    for rows in tables:
        frames = [rows.table]
        known, _ = with_true_passages(frames, chosen_columns(frames, "answers", NO_COLUMNS))
        changes: dict[str, str] = {}
        for name, column in known.names.items():
            first = names.setdefault(name, column)
            is_stated = name in stated or column in stated.values()
            if first not in rows.table and name in _SHARED_FIELDS and not is_stated:
                changes[column] = first
                sources[name, column].append(rows.source)
        if known.names.get("answer") in changes:
            check_answers(frames, known, f"{rows.source}: ")
        renamed.append(replace(rows, table=rows.table.rename(columns=changes)))
    notes = []
    for (name, column), files in sources.items():
        notes.append(f"{column!r} is read as {name} in {first_of(files)}")
    return renamed, notes


def _columns_of_answers(tables: Sequence[Rows], columns: Mapping[str, str]) -> list[str]:
    """Return the columns that ``answer`` names, if several: each has a system's answers."""
    present = columns_in([rows.table for rows in tables])
    systems = [name.strip() for name in columns.get("answer", "").split(",")]
    are_known = all(name in present or root_of(name) in present for name in systems)
    if len(systems) == 1 or not are_known:
        return []
    if "system" in columns or "system" in present:
        raise UsageError(
            f"answers are read from {all_of(systems)}, whose names are the systems; leave out the "
            "column that names systems too"
        )
    return systems


def _refuse_fields(systems: Sequence[str], of_one_answer: Sequence[str]) -> None:
    if of_one_answer:
        raise UsageError(
            f"a row holds the answers of {all_of(systems)}, so it does not say whose "
            f"{of_one_answer[0]!r} it holds: write a row per answer, by the reference's recipe "
            "'Answers and scores in columns'"
        )


def _one_answer_per_row(rows: Rows, systems: Sequence[str]) -> Rows:
    table = with_paths(rows.table, dict(zip(systems, systems, strict=True)))
    shared = table.drop(columns=systems, errors="ignore")
    held = [name for name in systems if name in table]
    if not held:
        raise UsageError(f"{rows.source} has none of the columns {all_of(systems)}")
    parts = [shared.assign(system=name, answer=table[name]) for name in held]
    table = pd.concat(parts, ignore_index=True)
    lines = pd.concat([rows.lines] * len(held), ignore_index=True)
    return replace(rows, table=table, lines=lines)


def _shared_fields(known: Columns) -> Columns:
    """Return the fields that hold for all answers in a row; others count as unread."""
    names, competitors, unread = dict(known.names), dict(known.competitors), list(known.unread)
    for name in known.names:
        if name not in _SHARED_FIELDS:
            unread += [names.pop(name), *competitors.pop(name, ())]
    return Columns(names, competitors, tuple(unread))


def _found_columns(
    tables: Sequence[Rows],
    stated: Mapping[str, str],
    scores: Sequence[str],
    needed: Sequence[str],
    *,
    may_repeat: bool,
) -> tuple[Columns, list[str]]:
    """Find each field's column; also say where systems come from if no column names them."""
    frames = [rows.table for rows in tables]
    known = chosen_columns(frames, "answers", stated, scores)
    if "answer" not in stated:
        check_answers(frames, known)
    if "question" not in stated:
        check_questions(frames, known)
    notes: list[str] = []
    if "system" in needed and "system" not in known.names:
        holder = SHEET if any(SHEET in frame for frame in frames) else FILE
        known = replace(known, names={**known.names, "system": holder})
        systems = first_of(systems_in_order(frames, holder), MOST_NAMED)
        notes.append(f"no column names the system, so the name of the {holder} does: {systems}")
    check_needed(frames, known.names, needed)
    check_files_of_answers(tables, known.names["answer"])
    if "system" not in stated and not may_repeat:
        check_repeats(frames, known.names, tables[0].source)
    return known, notes


def _left_out(
    tables: Sequence[Rows],
    filled: Sequence[Rows],
    passed: Mapping[str, str],
    judges: Sequence[str],
    reasons: Iterable[str],
) -> Counter[tuple[str, str, str]]:
    left_out = Counter[tuple[str, str, str]]()
    for rows, kept in zip(tables, filled, strict=True):
        n_empty = len(rows.lines) - len(kept.lines)
        left_out[rows.source, "row", "it has neither a question nor an answer"] += n_empty
        for column, kind in passed.items():
            left_out[rows.source, "column", f"{column!r} holds {kind}, not passages"] += 1
        for judge in judges:
            left_out[rows.source, "score", f"{judge!r} is no score"] += n_unread_marks(kept, judge)
    source = tables[0].source if len(tables) == 1 else f"{len(tables)} files"
    left_out.update((source, "column", reason) for reason in reasons)
    # Without zeros
    return +left_out


def _notes(known: Columns, passed: Mapping[str, str], stated: Mapping[str, str]) -> list[str]:
    notes = [f"no passages: {column!r} holds {kind}" for column, kind in passed.items()]
    notes += known.notes()
    latency = known.names.get("latency", "latency_s")
    if "latency" not in stated and not bare_column(latency).endswith(("_s", "_seconds")):
        hint = option("column", f"latency_ms={latency}")
        notes.append(f"{latency!r} is read in seconds; if it is in milliseconds: {hint}")
    return notes


def with_file(rows: Rows, name: str) -> Rows:
    """Add a column with the file's name."""
    if FILE in rows.table:
        return rows
    return replace(rows, table=rows.table.assign(**{FILE: name}))
