"""Cells of rows of answers: languages, passages, names, and answers as programs write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena.adapters.collected import Collected, Place
from arena.data.cells import is_missing_cell, looks_like_reply, opened_text, text_of_reply
from arena.data.languages import NO_LANGUAGE, read_language
from arena.data.passages import passages_of
from arena.data.types import Record


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


def open_replies(collected: Collected, place: Place, values: Record, sides: Sequence[str]) -> None:
    """Replace answers that are objects of programs by the texts in them; each is counted."""
    for side in sides:
        answer = values.get(f"answer{side}")
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
