"""Rows of answers: their cells as the fields of an arena, and their faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from arena.data.errors import checked_choice
from arena.data.judges import UNKNOWN_JUDGE
from arena.data.languages import NO_LANGUAGE, UNDETERMINED, read_language
from arena.data.schema import HISTORY, OWN_PASSAGES
from arena.data.types import Record
from arena.data.wording import count_of, first_of
from arena.text.answers import is_empty_answer
from surrogate_arena.importers.amounts import amounts_of
from surrogate_arena.importers.collected import SCORE, Collected, Key, Place, question_id, seen_from
from surrogate_arena.importers.contract import MOST_NAMED
from surrogate_arena.importers.conversations import last_exchange
from surrogate_arena.importers.languages import AUTO, languages_by_id
from surrogate_arena.importers.opened import texts_in
from surrogate_arena.importers.passages import HINT, number_of_first, passages_of
from surrogate_arena.importers.values import (
    first_text,
    is_missing_cell,
    mark_of,
    name_text,
    opened,
    opened_or_same,
    option,
)

Repeats = Literal["first", "each"]
"""What becomes of a question that a system answers again: only the first answer is kept, or each
asking is a question of its own."""
_REPEATS = (
    "keep one of its answers; import reads several: --repeats first keeps the first and counts the "
    "others, --repeats each makes each asking a question of its own"
)


def check_repeats_choice(repeats: str | None) -> None:
    """Refuse anything but ``Repeats``."""
    if repeats is not None:
        checked_choice(repeats, get_args(Repeats), "way to read repeated questions")


def row_values(collected: Collected, place: Place, values: Record) -> Record:
    """Return a row's fields, without what programs write around texts."""
    for name in ("question", "answer", "reference"):
        if name not in values:
            continue
        try:
            inside = opened(values[name]) if name != "answer" else _messages_or_same(values[name])
        except ValueError as error:
            collected.fault(place, name, values[name], str(error), "write the text alone")
            continue
        if isinstance(inside, list) and inside and isinstance(inside[0], Mapping):
            exchange = last_exchange(inside)
            text = exchange.question if name == "question" else exchange.reply
            if text:
                values[name] = text
                if exchange.question:
                    collected.skip(place, f"messages around the {name}", "the last one is read")
                else:
                    collected.skip(place, f"parts of the {name}", "their texts alone are read")
                if name == "question" and exchange.history:
                    values.setdefault(HISTORY, exchange.history)
        elif name == "answer" and isinstance(inside, list) and len(inside) == 1:
            # Harnesses write a list of samples.
            [values[name]] = inside
        elif name != "answer":
            values[name] = first_text(inside)
    return values


def _messages_or_same(cell: object) -> object:
    inside = opened_or_same(cell)
    if not isinstance(inside, list) or not inside:
        return cell
    return inside if all(isinstance(item, dict) and "role" in item for item in inside) else cell


def _default_languages(
    collected: Collected, rows: Sequence[Record], language: str | None
) -> list[str]:
    questions = [str(values.get("question", "")) for values in rows]
    if language in (None, AUTO) and all("language" in values for values in rows):
        return [UNDETERMINED] * len(rows)
    languages, note = languages_by_id(dict(zip(questions, questions, strict=True)), language)
    if note:
        collected.notes.append(note)
    return [languages[question] for question in questions]


def language_of_row(collected: Collected, place: Place, cell: object, default: str) -> str | None:
    """Return a row's language; None, and a fault, if it is unknown."""
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


def passages_of_row(
    collected: Collected, place: Place, cell: object, first_number: int = 1
) -> list[Record] | None:
    """Return a row's passages; None, and a fault, if they cannot be read."""
    try:
        return passages_of(cell, first_number)
    except ValueError as error:
        collected.fault(place, "passages", cell, str(error), HINT)
        return None


def _question_key(language: str, question: str, values: Record) -> Key:
    query_id = name_text(values.get("query_id"))
    if query_id is None:
        query_id = question_id(question, values.get(HISTORY))
    return language, str(query_id).strip()


