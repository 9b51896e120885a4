"""Battle tables in the manner of LMArena: ``model_a, model_b, winner`` and little more.

Most hold neither questions nor answers: they become an arena whose questions are known by their id
alone, so that everything that needs only judgments works on it. Some are published with both
conversations, from which questions and answers are read. FastChat, the program of the same people,
writes benchmarks such as MT-Bench: of a question of several turns every turn is a question of its
own, ``81`` the first, ``81-2`` the second, which each system answers after turns of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import Any

from arena.adapters.battle_rows import (
    CONVERSATIONS,
    Battle,
    BattleOptions,
    battles_of,
    is_sound_name,
    opened_turns,
)
from arena.adapters.collected import Collected, ForeignArena, Place, Record, conversation
from arena.adapters.columns import NO_COLUMNS
from arena.adapters.files import checked_language
from arena.data.cells import finite_number, whole_digits
from arena.data.languages import UNDETERMINED
from arena.data.schema import REFERENCE, ROLES
from arena.data.winners import WinnerReading

FAILED = "$ERROR$"
"""What FastChat writes where a model has not answered."""
_GAMES = ("question_id", "model_1", "model_2", "g1_winner", "g2_winner", "judge")
_FIRST_GAME = MappingProxyType({"model_1": WinnerReading("a"), "model_2": WinnerReading("b")})
"""Winner of the game where the first model is on side A; it is on side B in the second."""
_SECOND_GAME = MappingProxyType({"model_1": WinnerReading("b"), "model_2": WinnerReading("a")})
_NOTE = "Battles only: questions are known by their id, there are no answers."


def read_battles(
    paths: Sequence[Path | str],
    *,
    columns: Mapping[str, str] = NO_COLUMNS,
    name: str = "battles",
    judge: str | None = None,
    language: str = UNDETERMINED,
    drop_flagged: bool = False,
) -> ForeignArena:
    """Read battles from files of any row format, and folders of them.

    A row has two systems (``model_a, model_b``, or other names that ``columns.toml`` lists) and a
    winner (a ``winner`` in any of the field's words, see ``arena.data.winners``; or
    ``winner_model_a``, ``winner_model_b``, ``winner_tie``, of which one is true). It may have an
    id of the question, a language (a code or an English name; one that is not known is ``und``), a
    judge, a voter, a criterion, a weight, and a turn; and what was said: ``conversation_a`` and
    ``conversation_b`` (lists of ``{role, content}``), or a prompt and two responses (texts, or
    lists of turns), each also as JSON text. The last question and the replies to it are compared;
    the turns before are their history. Where votes are on single turns, as in MT-Bench, each turn
    is a question of its own: ``81`` the first, ``81-2`` the second.

    A battle without a winner is a failed judgment: left out and counted. That both answers are bad
    is a tie, and kept as ``both_bad``. Without an id, every battle is a question of its own
    (``battle-1`` ...). Names of voters are people; who judged is ``unknown`` where no column says.

    Args:
        paths: Files and folders.
        columns: Field to the name of its column, where its own name is not known.
        name: Name of the arena.
        judge: Name to give the judge of all battles; without it the file's own counts.
        language: Code of all battles where there is no column ``language``.
        drop_flagged: Leave out votes that were not blind (``anony`` is false), and those that the
            source flags as duplicates (``dedup_tag.sampled`` is false).

    Raises:
        UsageError: If a file is absent or of unknown format, or a code is no language code.
        DataError: With every problem of all files.
    """
    checked_language(language)
    read = Collected()
    options = BattleOptions(columns, judge, language, drops_flagged=drop_flagged)
    number = 0
    for _, rows in read.files(paths):
        for battle in battles_of(read, rows, options, number):
            if battle.is_sound:
                _add_texts(read, battle)
            add_judgment(read, battle)
        number += len(rows.table)
    return foreign_of_battles(read, name)


def add_judgment(read: Collected, battle: Battle) -> None:
    """Add the judgment of a battle."""
    read.judgment(
        battle.place,
        battle.key,
        battle.sides,
        battle.winner,
        battle.judge,
        columns=battle.columns,
        record=battle.record,
    )


def foreign_of_battles(read: Collected, name: str) -> ForeignArena:
    """Put an arena of battles together, whose systems are those that met."""
    read.decide_winners()
    names = [row[side] for row in read.judgments for side in ("system_a", "system_b")]
    systems = sorted({each for each in names if is_sound_name(each)})
    return read.foreign(name, "", note="" if read.answers else _NOTE, systems=systems)


def _add_texts(read: Collected, battle: Battle) -> None:
    """Add what was asked and answered in a battle."""
    key = (battle.key[0], str(battle.key[1]))
    place = battle.place
    if not battle.cells:
        read.question(place, key, key[1], [], may_repeat=True)
        return
    try:
        question, sides = _turns([_decoded(cell) for cell in battle.cells], battle.turn)
    except ValueError as error:
        hint = "write a list of {role, content}, or of texts"
        column = CONVERSATIONS[0] if len(battle.cells) == 2 else "question"
        read.fault(place, column, list(battle.cells), str(error), hint)
        return
    read.question(place, key, question or key[1], [], may_repeat=True)
    for system, (history, text) in zip(battle.sides, sides, strict=True):
        read.answer_after(place, key, system, history, text)


def _turns(
    said: list[list[Any]], turn: int | None = None
) -> tuple[str, list[tuple[list[Record], str]]]:
    """Return the last question of a battle, and both replies, each with the turns before it.

    Args:
        said: Two conversations; or turns of a prompt and of two responses.
        turn: The question to take instead of the last, counted from 1.

    Raises:
        ValueError: If the cells hold no turns.
    """
    if len(said) == 3:
        if not all(isinstance(text, str | None) for texts in said for text in texts):
            raise ValueError("holds a turn that is not a text")
        asked, *replies = said
        said = [
            [
                {"role": role, "content": text or ""}
                for both in zip_longest(asked, own)
                for role, text in zip(ROLES, both, strict=True)
            ]
            for own in replies
        ]
    for message in (message for turns in said for message in turns):
        if not isinstance(message, dict) or not isinstance(message.get("content"), str | list):
            raise ValueError("holds a turn without a role and content")
    if turn is not None:
        said = [_until(turns, turn) for turns in said]
    (_, question, _), _ = found = [conversation(turns) for turns in said]
    return question, [(history, reply) for history, _, reply in found]


def _until(turns: list[Any], turn: int) -> list[Any]:
    """Return a conversation up to the reply to its n-th question."""
    asked = 0
    for place, message in enumerate(turns):
        asked += message.get("role") in ("user", "human")
        if asked > turn:
            return turns[:place]
    return turns


def _decoded(cell: object) -> list[Any]:
    found = opened_turns(cell)
    if not isinstance(found, list) and not isinstance(cell, str):
        raise ValueError("is not a list of turns")
    return found if isinstance(found, list) else [cell]


def read_fastchat(
    paths: Sequence[Path | str], *, name: str = "mt-bench", language: str = UNDETERMINED
) -> ForeignArena:
    """Read ``question.jsonl``, ``model_answer``, ``model_judgment`` and ``reference_answer``.

    Files are known by their columns. A pair's two games are two judgments, in both orders; marks
    are a judge of their own, ``MODEL:pointwise``. Games that ended in an error, marks of -1 and
    answers that failed are counted.

    Args:
        paths: The folder of a benchmark, or files.
        name: Name of the arena.
        language: Code of all questions.

    Raises:
        UsageError: If a file is absent or of unknown format, or the code is none.
        DataError: With every problem of all files.
    """
    checked_language(language)
    read, asked = Collected(), dict[str, list[str]]()
    found: dict[str, list[tuple[Path, Place, Record]]] = {"turns": [], "choices": [], "judge": []}
    for path, rows in read.files(paths):
        kind = next((it for it in found if it in rows.table), "judge")
        needed = _GAMES[:1] if kind != "judge" or "score" in rows.table else _GAMES
        if not read.lack_columns(rows, needed):
            found[kind] += [(path, *each) for each in read.raw(rows)]
    for _, place, record in found["turns"]:
        turns = asked[_id(record)] = _texts(read, place, "turns", record["turns"])
        for number, text in enumerate(turns, start=1):
            row = read.question(place, (language, _id(record, number)), text, [])
            row |= {"category": record["category"]} if "category" in record else {}
    for path, place, record in found["choices"]:
        if _id(record) not in asked:
            fault, hint = "is not a question of question.jsonl", "give the questions too"
            read.fault(place, "question_id", record["question_id"], fault, hint)
        given = record["choices"]
        first = given[0] if isinstance(given, list) and given else given
        said = first.get("turns") if isinstance(first, dict) else first
        replies = _texts(read, place, "choices", said)
        history: list[Record] = []
        both = zip(asked.get(_id(record), ()), replies, strict=False)
        for number, (question, text) in enumerate(both, start=1):
            key = (language, _id(record, number))
            if "reference_answer" in path.parts:
                read.queries[key].setdefault(REFERENCE, text)
            elif text == FAILED:
                read.skip(place.source, "answer", "the model has not answered")
            else:
                read.answer_after(place, key, record["model_id"], history, text)
            reply = {"role": "assistant", "content": "" if text == FAILED else text}
            history = [*history, {"role": "user", "content": question}, reply]
    for _, place, record in found["judge"]:
        _add_judged(read, place, record, (language, _id(record, record.get("turn") or 1)))
    read.decide_winners()
    named = {it[side] for it in read.judgments for side in ("system_a", "system_b")}
    named |= {it["system"] for it in [*read.marks, *read.answers.values()]}
    return read.foreign(name, systems=sorted(it for it in named if isinstance(it, str)))


def _add_judged(read: Collected, place: Place, record: Record, key: tuple[str, str]) -> None:
    """Add the two games of a pair, or a mark."""
    judge, score = record["judge"], finite_number(record.get("score"))
    judge = judge[0] if isinstance(judge, list) and judge else judge
    if "score" not in record:
        sides = [record["model_1"], record["model_2"]]
        games = ((record["g1_winner"], _FIRST_GAME), (record["g2_winner"], _SECOND_GAME))
        for number, (won, verdicts) in enumerate(games):
            shown = (sides[number], sides[1 - number])
            read.judgment(place, key, shown, verdicts.get(str(won), won), judge)
    elif score is None or not isinstance(record.get("model"), str):
        fault, hint = "is not a mark for a model", "write model, and a number"
        read.fault(place, "score", record["score"], fault, hint)
    elif score < 0:
        read.skip(place.source, "mark", "the judge gave none")
    else:
        row = {"language": key[0], "query_id": key[1], "system": record["model"], "mark": score}
        read.marks.append(row | {"judge": f"{judge}:pointwise"})


def _id(record: Record, turn: object = 1) -> str:
    number, given = whole_digits(turn) or str(turn), record["question_id"]
    named = whole_digits(given) or str(given)
    return named if number == "1" else f"{named}-{number}"


def _texts(read: Collected, place: Place, name: str, value: object) -> list[str]:
    if isinstance(value, list) and value and all(isinstance(text, str) for text in value):
        return value
    read.fault(place, name, value, "holds no turns", "write the turns as a list of texts")
    return []
