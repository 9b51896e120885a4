"""Turns of conversations that votes are on, where each turn is a question of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.data.schema import TURN
from arena.data.types import Record
from arena.data.wording import count_of
from surrogate_arena.importers.cells import is_missing_cell, read_number
from surrogate_arena.importers.collected import Collected, PlacedRecord
from surrogate_arena.importers.columns import bare_column
from surrogate_arena.importers.conversations import n_turns

CONVERSATIONS = ("conversation_a", "conversation_b")


def judged_turns(
    collected: Collected,
    records: Sequence[PlacedRecord],
    names: Mapping[str, str],
    texts: Sequence[str],
) -> dict[int, int]:
    """Return the turn that was judged by the line of its row, where each turn is a question.

    A column ``turn`` is the turn that the vote is on (as in MT-Bench), or how many turns the
    conversation has, with the vote on the last (as in Chatbot Arena). The first is sure where a
    conversation has more turns than that, or a question has votes on several turns. Turns count
    from 1, or from 0 in a file that has a 0.

    Args:
        collected: Keeps faults.
        records: Rows of the file.
        names: Field to column.
        texts: Columns of the conversations, or of the prompt and the replies.
    """
    if TURN not in names:
        return {}
    column = names[TURN]
    numbers = _numbers(collected, records, column)
    lengths = {place.line: _length(record, texts) for place, record in records}
    with_number = [placed for placed in records if placed[0].line in numbers]
    # A turn 0 can only be the first.
    counts_from_0 = 0 in numbers.values()
    if not counts_from_0 and _may_count_from_0(column, numbers, lengths):
        place, record = with_number[0]
        collected.fault(
            place,
            TURN,
            record[column],
            fault="may be counted from 0 or from 1",
            hint="call the column turn and count turns from 1",
        )
        return {}
    turns: dict[int, int] = {}
    for place, record in with_number:
        turn = numbers[place.line] + counts_from_0
        length = lengths[place.line]
        if length is None or turn <= length:
            turns[place.line] = turn
            continue
        collected.fault(
            place,
            TURN,
            record[column],
            fault=f"is beyond the conversation, which has {count_of(length, 'turn')}",
            hint="give the whole conversation",
        )
    # A vote before the last turn shows that the column is the turn, not their number.
    if any(turn < (lengths[line] or turn) for line, turn in turns.items()):
        return turns
    has_several = "query_id" in names and _have_several(records, turns, names["query_id"])
    return turns if has_several else {}


def _have_several(
    records: Sequence[PlacedRecord], turns: Mapping[int, int], id_column: str
) -> bool:
    """Return whether a question has votes on several turns."""
    first_turns: dict[str, int] = {}
    for place, record in records:
        if place.line in turns:
            turn = turns[place.line]
            if first_turns.setdefault(str(record[id_column]), turn) != turn:
                return True
    return False


def _numbers(collected: Collected, records: Sequence[PlacedRecord], column: str) -> dict[int, int]:
    """Return the number in the column of turns by the line of its row."""
    numbers: dict[int, int] = {}
    for place, record in records:
        value = record[column]
        if is_missing_cell(value):
            continue
        number = read_number(value)
        if number is None or number != int(number) or number < 0:
            collected.fault(
                place, TURN, value, fault="is not the number of a turn", hint="count turns from 1"
            )
            continue
        numbers[place.line] = int(number)
    return numbers


def _length(record: Record, texts: Sequence[str]) -> int | None:
    """Return how many turns of the user a conversation has; None if it is not there."""
    if not texts:
        return None
    return n_turns(record[texts[0]], is_conversation=texts == CONVERSATIONS)


def _may_count_from_0(
    column: str, numbers: Mapping[int, int], lengths: Mapping[int, int | None]
) -> bool:
    """Return whether a column without any 0 may still count turns from 0.

    So it is in a column called an index, unless it holds the last turn of a conversation by its
    number from 1.
    """
    if bare_column(column) not in ("turn_idx", "turn_index"):
        return False
    has_length = False
    for line, number in numbers.items():
        length = lengths[line]
        if length is None:
            continue
        has_length = True
        if number >= length:
            return False
    return has_length
