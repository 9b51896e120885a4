"""Rows of battles: who met, who won, who says so, and on which turn of a conversation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from arena.adapters.collected import Collected, Place, Record
from arena.adapters.columns import (
    NO_COLUMNS,
    bare_column,
    chosen_columns,
    field_names,
    without_row_numbers,
)
from arena.adapters.judges import JUDGE_SOURCES, judge_and_voter
from arena.data.cells import finite_number, is_missing_cell, is_unstorable, whole_digits
from arena.data.errors import Problem
from arena.data.files import opened
from arena.data.languages import UNDETERMINED, language_code
from arena.data.literals import parsed_literal
from arena.data.rows import Rows
from arena.data.schema import BOTH_BAD, CHOSEN, CRITERION, REPEAT, SOFT_COLUMNS, VOTER, WEIGHT
from arena.data.winners import (
    NO_WINNER,
    ONE_HOT,
    ONE_HOT_NEEDED,
    PROBABILITIES,
    NoWinner,
    read_one_hot,
    read_probabilities,
)
from arena.data.wording import count_of

CONVERSATIONS = ("conversation_a", "conversation_b")
NO_LANGUAGES: Mapping[str, str] = MappingProxyType({})

_TEXTS = ("question", "answer_a", "answer_b")
_FIELDS = (
    *("query_id", "language", "judge", CRITERION, VOTER, "turn", WEIGHT),
    *("system_a", "system_b", "winner", *_TEXTS),
)
_KEPT = (CHOSEN, *SOFT_COLUMNS, BOTH_BAD, REPEAT)
"""Columns of our own tables that stay as they are."""
_TURN_INDEXES = ("turn_idx", "turn_index")
"""Names of columns that may count turns from 0."""
_FLAGS = MappingProxyType(
    {
        "anony": "votes were not blind: the names of the models were shown",
        "dedup_tag": "votes are on prompts that the source flags as duplicates",
    }
)
_SHOWN_COLUMNS = 12


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
    """A row of a file of battles.

    Attributes:
        place: Where it stands.
        key: Language and id of its question; the id may be at fault.
        sides: The systems, as the file names them.
        winner: What the file says of the winner, or what was read of it.
        judge: Who judged; may be at fault.
        columns: Further columns of its judgment, such as ``voter`` and ``weight``.
        turn: Number of the turn that was judged, from 1; None for the last.
        cells: The cells with what was asked and answered: two conversations, or a prompt and two
            replies; none where there are none.
        record: The whole row; None where rows that are alike are no copies.
    """

    place: Place
    key: tuple[str, Any]
    sides: tuple[Any, Any]
    winner: object
    judge: object
    columns: Mapping[str, object]
    turn: int | None
    cells: tuple[object, ...]
    record: Record | None

    @property
    def is_sound(self) -> bool:
        """Whether it has a winner, and names that can be kept."""
        has_winner = not is_missing_cell(self.winner) and not isinstance(self.winner, NoWinner)
        return has_winner and all(map(is_sound_name, (self.key[1], *self.sides)))


def is_sound_name(value: object) -> bool:
    """Tell whether a value can be the name of something."""
    return isinstance(value, str) and bool(value.strip()) and not is_unstorable(value)


def battles_of(
    read: Collected, rows: Rows, options: BattleOptions, number: int
) -> Iterator[Battle]:
    """Yield the battles of a file; what is not read is counted.

    Args:
        read: Keeps faults and counts.
        rows: The file.
        options: How to read it.
        number: Number of battles before it; those without an id are numbered.
    """
    table = rows.table
    if not len(table.columns) and not len(rows.lines):
        read.problems += rows.problems
        return
    names = _chosen(read, rows, options.columns)
    if names is None:
        return
    read.names = {**read.names, **names}
    has_conversations = set(CONVERSATIONS) <= set(table)
    texts = CONVERSATIONS if has_conversations else tuple(names.get(it, "") for it in _TEXTS)
    if not all(texts):
        texts = ()
    found = list(read.raw(rows))
    winner_columns = columns_of_winners(table)
    saying = without_row_numbers(table)
    turns = _turns(read, found, names, texts)
    for place, record in found:
        number += 1
        if _is_flagged(read, place, record, drops=options.drops_flagged):
            continue
        turn = turns.get(place.line)
        said = {column: value for column, value in record.items() if column in saying}
        sides = [read.system_name(place, record[names[side]]) for side in ("system_a", "system_b")]
        yield Battle(
            place=place,
            key=_key(read, place, record, names, options, number, turn),
            sides=(sides[0], sides[1]),
            winner=winner_of(record, names, winner_columns),
            judge=judge_and_voter(record, names, judge=options.judge)[0],
            columns=_columns(read, place, record, names, options.judge),
            turn=turn,
            cells=tuple(record[column] for column in texts),
            record=said if _tells_rows_apart(record, names, texts, options.judge) else None,
        )


def _chosen(read: Collected, rows: Rows, columns: Mapping[str, str]) -> Mapping[str, str] | None:
    """Return the column of each field; None where one is missing that is needed."""
    table = rows.table
    known = field_names("pairs")
    fields = {name: known[name] for name in _FIELDS}
    fields["query_id"] = (*fields["query_id"], "id", "battle_id", "conversation_id")
    winner_columns = columns_of_winners(table)
    if winner_columns.keys() >= {*ONE_HOT_NEEDED} and "winner" not in columns:
        fields["winner"] = ("winner",)
    chosen = chosen_columns([table], fields, columns)
    needed = ["system_a", "system_b"]
    if not winner_columns:
        needed.append("winner")
    absent = [name for name in needed if name not in chosen.names]
    if absent:
        listed = [str(column) for column in table]
        more = f" and {len(listed) - _SHOWN_COLUMNS} more" if len(listed) > _SHOWN_COLUMNS else ""
        there = f"the columns are {', '.join(listed[:_SHOWN_COLUMNS])}{more}"
        read.problems += rows.problems
        for name in absent:
            hint = f"choose it with --column {name}=NAME; {there}"
            fault = "this column is missing"
            read.problems.append(Problem(rows.source, None, name, None, fault, hint))
        return None
    beside = {*winner_columns.values(), *CONVERSATIONS, *_KEPT, *JUDGE_SOURCES, *_FLAGS}
    for column, reason in chosen.unread.items():
        if column not in beside:
            read.skip(rows.source, "column", reason)
    return chosen.names


def _key(
    read: Collected,
    place: Place,
    record: Record,
    names: Mapping[str, str],
    options: BattleOptions,
    number: int,
    turn: int | None,
) -> tuple[str, Any]:
    named = names.get("query_id")
    asked = f"battle-{number}" if named is None else record[named]
    query_id: Any = whole_digits(asked) or asked
    given = record[names["language"]] if "language" in names else None
    code: str | None = options.languages.get(str(query_id), options.language)
    if not is_missing_cell(given):
        code = language_code(given) if isinstance(given, str) else None
        if code is None:
            read.skip(place.source, "language", f"{given!r} is not known: read as und")
    if turn is not None and turn > 1 and is_sound_name(query_id):
        query_id = f"{query_id}-{turn}"
    return code or UNDETERMINED, query_id


def winner_of(
    record: Record, names: Mapping[str, str], winner_columns: Mapping[str, str]
) -> object:
    """Return what a row says of the winner, or what was read of its columns.

    Args:
        record: The row.
        names: Field to column.
        winner_columns: Those of ``columns_of_winners``, which count without a column ``winner``.
    """
    if "winner" in names:
        winner = record[names["winner"]]
        return NO_WINNER if is_missing_cell(winner) else winner
    values = {name: record[column] for name, column in winner_columns.items()}
    return (
        read_one_hot(values) if values.keys() >= {*ONE_HOT_NEEDED} else read_probabilities(values)
    )


def columns_of_winners(columns: Iterable[object]) -> dict[str, str]:
    """Return the columns that say who won without a column ``winner``.

    Returns:
        The names of ``ONE_HOT`` or of ``PROBABILITIES`` to the columns that have these names,
        whatever their case; empty where needed ones are missing.
    """
    held: dict[str, str] = {}
    for column in map(str, columns):
        name = bare_column(column)
        if name not in held or column == name:
            held[name] = column
    for known, needed in ((ONE_HOT, ONE_HOT_NEEDED), (PROBABILITIES, PROBABILITIES)):
        if held.keys() >= {*needed}:
            return {name: held[name] for name in known if name in held}
    return {}


def _columns(
    read: Collected, place: Place, record: Record, names: Mapping[str, str], judge: str | None
) -> dict[str, object]:
    columns = {name: record[name] for name in _KEPT if not is_missing_cell(record.get(name))}
    voter = judge_and_voter(record, names, judge=judge)[1]
    if voter is not None:
        columns[VOTER] = voter
    if CRITERION in names and not is_missing_cell(record[names[CRITERION]]):
        columns[CRITERION] = record[names[CRITERION]]
    if WEIGHT in names:
        given = record[names[WEIGHT]]
        text = given.strip().replace(",", ".", 1) if isinstance(given, str) else given
        weight = finite_number(text)
        if weight is None or weight <= 0:
            hint = "write a finite number above 0 in every row, or leave the column out"
            read.fault(place, WEIGHT, given, "is not a weight", hint)
            weight = None
        columns[WEIGHT] = weight
    return columns


def _tells_rows_apart(
    record: Record, names: Mapping[str, str], texts: Sequence[str], judge: str | None
) -> bool:
    """Tell whether a row that is exactly like another one can only be a copy of it.

    That is so where it says who judged and what; the name that a user gives to all rows says
    nothing of single ones.
    """
    has_question = "query_id" in names or "question" in names or bool(texts)
    if judge is not None or not has_question:
        return False
    has_judge = "judge" in names and not is_missing_cell(record[names["judge"]])
    has_voter = VOTER in names and not is_missing_cell(record[names[VOTER]])
    return has_judge or has_voter


def _is_flagged(read: Collected, place: Place, record: Record, *, drops: bool) -> bool:
    """Count a vote that was not blind, or on a duplicate; tell whether to leave it out."""
    flagged = []
    if str(record.get("anony")).strip().casefold() in ("false", "0", "0.0"):
        flagged.append("anony")
    tag = record.get("dedup_tag")
    tag = opened(tag) if isinstance(tag, str) else tag
    if isinstance(tag, dict) and tag.get("sampled") is False:
        flagged.append("dedup_tag")
    for column in flagged:
        how = "left out" if drops else "they count (drop_flagged leaves them out)"
        read.skip(place.source, "vote", f"{_FLAGS[column]}; {how}")
    return drops and bool(flagged)


def _turns(
    read: Collected,
    found: Sequence[tuple[Place, Record]],
    names: Mapping[str, str],
    texts: Sequence[str],
) -> dict[int, int]:
    """Return the turn that was judged by the line of its row, where each turn is a question.

    A column ``turn`` is the turn that the vote is on (as in MT-Bench), or how many turns the
    conversation has, with the vote on the last (as in Chatbot Arena). The first is sure where a
    conversation goes on after the turn, or a question has votes on several turns. Turns count from
    1, or from 0 in a file where a 0 stands.
    """
    if "turn" not in names:
        return {}
    numbers: dict[int, int] = {}
    for place, record in found:
        given = record[names["turn"]]
        if is_missing_cell(given):
            continue
        number = finite_number(given)
        if number is None or number != int(number) or number < 0:
            read.fault(place, "turn", given, "is not the number of a turn", "count turns from 1")
            continue
        numbers[place.line] = int(number)
    rounds = {place.line: _rounds(record, texts) for place, record in found}
    counts_from_0 = 0 in numbers.values()
    if not counts_from_0 and _may_count_from_0(names["turn"], numbers, rounds):
        place, record = next(each for each in found if each[0].line in numbers)
        hint = "call the column turn and count turns from 1"
        fault = "may be counted from 0 or from 1"
        read.fault(place, "turn", record[names["turn"]], fault, hint)
        return {}
    turns: dict[int, int] = {}
    by_question: dict[object, set[int]] = defaultdict(set)
    goes_on = False
    for place, record in found:
        if place.line not in numbers:
            continue
        turn = numbers[place.line] + counts_from_0
        last = rounds[place.line]
        if last is not None and turn > last:
            fault = f"is beyond the conversation, which has {count_of(last, 'turn')}"
            given = record[names["turn"]]
            read.fault(place, "turn", given, fault, "give the whole conversation")
            continue
        goes_on = goes_on or (last is not None and turn < last)
        turns[place.line] = turn
        if "query_id" in names:
            by_question[str(record[names["query_id"]])].add(turn)
    has_several = any(len(each) > 1 for each in by_question.values())
    return turns if goes_on or has_several else {}


def _may_count_from_0(
    column: str, numbers: Mapping[int, int], rounds: Mapping[int, int | None]
) -> bool:
    """Tell whether a column without any 0 may still count turns from 0.

    So it is in a column called an index, unless it holds the last turn of a conversation by its
    number from 1.
    """
    if bare_column(column) not in _TURN_INDEXES:
        return False
    lasts = [(number, rounds[line]) for line, number in numbers.items()]
    with_rounds = [(number, last) for number, last in lasts if last is not None]
    return bool(with_rounds) and all(number < last for number, last in with_rounds)


def opened_turns(cell: object) -> object:
    """Return the list that a cell holds as JSON, or of messages as Python prints it, else the cell.

    What Python printed of texts alone may be a text that is meant so, and stays.
    """
    if not isinstance(cell, str):
        return cell
    text = cell.strip()
    found = opened(text)
    if isinstance(found, list) or not text.startswith(("[", "array([")):
        return found if isinstance(found, list) else cell
    try:
        printed = parsed_literal(text)
    except ValueError:
        return cell
    is_messages = isinstance(printed, list) and all(isinstance(turn, dict) for turn in printed)
    return printed if printed and is_messages else cell


def _rounds(record: Record, texts: Sequence[str]) -> int | None:
    """Return how many turns of the user a conversation has; None where it is not there."""
    if not texts:
        return None
    turns = opened_turns(record[texts[0]])
    if not isinstance(turns, list):
        return None
    if texts != CONVERSATIONS:
        return len(turns)
    return sum(isinstance(turn, dict) and turn.get("role") in ("user", "human") for turn in turns)
