"""Battles: tables of who met, who won, who says so. One reader for a hundred rows and ten million.

A row is a comparison of two systems: with sides (``system_a, system_b, winner``), without
(``winner, loser``, or counts of wins). ``names.toml`` has the names that columns may have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd

from arena.data.errors import DataError, Problem, UsageError, counted_problems
from arena.data.languages import UNDETERMINED, language_code
from arena.data.schema import (
    BOTH_BAD,
    CHOSEN,
    CRITERION,
    DIGESTS,
    PROBABILITIES,
    REPEAT,
    SIDES,
    VERDICT_FLAGS,
    VOTER,
    WEIGHT,
    likeliest_winner,
)
from arena.data.selection import UNKNOWN_JUDGE, names_one_judge
from arena.data.types import Flags, Indices
from arena.data.wording import all_of, count_of, first_of
from surrogate_arena.importers.columnar import Column, ColumnTable, column_table
from surrogate_arena.importers.contract import (
    MOST_NAMED,
    NO_HEADER,
    SIDES_IN_NAMES,
    WON_AND_LOST,
    Columns,
    are_numbers,
    are_texts,
    bare_column,
    chosen_columns,
    columns_of_pairs,
    looks_like_data,
    paired_columns,
    with_paths,
)
from surrogate_arena.importers.values import (
    is_missing_cell,
    mark_of,
    name_text,
    number_of,
    opened_or_same,
    option,
)
from surrogate_arena.importers.verdict_values import (
    NO_VERDICT,
    UNREAD,
    ReadValues,
    StatedValues,
    UnclearValuesError,
    option_of_values,
    read_values,
    side_named,
    stated_values,
    two_meanings,
)

_OUR_COLUMNS = (CHOSEN, REPEAT, VERDICT_FLAGS)
"""Columns of our own tables that stay as they are."""
_OUR_DETAILS = (*DIGESTS, "probability", "prompt", "reason")
"""Columns of our own tables that say nothing of who won."""
HUMAN = "human"
"""The judge where voters are named and no judge is."""
SHOWN = "shown"
NONE = "none"
_NO_NAMES: Mapping[str, str] = MappingProxyType({})
_NO_VALUES: Mapping[str, StatedValues] = MappingProxyType({})
_COUNTS = ("wins_a", "wins_b", "ties")
_MOST_PROBLEMS = 20
_OUTCOMES = MappingProxyType({"a": 0, "b": 1, "tie": 2, "none": -1})
"""Code of each outcome; -1 where there is none."""


@dataclass(frozen=True)
class BattleOptions:
    """How battles are read.

    Attributes:
        columns: Field to the name of its column, where ``names.toml`` does not have that name.
        values: What the values of columns mean, by column; see ``stated_values``.
        judge: Name of the judge of all battles; None reads it from the file.
        language: Language of rows that name none.
        languages: Id of a question to its language, for files without a column for it.
        has_sides: False if columns say nothing of who stood where.
    """

    columns: Mapping[str, str] = field(default_factory=lambda: _NO_NAMES)
    values: Mapping[str, StatedValues] = field(default_factory=lambda: _NO_VALUES)
    judge: str | None = None
    language: str = UNDETERMINED
    languages: Mapping[str, str] = field(default_factory=lambda: _NO_NAMES)
    has_sides: bool = True


@dataclass(frozen=True)
class ReadBattles:
    """Battles that were read.

    Attributes:
        table: An arena's ``judgments``, names and ids as categories, in the order of the file.
        rows: Row of the file of each judgment, shape (N,).
        names: Field to the column it was read from.
        understood: What was understood, a line each.
        skipped: Reason to the number of rows that were left out.
        frame: The rows of the file, with a column for each path that was named.
        unread: Columns that nothing was read from.
    """

    table: pd.DataFrame
    rows: Indices
    names: Mapping[str, str]
    understood: tuple[str, ...]
    skipped: Mapping[str, int]
    frame: pd.DataFrame
    unread: tuple[str, ...] = ()


def read_battles_file(path: Path, options: BattleOptions, source: str | None = None) -> ReadBattles:
    """Read the battles of one file; see ``battles_of``."""
    return battles_of(column_table(path, source), options)


def battles_of(table: ColumnTable, options: BattleOptions) -> ReadBattles:
    """Read the battles of a table.

    Raises:
        UsageError: If a column is missing that is needed, or a chosen one is not there.
        DataError: With the line and the column of every fault.
    """
    if table.problems:
        raise DataError(list(table.problems))
    table = replace(table, frame=with_paths(table.frame, options.columns))
    columns = _columns_of(table, options)
    reader = _Reader(table, options, columns.names, columns.unread)
    reader.understood += columns.notes()
    return reader.read()


def _columns_of(table: ColumnTable, options: BattleOptions) -> Columns:
    """Return the column of each field, and refuse tables that lack one."""
    columns = chosen_columns([table.frame], "battles", options.columns)
    names = columns.names
    if "loser" in names and "winner" in names and "system_a" not in names:
        return columns
    missing = [name for name in ("system_a", "system_b") if name not in names]
    has_winner = "winner" in names or {"wins_a", "wins_b"} <= names.keys()
    if not has_winner and not names.keys() >= {*PROBABILITIES}:
        missing.append("winner")
    if not missing:
        return columns
    if "system_a" in missing:
        _refuse_columns_of_pairs(table, columns)
    if "system_a" in missing and looks_like_data([table.frame]):
        raise UsageError(f"{table.source}: {NO_HEADER} system_a,system_b,winner")
    fields = _suggested_pair(table, columns) if "system_a" in missing else {}
    if "loser" in fields:
        hints = [option("column", f"{name}={column}") for name, column in fields.items()]
        missing = ["winner", "loser"]
    else:
        known = {**names, **fields}
        if "winner" in missing:
            winner = _suggested_winner(table, known, columns.unread)
            known.update({} if winner is None else {"winner": winner})
        hints = [option("column", f"{name}={known.get(name, 'NAME')}") for name in missing]
        hints += _values_to_state(table, known)
    listed = first_of(list(map(str, table.frame.columns)), MOST_NAMED)
    raise UsageError(
        f"{table.source}: no column is known for {all_of(missing)}: {' '.join(hints)}; the columns "
        f"are {listed}. A battle has system_a, system_b and winner (or counts wins_a, "
        "wins_b, ties), or winner and loser; the importing guide has short recipes for other shapes"
    )


def _refuse_columns_of_pairs(table: ColumnTable, columns: Columns) -> None:
    """Refuse a table with a column for each pair, such as ``gpt-4o_vs_llama``."""
    pairs = columns_of_pairs(table.frame)
    if not pairs:
        return
    names = list(map(str, table.frame))
    kept = [name for name in names if name in columns.names.values()]
    mark = next(iter(pairs.values()))
    raise UsageError(
        f"{table.source}: {count_of(len(pairs), 'column')} such as {next(iter(pairs))!r} hold a "
        f"pair each; write a row for each battle by pandas: table = table.melt({kept}, "
        f"[name for name in table if {mark!r} in name], 'pair', 'winner'); "
        f"table[['system_a', 'system_b']] = table.pop('pair').str.split({mark!r}, expand=True)"
    )


def _suggested_pair(table: ColumnTable, columns: Columns) -> dict[str, str]:
    """Return two columns of names that differ in a word for a side, by the fields they may be."""
    fields = (("system_a", "system_b"), SIDES_IN_NAMES), (("winner", "loser"), WON_AND_LOST)
    for (first_field, second_field), words in fields:
        for pair in paired_columns(columns.unread, words):
            if _hold_names(table, pair):
                return {first_field: pair[0], second_field: pair[1]}
    return {}


def _hold_names(table: ColumnTable, columns: Sequence[str]) -> bool:
    """Tell whether columns hold short names that repeat."""
    for name in columns:
        cells = table.column(name).cells
        is_short = all(len(str(cell)) <= _LONGEST_NAME for cell in cells)
        if are_numbers(cells) or not cells or not is_short or len(cells) * 2 > len(table.frame):
            return False
    return True


_LONGEST_NAME = 60
"""Characters of a name of a system that is suggested."""


def _suggested_winner(
    table: ColumnTable, names: Mapping[str, str], unread: Sequence[str]
) -> str | None:
    """Return the unread column that can be read as winners, or the only one with few values."""
    if not {"system_a", "system_b"} <= names.keys():
        return None
    systems = _system_names(table, names)
    with_few_values = []
    for column in unread:
        cells = table.column(column).cells
        if column in names.values():
            continue
        if 1 < len(cells) <= _MOST_VALUES and len(cells) < len(table.frame):
            with_few_values.append(column)
        with suppress(UnclearValuesError):
            values = read_values(cells, column, systems)
            if cells and all(cell in values.names or cell in values.verdicts for cell in cells):
                return column
    return with_few_values[0] if len(with_few_values) == 1 else None


_MOST_VALUES = 7
"""Values of a column that may be one of winners."""


def _values_to_state(table: ColumnTable, names: Mapping[str, str]) -> list[str]:
    """Return the option that says what the values of winners mean, if they are unclear."""
    if not {"system_a", "system_b", "winner"} <= names.keys():
        return []
    column = names["winner"]
    cells = table.column(column).cells
    try:
        read_values(cells, column, _system_names(table, names))
    except UnclearValuesError:
        return [option_of_values(column, cells)]
    return []


def _system_names(table: ColumnTable, names: Mapping[str, str]) -> set[str]:
    systems: set[str] = set()
    for side in ("system_a", "system_b"):
        systems.update(str(cell) for cell in table.column(names[side]).cells)
    return systems


@dataclass
class _Reader:
    table: ColumnTable
    options: BattleOptions
    names: Mapping[str, str]
    unread: tuple[str, ...] = ()
    problems: list[Problem] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    understood: list[str] = field(default_factory=list)

    def read(self) -> ReadBattles:
        """Read the columns, then leave out rows without a verdict, and votes that were replaced."""
        sides = self._sides()
        self._refuse_self_battles(sides)
        votes = self._votes(sides)
        columns: dict[str, pd.Series] = {
            "query_id": self._questions(),
            "language": self._languages(),
            "system_a": sides["system_a"],
            "system_b": sides["system_b"],
            **self._judges(),
        }
        if "criterion" in self.names:
            columns[CRITERION] = self._names_in(CRITERION)
        for name in _OUR_COLUMNS:
            if name in self.table.frame:
                columns[name] = self.table.frame[name].astype(object)
        table = pd.DataFrame(columns).iloc[votes["row"]].reset_index(drop=True)
        table.insert(4, "winner", votes["winner"])
        for name in votes.columns.difference(["row", "winner"]):
            table[name] = votes[name]
        if self.problems:
            raise DataError(counted_problems(self.problems))
        table = _with_drawn_sides(table)
        rows = votes["row"].to_numpy()
        keep = self._latest_votes(table)
        table, rows = table[keep].reset_index(drop=True), rows[keep]
        table = self._numbered(table, rows)
        if table.empty:
            reasons = "; ".join(f"{reason}: {n}" for reason, n in self.skipped.items())
            raise UsageError(f"{self.table.source}: there is no judgment in it ({reasons})")
        ours = {*_OUR_COLUMNS, *_OUR_DETAILS}
        return ReadBattles(
            table=table,
            rows=rows,
            names=self.names,
            understood=tuple(self.understood),
            skipped={reason: count for reason, count in self.skipped.items() if count},
            frame=self.table.frame,
            unread=tuple(name for name in self.unread if name not in ours),
        )

    # Who met

    def _sides(self) -> dict[str, pd.Series]:
        fields = ("system_a", "system_b")
        if "loser" in self.names and "system_a" not in self.names:
            fields = ("winner", "loser")
        sides = {
            side: self._names_in(name, is_needed=True)
            for side, name in zip(("system_a", "system_b"), fields, strict=True)
        }
        names = sorted({*sides["system_a"].cat.categories, *sides["system_b"].cat.categories})
        return {side: values.cat.set_categories(names) for side, values in sides.items()}

    def _names_in(self, name: str, *, is_needed: bool = False) -> pd.Series:
        """Return a column of names as categories: numbers in digits, without spaces at edges."""
        column = self.table.column(self.names[name])
        with_spaces = column.where(lambda cell: isinstance(cell, str) and cell != cell.strip())
        if with_spaces.any():
            reason = f"spaces at the edges of {column.name!r} were removed"
            self.skipped[reason] += int(with_spaces.sum())
        texts = column.texts(_name_of)
        if is_needed:
            hint = "write the name of the system"
            self._fault_rows(texts.isna().to_numpy(), column, "is no name", hint)
        return texts

    def _refuse_self_battles(self, sides: Mapping[str, pd.Series]) -> None:
        codes_a = sides["system_a"].cat.codes.to_numpy()
        is_same = (codes_a == sides["system_b"].cat.codes.to_numpy()) & (codes_a >= 0)
        side_b = "loser" if "system_b" not in self.names else "system_b"
        column = self.table.column(self.names[side_b])
        self._fault_rows(is_same, column, "is compared with itself", "leave the row out")

    def _fault_rows(self, is_bad: Flags, column: Column, fault: str, hint: str) -> None:
        for row in np.flatnonzero(is_bad)[:_MOST_PROBLEMS].tolist():
            code = column.codes[row]
            value = column.cells[code] if code >= 0 else None
            self.problems.append(self.table.problem(row, column.name, value, fault, hint))

    # Who won

    def _votes(self, sides: Mapping[str, pd.Series]) -> pd.DataFrame:
        """Return ``row, winner`` and further columns of each verdict, in the order of rows."""
        if "system_a" not in self.names:
            votes = self._won()
        elif {"wins_a", "wins_b"} <= self.names.keys():
            votes = self._counted()
        elif "winner" in self.names:
            votes = self._by_winner(sides)
        else:
            votes = self._by_probabilities()
        if WEIGHT in self.names:
            weights = self._numbers(WEIGHT, "is not a weight", "write a number above 0").to_numpy()
            is_bad = ~(weights > 0)
            column = self.table.column(self.names[WEIGHT])
            self._fault_rows(is_bad, column, "is not a weight", "write a finite number above 0")
            factor = votes.get(WEIGHT, pd.Series(1.0, votes.index))
            votes[WEIGHT] = factor.to_numpy() * weights[votes["row"].to_numpy()]
        if not self.options.has_sides:
            votes[SIDES] = NONE
        return votes

    def _by_winner(self, sides: Mapping[str, pd.Series]) -> pd.DataFrame:
        column = self.table.column(self.names["winner"])
        stated = self.options.values.get(column.name) or self.options.values.get("winner")
        if stated is None:
            stated = self._numbered_sides(column)
        systems = [str(name) for name in sides["system_a"].cat.categories]
        try:
            values = read_values(column.cells, column.name, systems, stated)
        except UnclearValuesError as error:
            self._fault_value(column, error)
            none = np.empty(0, dtype=np.intp)
            return pd.DataFrame({"row": none, "winner": _winners(none)})
        if values.assumed:
            self.understood.append(values.assumed)
        verdicts = [values.verdicts.get(cell, UNREAD) for cell in column.cells]
        by_cell = pd.DataFrame([*verdicts, NO_VERDICT])
        outcome = by_cell["winner"].map(_OUTCOMES).to_numpy()[column.codes]
        outcome = self._with_names(column, sides, values, outcome)
        is_both_bad = by_cell["is_both_bad"].to_numpy()[column.codes]
        outcome, is_both_bad = self._with_tie_columns(outcome, is_both_bad)
        rows = np.flatnonzero(outcome >= 0)
        if len(rows) < len(outcome):
            self.skipped["it has no winner"] += len(outcome) - len(rows)
        votes = pd.DataFrame({"row": rows, "winner": _winners(outcome[rows])})
        if is_both_bad[rows].any():
            votes[BOTH_BAD] = is_both_bad[rows]
        soft = by_cell["probability_a"].to_numpy(dtype=np.float64)[column.codes][rows]
        if not np.isnan(soft).all():
            votes[PROBABILITIES[0]], votes[PROBABILITIES[1]] = soft, 1 - soft
        if self.names.keys() >= {*PROBABILITIES}:
            stated_soft = self._probabilities()
            for name in PROBABILITIES:
                votes[name] = stated_soft[name].to_numpy()[rows]
        weight = by_cell["weight"].to_numpy()
        if (weight != 1).any():
            votes[WEIGHT] = weight[column.codes][rows]
        n_strong = int(by_cell["is_strong"].to_numpy()[column.codes].sum())
        if n_strong:
            self.understood.append(
                f"{count_of(n_strong, 'strong verdict')} (>>) count once; to count them three "
                f"times: --values '{column.name}:A>>B=a*3,B>>A=b*3,A>B=a,B>A=b,A=B=tie'"
            )
        return votes

    def _numbered_sides(self, column: Column) -> StatedValues | None:
        """Return what 0 and 1 mean where the columns of the sides are numbered 0 and 1."""
        sides = [self.names["system_a"], self.names["system_b"]]
        if {number_of(cell) for cell in column.cells} - {0.0, 1.0, None}:
            return None
        if not any(paired_columns(sides, [("0", "1")])):
            return None
        self.understood.append(f"0 is read as a win of {sides[0]!r}, 1 of {sides[1]!r}")
        return stated_values(["winner:0=a,1=b"])["winner"]

    def _with_names(
        self,
        column: Column,
        sides: Mapping[str, pd.Series],
        values: ReadValues,
        outcome: Indices,
    ) -> Indices:
        """Read cells that name the system that won, whose side differs by row."""
        may_name = np.array([cell in values.names for cell in column.cells] + [False])
        rows = np.flatnonzero(may_name[column.codes])
        if not len(rows):
            return outcome
        named = self._sides_named(column, sides, rows)
        is_side_word = outcome[rows] >= 0
        if (is_side_word & (named < 0)).any():
            # A cell that names neither side of its row shows that words are sides.
            rows, named = rows[~is_side_word], named[~is_side_word]
        else:
            differs = is_side_word & (named != outcome[rows])
            if differs.any():
                cell = column.cells[column.codes[rows[np.flatnonzero(differs)[0]]]]
                self._fault_value(column, two_meanings(cell, column.name))
        outcome = outcome.copy()
        outcome[rows] = named
        is_bad = np.zeros(len(outcome), dtype=np.bool_)
        is_bad[rows] = named < 0
        hint = "write the name of one of the two systems of the row, a, b or tie"
        self._fault_rows(is_bad, column, "is neither system of its row", hint)
        return outcome

    def _sides_named(
        self, column: Column, sides: Mapping[str, pd.Series], rows: Indices
    ) -> Indices:
        """Return the outcome that a cell names in some rows, -1 where it names neither side."""
        codes = {"cell": column.codes[rows]}
        for side, values in sides.items():
            codes[side] = values.cat.codes.to_numpy()[rows]
        keys, distinct = pd.factorize(pd.MultiIndex.from_frame(pd.DataFrame(codes)))
        names = [*map(str, sides["system_a"].cat.categories), ""]
        outcomes = [
            _OUTCOMES.get(side_named(column.cells[cell], names[code_a], names[code_b]) or "", -1)
            for cell, code_a, code_b in distinct
        ]
        return np.asarray(np.array(outcomes, dtype=np.intp)[keys])

    def _fault_value(self, column: Column, error: UnclearValuesError) -> None:
        is_cell = column.where(lambda cell: cell == error.value)
        row = int(np.flatnonzero(is_cell)[0])
        self.problems.append(
            self.table.problem(row, column.name, error.value, str(error), error.hint)
        )

    def _with_tie_columns(self, outcome: Indices, is_both_bad: Flags) -> tuple[Indices, Flags]:
        """Read rows without a winner whose columns ``tie`` or ``both_bad`` are true."""
        outcome, is_both_bad = outcome.copy(), is_both_bad.copy()
        for name in ("tie", "both_bad"):
            if name not in self.names:
                continue
            is_tie = self.table.column(self.names[name]).where(_is_true) & (outcome < 0)
            outcome[is_tie] = _OUTCOMES["tie"]
            is_both_bad |= is_tie & (name == "both_bad")
        return outcome, is_both_bad

    def _counted(self) -> pd.DataFrame:
        """Read counts of wins: a judgment for each outcome that occurred, weighted by its count."""
        parts = []
        for name, winner in zip(_COUNTS, ("a", "b", "tie"), strict=True):
            if name not in self.names:
                continue
            counts = self._numbers(name, "is no count", "write a number of 0 or more").to_numpy()
            column = self.table.column(self.names[name])
            self._fault_rows(counts < 0, column, "is no count", "write 0 or more")
            rows = np.flatnonzero(counts > 0)
            outcome = np.full(len(rows), _OUTCOMES[winner], dtype=np.intp)
            parts.append(
                pd.DataFrame({"row": rows, "winner": _winners(outcome), WEIGHT: counts[rows]})
            )
        votes = pd.concat(parts).sort_values("row", kind="stable", ignore_index=True)
        # LMArena's winner_model_a says who won where sides were shown.
        if bare_column(self.names["wins_a"]).startswith("winner"):
            several = votes["row"].duplicated(keep=False)
            self.skipped["several columns of winners are true"] += votes["row"][several].nunique()
            self.skipped["it has no winner"] += len(self.table.frame) - votes["row"].nunique()
            return votes[~several].drop(columns=WEIGHT).reset_index(drop=True)
        votes[SIDES] = NONE
        self.understood.append("counts of wins do not say who was shown first")
        return votes

    def _won(self) -> pd.DataFrame:
        """Read rows of a winner and a loser: the first is the winner, whoever stood where."""
        self.understood.append("winner and loser do not say who was shown first")
        n_rows = len(self.table.frame)
        winner = _winners(np.zeros(n_rows, dtype=np.intp))
        return pd.DataFrame({"row": np.arange(n_rows), "winner": winner, SIDES: NONE})

    def _by_probabilities(self) -> pd.DataFrame:
        soft = self._probabilities()
        rows = np.flatnonzero(soft["is_sound"])
        self.skipped["it has no winner"] += len(soft) - len(rows)
        first, second = (soft[name].to_numpy()[rows] for name in PROBABILITIES)
        pairs = zip(first, second, strict=True)
        outcome = np.array([_OUTCOMES[likeliest_winner(a, b)] for a, b in pairs], dtype=np.intp)
        votes = {"row": rows, "winner": _winners(outcome)}
        return pd.DataFrame({**votes, PROBABILITIES[0]: first, PROBABILITIES[1]: second})

    def _probabilities(self) -> pd.DataFrame:
        """Return both probabilities of each row, and whether they are sound rather than missing."""
        hint = "write two numbers from 0 to 1 whose sum is at most 1, or nothing"
        first, second = (
            self._numbers(name, "is no probability", hint).to_numpy() for name in PROBABILITIES
        )
        is_empty = np.isnan(first) & np.isnan(second)
        rounding = 1e-6
        is_sound = (first >= 0) & (second >= 0) & (first + second <= 1 + rounding)
        column = self.table.column(self.names[PROBABILITIES[0]])
        self._fault_rows(~is_sound & ~is_empty, column, "is no probability", hint)
        return pd.DataFrame(
            {PROBABILITIES[0]: first, PROBABILITIES[1]: second, "is_sound": is_sound}
        )

    def _numbers(self, name: str, fault: str, hint: str) -> pd.Series:
        """Return a column as numbers, NaN where a cell is missing; other texts are faults."""
        column = self.table.column(self.names[name])
        is_text = column.where(lambda cell: mark_of(cell) is None and not is_missing_cell(cell))
        self._fault_rows(is_text, column, fault, hint)
        return column.mapped(mark_of, missing=None).astype(np.float64)

    # On what question, in what language, by whom

    def _questions(self) -> pd.Series:
        """Return the question of each row: its id, or else its text, or else the row itself."""
        for name in ("query_id", "question"):
            if name not in self.names:
                continue
            ids = self._names_in(name)
            if not ids.isna().any():
                n_questions = int(ids.cat.codes.nunique())
                self.understood.append(
                    f"{count_of(n_questions, 'question')}, identified by {self.names[name]!r}"
                )
                if name == "query_id":
                    return ids
                return ids.cat.rename_categories(_ids_of_texts(ids.cat.categories))
        n_rows = len(self.table.frame)
        self.understood.append(
            "each row is a question of its own; if a column identifies questions: "
            f"{option('column', self._suggested_question())}"
        )
        ids = pd.Index([f"battle-{number}" for number in range(1, n_rows + 1)])
        return pd.Series(pd.Categorical.from_codes(np.arange(n_rows), categories=ids))

    def _suggested_question(self) -> str:
        """Return the field and the only unread column of texts that may be the questions."""
        texts = [
            name
            for name in self.unread
            if len(cells := self.table.column(name).cells) < len(self.table.frame)
            and are_texts(cells)
        ]
        return f"question={texts[0]}" if len(texts) == 1 else "query_id=NAME"

    def _languages(self) -> pd.Series:
        default = self.options.language
        if "language" in self.names:
            column = self.table.column(self.names["language"])
            unknown = column.where(lambda cell: _language_of(cell) is None)
            if unknown.any():
                reason = f"{column.name!r} holds no known language: read as {UNDETERMINED}"
                self.skipped[reason] += int(unknown.sum())
            codes = column.texts(lambda cell: _language_of(cell) or UNDETERMINED)
            return codes.cat.add_categories(
                [] if default in codes.cat.categories else [default]
            ).fillna(default)
        if self.options.languages and "query_id" in self.names:
            known = self.options.languages
            column = self.table.column(self.names["query_id"])
            return column.texts(lambda cell: known.get(str(name_text(cell)), default))
        n_rows = len(self.table.frame)
        return pd.Series(pd.Categorical.from_codes(np.zeros(n_rows, dtype=np.intp), [default]))

    def _judges(self) -> dict[str, pd.Series]:
        """Return who judged, and the voters if they are named."""
        n_rows = len(self.table.frame)
        columns: dict[str, pd.Series] = {}
        default = UNKNOWN_JUDGE
        if VOTER in self.names:
            columns[VOTER] = self._names_in(VOTER)
            default = HUMAN
        if self.options.judge is not None or "judge" not in self.names:
            name = self.options.judge or default
            codes = np.zeros(n_rows, dtype=np.intp)
            columns["judge"] = pd.Series(pd.Categorical.from_codes(codes, [name]))
        else:
            judges = self._names_in("judge")
            if judges.isna().any() and default not in judges.cat.categories:
                judges = judges.cat.add_categories([default])
            columns["judge"] = judges.fillna(default) if judges.isna().any() else judges
        return columns

    # Votes that are copies, replaced, or repeated

    def _latest_votes(self, table: pd.DataFrame) -> Flags:
        """Tell which votes stay: of a person's several on one pair, the last."""
        keep = np.ones(len(table), dtype=np.bool_)
        if VOTER not in table or ("query_id" not in self.names and "question" not in self.names):
            return keep
        voters = Column.of(VOTER, table[VOTER])
        is_named = voters.where(lambda name: names_one_judge(str(name)))
        side_a = table["system_a"].cat.codes.to_numpy()
        side_b = table["system_b"].cat.codes.to_numpy()
        identity = {"low": np.minimum(side_a, side_b), "high": np.maximum(side_a, side_b)}
        for name in ("query_id", "language", "judge", VOTER, CRITERION):
            if name in table:
                identity[name] = table[name].cat.codes.to_numpy()
        later = pd.DataFrame(identity).duplicated(keep="last").to_numpy()
        # Counts of one row are no votes that replace each other.
        replaced = later & is_named & (WEIGHT not in table)
        n_replaced = int(replaced.sum())
        if n_replaced:
            self.skipped["a later vote of the same person on the same pair replaces it"] += (
                n_replaced
            )
        return np.asarray(~replaced)

    def _numbered(self, table: pd.DataFrame, rows: Indices) -> pd.DataFrame:
        """Leave out copies of rows; number votes of a judge that differ in a column not read."""
        has_question = "query_id" in self.names or "question" in self.names
        is_named = np.array([names_one_judge(str(name)) for name in table["judge"].cat.categories])
        is_named = is_named[table["judge"].cat.codes.to_numpy()]
        if self.options.judge is not None or not has_question or not is_named.any():
            return table
        codes = {
            name: table[name].cat.codes.to_numpy()
            if isinstance(table[name].dtype, pd.CategoricalDtype)
            else table[name]
            for name in table
        }
        is_alike = pd.DataFrame(codes).duplicated(keep=False).to_numpy() & is_named
        if not is_alike.any():
            return table
        alike = np.flatnonzero(is_alike)
        whole = self.table.frame.iloc[rows[alike]].map(repr)
        is_repeated = pd.DataFrame(codes).iloc[alike].duplicated().to_numpy()
        is_copy = whole.duplicated().to_numpy() & is_repeated
        if is_copy.any():
            self.skipped["the row is a copy of another"] += int(is_copy.sum())
        kept = np.ones(len(table), dtype=np.bool_)
        kept[alike[is_copy]] = False
        table = table[kept].reset_index(drop=True)
        numbers = pd.DataFrame({name: values[kept] for name, values in codes.items()})
        number = numbers.groupby(list(numbers), dropna=False).cumcount().to_numpy() + 1
        is_repeat = (number > 1) & is_named[kept]
        if is_repeat.any():
            table[REPEAT] = pd.Series(number.astype(str)).where(is_repeat, None)
        return table


