"""``import --verdicts``: verdicts that stand in a file of their own, beside imported answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, cast

import pandas as pd

from arena.computing.codes import without_categories
from arena.data.checks import check_table
from arena.data.errors import DataError, Problem, UsageError, counted_problems
from arena.data.frames import frame_rows, typed_table
from arena.data.judges import UNKNOWN_JUDGE
from arena.data.rows import named_by_criterion
from arena.data.schema import JUDGMENTS, QUESTION_KEY
from arena.data.types import Flags
from arena.data.wording import count_of, first_of
from surrogate_arena.importers.battles import BattleOptions, ReadBattles, battles_of
from surrogate_arena.importers.collected import question_id, skipped_table
from surrogate_arena.importers.columnar import ColumnTable, column_table
from surrogate_arena.importers.contract import MOST_NAMED, chosen_columns, columns_in, field_names
from surrogate_arena.importers.foreign_arena import ForeignArena
from surrogate_arena.importers.judgments import skips_of
from surrogate_arena.importers.values import option
from surrogate_arena.importers.verdict_values import stated_values

VERDICT_OPTIONS = ("columns", "values", "no_sides", "judge")
"""Options of reading verdicts."""
_PREFIX = "verdicts."
"""What a field begins with whose column is meant for the file of verdicts alone."""
_QUESTION_FIELDS = ("query_id", "question")
_SHARED = (*_QUESTION_FIELDS, "language")
"""Fields that both files have."""


class VerdictFile(NamedTuple):
    """A file of verdicts, and how to read it.

    Attributes:
        shared: Columns that a user named for the answers, and that count where this file has them.
    """

    path: Path
    options: BattleOptions
    shared: Mapping[str, str]


def split_options(
    path: Path, options: Mapping[str, object]
) -> tuple[dict[str, object], VerdictFile]:
    """Return the options for reading answers, and how to read the verdicts."""
    of_answers = {name: value for name, value in options.items() if name not in VERDICT_OPTIONS}
    verdict_fields = field_names("battles").keys() - _SHARED
    own = {}
    others = {}
    for name, column in cast("Mapping[str, str]", options.get("columns", {})).items():
        if name.startswith(_PREFIX) or name in verdict_fields:
            own[name.removeprefix(_PREFIX)] = column
        else:
            others[name] = column
    if others:
        of_answers["columns"] = others
    battle_options = BattleOptions(
        columns=own,
        values=stated_values(cast("Sequence[str]", options.get("values", ()))),
        judge=cast("str | None", options.get("judge")),
        no_sides=bool(options.get("no_sides")),
    )
    shared = {name: column for name, column in others.items() if name in _SHARED}
    return of_answers, VerdictFile(path, battle_options, shared)


def with_verdicts(
    foreign: ForeignArena, file: VerdictFile, paths: Sequence[Path | str]
) -> ForeignArena:
    """Add the verdicts of a file to the answers of ``paths``.

    A row is read as ``battles_of`` reads it, and its question is found by its id, or else by its
    text. If only two systems answered, the file need not name them.

    Raises:
        UsageError: If no column tells the question.
        DataError: For verdicts on a question or a system without answers, with their lines.
    """
    arena = foreign.arena
    table = column_table(file.path, file.path.name)
    shared = {name: column for name, column in file.shared.items() if column in table.frame}
    options = replace(file.options, columns={**shared, **file.options.columns})
    read = battles_of(*_between_two_systems(table, arena.info.systems, options))
    judgments = _with_questions(read, table, arena.queries)
    _check_systems(read, table, arena.info.systems)
    both = [arena.judgments, judgments] if len(arena.judgments) else [judgments]
    combined = pd.concat(both, ignore_index=True).astype(object)
    rows = frame_rows(combined.where(combined.notna(), None), table.source)
    problems = check_table(rows, JUDGMENTS)
    if problems:
        raise DataError(problems)
    skipped = foreign.skipped
    skips = skips_of(read, table.source)
    if len(paths) == 1 and file.path.samefile(paths[0]):
        # Of one file, columns are listed that neither half reads, as the answers' half has them.
        reasons = {reason for name, reason in foreign.unread.items() if name not in read.unread}
        skipped = skipped[~skipped["reason"].isin(reasons)]
        skips = skips_of(replace(read, unread=()), table.source)
    skipped = pd.concat([skipped, skipped_table(skips)])
    judges = first_of(sorted(set(judgments["judge"])), MOST_NAMED)
    note = f"{table.source}: {count_of(len(judgments), 'verdict')} by {judges}"
    if judges == UNKNOWN_JUDGE:
        columns = first_of(read.unread, MOST_NAMED) or "none is left"
        note += (
            "; say who judged by --judge NAME, or name a column by --column verdicts.voter=NAME "
            f"(people) or verdicts.judge=NAME ({columns})"
        )
    return replace(
        foreign,
        arena=replace(arena, judgments=named_by_criterion(typed_table(rows, JUDGMENTS))),
        skipped=skipped.reset_index(drop=True),
        notes=(*foreign.notes, note, *read.understood),
    )


def _between_two_systems(
    table: ColumnTable, systems: Sequence[str], options: BattleOptions
) -> tuple[ColumnTable, BattleOptions]:
    """Name both systems where no column does and the winners are two systems' names."""
    names = chosen_columns([table.frame], "battles", options.columns).names
    if "winner" not in names or not {"system_a", "system_b", "loser"}.isdisjoint(names):
        return table, options
    winners = set(map(str, table.column(names["winner"]).cells))
    if len(systems) != 2 or winners.isdisjoint(systems):
        return table, options
    frame = table.frame.assign(system_a=systems[0], system_b=systems[1])
    return replace(table, frame=frame), replace(options, no_sides=True)


