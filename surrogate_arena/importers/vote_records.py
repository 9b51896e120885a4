"""Votes as programs record them: counts of wins, chosen options, rated replies, logs of battles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.data.rows import Rows
from arena.data.types import Record
from arena.data.wording import count_of, first_of
from surrogate_arena.importers.cells import is_missing_cell, read_number
from surrogate_arena.importers.record_values import at, opened_value
from surrogate_arena.importers.shaped_rows import columns_by_name, with_records
from surrogate_arena.importers.system_columns import is_system

_COUNTS_OF_WINS = (
    ("wins_a", "wins_b"),
    ("a_wins", "b_wins"),
    ("model_a_wins", "model_b_wins"),
    ("system_a_wins", "system_b_wins"),
    ("win_a", "win_b"),
    ("wins_1", "wins_2"),
    ("wins", "losses"),
)
_COUNTS_OF_TIES = ("ties", "n_ties", "tie", "draws")
_MOST_BATTLES = 1_000_000
"""Battles that counts may stand for: more are hardly counts."""
_QUESTIONS = ("question", "prompt", "text", "input")
_TEXTS_OF_PAIR = ("question", "answer_a", "answer_b")
_VOTES = frozenset({"leftvote", "rightvote", "tievote", "bothbad_vote"})
"""Events of a battle in FastChat's logs that are votes."""


def with_counted_wins(rows: Rows) -> Rows | None:
    """Give each battle that a count of wins stands for a row of its own.

    None unless all counts are whole numbers, one of them above 1: columns of wins may also say by
    true or false, or 1 and 0, who won.
    """
    columns = columns_by_name(rows)
    names = next((pair for pair in _COUNTS_OF_WINS if columns.keys() >= {*pair}), None)
    if names is None:
        return _with_matrix_of_wins(rows)
    counted = {"a": columns[names[0]], "b": columns[names[1]]}
    ties = next((columns[name] for name in _COUNTS_OF_TIES if name in columns), None)
    if ties is not None:
        counted["tie"] = ties
    rest = [column for column in map(str, rows.table) if column not in counted.values()]
    battles = []
    for number, record in enumerate(rows.table.to_dict(orient="records")):
        sides = {column: record[column] for column in rest}
        for winner, column in counted.items():
            battles.append(_CountedBattles(number, {**sides, "winner": winner}, record[column]))
    return _with_row_for_each_battle(rows, battles)


def _with_matrix_of_wins(rows: Rows) -> Rows | None:
    """Read a square table whose cells count the wins of a row's system against a column's.

    Who stood where is not known: sides are in the order of their names.
    """
    columns = list(map(str, rows.table))
    if len(columns) < 3 or len(columns) != len(rows.table) + 1:
        return None
    first, *opponents = columns
    names = [str(cell) for cell in rows.table[first]]
    if sorted(names) != sorted(opponents):
        return None
    battles = []
    for number, record in enumerate(rows.table.to_dict(orient="records")):
        for opponent in opponents:
            if names[number] == opponent:
                continue
            # If the winner always stood first, a judge would seem to prefer what stands first.
            first, second = sorted((names[number], opponent))
            winner = "a" if first == names[number] else "b"
            battle = {"system_a": first, "system_b": second, "winner": winner}
            battles.append(_CountedBattles(number, battle, record[opponent]))
    return _with_row_for_each_battle(rows, battles)


@dataclass(frozen=True)
class _CountedBattles:
    """Battles with one outcome.

    Attributes:
        number: Number of the row that counts them.
        record: What each of them holds.
        cell: How many there are; nothing if none.
    """

    number: int
    record: Record
    cell: object


def _with_row_for_each_battle(rows: Rows, battles: Sequence[_CountedBattles]) -> Rows | None:
    counts = []
    for battle in battles:
        count = 0.0 if is_missing_cell(battle.cell) else read_number(battle.cell)
        if count is None or count < 0 or count != int(count):
            return None
        counts.append(int(count))
    if max(counts, default=0) < 2 or sum(counts) > _MOST_BATTLES:
        return None
    numbered: list[tuple[int, Record]] = []
    for battle, count in zip(battles, counts, strict=True):
        for _ in range(count):
            # Without an id of its own, a battle would be a copy of the last.
            battle_id = {"battle_id": f"battle-{len(numbered) + 1}"}
            numbered.append((battle.number, {**battle.record, **battle_id}))
    note = f"counts of wins stand for {count_of(len(numbered), 'battle')}, one question each"
    return with_records(rows, numbered, note)


def with_chosen_options(rows: Rows) -> Rows | None:
    """Turn options that people chose from, as Prodigy records them, into pairs with a winner.

    What was chosen won against each option that was not. The ids of options are their systems.
    """
    columns = columns_by_name(rows)
    if not columns.keys() >= {"options", "accept"}:
        return None
    question = next((columns[name] for name in _QUESTIONS if name in columns), None)
    numbered = []
    n_rejected = 0
    for number, record in enumerate(rows.table.to_dict(orient="records")):
        options = _systems_of_options(opened_value(record[columns["options"]]))
        chosen = opened_value(record[columns["accept"]])
        if options is None or question is None or not isinstance(chosen, list):
            return None
        # Records that were rejected or ignored hold no choice.
        if record.get("answer", "accept") != "accept":
            n_rejected += 1
            continue
        chosen_systems = set(map(str, chosen))
        shared = {"question": record[question], "voter": record.get("_annotator_id")}
        for pair in _pairs_of_options(options, chosen_systems):
            numbered.append((number, shared | pair))
    if not numbered:
        return None
    note = "the chosen of 'options' won against each that was not"
    if n_rejected:
        note += f"; {count_of(n_rejected, 'record')} without a choice left out"
    return with_records(rows, numbered, note)


