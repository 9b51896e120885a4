"""MT-Bench and its like as FastChat writes them: questions of several turns, answers, judgments.

Every turn is a question of its own: ``81`` the first, ``81-2`` the second, which each system
answers after turns of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arena.adapters.collected import Collected, ForeignArena, Key, Place, Record
from arena.adapters.files import checked_language
from arena.data.languages import UNDETERMINED
from arena.data.schema import REFERENCE, finite_number, whole_digits

FAILED = "$ERROR$"
"""What FastChat writes where a model has not answered."""
_GAMES = ("question_id", "model_1", "model_2", "g1_winner", "g2_winner", "judge")
_WINNERS: dict[str, Sequence[Any]] = {"model_1": "ab", "model_2": "ba", "error": ("", "")}
"""Winner of a game, to ours where the first model is shown first, and where it is second."""


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
            fault, hint = "is no question of question.jsonl", "give the questions too"
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
    named = {it[side] for it in read.judgments for side in ("system_a", "system_b")}
    named |= {it["system"] for it in [*read.marks, *read.answers.values()]}
    return read.foreign(name, systems=sorted(it for it in named if isinstance(it, str)))


def _add_judged(read: Collected, place: Place, record: Record, key: Key) -> None:
    """Add the two games of a pair, or a mark."""
    judge, score = record["judge"], finite_number(record.get("score"))
    judge = judge[0] if isinstance(judge, list) and judge else judge
    if "score" not in record:
        sides = [record["model_1"], record["model_2"]]
        for number, won in enumerate((record["g1_winner"], record["g2_winner"])):
            winner = _WINNERS.get(str(won), (won, won))[number]
            read.judgment(place, key, (sides[number], sides[1 - number]), winner, judge)
    elif score is None or not isinstance(record.get("model"), str):
        fault, hint = "is no mark of a model", "write model, and a number"
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
