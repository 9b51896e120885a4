"""Cells of rows of answers: languages, passages, names, and answers as programs write them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from arena.data.languages import NO_LANGUAGE, read_language
from arena.data.schema import HISTORY
from arena.data.types import Record
from arena.data.wording import first_of
from surrogate_arena.importers.cells import (
    is_missing_cell,
    looks_like_reply,
    opened_text,
    read_number,
    text_of_reply,
)
from surrogate_arena.importers.collected import Collected, Place
from surrogate_arena.importers.conversations import last_exchange
from surrogate_arena.importers.field_maps import usual_names
from surrogate_arena.importers.passages import passages_of
from surrogate_arena.importers.record_values import (
    ASSISTANT,
    messages_of,
    opened_value,
    paths_of,
    text_of,
)


def row_language(collected: Collected, place: Place, cell: object, default: str) -> str | None:
    """Return the language of a row; None if it is unknown, which is a fault."""
    if is_missing_cell(cell):
        return default
    # Words such as "unknown" say that nobody knows, which is no fault.
    if isinstance(cell, str) and cell.strip().casefold() in NO_LANGUAGE:
        collected.skip(place, "language", f"{cell!r} is none: read as {default or 'not given'}")
        return default
    reading = read_language(cell) if isinstance(cell, str) else None
    if reading is None or reading.code is None:
        hint = reading.hint if reading else "use a code such as 'en', or an English name"
        collected.fault(place, "language", cell, "is not a language known by name", hint)
        return None
    if reading.remark:
        collected.skip(place, "region of a language", reading.remark)
    return reading.code


def row_passages(collected: Collected, place: Place, cell: object) -> list[dict[str, Any]] | None:
    """Return the passages of a row; None if they cannot be read, which is a fault."""
    try:
        return passages_of(cell)
    except ValueError as error:
        collected.fault(
            place,
            "passages",
            cell,
            str(error),
            hint="give a text, a list of texts, or a list of {passage_id, text}",
        )
        return None


def open_question(collected: Collected, place: Place, values: Record) -> None:
    """Replace a question that is a list of messages, or a program's record, by the text in it.

    A program that logs its inputs as records does so with its outputs, too: an answer, or a
    reference, in such a row is opened where it has a usual name.
    """
    inside = opened_value(values.get("question"))
    if isinstance(inside, str) or inside is None:
        return
    exchange = last_exchange(messages_of(inside))
    if exchange.question:
        values["question"] = exchange.question
        if is_missing_cell(values.get(HISTORY)):
            values[HISTORY] = exchange.history or None
        collected.skip(place, "messages before the question", "read as its history")
        return
    if _text_in(inside, "question") is None:
        return
    for field in ("question", "answer", "reference"):
        text = _text_in(opened_value(values.get(field)), field)
        if text is not None:
            values[field] = text
            collected.skip(place, f"record around the {field}", "the text in it is read")


def _text_in(record: object, field: str) -> str | None:
    """Return the text that a record has under the first usual name of a field with one."""
    names = usual_names(field)
    # The right answer may be called as any answer is.
    if field == "reference":
        names = [*names, *usual_names("answer")]
    if isinstance(record, Mapping):
        for name in names:
            text = record.get(name)
            if isinstance(text, str) and text.strip():
                return text
    return None


def hint_of_text(collected: Collected, field: str, cell: object) -> str:
    """Return how to give a field a text, where its cell holds something else."""
    column = collected.names.get(field, field)
    paths = [path for path, value in paths_of(cell) if isinstance(value, str)]
    if not paths:
        return "give it a text"
    most_shown = 5
    # What a record holds itself is likelier meant than what is deeper in it.
    paths.sort(key=lambda path: path.count("."))
    shown = first_of([f"{column}.{path}" for path in paths], most_shown)
    return f"name the text in it with --column {field}=PATH, of {shown}"


_TRUE_MARKS = frozenset({"true", "yes", "pass", "passed", "correct", "👍", "thumbs up", "✅"})
_FALSE_MARKS = frozenset({"false", "no", "fail", "failed", "incorrect", "👎", "thumbs down", "❌"})
_STARS = re.compile("(?:[★⭐🌟]\ufe0f?)+☆*")
"""A rating as people and forms draw it."""


def mark_of(verdict: object) -> float | None:
    """Return the mark in a cell: a number, a percentage, or 1 or 0 for true or false."""
    if isinstance(verdict, bool):
        return float(verdict)
    if not isinstance(verdict, str):
        return read_number(verdict)
    text = verdict.strip()
    if text.casefold() in _TRUE_MARKS:
        return 1.0
    if text.casefold() in _FALSE_MARKS:
        return 0.0
    if _STARS.fullmatch(text):
        return float(sum(text.count(star) for star in "★⭐🌟"))
    if not text.endswith("%"):
        return read_number(text)
    percent = read_number(text[:-1].strip())
    return None if percent is None else percent / 100


def is_missing_mark(verdict: object) -> bool:
    """Tell whether a cell holds no mark: people write a dash, too."""
    is_dash = isinstance(verdict, str) and verdict.strip() in ("-", "–", "—")
    return is_dash or is_missing_cell(verdict)


def open_replies(collected: Collected, place: Place, values: Record, sides: Sequence[str]) -> None:
    """Replace answers that are objects of programs by the texts in them; each is counted."""
    for side in sides:
        answer = values.get(f"answer{side}")
        if isinstance(answer, list) and messages_of(answer):
            values[f"answer{side}"] = text_of(answer, ASSISTANT) or ""
            collected.skip(place, "what surrounds an answer", "of messages the last one is read")
            continue
        if isinstance(answer, list) and len(answer) == 1 and isinstance(answer[0], str):
            # Harnesses write a list of samples.
            [answer] = answer
            values[f"answer{side}"] = answer
            collected.skip(place, "what surrounds an answer", "the only text of a list is read")
        if not isinstance(answer, str):
            continue
        # An answer may well be JSON, if that was asked for: only objects of programs are opened.
        if not looks_like_reply(answer):
            if opened_text(answer) is not None:
                collected.skip(place, "answer", "it is a list or record: kept as it is")
            continue
        text = text_of_reply(answer)
        if text is None:
            collected.skip(place, "answer", "it looks like a printed object: kept as it is")
            continue
        values[f"answer{side}"] = text
        collected.skip(place, "what surrounds an answer", "of a printed object the text is read")


def empty_answers(values: Record, sides: Sequence[str]) -> list[str]:
    """Name the systems whose answers of a row say nothing."""
    systems = []
    for side in sides:
        if is_missing_cell(values.get(f"answer{side}")):
            systems.append(str(values.get(f"system{side}")))
    return systems


def text_of_truth(answer: object) -> object:
    """Write a truth value as the text that a workbook shows for it."""
    return str(answer).upper() if isinstance(answer, bool) else answer


def stripped_name(collected: Collected, place: Place, name: str) -> str:
    """Return a system's name without spaces at its edges, and count that it had some."""
    bare = name.strip()
    if bare != name:
        collected.skip(place, "space", f"at the edges of the name {bare!r}")
    return bare
