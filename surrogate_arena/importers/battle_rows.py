"""Rows of battles: who met, who won, who says so, and on which turn of a conversation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from arena.data.cells import is_null, whole_digits
from arena.data.errors import Problem, UsageError
from arena.data.languages import UNDETERMINED, language_code
from arena.data.rows import Rows
from arena.data.schema import (
    CRITERION,
    PROBABILITIES,
    VOTER,
    WEIGHT,
)
from arena.data.types import Record
from arena.data.wording import first_of
from surrogate_arena.importers.battle_columns import (
    FLAGS,
    OUR_COLUMNS,
    battle_fields,
    columns_of_texts,
    columns_of_winners,
    is_flagged,
    unused_columns,
    winner_of,
)
from surrogate_arena.importers.cells import is_missing_cell, read_number
from surrogate_arena.importers.collected import Collected, Key, Place, is_sound_name
from surrogate_arena.importers.columns import (
    NO_COLUMNS,
    chosen_columns,
    with_whole_names,
    without_row_numbers,
)
from surrogate_arena.importers.judged_turns import CONVERSATIONS, judged_turns
from surrogate_arena.importers.judges import JUDGE_SOURCES, judge_and_voter
from surrogate_arena.importers.lacking_columns import paths_in
from surrogate_arena.importers.table_shapes import shapes_of_battles, with_named_paths
from surrogate_arena.importers.vote_records import with_counted_wins
from surrogate_arena.importers.voter_columns import HINT, columns_of_verdicts
from surrogate_arena.importers.winner_columns import (
    ONE_HOT_NEEDED,
    NoWinner,
)

NO_LANGUAGES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class BattleOptions:
    """How battles are read.

    Attributes:
        columns: Field to the name of its column, where its own name is not known.
        judge: Name of the judge of all battles; None reads it from the file.
        language: Language of rows that name none.
        languages: Id of a question to its language, for files without a column for it.
        drops_flagged: Whether votes that were not blind, and those flagged as duplicates, are left
            out.
    """

    columns: Mapping[str, str] = field(default_factory=lambda: NO_COLUMNS)
    judge: str | None = None
    language: str = UNDETERMINED
    languages: Mapping[str, str] = field(default_factory=lambda: NO_LANGUAGES)
    drops_flagged: bool = False


@dataclass(frozen=True)
class Battle:
    """A battle with a winner, and with names that can be kept.

    Attributes:
        place: Its file and line.
        key: Language and id of its question.
        sides: The systems, as the file names them.
        turn: Number of the turn that was judged, from 1; None for the last.
        cells: Cells of questions and answers: two conversations, or a prompt and two replies;
            none where there are none.
    """

    place: Place
    key: Key
    sides: tuple[str, str]
    turn: int | None
    cells: tuple[object, ...]


@dataclass(frozen=True)
class _BattleColumns:
    """The columns of a file.

    Attributes:
        names: Field to its column.
        texts: Columns of conversations, or of a prompt and two replies; none if one lacks.
        winners: Columns that say who won, where no single one does.
        identifying: Columns that say something of their rows, rather than number them.
    """

    names: Mapping[str, str]
    texts: tuple[str, ...]
    winners: Mapping[str, str]
    identifying: frozenset[str]

    @classmethod
    def of(cls, rows: Rows, names: Mapping[str, str]) -> _BattleColumns:
        """Find the columns of a file, of which those of fields are known."""
        texts = columns_of_texts(rows.table, names)
        winners = columns_of_winners(rows.table)
        return cls(names, texts, winners, without_row_numbers(rows.table))


@dataclass
class BattleReader:
    """Reads the battles of files, one after another; what is not read is counted.

    Attributes:
        collected: Keeps faults and counts.
        options: How to read.
        n_rows: Number of rows so far; battles without an id are numbered.
    """

    collected: Collected
    options: BattleOptions
    n_rows: int = 0

    def battles_of(self, rows: Rows) -> Iterator[Battle]:
        """Add the judgments of a file, and yield the battles whose texts are worth reading."""
        collected = self.collected
        if not len(rows.table.columns) and not len(rows.lines):
            collected.problems += rows.problems
            return
        rows = self._in_known_shape(with_named_paths(rows, self.options.columns))
        first_number = self.n_rows + 1
        self.n_rows += len(rows.table)
        names = self.column_names(rows)
        if names is None:
            return
        # Faults call fields by the columns of the file that is read.
        collected.names = {**collected.names, **names}
        rows = with_whole_names(rows, names)
        columns = _BattleColumns.of(rows, names)
        records = list(collected.raw(rows))
        turns = judged_turns(collected, records, names, columns.texts)
        for number, (place, record) in enumerate(records, start=first_number):
            if self._is_dropped(place, record):
                continue
            battle = self._battle(place, record, columns, number, turns.get(place.line))
            if battle is not None:
                yield battle

    def _in_known_shape(self, rows: Rows) -> Rows:
        """Turn a table that lacks sides or winners into one that has them, if that can be."""
        # Columns of wins may be named for one vote, or for counts of them.
        if self._has_battles(rows) and with_counted_wins(rows) is None:
            return rows
        for shaped in shapes_of_battles(rows):
            if self._has_battles(shaped):
                for note in shaped.notes[len(rows.notes) :]:
                    self.collected.skip(rows.source, "row", note, len(rows.table))
                return shaped
        return rows

    def _has_battles(self, rows: Rows) -> bool:
        """Tell whether the columns of sides and winners are known."""
        # A column that the user chose may be none of this shape.
        with suppress(UsageError):
            names = chosen_columns([rows.table], battle_fields(), self.options.columns).names
            has_winner = "winner" in names or bool(columns_of_winners(rows.table))
            return has_winner and names.keys() >= {"system_a", "system_b"}
        return False

    def _battle(
        self,
        place: Place,
        record: Record,
        columns: _BattleColumns,
        number: int,
        turn: int | None,
    ) -> Battle | None:
        """Add the judgment of a row, and return the battle if its texts are worth reading."""
        names = columns.names
        key = self._key(place, record, names, number, turn)
        judge, voter = judge_and_voter(record, names, judge=self.options.judge)
        winner = winner_of(record, names, columns.winners)
        whole_row = None
        if _tells_rows_apart(record, columns, self.options.judge):
            whole_row = {name: record[name] for name in record if name in columns.identifying}
        judgment = self.collected.judgment(
            place,
            key,
            (record[names["system_a"]], record[names["system_b"]]),
            winner,
            judge,
            columns=self._further_columns(place, record, names, voter),
            record=whole_row,
        )
        sides = (judgment["system_a"], judgment["system_b"])
        if _has_no_winner(winner, sides):
            return None
        if not all(map(is_sound_name, (key[1], *sides))):
            return None
        return Battle(place, key, sides, turn, tuple(record[column] for column in columns.texts))

    def column_names(self, rows: Rows) -> Mapping[str, str] | None:
        """Return the column of each field; None if one is missing that is needed."""
        fields = dict(battle_fields())
        winner_columns = columns_of_winners(rows.table)
        columns = self.options.columns
        if winner_columns.keys() >= {*ONE_HOT_NEEDED} and "winner" not in columns:
            # Other names for a column of winners may mean something else here.
            fields["winner"] = ("winner",)
        chosen = chosen_columns([rows.table], fields, columns)
        absent = [name for name in ("system_a", "system_b") if name not in chosen.names]
        if "winner" not in chosen.names and not winner_columns:
            # One of the two probabilities alone is no verdict.
            lacking = [name for name in PROBABILITIES if name not in rows.table]
            absent.append(lacking[0] if len(lacking) == 1 else "winner")
        if absent:
            self._refuse_columns(rows, absent)
            return None
        read_elsewhere = {
            *winner_columns.values(),
            *CONVERSATIONS,
            *OUR_COLUMNS,
            *JUDGE_SOURCES,
            *FLAGS,
            *unused_columns(rows.table),
        }
        for column, reason in chosen.unread.items():
            if column not in read_elsewhere:
                self.collected.skip(rows.source, "column", reason)
        return chosen.names

    def _refuse_columns(self, rows: Rows, absent: Sequence[str]) -> None:
        """Keep a fault for each column that is missing."""
        self.collected.problems += rows.problems
        listed = first_of([str(column) for column in rows.table])
        nested = paths_in(rows.table)
        if nested:
            most_shown = 20
            listed += f"; in them are {first_of(nested, most_shown)}"
        for name in absent:
            hint = f"choose it with --column {name}=NAME; the columns are {listed}"
            if name == "winner" and len(columns_of_verdicts(rows)) > 1:
                hint += f"; {HINT}"
            if name in PROBABILITIES:
                hint = f"add it: one of {' and '.join(PROBABILITIES)} alone is no verdict"
            fault = "this column is missing"
            self.collected.problems.append(Problem(rows.source, None, name, None, fault, hint))

    def _is_dropped(self, place: Place, record: Record) -> bool:
        """Count a vote that was not blind, or on a duplicate; tell whether to leave it out."""
        flags = [column for column in FLAGS if is_flagged(column, record.get(column))]
        for flag in flags:
            self.skip_flagged(place, flag)
        return self.options.drops_flagged and bool(flags)

    def skip_flagged(self, place: Place | str, flag: str, count: int = 1) -> None:
        """Count votes with a flag of ``FLAGS``, which are left out if the options say so."""
        effect = "they count (drop_flagged leaves them out)"
        if self.options.drops_flagged:
            effect = "left out"
        self.collected.skip(place, "vote", f"{FLAGS[flag]}; {effect}", count)

    def _key(
        self, place: Place, record: Record, names: Mapping[str, str], number: int, turn: int | None
    ) -> tuple[str, Any]:
        query_id: Any = f"battle-{number}"
        if "query_id" in names:
            value = record[names["query_id"]]
            # pandas reads ids with gaps as decimals: 81.0 is 81.
            query_id = whole_digits(value) or value
        code = self.options.languages.get(str(query_id), self.options.language)
        language = record[names["language"]] if "language" in names else None
        if not is_missing_cell(language):
            code = self.language_of(place, language)
        # The first turn keeps the id of its question, as in files without turns.
        if turn is not None and turn > 1 and is_sound_name(query_id):
            query_id = f"{query_id}-{turn}"
        return code, query_id

    def language_of(self, place: Place, value: object) -> str:
        """Return the code of a language; ``und`` for one that is not known, which is counted."""
        code = language_code(value) if isinstance(value, str) else None
        if code is None:
            self.collected.skip(place, "language", f"{value!r} is not known: read as und")
        return code or UNDETERMINED

    def weight_of(self, place: Place, value: object) -> float | None:
        """Return the weight in a cell; None if it is none, which is a fault."""
        text = value.strip().replace(",", ".", 1) if isinstance(value, str) else value
        # A weight of 0 would keep a vote and count it for nothing.
        weight = read_number(text)
        if weight is not None and weight > 0:
            return weight
        self.collected.fault(
            place,
            WEIGHT,
            value,
            "is not a weight",
            hint="write a finite number above 0 in every row, or leave the column out",
        )
        return None

    def _further_columns(
        self, place: Place, record: Record, names: Mapping[str, str], voter: str | None
    ) -> dict[str, object]:
        """Return further columns of a judgment, where a row has them."""
        columns: dict[str, object] = {}
        for name in OUR_COLUMNS:
            if not is_missing_cell(record.get(name)):
                columns[name] = record[name]
        if voter is not None:
            columns[VOTER] = voter
        if CRITERION in names and not is_missing_cell(record[names[CRITERION]]):
            columns[CRITERION] = record[names[CRITERION]]
        if WEIGHT in names:
            columns[WEIGHT] = self.weight_of(place, record[names[WEIGHT]])
        return columns


def _has_no_winner(winner: object, sides: tuple[object, object]) -> bool:
    """Return whether a row has no winner; a word for a missing value may name a system."""
    if is_null(winner) or isinstance(winner, NoWinner):
        return True
    names = {str(side).casefold() for side in sides}
    return is_missing_cell(winner) and str(winner).strip().casefold() not in names


def _tells_rows_apart(record: Record, columns: _BattleColumns, judge: str | None) -> bool:
    """Return whether a row that is exactly like another one can only be a copy of it.

    That is so where it says who judged and what; the name that a user gives to all rows says
    nothing of single ones.
    """
    names = columns.names
    has_question = "query_id" in names or "question" in names or bool(columns.texts)
    if judge is not None or not has_question:
        return False
    for name in ("judge", VOTER):
        if name in names and not is_missing_cell(record[names[name]]):
            return True
    return False