@dataclass
class AnswerRows:
    """Adds rows of answers to what is collected.

    Attributes:
        first_number: Number of the first passage where passages have no ids.
        empty: Number of empty answers by system.
    """

    collected: Collected
    judge: str | None = None
    repeats: Repeats | None = None
    first_number: int = 1
    empty: Counter[str] = field(default_factory=Counter)

    def add(self, place: Place, values: Record, marks: Mapping[str, float], default: str) -> None:
        """Add a row, or keep its fault."""
        language = language_of_row(self.collected, place, values.get("language"), default)
        question = self._text(place, "question", values.get("question"))
        key = None
        if language is not None and question is not None:
            key = _question_key(language, question, values)
        cell = values.get("passages")
        passages = passages_of_row(self.collected, place, cell, self.first_number)
        row = self.add_answer(place, key, values, {**marks, **self._verdict(place, values)})
        if row is None or passages is None:
            return
        row.setdefault(OWN_PASSAGES, passages or None)
        self._add_question(place, (row["language"], row["query_id"]), str(question), values)

    def add_answer(
        self, place: Place, key: Key | None, values: Record, marks: Mapping[str, float]
    ) -> Record | None:
        """Add a row's answer with history, amounts and marks."""
        collected = self.collected
        system = self._text(place, "system", values.get("system"))
        answer = self._answer(place, values.get("answer"))
        if key is None or system is None or answer is None:
            return None
        asked = self._asking(place, key, system, answer, marks)
        if asked is None:
            return None
        is_new = (*asked, system) not in collected.answers
        if is_new and is_empty_answer(answer):
            self.empty[system] += 1
        elif is_new and is_missing_cell(answer):
            reason = f"{answer.strip()!r} is read as text; if there is no answer, empty the cell"
            collected.skip(place, "answer", reason)
        row = collected.answer(place, asked, system, answer, may_repeat=True)
        if not is_new:
            collected.outcomes[place] = SCORE
        if values.get(HISTORY):
            row.setdefault(HISTORY, values[HISTORY])
        for column, amount in amounts_of(collected, place, values).items():
            row.setdefault(column, amount)
        for judge, mark in marks.items():
            collected.marks[(*asked, system, judge)] = mark
        return row

    def _text(self, place: Place, name: str, cell: object) -> str | None:
        text = name_text(cell)
        if isinstance(text, str) and text.strip():
            if name == "system" and text != text.strip():
                self.collected.skip(place, "space", f"at the edges of the name {text.strip()!r}")
            return text.strip()
        fault = "is missing" if is_missing_cell(cell) else "is not a text"
        column = self.collected.names.get(name, name)
        hint = (
            "write a text in each row (only the first of merged cells has theirs), or name another "
            f"column: --column {name}=NAME"
        )
        if isinstance(cell, Mapping | list):
            path = next(iter(texts_in(cell, column)), column)
            hint = f"name the text in it, such as {option('column', f'{name}={path}')}"
        self.collected.fault(place, name, cell, fault, hint)
        return None

    def _answer(self, place: Place, cell: object) -> str | None:
        if cell is None:
            return ""
        if isinstance(cell, bool):
            return str(cell)
        text = name_text(cell)
        return text if isinstance(text, str) else self._text(place, "answer", cell)

    def _verdict(self, place: Place, values: Record) -> dict[str, float]:
        if "verdict" not in values:
            return {}
        mark = mark_of(values["verdict"])
        if mark is None:
            hint = "write a number or a label such as '4 - good', true or false, up or down"
            self.collected.fault(place, "verdict", values["verdict"], "is no score", hint)
            return {}
        judge = str(name_text(values.get("judge")) or self.judge or UNKNOWN_JUDGE)
        criterion = values.get("criterion")
        if criterion:
            judge = f"{judge}:{criterion}"
            self.collected.criteria[judge] = str(criterion)
        self.collected.score_columns[judge] = self.collected.names["verdict"]
        self.collected.check_scale(place, judge, values["verdict"], mark)
        return {judge: mark}

    def _asking(
        self, place: Place, key: Key, system: str, answer: str, marks: Mapping[str, float]
    ) -> Key | None:
        """Return the key of the answered question; None for exact copies, which are counted."""
        collected = self.collected
        language, query_id = key
        number = 1
        while True:
            asked = key if number == 1 else (language, f"{query_id}-{number}")
            earlier = collected.answers.get((*asked, system))
            if earlier is None:
                return asked
            if self.repeats == "each" and not self._names_judges:
                number += 1
                continue
            earlier_marks = {
                judge: collected.marks[(*asked, system, judge)]
                for judge in marks
                if (*asked, system, judge) in collected.marks
            }
            is_same = all(marks[judge] == mark for judge, mark in earlier_marks.items())
            if earlier["answer"] == answer and is_same:
                if earlier_marks or not marks:
                    collected.skip(place, "row", SAME_AGAIN)
                    return None
                return asked
            if self.repeats is None:
                fault = f"has answered this question {seen_from(place, earlier['place'])}"
                hint = _REPEATS
                if earlier["answer"] == answer:
                    fault = f"has another score {seen_from(place, earlier['place'])}"
                    hint = (
                        "name who judged, and the score: --column judge=NAME (or judge=file, if "
                        f"each file is a judge's) --column verdict=NAME; or {_REPEATS}"
                    )
                collected.fault(place, "system", system, fault, hint)
                return None
            if self.repeats == "first":
                reason = "its system has answered the question before: the first answer is kept"
                collected.skip(place, "row", reason)
                return None
            number += 1

    @property
    def _names_judges(self) -> bool:
        return not self.collected.names.keys().isdisjoint(("judge", "criterion"))

    def _add_question(self, place: Place, key: Key, text: str, values: Record) -> None:
        question = self.collected.question(place, key, text, [], may_repeat=True)
        reference = values.get("reference")
        stated = {"query": text}
        if isinstance(reference, str):
            stated["reference"] = reference
        for column, value in stated.items():
            if question.setdefault(column, value) == value:
                continue
            name = "question" if column == "query" else column
            where = seen_from(place, question["place"])
            fault = f"differs from that of the same question {where}"
            self.collected.fault(place, name, value, fault, f"give each question one {name}")


def add_rows(
    collected: Collected,
    rows: Sequence[tuple[Place, Record, Mapping[str, float]]],
    language: str | None,
    judge: str | None = None,
    repeats: Repeats | None = None,
) -> None:
    """Add rows of answers; columns that all answers to a question share become the question's."""
    first_number = number_of_first(values for _, values, _ in rows)
    if first_number == 0:
        collected.notes.append("passages are numbered from 0, since answers cite a passage [0]")
    added = AnswerRows(collected, judge, repeats, first_number)
    defaults = _default_languages(collected, [values for _, values, _ in rows], language)
    for (place, values, marks), default in zip(rows, defaults, strict=True):
        added.add(place, values, marks, default)
    if added.empty:
        systems = [f"{system} {count}" for system, count in added.empty.most_common()]
        n_empty = added.empty.total()
        are_empty = "is empty" if n_empty == 1 else "are empty"
        listed = first_of(systems, MOST_NAMED)
        collected.notes.append(f"{count_of(n_empty, 'answer')} {are_empty} ({listed})")
    collected.share(OWN_PASSAGES)


SAME_AGAIN = "it repeats an earlier row: the same answer again"