def _with_drawn_sides(table: pd.DataFrame) -> pd.DataFrame:
    """Show half of the battles without sides the other way round, so that no side has all winners.

    Which half is drawn from their question and systems, whatever the order of rows.
    """
    if SIDES not in table:
        return table
    pair = table[["query_id", "system_a", "system_b"]].astype(str)
    draw = pd.util.hash_pandas_object(pair, index=False).to_numpy()
    is_mirrored = (table.pop(SIDES) == NONE).to_numpy() & (draw % 2 == 1)
    mirrored = table.copy()
    for first, second in (("system_a", "system_b"), PROBABILITIES):
        if first in table:
            mirrored[first] = table[first].where(~is_mirrored, table[second])
            mirrored[second] = table[second].where(~is_mirrored, table[first])
    codes = table["winner"].cat.codes.to_numpy()
    # Of a, b and tie the first two change places.
    swapped = np.array([1, 0, 2])[codes]
    mirrored["winner"] = pd.Categorical.from_codes(
        np.where(is_mirrored, swapped, codes), categories=["a", "b", "tie"]
    )
    return mirrored


def _winners(outcome: Indices) -> pd.Categorical:
    return pd.Categorical.from_codes(outcome, categories=["a", "b", "tie"])


def _is_true(cell: object) -> bool:
    return str(cell).strip().casefold() in ("true", "1", "1.0", "yes")


def _name_of(cell: object) -> str | None:
    """Return a cell as a name: a number in digits, a text without spaces at its edges."""
    if is_missing_cell(cell) and not isinstance(cell, str):
        return None
    inside = opened_or_same(cell)
    # FastChat writes a judge and its prompt as a list.
    if isinstance(inside, list) and inside and isinstance(inside[0], str):
        cell = inside[0]
    name = str(name_text(cell)).strip()
    return name or None


def _language_of(cell: object) -> str | None:
    return language_code(cell) if isinstance(cell, str) else None


def _ids_of_texts(texts: Sequence[str]) -> list[str]:
    from surrogate_arena.importers.collected import question_id

    return [question_id(text) for text in texts]