def _with_questions(read: ReadBattles, table: ColumnTable, queries: pd.DataFrame) -> pd.DataFrame:
    """Return judgments with the ids and languages of the questions that they are about."""
    fields = [name for name in _QUESTION_FIELDS if name in read.names]
    if not fields:
        hints = [option("column", f"{_PREFIX}{name}=NAME") for name in _QUESTION_FIELDS]
        columns = first_of(columns_in([table.frame]), MOST_NAMED)
        raise UsageError(
            f"{table.source}: no column tells the question of a verdict; name the column of its id "
            f"or text: {hints[0]} or {hints[1]}; the columns are {columns}"
        )
    ids = queries["query_id"] if fields[0] == "query_id" else queries["query"].map(question_id)
    judgments = without_categories(read.table).rename(columns={"query_id": "stated"})
    stated = judgments["stated"]
    if not stated.isin(ids).all():
        # Programs write 1.0 for the id 1 where another id is missing
        ids = ids.str.removesuffix(".0")
        judgments["stated"] = stated.str.removesuffix(".0")
    known = queries[QUESTION_KEY].assign(stated=ids)
    key = ["stated", "language"]
    if "language" not in read.names:
        key = ["stated"]
        judgments = judgments.drop(columns="language")
    # Of two questions with one key, nobody knows which is meant.
    known = known.drop_duplicates(key, keep=False)
    found = judgments.merge(known, on=key, how="left")
    is_unknown = found["query_id"].isna().to_numpy()
    if not judgments["stated"].isin(ids).any():
        raise _strange_questions(table, read.names[fields[0]], ids)
    fault = "is no question of the answers, or one in several languages"
    hint = "write it as in the answers, with a column 'language' if it is in several"
    _refuse(read, table, is_unknown, read.names[fields[0]], fault, hint)
    return found[read.table.columns]


def _strange_questions(table: ColumnTable, column: str, ids: pd.Series) -> UsageError:
    cells = first_of(sorted(set(map(str, table.column(column).cells))), 3)
    return UsageError(
        f"{table.source}: no question of the answers has one of the ids in {column!r} ({cells}); "
        f"theirs are {first_of(sorted(ids), 3)}. If a column of the answers holds the same ids, "
        f"name it: {option('column', f'query_id={column}')}"
    )


def _check_systems(read: ReadBattles, table: ColumnTable, systems: Sequence[str]) -> None:
    hint = f"write it as in the answers, whose systems are {first_of(systems, MOST_NAMED)}"
    for side, of_winners in (("system_a", "winner"), ("system_b", "loser")):
        is_unknown = ~read.table[side].isin(systems).to_numpy()
        column = read.names.get(side, read.names.get(of_winners, side))
        _refuse(read, table, is_unknown, column, "is a system without answers", hint)


def _refuse(
    read: ReadBattles, table: ColumnTable, is_bad: Flags, column: str, fault: str, hint: str
) -> None:
    def problem_of(row: int) -> Problem:
        return table.problem(row, column, read.frame[column].iloc[row], fault, hint)

    rows = read.rows[is_bad].tolist()
    if rows:
        raise DataError(counted_problems(rows, problem_of))
