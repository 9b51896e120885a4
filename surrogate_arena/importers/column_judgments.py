"""Judgments that were read column by column: checked, and completed as those of rows are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from arena.data.cells import is_unstorable
from arena.data.judge_names import names_one_judge
from arena.data.languages import is_language_code
from arena.data.schema import (
    BOTH_BAD,
    CHOSEN,
    CRITERION,
    JUDGMENTS,
    PROBABILITIES,
    REPEAT,
    VERDICT_FLAGS,
    VOTER,
    WEIGHT,
)
from arena.data.selection import named_by_criterion
from arena.data.systems import name_problems
from arena.data.types import Floats, Indices
from arena.rating.judgments import with_known_columns
from arena.statistics.codes import repeated_rows, row_keys
from surrogate_arena.importers.cells import read_number
from surrogate_arena.importers.coded_columns import CodedColumn, distinct_rows
from surrogate_arena.importers.coded_tables import CodedTable
from surrogate_arena.importers.columns import may_number_rows, without_row_numbers
from surrogate_arena.importers.judgment_records import digest_of
from surrogate_arena.importers.winner_columns import WinnerReading

_NAMES = ("query_id", "system_a", "system_b", "judge")
"""Columns that have a name or an id in every row."""
TEXT_COLUMNS = (*JUDGMENTS.columns, CRITERION, VOTER)


class NeedsRowsError(Exception):
    """A file is to be read row by row: it is of a rare form, or a row is at fault."""


@dataclass(frozen=True)
class JudgmentColumns:
    """N judgments as columns.

    Attributes:
        table: The file.
        rows: Index in the file of each judgment, shape (N,).
        written: The columns of the file that were read, as they are written.
        columns: Columns of judgments, without winners; a cell of an optional one may be missing.
        winners: Readings of the winners.
    """

    table: CodedTable
    rows: Indices
    written: Mapping[str, CodedColumn]
    columns: Mapping[str, CodedColumn]
    winners: CodedColumn

    def with_winner(self) -> JudgmentColumns:
        """Keep the judgments with a winner, and the columns that have a cell in any of them.

        Raises:
            NeedsRowsError: If there are none.
        """
        readings = [
            reading if isinstance(reading, WinnerReading) else None
            for reading in self.winners.cells
        ]
        winners = self.winners.mapped(readings)
        has_winner = ~winners.is_missing
        if not has_winner.any():
            raise NeedsRowsError
        part = self
        if not has_winner.all():
            part = replace(
                self,
                rows=self.rows[has_winner],
                written={name: column.take(has_winner) for name, column in self.written.items()},
                columns={name: column.take(has_winner) for name, column in self.columns.items()},
                winners=winners.take(has_winner),
            )
        columns = {name: column for name, column in part.columns.items() if column.counts.any()}
        return replace(part, columns=columns)

    def completed(self) -> pd.DataFrame:
        """Return the judgments as a table, names and ids as categories.

        Raises:
            NeedsRowsError: If something is wrong with them.
        """
        self._check()
        probabilities = self._probabilities()
        both_bad = self._both_bad()
        repeats = self._repeats(both_bad)
        texts = dict(self.columns)
        texts["winner"] = self.winners.mapped([reading.winner for reading in self.winners.cells])
        if CRITERION in texts:
            texts["judge"] = _with_criterion(texts["judge"], texts[CRITERION])
        table: dict[str, Any] = dict(probabilities)
        for name in TEXT_COLUMNS:
            if name in texts:
                table[name] = texts[name].categorical()
        for name in (CHOSEN, WEIGHT, VERDICT_FLAGS):
            if name in texts:
                table[name] = pd.Series(texts[name].objects(), dtype=object)
        if both_bad is not None:
            # A column that some rows have is true or false in all of them.
            is_filled = any(both_bad.used_cells)
            flags = both_bad.filled(False) if is_filled else both_bad
            table[BOTH_BAD] = pd.Series(flags.objects(), dtype=object)
        if repeats is not None:
            table[REPEAT] = pd.Series(repeats, dtype=object)
        return with_known_columns(pd.DataFrame(table))

    def _check(self) -> None:
        """Refuse what the checks of an arena refuse in its judgments."""
        used = {name: column.used_cells for name, column in self.columns.items()}
        for name in _NAMES:
            if name not in used or self.columns[name].is_missing.any():
                raise NeedsRowsError
        names = [used[name] for name in (*_NAMES, CRITERION, VOTER) if name in used]
        if not all(map(_are_names, names)):
            raise NeedsRowsError
        if not all(map(is_language_code, used["language"])):
            raise NeedsRowsError
        if not all(map(_are_storable, used.values())):
            raise NeedsRowsError
        side_a, side_b = self.columns["system_a"], self.columns["system_b"]
        code_of = {name: code for code, name in enumerate(side_b.cells)}
        same = np.array([code_of.get(name, -1) for name in side_a.cells])
        if (same[side_a.codes] == side_b.codes).any():
            raise NeedsRowsError
        systems = {*used["system_a"], *used["system_b"]}
        for unlike in (systems, used["judge"]):
            if name_problems(unlike, self.table.source, "names"):
                raise NeedsRowsError

    def _probabilities(self) -> dict[str, Floats]:
        """Return the probabilities of soft verdicts, NaN in other rows."""
        read: dict[str, Floats] = {}
        for name in PROBABILITIES:
            soft = _floats([getattr(reading, name) for reading in self.winners.cells])
            values = soft[self.winners.codes]
            if name in self.columns:
                column = self.columns[name]
                numbers = np.append(_floats(column.cells), np.nan)
                # A number for each cell that is not missing.
                if np.isnan(numbers[column.codes]).sum() > column.is_missing.sum():
                    raise NeedsRowsError
                values = np.where(np.isnan(values), numbers[column.codes], values)
            if not np.isnan(values).all():
                read[name] = values
        if not read:
            return read
        if len(read) == 1:
            raise NeedsRowsError
        first, second = read.values()
        is_half = np.isnan(first) != np.isnan(second)
        rounding = 1e-6
        is_outside = (first < 0) | (first > 1) | (second < 0) | (second > 1)
        if (is_half | is_outside | (first + second > 1 + rounding)).any():
            raise NeedsRowsError
        return read

    def _both_bad(self) -> CodedColumn | None:
        """Return which judgments say that neither answer is good; None if none says anything."""
        is_bad = self.winners.mapped([reading.is_both_bad for reading in self.winners.cells])
        if BOTH_BAD not in self.columns:
            if not any(is_bad.used_cells):
                return None
            return is_bad.mapped([True if bad else None for bad in is_bad.cells])
        rows = distinct_rows([is_bad, self.columns[BOTH_BAD]])
        first_rows = rows.first_rows
        cells = []
        bad_by_winner = is_bad.take(first_rows).objects()
        written_cells = self.columns[BOTH_BAD].take(first_rows).objects()
        for bad, cell in zip(bad_by_winner, written_cells, strict=True):
            cells.append(True if bad else cell)
        return CodedColumn(rows.codes, cells).mapped(cells)

    def _repeats(self, both_bad: CodedColumn | None) -> Any:  # noqa: ANN401 - an array of texts
        """Return the number of each repeated vote, shape (N,); None if there are none."""
        repeats = self.columns.get(REPEAT)
        numbers = self._repeat_numbers(both_bad)
        if repeats is None and not numbers:
            return None
        cells = np.full(len(self.rows), None, dtype=object)
        if repeats is not None:
            cells = repeats.objects()
        for row, number in numbers.items():
            if cells[row] is None:
                cells[row] = str(number)
        return cells

    def _repeat_numbers(self, both_bad: CodedColumn | None) -> dict[int, int]:
        """Number the votes of one judge on the same question and sides; see ``number_repeats``.

        Returns:
            Index of a judgment to the number of its vote, where that is above 1.
        """
        identity = self._identity(both_bad)
        written = [column for name, column in self.written.items() if not self._numbers_rows(name)]
        further = [name for name in self.table.names if name not in self.written]
        codes = {id(column.codes) for column in identity.values()}
        if not further and all(id(column.codes) in codes for column in written):
            # Judgments that are alike are so in the file.
            return {}
        is_named = self.columns["judge"].where(names_one_judge)
        if VOTER in self.columns:
            is_named |= ~self.columns[VOTER].is_missing
        named = np.flatnonzero(is_named)
        table = pd.DataFrame({name: column.take(named).codes for name, column in identity.items()})
        is_repeated = repeated_rows(table)
        if not is_repeated.any():
            return {}
        keys, _ = row_keys(table)
        is_alike = pd.Series(keys).isin(keys[is_repeated]).to_numpy()
        rows = named[is_alike]
        return _later_votes(rows, keys[is_alike], self._written_codes(rows, written, further))

    def _written_codes(
        self, rows: Indices, written: Sequence[CodedColumn], further: Sequence[str]
    ) -> Indices:
        """Number some judgments, those alike whose rows of the file are exact copies.

        Args:
            rows: Some of the judgments, shape (M,).
            written: Columns of the file that were read.
            further: Names of its other columns.
        """
        alike = distinct_rows([column.take(rows) for column in written])
        for name in self.table.smallest_first(further):
            # Rows that differ already need no further column.
            if len(alike.values) == len(rows):
                break
            if self._numbers_rows(name):
                continue
            cells = self.table.cells(name, self.rows[rows])
            digests = CodedColumn.of_cells([digest_of({name: cell}) for cell in cells])
            alike = distinct_rows([CodedColumn(alike.codes, alike.values.tolist()), digests])
        return alike.codes

    def _identity(self, both_bad: CodedColumn | None) -> dict[str, CodedColumn]:
        """Return the columns in which votes of one judge on the same question are alike."""
        columns = dict(self.columns)
        for name in (REPEAT, VERDICT_FLAGS):
            columns.pop(name, None)
        winners = [replace(reading, is_both_bad=False) for reading in self.winners.cells]
        columns["winner"] = self.winners.mapped(winners)
        if both_bad is not None:
            columns[BOTH_BAD] = both_bad
        is_soft = self.winners.where(lambda reading: reading.is_soft)
        if is_soft.any():
            # The probabilities of the winner count instead of those of the columns.
            for name in PROBABILITIES:
                if name in columns:
                    column = columns[name]
                    columns[name] = CodedColumn(np.where(is_soft, -1, column.codes), column.cells)
        return columns

    def _numbers_rows(self, name: str) -> bool:
        """Tell whether a column only numbers the rows of the file."""
        if not may_number_rows(name):
            return False
        return not without_row_numbers(pd.DataFrame({name: self.table.column(name).objects()}))


def _are_names(cells: Sequence[Any]) -> bool:
    """Tell whether all cells are texts that are not blank."""
    return set(map(type, cells)) <= {str} and all(map(str.strip, cells))


def _are_storable(cells: Sequence[Any]) -> bool:
    """Tell whether no cell holds half a surrogate pair."""
    if set(map(type, cells)) <= {str}:
        return not is_unstorable("".join(cells))
    return not any(map(is_unstorable, cells))


def _floats(cells: Sequence[object]) -> Floats:
    """Return numbers, also those written as text, as floats; NaN for anything else."""
    return np.array([read_number(cell) for cell in cells], dtype=np.float64)


def _with_criterion(judges: CodedColumn, criteria: CodedColumn) -> CodedColumn:
    """Append criteria to the names of judges."""
    rows = distinct_rows([judges, criteria])
    first_rows = rows.first_rows
    pairs = pd.DataFrame(
        {
            "judge": judges.take(first_rows).objects(),
            CRITERION: criteria.take(first_rows).objects(),
        }
    )
    named = named_by_criterion(pairs)["judge"].tolist()
    return CodedColumn(rows.codes, named).mapped(named)


def _later_votes(rows: Indices, keys: Indices, written_codes: Indices) -> dict[int, int]:
    """Number the votes of each key from 1 on, exact copies alike.

    Args:
        rows: Index of each judgment.
        keys: The same for votes of one judge on the same question and sides.
        written_codes: The same for exact copies of a row.

    Returns:
        Index of a judgment to the number of its vote, where that is above 1.
    """
    votes_by_key: dict[int, dict[int, int]] = {}
    numbers: dict[int, int] = {}
    for row, key, code in zip(rows.tolist(), keys.tolist(), written_codes.tolist(), strict=True):
        votes = votes_by_key.setdefault(key, {})
        vote = votes.setdefault(code, len(votes) + 1)
        if vote > 1:
            numbers[row] = vote
    return numbers
