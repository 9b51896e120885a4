"""Tables of other shapes than a row an answer, or a row a pair: they are turned into these.

Only tables that cannot be read as they are get another shape.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Literal

from arena.data.errors import UsageError
from arena.data.rows import Rows
from arena.data.schema import VOTER
from arena.data.types import Record
from arena.data.wording import first_of
from surrogate_arena.importers.columns import bare_column, field_names
from surrogate_arena.importers.conversations import last_exchange
from surrogate_arena.importers.record_values import (
    ASSISTANT,
    at,
    dotted,
    messages_of,
    opened_value,
    text_of,
)
from surrogate_arena.importers.shaped_rows import HOLDERS, columns_by_name, with_records
from surrogate_arena.importers.system_columns import (
    with_answer_of_each_named_system,
    with_answer_of_each_system,
)
from surrogate_arena.importers.table_columns import TableLayout, table_layout
from surrogate_arena.importers.vote_records import (
    with_chosen_options,
    with_counted_wins,
    with_logged_battles,
    with_rated_replies,
)
from surrogate_arena.importers.voter_columns import with_row_for_each_voter

_WINNER_AND_LOSER = (
    ("winner", "loser"),
    ("winner_model", "loser_model"),
    ("winner_name", "loser_name"),
    ("winning_model", "losing_model"),
    ("winning_system", "losing_system"),
    ("chosen_model", "rejected_model"),
    ("chosen_system", "rejected_system"),
    ("preferred_model", "rejected_model"),
    ("better_model", "worse_model"),
    ("better_system", "worse_system"),
)
_THEIR_ANSWERS = (
    ("chosen", "rejected"),
    ("chosen_answer", "rejected_answer"),
    ("chosen_response", "rejected_response"),
    ("winner_answer", "loser_answer"),
    ("winner_response", "loser_response"),
    ("better_answer", "worse_answer"),
)
_EXAMPLES = frozenset({"example", "doc", "item", "datasource_item", "test_case"})
_DRAWS = frozenset({"draw", "is_draw", "tie", "is_tie"})
_CONVERSATIONS = ("messages", "conversation", "conversations", "dialogue", "chat")


def with_named_paths(rows: Rows, columns: Mapping[str, str]) -> Rows:
    """Add a column for each path that the user named, such as ``output.pred`` or ``games.0.score``.

    Args:
        rows: A table, with records or lists in its cells, also as JSON text.
        columns: Field to the name of a column, or to a path in one.
    """
    table = rows.table
    for path in columns.values():
        first_name = dotted(path).partition(".")[0]
        if path in table or first_name not in table or first_name == dotted(path):
            continue
        cells = [at(record, dotted(path)) for record in table.to_dict(orient="records")]
        if any(cell is not None for cell in cells):
            table = table.assign(**{path: cells}).astype(object)
    return replace(rows, table=table)


def in_known_shape(
    tables: Sequence[Rows],
    columns: Mapping[str, str],
    question_fields: Sequence[str] = ("question",),
) -> tuple[list[Rows], TableLayout] | None:
    """Return tables in another shape, in which they can be read, and their layout there.

    Args:
        tables: Tables that cannot be read as they are.
        columns: Field to the column that the user chose.
        question_fields: Fields that identify a question, of which one must be there.
    """
    for shaped in chain(_other_shapes(tables), _wide_shape(tables, columns)):
        # A column that the user chose may be none of this shape.
        with suppress(UsageError):
            layout = table_layout(shaped, columns, is_broken=False, question_fields=question_fields)
            if layout is not None:
                return shaped, layout
    return None


def _other_shapes(tables: Sequence[Rows]) -> Iterator[list[Rows]]:
    """Yield tables in each other shape that all of them can have."""
    turns: list[Callable[[Rows], Rows | None]] = [
        with_chosen_options,
        with_rated_replies,
        with_sides,
        with_exchanges,
        _with_plain_names,
        with_answer_of_each_system,
    ]
    for column in dict.fromkeys(chain.from_iterable(map(str, rows.table) for rows in tables)):
        turns.append(partial(_with_listed_records, column=column))
    for turn in turns:
        shaped = [rows for rows in map(turn, tables) if rows is not None]
        if shaped and len(shaped) == len(tables):
            yield shaped


def _wide_shape(tables: Sequence[Rows], columns: Mapping[str, str]) -> Iterator[list[Rows]]:
    """Yield a table whose columns are named for systems alone; of several, files may be systems."""
    if len(tables) != 1 or not {"system", "answer"}.isdisjoint(columns):
        return
    shaped = with_answer_of_each_named_system(tables[0], columns)
    if shaped is not None:
        yield [shaped]


def shapes_of_battles(rows: Rows) -> Iterator[Rows]:
    """Yield a table of battles in each other shape that it can have."""
    turns: list[Callable[[Rows], Rows | None]] = [
        with_counted_wins,
        with_chosen_options,
        with_rated_replies,
        with_logged_battles,
        with_sides,
        _with_plain_names,
        with_row_for_each_voter,
    ]
    for turn in turns:
        shaped = turn(rows)
        if shaped is not None:
            yield shaped
    fields = field_names("pairs")
    for column in map(str, rows.table):
        shaped = _with_listed_records(rows, column)
        if shaped is None:
            continue
        # Records that do not say who votes may be the two games of a pair, in either order.
        names = {bare_column(name) for name in map(str, shaped.table) if name not in rows.table}
        if not names.isdisjoint((*fields["judge"], *fields[VOTER])):
            yield shaped


def with_sides(rows: Rows) -> Rows | None:
    """Turn the columns of a winner and a loser into two systems and a winner.

    Who stood where is not known. The sides are in the order of the names: if the winner always
    stood first, a judge would seem to prefer what stands first.
    """
    columns = columns_by_name(rows)
    names = _first_pair(columns, _WINNER_AND_LOSER)
    has_sides = not columns.keys().isdisjoint(field_names("pairs")["system_b"])
    if names is None or has_sides or not _DRAWS.isdisjoint(columns):
        return None
    texts = _first_pair(columns, _THEIR_ANSWERS)
    records = []
    for record in rows.table.to_dict(orient="records"):
        winner, loser = (record.pop(name) for name in names)
        best, worst = ("a", "b") if str(winner) <= str(loser) else ("b", "a")
        record |= {f"system_{best}": winner, f"system_{worst}": loser, "winner": f"model_{best}"}
        if texts is not None:
            answers = [_reply(record.pop(name)) for name in texts]
            record |= {f"answer_{best}": answers[0], f"answer_{worst}": answers[1]}
        records.append(record)
    note = f"{names[0]!r} won against {names[1]!r}; sides are in the order of their names"
    return with_records(rows, enumerate(records), note)


def with_exchanges(rows: Rows) -> Rows | None:
    """Turn a column of conversations into questions, answers and the turns before them."""
    columns = columns_by_name(rows)
    column = next((columns[name] for name in _CONVERSATIONS if name in columns), None)
    if column is None:
        return None
    records = []
    for record in rows.table.to_dict(orient="records"):
        turns = opened_value(record.pop(column))
        if isinstance(turns, list):
            turns = [_with_usual_fields(turn) for turn in turns]
        exchange = last_exchange(messages_of(turns))
        record |= {"question": exchange.question or None, "answer": exchange.reply}
        record["history"] = exchange.history or None
        records.append(record)
    if not any(record["question"] for record in records):
        return None
    note = f"the last question of {column!r}, and the reply to it, are read"
    return with_records(rows, enumerate(records), note)


def _with_usual_fields(turn: object) -> object:
    """Write a turn of ShareGPT, ``{"from": ..., "value": ...}``, as others write turns."""
    if isinstance(turn, Mapping) and turn.keys() >= {"from", "value"}:
        return {"role": turn["from"], "content": turn["value"]}
    return turn


def _with_plain_names(rows: Rows) -> Rows | None:
    """Call columns such as ``inputs.question``, and fields of records in cells, ``question``."""
    known = {name for kind in ("answers", "pairs") for name in _names_of_fields(kind)}
    records = [_flat(record) for record in rows.table.to_dict(orient="records")]
    columns = dict.fromkeys(column for record in records for column in record)
    plain: dict[str, list[str]] = {}
    for column in columns:
        parts = re.split(r"[./]", column)
        if len(parts) == 1 or bare_column(parts[0]) in HOLDERS:
            plain.setdefault(bare_column(parts[-1]), []).append(column)
    renamed: dict[str, str] = {}
    answers = field_names("answers")["answer"]
    for name, fitting in plain.items():
        if name in answers and len(fitting) > 1:
            fitting = [column for column in fitting if not _is_of_example(column)]
        # Of two columns, none is surely meant.
        if len(fitting) == 1 and name in known and fitting[0] != name:
            renamed[fitting[0]] = name
    if not renamed:
        return None
    plain_records = []
    for record in records:
        plain_records.append({renamed.get(name, name): cell for name, cell in record.items()})
    shown = [f"{name} from {column!r}" for column, name in renamed.items()]
    return with_records(rows, enumerate(plain_records), f"fields of records: {first_of(shown)}")


def _is_of_example(column: str) -> bool:
    """Tell whether a field belongs to what was asked: an answer there is the right one."""
    return bare_column(re.split(r"[./]", column)[0]) in _EXAMPLES


def _names_of_fields(kind: Literal["answers", "pairs"]) -> set[str]:
    return {name for names in field_names(kind).values() for name in names}


def _flat(record: Mapping[str, object], start: str = "") -> Record:
    """Return a record without records in it, whose fields get the path as name."""
    flat: Record = {}
    for name, value in record.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{start}{name}.")
        else:
            flat[f"{start}{name}"] = value
    return flat


def _with_listed_records(rows: Rows, column: str) -> Rows | None:
    """Give each record in the lists of a column a row of its own."""
    if column not in rows.table:
        return None
    lists = [opened_value(cell) for cell in rows.table[column]]
    if not all(isinstance(cell, list) and cell for cell in lists):
        return None
    if not all(isinstance(record, Mapping) for cell in lists for record in cell):
        return None
    numbered = []
    for number, record in enumerate(rows.table.drop(columns=column).to_dict(orient="records")):
        numbered += [(number, {**record, **listed}) for listed in lists[number]]
    return with_records(rows, numbered, f"each record in {column!r} is read as a row")


def _first_pair(
    columns: Mapping[str, str], pairs: Sequence[tuple[str, str]]
) -> tuple[str, str] | None:
    for first, second in pairs:
        if first in columns and second in columns:
            return columns[first], columns[second]
    return None


def _reply(cell: object) -> object:
    """Return the reply of a conversation; any other cell as it is."""
    return cell if isinstance(cell, str) else text_of(cell, ASSISTANT)
