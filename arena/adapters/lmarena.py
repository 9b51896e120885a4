"""Battle tables in the manner of LMArena: ``model_a, model_b, winner`` and little more.

Most hold neither questions nor answers: they become an arena whose questions are known by their id
alone, so that everything that needs only judgments works on it. Some are published with both
conversations, from which questions and answers are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from arena.adapters.collected import Collected, ForeignArena, Place, Record
from arena.adapters.files import checked_language
from arena.data.files import parsed_json
from arena.data.languages import UNDETERMINED, language_code
from arena.data.schema import is_unstorable, whole_digits

ANONYMOUS_JUDGE = "human"

_SIDES = ("model_a", "model_b")
_IDS = ("query_id", "question_id", "id")
_CONVERSATIONS = ("conversation_a", "conversation_b")
_PROMPTED = ("prompt", "response_a", "response_b")
_ONE_HOT = MappingProxyType(
    {"winner_model_a": "model_a", "winner_model_b": "model_b", "winner_tie": "tie"}
)
_KNOWN = (*_SIDES, "winner", *_IDS, "language", "judge", *_CONVERSATIONS, *_PROMPTED, *_ONE_HOT)
_NOTE = "Battles only: questions are known by their id, there are no answers."


def read_battles(
    paths: Sequence[Path | str],
    *,
    name: str = "battles",
    judge: str | None = None,
    language: str = UNDETERMINED,
) -> ForeignArena:
    """Read battles from files of any row format, and folders of them.

    Columns are ``model_a, model_b, winner`` (or ``winner_model_a``, ``winner_model_b``,
    ``winner_tie``, of which one is 1) and, optional, ``query_id``, ``question_id`` or ``id``,
    ``language`` (a code or an English name; one that is not known is ``und``) and ``judge``; and
    what was said: ``conversation_a`` and ``conversation_b`` (lists of ``{role, content}``), or
    ``prompt``, ``response_a`` and ``response_b`` (texts, or lists of turns), each also as JSON
    text. Several turns become one text, with blank lines between.

    A battle without a winner (null) is a failed judgment: left out and counted. That both answers
    are bad is a tie. Without an id, every battle is a question of its own (``battle-1`` ...).

    Args:
        paths: Files and folders.
        name: Name of the arena.
        judge: Name to give the judge of all battles; without it the column ``judge`` counts, or
            ``human`` where there is none.
        language: Code of all battles where there is no column ``language``.

    Raises:
        UsageError: If a file is absent or of unknown format, or a code is no language code.
        DataError: With every problem of all files.
    """
    checked_language(language)
    read = Collected(names={"system_a": _SIDES[0], "system_b": _SIDES[1]})
    number = 0
    for _, rows in read.files(paths):
        columns = set(rows.table)
        has_winners = "winner" in columns or columns >= set(_ONE_HOT)
        if read.lack_columns(rows, (*_SIDES, *([] if has_winners else ["winner"]))):
            continue
        read.skip_columns(rows, _KNOWN)
        said = next((each for each in (_CONVERSATIONS, _PROMPTED) if columns >= set(each)), ())
        named = next((each for each in _IDS if each in columns), None)
        read.names = {**read.names, "query_id": named or "query_id"}
        for place, record in read.raw(rows):
            number += 1
            asked = f"battle-{number}" if named is None else record[named]
            query_id = whole_digits(asked) or asked
            given = record.get("language", language)
            code = language_code(given) if isinstance(given, str) else None
            winner = record.get("winner") if "winner" in columns else _marked(record)
            if winner is not None and code is None:
                read.skip(place.source, "language", f"{given!r} is not known: read as und")
            names = (query_id, record["model_a"], record["model_b"])
            if winner is not None and all(map(_is_sound_name, names)):
                key = (code or UNDETERMINED, str(query_id))
                _add_texts(read, place, key, record, said)
            own = judge or record.get("judge") if "judge" in columns or judge else ANONYMOUS_JUDGE
            sides = (record["model_a"], record["model_b"])
            read.judgment(place, (code or UNDETERMINED, query_id), sides, winner, own)
    sides_of = [name for row in read.judgments for name in (row["system_a"], row["system_b"])]
    systems = sorted({name for name in sides_of if _is_sound_name(name)})
    return read.foreign(name, "", note="" if read.answers else _NOTE, systems=systems)


def _marked(record: Record) -> str | None:
    """Return the winner of three columns of which one is 1."""
    marked = [ours for name, ours in _ONE_HOT.items() if str(record[name]) in ("1", "1.0", "True")]
    return marked[0] if len(marked) == 1 else None


def _is_sound_name(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and not is_unstorable(value)


def _add_texts(
    read: Collected, place: Place, key: tuple[str, str], record: Record, columns: Sequence[str]
) -> None:
    """Add what was asked and answered in a battle."""
    if not columns:
        read.question(place, key, key[1], [], may_repeat=True)
        return
    try:
        question, *answers = _turns([_decoded(record[name]) for name in columns])
    except ValueError as error:
        hint = "write a list of {role, content}, or of texts"
        read.fault(place, columns[0], [record[name] for name in columns], str(error), hint)
        return
    read.question(place, key, question or key[1], [], may_repeat=True)
    for side, text in zip(_SIDES, answers, strict=True):
        read.answer(place, key, record[side], text, may_repeat=True)


def _turns(said: list[list[Any]]) -> list[str]:
    """Return the question and both answers of a battle.

    Raises:
        ValueError: If the cells hold no turns.
    """
    if len(said) == len(_PROMPTED):
        return [_joined(turns) for turns in said]
    for turn in (turn for turns in said for turn in turns):
        if not isinstance(turn, dict) or not isinstance(turn.get("content"), str):
            raise ValueError("holds a turn without a role and content")
    asked = [turn["content"] for turn in said[0] if turn.get("role") == "user"]
    answers = [[turn["content"] for turn in turns if turn.get("role") != "user"] for turns in said]
    return [_joined(turns) for turns in (asked, *answers)]


def _decoded(cell: object) -> list[Any]:
    if isinstance(cell, str) and cell.lstrip().startswith("["):
        try:
            cell = parsed_json(cell)
        except ValueError:
            return [cell]
    if isinstance(cell, str):
        return [cell]
    if not isinstance(cell, list):
        raise ValueError("is no list of turns")
    return cell


def _joined(turns: list[Any]) -> str:
    if not all(isinstance(turn, str) or turn is None for turn in turns):
        raise ValueError("holds a turn that is no text")
    return "\n\n".join(turn or "" for turn in turns)
