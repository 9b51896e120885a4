"""``import lmarena``: tables of battles as an arena.

Battles without questions and answers become an arena of questions known by their id alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from math import isfinite
from numbers import Real
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from arena.computing.codes import without_categories
from arena.data.languages import UNDETERMINED
from arena.data.schema import JUDGMENTS, TURN
from arena.data.types import Record
from arena.data.wording import first_of
from arena.rating.biases import TRAIT
from surrogate_arena.importers.battles import BattleOptions, ReadBattles, battles_of
from surrogate_arena.importers.clone_files import files_below, shown_path
from surrogate_arena.importers.collected import LEFT_OUT, Collected, Place
from surrogate_arena.importers.columnar import ColumnTable, column_table
from surrogate_arena.importers.contract import (
    MOST_NAMED,
    NO_COLUMNS,
    bare_column,
    cells_of,
    field_names,
)
from surrogate_arena.importers.conversations import Exchange, exchanges_of, n_turns
from surrogate_arena.importers.foreign_arena import ForeignArena, foreign_arena
from surrogate_arena.importers.judgments import skips_of
from surrogate_arena.importers.languages import AUTO, languages_by_id, stated_language
from surrogate_arena.importers.values import name_text, number_of, opened_or_same, short
from surrogate_arena.importers.verdict_values import StatedVerdict, stated_values

_CONVERSATIONS = ("conversation_a", "conversation_b")
_PLACE = "place"
"""What a collected judgment calls its file and line."""
_TEXTS = ("question", "answer_a", "answer_b")


def read_battles(
    paths: Sequence[Path | str],
    *,
    columns: Mapping[str, str] = NO_COLUMNS,
    values: Sequence[str] = (),
    no_sides: bool = False,
    name: str = "battles",
    judge: str | None = None,
    language: str | None = None,
) -> ForeignArena:
    """Read battles from tables.

    A row has ``system_a, system_b, winner``, or ``winner, loser``, or counts of wins
    (``names.toml``), and perhaps ``conversation_a`` and ``conversation_b`` (lists of ``{role,
    content}``), or a question and two answers. If ``turn`` is below the number of turns, each is a
    question (``81-2``). Without an id or a text every battle is one.

    Args:
        paths: Files, or folders of them.
        columns: Field to column, where ``names.toml`` lacks its name.
        values: See ``stated_values``.
        no_sides: Whether columns do not tell sides.
        name: Name of the arena.
        judge: By default as in the file.
        language: By default detected.

    Returns:
        The arena, and what was left out.

    Raises:
        UsageError: If a file is absent or ambiguous.
        DataError: With all problems.
    """
    stated = stated_values(values)
    code = stated_language(language)
    options = BattleOptions(columns, stated, judge, code, no_sides=no_sides)
    collected = Collected()
    for path in files_below(paths):
        table = column_table(path, shown_path(path, paths))
        read = battles_of(table, options)
        kept = _columns_kept(read)
        read = replace(read, unread=tuple(name for name in read.unread if name not in kept))
        if kept:
            note = f"columns of the judgments, too: {first_of(kept, MOST_NAMED)}"
            collected.notes.append(f"{table.source}: {note}")
        collected.skips.update(skips_of(read, table.source))
        collected.notes += [note for note in read.understood if note not in collected.notes]
        add_battles(collected, table, read, language, kept)
    note = ""
    if not collected.answers:
        has_texts = any(row["query"] != row["query_id"] for row in collected.queries.values())
        note = "Battles only: there are no answers."
        if not has_texts:
            note = "Battles only: there are no answers, and questions are known by their id."
    arena = foreign_arena(collected, name, source="", note=note, with_judged=True)
    return replace(arena, shown=shown_battle(collected))


def _columns_kept(read: ReadBattles) -> list[str]:
    reserved = {*JUDGMENTS.columns, *JUDGMENTS.optional, _PLACE}
    reserved.update(*field_names("battles").values())
    kept = []
    for name in read.unread:
        cells = cells_of([read.frame], name)
        is_reserved = bare_column(name) in reserved or name.startswith(TRAIT)
        if cells and not is_reserved and all(map(_is_label, cells)):
            kept.append(name)
    return kept


def _is_label(cell: object) -> bool:
    longest = 60
    cell = opened_or_same(cell)
    if isinstance(cell, Mapping):
        return all(map(_is_label, cell.values()))
    if isinstance(cell, str):
        return len(cell) <= longest
    return cell is None or isinstance(cell, np.bool_ | Real | date)


def _written(cell: object) -> object:
    if isinstance(cell, Mapping):
        return {name: _written(value) for name, value in cell.items()}
    if cell is pd.NaT or (isinstance(cell, float) and not isfinite(cell)):
        return None
    return cell.isoformat() if isinstance(cell, date) else cell


def shown_battle(collected: Collected) -> tuple[str, ...]:
    """Return the first battle as it was understood."""
    if not collected.judgments:
        return ()
    first = collected.judgments[0]
    key = (first["language"], first["query_id"])
    values = {"query_id": first["query_id"], "question": collected.queries[key]["query"]}
    for side in "ab":
        values[f"system_{side}"] = first[f"system_{side}"]
        answer = collected.answers.get((*key, first[f"system_{side}"]))
        if answer is not None:
            values[f"answer_{side}"] = answer["answer"]
    values["winner"] = first["winner"]
    values["judge"] = first["judge"]
    return tuple(f"{name}: {short(value)}" for name, value in values.items())


def add_battles(
    collected: Collected,
    table: ColumnTable,
    read: ReadBattles,
    language: str | None,
    kept: Sequence[str] = (),
) -> None:
    """Add a file's judgments, questions, and answers if any."""
    # Without a verdict, a row is one of those that ``skips_of`` counts.
    for line in table.lines:
        collected.became(Place(table.source, int(line)), LEFT_OUT)
    battles = _with_texts(collected, table, read, kept)
    if language in (None, AUTO) and "language" not in read.names:
        _detect_languages(collected, battles)
    for battle in battles:
        _add_battle(collected, battle)


