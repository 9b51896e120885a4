"""Battles read column by column: what a cell means is looked up once for each distinct one.

It reads what ``BattleReader`` reads row by row, by the same functions for cells; a test holds both
equal. Neither can replace the other: the rows name the line of a fault, and give imports the texts
and turns of every battle; the columns take seconds where a million rows take a minute.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from arena.data.cells import whole_digits
from arena.data.rows import Rows
from arena.data.schema import CRITERION, TURN, VOTER, WEIGHT
from arena.data.types import Flags, Record
from surrogate_arena.importers.battle_columns import (
    FLAGS,
    OUR_COLUMNS,
    battle_fields,
    columns_of_texts,
    columns_of_winners,
    is_flagged,
    winner_of,
)
from surrogate_arena.importers.battle_rows import BattleReader
from surrogate_arena.importers.cells import is_missing_cell, read_number
from surrogate_arena.importers.coded_columns import CodedColumn, distinct_rows
from surrogate_arena.importers.coded_tables import CodedTable
from surrogate_arena.importers.collected import Collected, Place
from surrogate_arena.importers.column_judgments import JudgmentColumns, NeedsRowsError
from surrogate_arena.importers.columns import (
    NUMBERED_FIELDS,
    are_decimals,
    bare_column,
    counts_rows,
    is_index_name,
    is_value,
    whole_name,
)
from surrogate_arena.importers.judges import JUDGE_SOURCES, judge_and_voter
from surrogate_arena.importers.judgment_records import with_winner_readings
from surrogate_arena.importers.winner_columns import WinnerReading
from surrogate_arena.importers.winners import UndecidableWinnersError, name_no_system

_SIDES = ("system_a", "system_b")


def judgments_by_column(table: CodedTable, reader: BattleReader) -> pd.DataFrame:
    """Read judgments, as ``counted_judgments_of`` does.

    Args:
        table: The file.
        reader: Has the options, and counts what is left out.

    Raises:
        NeedsRowsError: If only the rows tell what the file holds, or what is wrong with it.
        UsageError: If a chosen column is not there, or a field is unknown.
    """
    if reader.options.judge is not None or reader.options.languages:
        raise NeedsRowsError
    known = set(map(bare_column, table.names))
    # A path leads into the cells of a column.
    if any(bare_column(name) not in known for name in reader.options.columns.values()):
        raise NeedsRowsError
    names = _column_names(table, reader)
    return _ColumnReader(table, reader, names, columns_of_winners(table.names)).judgments()


def _column_names(table: CodedTable, reader: BattleReader) -> Mapping[str, str]:
    """Return the column of each field, chosen by a few rows that tell as much as all do."""
    cells = _telling_cells(table)
    n_rows = max([1, *map(len, cells.values())])
    padded: dict[str, list[object]] = {}
    for column in table.names:
        values = cells.get(column, [])
        padded[column] = values + [None] * (n_rows - len(values))
    lines = pd.Series(range(1, n_rows + 1), dtype=int)
    rows = Rows(pd.DataFrame(padded, dtype=object), lines, table.source)
    names = reader.column_names(rows)
    if names is None:
        raise NeedsRowsError
    return names


def _telling_cells(table: CodedTable) -> dict[str, list[object]]:
    """Return a few cells of each column whose cells matter for which column is read."""
    cells: dict[str, list[object]] = {}
    for names in battle_fields().values():
        candidates = [column for column in table.names if bare_column(column) in names]
        if len(candidates) > 1:
            cells |= _value_patterns(table, candidates)
    for column in filter(is_index_name, table.names):
        if column not in cells:
            values = pd.DataFrame({column: table.column(column).objects()})
            cells[column] = [0] if counts_rows([values], column) else ["value"]
    return cells


def _value_patterns(table: CodedTable, columns: Sequence[str]) -> dict[str, list[object]]:
    """Return the cells of rows in which other ones of the columns have values, one row of each.

    Of several columns for a field, the one that has values in the right rows is read.
    """
    has_value = [table.column(column).where(is_value) for column in columns]
    patterns = np.unique(np.array(has_value), axis=1)
    cells: dict[str, list[object]] = {}
    for column, pattern in zip(columns, patterns, strict=True):
        cells[column] = ["value" if flag else None for flag in pattern]
    return cells


@dataclass
class _ColumnReader:
    """Reads the columns of a file.

    Attributes:
        table: The file.
        rows: Reads single cells, and counts what is left out.
        names: Field to its column.
        winner_columns: Those of ``columns_of_winners``.
        is_read: Rows that are not left out, shape (N,).
        columns: The columns that were read, as the rows that are not left out have them.
    """

    table: CodedTable
    rows: BattleReader
    names: Mapping[str, str]
    winner_columns: Mapping[str, str]
    is_read: Flags = field(init=False)
    columns: dict[str, CodedColumn] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.is_read = np.ones(self.table.n_rows, dtype=np.bool_)

    def judgments(self) -> pd.DataFrame:
        """Return the judgments that have a winner."""
        self._check_turns()
        self._drop_flagged()
        self._read_names_and_winners()
        side_a, side_b = (self._cells_read(self.names[side], _system) for side in _SIDES)
        judge, voter = self._judges()
        judgments = {
            "query_id": self._query_ids(),
            "language": self._languages(),
            "system_a": side_a,
            "system_b": side_b,
            "judge": judge,
            VOTER: voter,
            **self._further_columns(),
        }
        winners = self._winners(side_a, side_b)
        read = JudgmentColumns(
            table=self.table,
            rows=np.flatnonzero(self.is_read),
            written=self.columns,
            columns=judgments,
            winners=winners,
        )
        return read.with_winner().completed()

    def _check_turns(self) -> None:
        """Refuse files in which turns of a conversation are questions of their own."""
        if TURN not in self.names:
            return
        turns = self.table.column(self.names[TURN])
        numbers = [read_number(cell) for cell in turns.cells if not is_missing_cell(cell)]
        is_sound = all(number is not None and number >= 0 and number % 1 == 0 for number in numbers)
        if not is_sound or columns_of_texts(self.table.names, self.names):
            raise NeedsRowsError
        if "query_id" in self.names:
            query_ids = self.table.column(self.names["query_id"])
            with_turn = [column.take(~turns.is_missing) for column in (query_ids, turns)]
            n_questions = len(distinct_rows(with_turn[:1]).values)
            if len(distinct_rows(with_turn).values) > n_questions:
                raise NeedsRowsError

    def _drop_flagged(self) -> None:
        """Count votes that were not blind or on duplicates, and leave them out if asked for."""
        for flag in FLAGS:
            if flag not in self.table.names:
                continue
            is_set = self.table.column(flag).where(partial(is_flagged, flag))
            self.rows.skip_flagged(self.table.source, flag, int(is_set.sum()))
            if self.rows.options.drops_flagged:
                self.is_read &= ~is_set

    def _read_names_and_winners(self) -> None:
        """Read columns of names, ids and winners; those that hold decimals as whole numbers."""
        for fields in NUMBERED_FIELDS:
            names = [self.names[name] for name in fields if name in self.names]
            columns = [self._column(name) for name in names]
            if not are_decimals(cell for column in columns for cell in column.cells):
                continue
            for name, column in zip(names, columns, strict=True):
                self.columns[name] = column.mapped(list(map(whole_name, column.cells)))

    def _column(self, name: str) -> CodedColumn:
        """Return a column without the rows that are left out."""
        if name not in self.columns:
            column = self.table.column(name)
            self.columns[name] = column if self.is_read.all() else column.take(self.is_read)
        return self.columns[name]

    def _cells_read(
        self, name: str, read: Callable[[BattleReader, Place, Any], object]
    ) -> CodedColumn:
        """Read each cell of a column once, and count what is left out once for each of its rows.

        Args:
            name: Name of the column.
            read: Reads a cell.

        Raises:
            NeedsRowsError: If a cell is at fault.
        """
        column = self._column(name)
        place = Place(self.table.source, 1)
        values: list[object] = []
        for cell, count in zip(column.cells, column.counts.tolist(), strict=True):
            if not count:
                values.append(None)
                continue
            collected = Collected()
            values.append(read(BattleReader(collected, self.rows.options), place, cell))
            if collected.problems:
                raise NeedsRowsError
            for skip, times in collected.skips.items():
                self.rows.collected.skip(*skip, count=times * count)
        return column.mapped(values)

    def _query_ids(self) -> CodedColumn:
        """Return the ids of questions: those of battles where there are none."""
        if "query_id" not in self.names:
            rows = np.flatnonzero(self.is_read)
            numbers = np.arange(len(rows), dtype=np.intp)
            return CodedColumn(numbers, [f"battle-{row}" for row in (rows + 1).tolist()])
        column = self._column(self.names["query_id"])
        if set(map(type, column.cells)) <= {str}:
            return column
        return column.mapped([whole_digits(cell) or cell for cell in column.cells])

    def _languages(self) -> CodedColumn:
        """Return the codes of languages."""
        default = self.rows.options.language
        if "language" not in self.names:
            return CodedColumn(np.zeros(int(self.is_read.sum()), dtype=np.intp), [default])

        def read(reader: BattleReader, place: Place, cell: object) -> str:
            return default if is_missing_cell(cell) else reader.language_of(place, cell)

        return self._cells_read(self.names["language"], read).filled(default)

    def _judges(self) -> tuple[CodedColumn, CodedColumn]:
        """Return who judged, and the voters where these have other names."""
        names = [self.names[name] for name in ("judge", VOTER) if name in self.names]
        columns = [self._column(name) for name in names]
        is_named = "judge" in self.names and not columns[0].is_missing.any()
        if not is_named or any(not is_value(cell) for cell in columns[0].cells):
            names += [name for name in JUDGE_SOURCES if name in self.table.names]
        codes, records = self._distinct_records(names)
        pairs = [judge_and_voter(record, self.names) for record in records]
        judges = CodedColumn(codes, [judge for judge, _ in pairs])
        voters = CodedColumn(codes, [voter for _, voter in pairs])
        return judges.mapped(judges.cells), voters.mapped(voters.cells)

    def _distinct_records(
        self, names: Sequence[str], sides: Sequence[CodedColumn] = ()
    ) -> tuple[Any, list[Record]]:
        """Return the distinct rows of some columns, and which one each row is, shape (N,).

        Args:
            names: Names of the columns.
            sides: Further columns, which rows have under the names of ``_SIDES``.
        """
        named = {name: self._column(name) for name in names}
        named |= dict(zip(_SIDES, sides, strict=False))
        if not named:
            return np.zeros(int(self.is_read.sum()), dtype=np.intp), [{}]
        columns = list(named.values())
        if len(columns) == 1 and columns[0].counts.all() and not columns[0].is_missing.any():
            (name,) = named
            return columns[0].codes, [{name: cell} for cell in columns[0].cells]
        rows = distinct_rows(columns)
        cells = [column.take(rows.first_rows).objects() for column in columns]
        records = [dict(zip(named, row, strict=True)) for row in zip(*cells, strict=True)]
        return rows.codes, records

    def _further_columns(self) -> dict[str, CodedColumn]:
        """Return further columns of judgments, where the file has them."""
        names = {name: name for name in OUR_COLUMNS if name in self.table.names}
        if CRITERION in self.names:
            names[CRITERION] = self.names[CRITERION]
        columns: dict[str, CodedColumn] = {}
        for name, source in names.items():
            column = self._column(source)
            columns[name] = column
            if any(map(is_missing_cell, column.cells)):
                cells = [None if is_missing_cell(cell) else cell for cell in column.cells]
                columns[name] = column.mapped(cells)
        if WEIGHT in self.names:
            weights = self._cells_read(self.names[WEIGHT], BattleReader.weight_of)
            if weights.is_missing.any():
                raise NeedsRowsError
            columns[WEIGHT] = weights
        return columns

    def _winners(self, side_a: CodedColumn, side_b: CodedColumn) -> CodedColumn:
        """Return the readings of winners, and count those that are missing."""
        names = list(self.winner_columns.values())
        sides: tuple[CodedColumn, ...] = ()
        if "winner" in self.names:
            names = [self.names["winner"]]
            systems = _systems_of(side_a, side_b)
            if not name_no_system(self._column(names[0]).cells, systems):
                sides = (side_a, side_b)
        codes, records = self._distinct_records(names, sides)
        rows = []
        for record in records:
            # No cell names a system where the sides do not count.
            row = {side: record.get(side) for side in _SIDES}
            rows.append({**row, "winner": winner_of(record, self.names, self.winner_columns)})
        try:
            readings = list(with_winner_readings(rows, self.names.get("winner", "winner")))
        except UndecidableWinnersError:
            raise NeedsRowsError from None
        winners = CodedColumn(codes, [reading for _, reading in readings])
        for reading, count in zip(winners.cells, winners.counts.tolist(), strict=True):
            if isinstance(reading, WinnerReading):
                continue
            if reading.is_fault:
                raise NeedsRowsError
            self.rows.collected.skip(self.table.source, "judgment", reading.reason, count)
        return winners.mapped(winners.cells)


def _systems_of(side_a: CodedColumn, side_b: CodedColumn) -> set[object]:
    cells = [*side_a.cells, *side_b.cells]
    if not all(isinstance(cell, Hashable) for cell in cells):
        # A list or a record is no system: the reader of rows names its line.
        raise NeedsRowsError
    return set(cells)


def _system(reader: BattleReader, place: Place, cell: object) -> object:
    return reader.collected.system_name(place, cell)