def _systems_of_options(options: object) -> dict[str, str] | None:
    """Return the text of each option by its system; None if ids of options name no systems."""
    if not isinstance(options, list):
        return None
    texts = {}
    for option in options:
        if not isinstance(option, Mapping) or not isinstance(option.get("text"), str):
            return None
        texts[str(option.get("id"))] = option["text"]
    names_systems = len(texts) == len(options) > 1 and all(map(is_system, texts))
    return texts if names_systems else None


def _pairs_of_options(options: Mapping[str, str], chosen: set[str]) -> Iterator[Record]:
    """Yield the pairs of one chosen option, in the order in which both were shown."""
    names = list(options)
    for place, first in enumerate(names):
        for second in names[place + 1 :]:
            if (first in chosen) != (second in chosen):
                yield {
                    "system_a": first,
                    "answer_a": options[first],
                    "system_b": second,
                    "answer_b": options[second],
                    "winner": "a" if first in chosen else "b",
                }


def with_rated_replies(rows: Rows) -> Rows | None:
    """Turn ratings of one reply among several, as Open WebUI records them, into pairs.

    A reply with a thumb up won against each of its siblings, one with a thumb down lost. Who stood
    where is not known: sides are in the order of their names.
    """
    if not {"data", "meta", "snapshot"} <= set(map(str, rows.table)):
        return None
    numbered: list[tuple[int, Record]] = []
    n_single = 0
    for number, record in enumerate(rows.table.to_dict(orient="records")):
        rating = read_number(at(record, "data.rating"))
        rated = at(record, "data.model_id")
        siblings = at(record, "data.sibling_model_ids")
        if not isinstance(rated, str) or not isinstance(siblings, list | None):
            return None
        others = [name for name in siblings or () if isinstance(name, str) and name != rated]
        n_single += not others
        question, replies = _replies_in(record, rated)
        for other in others:
            best, worst = (rated, other) if (rating or 0) > 0 else (other, rated)
            first, second = sorted((best, worst))
            battle = {
                "battle_id": f"{record.get('id')}:{other}",
                "question": question,
                "model_a": first,
                "model_b": second,
                "answer_a": replies.get(first),
                "answer_b": replies.get(second),
                "winner": None if not rating else ("a" if best == first else "b"),
                "voter": record.get("user_id"),
            }
            numbered.append((number, battle))
    if not numbered:
        return None
    # A feedback may keep the rated reply alone: battles without texts can be read.
    if any(battle[text] is None for _, battle in numbered for text in _TEXTS_OF_PAIR):
        for _, battle in numbered:
            for text in _TEXTS_OF_PAIR:
                del battle[text]
    note = "a rated reply won or lost against its siblings; sides are in the order of their names"
    if n_single:
        note += f"; {count_of(n_single, 'rating')} of single replies left out"
    return with_records(rows, numbered, note)


def _replies_in(record: Record, rated: str) -> tuple[str | None, dict[str, str]]:
    """Return the question of a rated reply, and the replies to it by their models."""
    messages = at(record, "snapshot.chat.chat.history.messages")
    message_id = at(record, "meta.message_id")
    if not isinstance(messages, Mapping) or not isinstance(message_id, str):
        return None, {}
    message = messages.get(message_id)
    if not isinstance(message, Mapping):
        return None, {}
    parent_id = message.get("parentId")
    replies: dict[str, str] = {}
    for reply in messages.values():
        if isinstance(reply, Mapping) and reply.get("parentId") == parent_id:
            replies[str(reply.get("model"))] = str(reply.get("content") or "")
    # In its arena, the reply of a hidden model has another name than the rating.
    replies[rated] = str(message.get("content") or "")
    question = messages.get(str(parent_id))
    text = question.get("content") if isinstance(question, Mapping) else None
    return text if isinstance(text, str) else None, replies


def with_logged_battles(rows: Rows) -> Rows | None:
    """Read votes in the logs of FastChat's server: ``type``, and the ``states`` of both sides."""
    if not {"type", "states"} <= set(map(str, rows.table)):
        return None
    numbered = []
    for number, record in enumerate(rows.table.to_dict(orient="records")):
        states = opened_value(record["states"])
        # Other events of the log are messages, or votes on a single model.
        if record["type"] not in _VOTES or not isinstance(states, list) or len(states) != 2:
            continue
        battle: Record = {"winner": record["type"]}
        for side, state in zip("ab", states, strict=True):
            battle[f"model_{side}"] = at(state, "model_name")
            battle[f"conversation_{side}"] = _turns_of_state(state)
        numbered.append((number, battle))
    if not numbered:
        return None
    n_others = len(rows.table) - len(numbered)
    votes = first_of(sorted({str(battle["winner"]) for _, battle in numbered}))
    note = f"votes of a log are read: {votes}"
    if n_others:
        note += f"; {count_of(n_others, 'other event')} left out"
    return with_records(rows, numbered, note)


def _turns_of_state(state: Any) -> list[Record]:  # noqa: ANN401 - whatever JSON holds
    """Write the turns of a state, ``[role, text]``, as others write them."""
    turns: list[Record] = []
    messages = at(state, "messages")
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, list) and len(message) == 2 and isinstance(message[1], str):
            role = "assistant" if len(turns) % 2 else "user"
            turns.append({"role": role, "content": message[1]})
    return turns