class _Battle(NamedTuple):
    """A battle with its texts.

    Attributes:
        question: Text of the question; empty if only its id is known.
        exchanges: Exchanges of both systems; empty without answers.
    """

    place: Place
    judgment: Record
    question: str
    exchanges: Sequence[Exchange] = ()


def _with_texts(
    collected: Collected, table: ColumnTable, read: ReadBattles, kept: Sequence[str]
) -> list[_Battle]:
    rows = read.frame.iloc[read.rows]
    turns = _turns(read)
    judgments = without_categories(read.table).to_dict(orient="records")
    further = rows[list(kept)].astype(object).map(_written).to_dict(orient="records")
    for judgment, cells_kept in zip(judgments, further, strict=True):
        judgment.update(cells_kept)
    battles = []
    for row, judgment, cells in zip(read.rows, judgments, _cells(rows, read.names), strict=True):
        place = Place(table.source, int(table.lines[row]))
        turn = turns.get(int(row))
        if turn is not None and turn > 1:
            judgment["query_id"] = f"{judgment['query_id']}-{turn}"
        if len(cells) < 2:
            question = str(name_text(cells[0])) if cells else ""
            battles.append(_Battle(place, judgment, question))
            continue
        try:
            exchanges = exchanges_of(cells, turn)
        except ValueError as error:
            hint = "write a list of {role, content}, or texts"
            collected.fault(place, _CONVERSATIONS[0], list(cells), str(error), hint)
            continue
        battles.append(_Battle(place, judgment, exchanges[0].question, exchanges))
    return battles


def _detect_languages(collected: Collected, battles: Sequence[_Battle]) -> None:
    texts: dict[str, str] = {}
    for battle in battles:
        if battle.question:
            texts.setdefault(battle.judgment["query_id"], battle.question)
    languages, note = languages_by_id(texts, AUTO)
    if note:
        collected.notes.append(note)
    for battle in battles:
        battle.judgment["language"] = languages.get(battle.judgment["query_id"], UNDETERMINED)


def _add_battle(collected: Collected, battle: _Battle) -> None:
    judgment, place = battle.judgment, battle.place
    key = (judgment["language"], judgment["query_id"])
    sides = (judgment["system_a"], judgment["system_b"])
    text = battle.question or judgment["query_id"]
    question = collected.question(place, key, text, [], may_repeat=True)
    if question["query"] != text:
        collected.skip(place, "question", "its text differs from that of the same question before")
    for system, exchange in zip(sides, battle.exchanges, strict=False):
        collected.answer_after(place, key, system, exchange.history, exchange.reply)
    known = ("query_id", "language", "system_a", "system_b", "winner", "judge")
    further = {}
    for name, value in judgment.items():
        if name not in known and value is not None and value == value:
            further[name] = value
    verdict = StatedVerdict(judgment["winner"])
    collected.judgment(place, key, sides, verdict, judgment["judge"], columns=further)


def _cells(rows: pd.DataFrame, names: Mapping[str, str]) -> Iterator[tuple[object, ...]]:
    for fields in (_CONVERSATIONS, _TEXTS):
        if names.keys() >= set(fields):
            columns = [names[name] for name in fields]
            yield from rows[columns].itertuples(index=False, name=None)
            return
    if "question" in names:
        yield from rows[[names["question"]]].itertuples(index=False, name=None)
        return
    yield from ((),) * len(rows)


def _turns(read: ReadBattles) -> dict[int, int]:
    """Return the judged turn by row, where each turn is a question; else nothing.

    A column ``turn`` is the judged turn (as in MT-Bench) if a conversation has more, else the
    number of turns, with the vote on the last (as in Chatbot Arena).
    """
    if TURN not in read.names or _CONVERSATIONS[0] not in read.names:
        return {}
    numbers = read.frame[read.names[TURN]].map(number_of)
    lengths = read.frame[read.names[_CONVERSATIONS[0]]].map(n_turns)
    turns = {row: int(number) for row, number in enumerate(numbers) if number is not None}
    before_last = any(
        lengths.iloc[row] is not None and turn < lengths.iloc[row] for row, turn in turns.items()
    )
    return turns if before_last else {}
