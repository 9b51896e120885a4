"""Tables of answers that any program wrote: a row is an answer, or a pair of answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

from arena.data.errors import DataError, UsageError, checked_choice
from arena.data.judge_names import UNKNOWN_JUDGE
from arena.data.languages import UNDETERMINED
from arena.data.rows import Rows
from arena.data.schema import VOTER
from arena.data.wording import first_of
from arena.text.notes import note_on_systems
from surrogate_arena.importers.answer_cells import empty_answers, open_question, open_replies
from surrogate_arena.importers.answer_rows import WHOLE_ROW, AnswerRows, Repeats
from surrogate_arena.importers.battle_columns import columns_of_winners, winner_of
from surrogate_arena.importers.cells import is_missing_cell
from surrogate_arena.importers.collected import Collected, PlacedRecord
from surrogate_arena.importers.columns import (
    FILE,
    NO_COLUMNS,
    with_whole_names,
    without_row_numbers,
)
from surrogate_arena.importers.evident import evident_kind
from surrogate_arena.importers.files import checked_language, distinct_names
from surrogate_arena.importers.foreign_arena import ForeignArena
from surrogate_arena.importers.judges import judge_and_voter
from surrogate_arena.importers.lacking_columns import lacking_columns, paths_of_verdicts
from surrogate_arena.importers.passage_columns import with_whole_passages
from surrogate_arena.importers.sheets import sheets_of_systems
from surrogate_arena.importers.table_columns import (
    TableLayout,
    count_unread,
    has_decimal_commas,
    has_only_decimal_commas,
    table_layout,
    with_file_name,
    with_joined_instruction,
    with_shares,
)
from surrogate_arena.importers.table_shapes import in_known_shape, with_named_paths
from surrogate_arena.importers.voter_columns import (
    BATTLE_ID,
    HINT,
    columns_of_verdicts,
    with_row_for_each_voter,
)

TABLE = "csv"


def read_answer_tables(
    paths: Sequence[Path | str],
    *,
    columns: Mapping[str, str] = NO_COLUMNS,
    language: str | None = None,
    judge: str | None = None,
    name: str = "answers",
    reference_system: str | None = None,
    most_pairs: int | None = None,
    repeats: Repeats | None = None,
) -> ForeignArena:
    """Read tables of answers: CSV, JSON, JSONL, Parquet or a workbook of Excel.

    A row is an answer (``question, system, answer``), with a ``verdict`` if it was marked (a
    number, the higher the better: the better of two answers to a question wins); or a pair
    (``question, system_a, answer_a, system_b, answer_b``) with its ``winner``. ``columns.toml``
    has the names that the columns may have; of several, the one with values is read. Of several
    files of answers without a column for it, each is of the system that it is named for. Further
    fields of both are ``query_id`` (else questions with the same text are one), ``language`` (a
    code or an English name), ``passages`` (see ``passages_of``; where answers to a question have
    different ones, each has its own and the question none), ``reference`` (the question's answer
    to compare with, which does not compete), ``judge``, and the ``criterion`` it judged by: an
    answer may have a row for each.

    Args:
        paths: Files of one schema, or folders of them.
        columns: Field to the name of its column, where ``columns.toml`` does not have that name.
        language: Language of rows that name none; undetermined (``und``) if left out.
        judge: Judge of rows that name none.
        name: Name of the arena.
        reference_system: System whose answers serve as reference.
        most_pairs: Pairs of marked answers to keep of each question; None keeps all.
        repeats: What becomes of a question that a system answers again; None refuses it.

    Raises:
        UsageError: For an absent file, an unknown field or column, or columns of neither kind.
        DataError: With every problem of all files.
    """
    if repeats is not None:
        checked_choice(repeats, get_args(Repeats), "way to read repeated questions")
    collected = Collected()
    tables = _named_tables(collected, paths, columns)
    tables, layout = _with_layout(collected, tables, columns, paths)
    collected.names = layout.columns.names
    default = checked_language(language) or UNDETERMINED
    rows = AnswerRows(collected, default, layout.sides, repeats)
    empty = Counter[str]()
    for table in tables:
        for place, values in _rows_of(collected, table, layout, judge):
            open_question(collected, place, values)
            open_replies(collected, place, values, layout.sides)
            empty.update(empty_answers(values, layout.sides))
            rows.add(place, values)
    verdict = layout.columns.names.get("verdict")
    if any(has_decimal_commas(table.table, verdict) for table in tables):
        collected.notes.append("Verdicts with a comma were read as decimals: 0,5 is 0.5")
    if empty:
        collected.notes.append(note_on_systems(empty, "is empty", "are empty"))
    read_from = [f"{field} from {column!r}" for field, column in layout.columns.names.items()]
    return rows.arena(name, reference_system, f"Columns: {', '.join(read_from)}.", most_pairs)


def _named_tables(
    collected: Collected, paths: Sequence[Path | str], columns: Mapping[str, str]
) -> list[Rows]:
    """Read the tables; several have the names of their files as a column."""
    tables = []
    read_paths = []
    for path, rows in collected.files(paths):
        joined = with_whole_passages(with_named_paths(rows, columns), columns)
        joined = with_joined_instruction(joined, columns)
        collected.notes += joined.notes[len(rows.notes) :]
        tables.append(joined)
        read_paths.append(path)
    # The name of a single file is hardly a system's.
    if len(tables) > 1 or FILE in columns.values():
        names = distinct_names(read_paths)
        return [with_file_name(rows, name) for rows, name in zip(tables, names, strict=True)]
    return tables


def _with_layout(
    collected: Collected,
    tables: list[Rows],
    columns: Mapping[str, str],
    paths: Sequence[Path | str],
) -> tuple[list[Rows], TableLayout]:
    """Return tables in a shape that can be read, and their layout.

    Raises:
        UsageError: If it is none of tables of answers.
        DataError: If it is none, and rows could not be read.
    """
    problems = list(collected.problems)
    for rows in tables:
        problems += rows.problems
    # Rows that could not be read may hold the columns that are missing.
    layout = table_layout(tables, columns, is_broken=bool(problems))
    if layout is not None:
        return _with_votes(collected, tables, layout, columns)
    if problems:
        raise DataError(problems)
    # Whoever gives the export of a tool is told which kind reads all that it holds.
    known = in_known_shape(tables, columns) if evident_kind(paths) is None else None
    sheets = sheets_of_systems(paths, columns) if known is None else None
    if sheets is not None:
        # Remarks on the first sheet, and that no other is read, are no longer true.
        systems = [str(rows.table["system"].iloc[0]) for rows in sheets[0]]
        notes = [f"the sheets are {len(systems)} systems: {', '.join(systems)}"]
        for rows in sheets[0]:
            notes += rows.notes
        collected.notes[:] = notes
        return sheets
    if known is None:
        fault = lacking_columns([rows.table for rows in tables], columns)
        raise UsageError("; ".join([fault, *collected.notes]))
    for rows, shaped in zip(tables, known[0], strict=True):
        for note in shaped.notes[len(rows.notes) :]:
            collected.notes.append(f"{rows.source}: {note}")
    return known


def _with_votes(
    collected: Collected, tables: list[Rows], layout: TableLayout, columns: Mapping[str, str]
) -> tuple[list[Rows], TableLayout]:
    """Give each vote on a pair a row of its own, where columns hold those of one voter each."""
    if not layout.is_pairs or "winner" in layout.columns.names:
        return tables, layout
    shaped = []
    for rows in tables:
        votes = with_row_for_each_voter(rows)
        if votes is None:
            return tables, layout
        collected.notes.append(f"{rows.source}: {votes.notes[-1]}")
        # Questions are known by their texts.
        table = votes.table.drop(columns=BATTLE_ID, errors="ignore")
        shaped.append(replace(votes, table=table))
    return shaped, table_layout(shaped, columns, is_broken=False) or layout


def _rows_of(
    collected: Collected, table: Rows, layout: TableLayout, judge: str | None
) -> Iterator[PlacedRecord]:
    """Yield the values of each row of a table by field, with who judged and who won."""
    names = layout.columns.names
    rows = with_whole_names(table, names)
    rows = replace(rows, table=with_shares(rows.table, names.get("verdict")))
    identifying = without_row_numbers(rows.table)
    winner_columns: Mapping[str, str] = {}
    if layout.is_pairs and "winner" not in names:
        winner_columns = columns_of_winners(rows.table)
        if not winner_columns:
            collected.notes.append(_note_on_no_winner(rows))
    count_unread(collected, rows, layout.columns, tuple(winner_columns.values()))
    has_commas = has_only_decimal_commas(rows.table, names.get("verdict"))
    for place, record in collected.raw(rows):
        values = layout.columns.values(record)
        if has_commas and isinstance(values.get("verdict"), str):
            values["verdict"] = values["verdict"].replace(",", ".")
        # Without a judge, two rows that are alike may be votes of two people.
        if not (is_missing_cell(values.get("judge")) and is_missing_cell(values.get(VOTER))):
            values[WHOLE_ROW] = {column: record[column] for column in identifying}
        if winner_columns:
            values["winner"] = winner_of(record, names, winner_columns)
        values["judge"], values[VOTER] = judge_and_voter(
            record, names, default=judge, reads_sources=layout.is_pairs
        )
        if not isinstance(values["judge"], str):
            if not values.keys().isdisjoint(("verdict", "winner")):
                hint = "write it as a JSON string"
                collected.fault(place, "judge", values["judge"], "is not a string", hint)
                continue
            # Without a verdict, it may well be the record of a judge's reasons.
            values["judge"] = UNKNOWN_JUDGE
        if values.get("criterion"):
            # Each criterion of a judge is a judge of its own.
            values["judge"] = f"{values['judge']}:{values['criterion']}"
            collected.criteria[values["judge"]] = str(values["criterion"])
        yield place, values


def _note_on_no_winner(rows: Rows) -> str:
    """Say that pairs have no winner, and where verdicts may be."""
    note = f"{rows.source}: no column holds the winner, so there are no verdicts; choose it with"
    candidates = paths_of_verdicts(rows.table)
    if not candidates:
        return f"{note} --column winner=NAME"
    note += f" --column winner={candidates[0]}"
    if len(candidates) == 1:
        return note
    note += f", or another of {first_of(candidates)}"
    return f"{note}; {HINT}" if len(columns_of_verdicts(rows)) > 1 else note
