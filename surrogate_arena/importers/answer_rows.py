"""Rows of answers added to an arena: texts, passages, repeated questions, verdicts and marks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from arena.data.schema import HISTORY, OWN_PASSAGES, VOTER, WEIGHT
from arena.data.types import Record
from surrogate_arena.importers.amounts import amounts_of
from surrogate_arena.importers.answer_cells import (
    hint_of_text,
    is_missing_mark,
    mark_of,
    row_language,
    row_passages,
    stripped_name,
    text_of_truth,
)
from surrogate_arena.importers.cells import (
    decoded,
    is_missing_cell,
    name_text,
    opened_text,
    read_number,
)
from surrogate_arena.importers.collected import Collected, Key, Place, question_id, seen_from
from surrogate_arena.importers.foreign_arena import ForeignArena, foreign_arena
from surrogate_arena.importers.table_columns import SINGLE

Repeats = Literal["first", "each"]
"""What becomes of a question that a system answers again: only the first answer is kept, or each
asking is a question of its own."""
WHOLE_ROW = "whole row"
"""Key of values under which they keep the row that they were read from, if it says who judged:
then a row that is exactly like another is a copy of it."""


@dataclass(frozen=True)
class AnswerRows:
    """Adds rows, each an answer or a pair of answers, to what is collected.

    The values of a row are fields to cells: ``question``, ``query_id``, ``language``, ``passages``,
    ``history``, ``reference``, ``judge``, ``voter``, ``weight``; of an answer ``system``,
    ``answer``, ``verdict``, or ``marks`` by judge, and ``AMOUNT_FIELDS``; of a pair ``system_a``,
    ``answer_a``, ``system_b``, ``answer_b``, ``winner``.

    Attributes:
        collected: Keeps the rows, with faults and counts.
        language: Language of rows that name none.
        sides: Endings of the fields of a row's answers.
        repeats: What becomes of a question that a system answers again; None refuses it.
    """

    collected: Collected
    language: str
    sides: tuple[str, ...] = SINGLE
    repeats: Repeats | None = None

    def add(self, place: Place, values: Record) -> None:
        """Add a row; one at fault is left out, and the fault kept."""
        collected = self.collected
        language = row_language(collected, place, values.get("language"), self.language)
        texts = self._texts(place, values)
        if language is None or texts is None:
            return
        passages = row_passages(collected, place, values.get("passages"))
        if passages is None:
            return
        self._note_joined_passages(values.get("passages"))
        # A question without an id is known by its text, and by the turns before it.
        history = decoded(values.get(HISTORY))
        query_id = name_text(values.get("query_id"))
        if query_id is None:
            query_id = question_id(texts["question"], history)
        key = self._key_of_asking(place, (language, str(query_id).strip()), texts, values)
        if key is None or not self._add_question(place, key, texts):
            return
        for side in self.sides:
            system = texts[f"system{side}"]
            answer = texts[f"answer{side}"]
            row = collected.answer(place, key, system, answer, may_repeat=True)
            row.setdefault(OWN_PASSAGES, passages or None)
            row.setdefault(HISTORY, history)
        if self.sides == SINGLE:
            for column, amount in amounts_of(collected, place, values).items():
                row.setdefault(column, amount)
            self._add_marks(place, key, texts["system"], values)
        elif "winner" in values:
            collected.judgment(
                place,
                key,
                (texts["system_a"], texts["system_b"]),
                values["winner"],
                values["judge"],
                columns=_identity_of_verdict(values),
                record=values.get(WHOLE_ROW),
            )

    def _add_question(self, place: Place, key: Key, texts: Mapping[str, str]) -> bool:
        """Add a question; tell whether an earlier row has the same text and reference, if any."""
        question = self.collected.question(place, key, texts["question"], [], may_repeat=True)
        hints = {
            "query": ("question", "give each question one text"),
            "reference": ("reference", "give each question one reference answer"),
        }
        for column, (field, hint) in hints.items():
            text = texts.get(field)
            if text is None or question.setdefault(column, text) == text:
                continue
            fault = f"differs from that of the same question {seen_from(place, question['place'])}"
            self.collected.fault(place, field, text, fault, hint)
            return False
        return True

    def _add_marks(self, place: Place, key: Key, system: str, values: Record) -> None:
        language, query_id = key
        marks = dict(values.get("marks", {}))
        if "verdict" in values:
            marks[values["judge"]] = self._mark(place, values["verdict"])
        for judge, mark in marks.items():
            if mark is None:
                continue
            row = {
                "language": language,
                "query_id": query_id,
                "judge": judge,
                "mark": mark,
                "system": system,
            }
            self.collected.marks.append(row)
            self.collected.marked[language, query_id, system, judge] = mark

    def _mark(self, place: Place, verdict: object) -> float | None:
        if is_missing_mark(verdict):
            self.collected.skip(place, "verdict", "it is missing")
            return None
        mark = mark_of(verdict)
        if mark is None:
            self.collected.fault(
                place,
                "verdict",
                verdict,
                "is not a number",
                hint="write a number with a decimal point, the higher the better, or true, false, "
                "or nothing",
            )
        return mark

    def _texts(self, place: Place, values: Record) -> dict[str, str] | None:
        """Return the texts of a row; None if one is missing or no text, which is a fault."""
        cells = {"question": values.get("question")}
        for side in self.sides:
            cells[f"system{side}"] = values.get(f"system{side}")
        for side in self.sides:
            answer = values.get(f"answer{side}")
            cells[f"answer{side}"] = "" if answer is None else text_of_truth(answer)
        reference = values.get("reference")
        if not is_missing_cell(reference):
            cells["reference"] = _first_text(reference)
        texts: dict[str, str] = {}
        # All texts are looked at, so that one error names everything that is missing in a row.
        for field, cell in cells.items():
            text = name_text(cell)
            is_answer = field.startswith("answer")
            if not isinstance(text, str) or not (is_answer or text.strip()):
                fault = "is missing" if cell is None else "is not a text"
                hint = hint_of_text(self.collected, field, cell)
                self.collected.fault(place, field, cell, fault, hint)
            elif is_answer:
                texts[field] = text
            elif field.startswith("system"):
                texts[field] = stripped_name(self.collected, place, text)
            else:
                texts[field] = text.strip()
        return texts if len(texts) == len(cells) else None

    def _note_joined_passages(self, value: object) -> None:
        """Note, once, that a text which may be several passages is read as one."""
        note = (
            "some texts of passages look like several, joined by '|' or ';', and are read as one "
            "passage each; write several as a JSON list"
        )
        if not isinstance(value, str) or opened_text(value) is not None:
            return
        is_joined = re.search(r"[.!?]\s?(?:[|]+|;)\s?\w", value)
        if is_joined and note not in self.collected.notes:
            self.collected.notes.append(note)

    def _key_of_asking(
        self, place: Place, key: Key, texts: Mapping[str, str], values: Record
    ) -> Key | None:
        """Return the key of the question that a row answers; None if the row is left out.

        A system may have answered the question before. The same answer may be in several rows: in
        several pairs, or for several judges. A row that says nothing new is left out. Any other
        row is at fault, or left out, or to the next asking of the question where it fits.
        """
        collected = self.collected
        earlier = self._earlier_answer(key, texts, values)
        if earlier is None:
            if self.sides == SINGLE and self._says_nothing_new(key, texts, values):
                collected.skip(place, "row", "it repeats an earlier row: the same answer again")
                return None
            return key
        if self.repeats is None:
            side, row = earlier
            self._refuse(place, side, row, texts)
            return None
        if self.repeats == "first":
            collected.skip(
                place,
                "row",
                "its system has answered the question before: the first answer is kept",
            )
            return None
        # Further askings are numbered from 2, and filled in the order of rows.
        language, query_id = key
        number = 2
        while self._earlier_answer((language, f"{query_id}-{number}"), texts, values) is not None:
            number += 1
        return language, f"{query_id}-{number}"

    def _refuse(self, place: Place, side: str, earlier: Record, texts: Mapping[str, str]) -> None:
        """Keep the fault of a row that answers a question again."""
        where = seen_from(place, earlier["place"])
        fault = f"has answered this question {where}"
        hint = (
            "keep one of its answers, or choose: --repeats first keeps the first and counts the "
            "others, --repeats each makes each asking a question of its own"
        )
        if self.sides == SINGLE and earlier["answer"] == texts["answer"]:
            fault = f"has another verdict of the same judge {where}"
            hint = f"name who judged in a column 'judge'; or {hint}"
        self.collected.fault(place, f"system{side}", texts[f"system{side}"], fault, hint)

    def _earlier_answer(
        self, key: Key, texts: Mapping[str, str], values: Record
    ) -> tuple[str, Record] | None:
        """Return the side and the earlier answer that forbid a row; None if it is allowed."""
        for side in self.sides:
            answer_key = (*key, texts[f"system{side}"])
            row = self.collected.answers.get(answer_key)
            if row is None:
                continue
            # Another text is another answer, whoever judges it.
            if row["answer"] != texts[f"answer{side}"]:
                return side, row
            if self.sides == SINGLE and not self._may_repeat(answer_key, values):
                return side, row
        return None

    def _may_repeat(self, answer_key: tuple[str, str, str], values: Record) -> bool:
        """Return whether a further row may have the same answer, for what the row says of it."""
        mark = self.collected.marked.get((*answer_key, values.get("judge")))
        if self.repeats != "each":
            return mark is None or mark_of(values.get("verdict")) in (None, mark)
        # The row may be a new asking of the question, unless it is of another judge.
        names = self.collected.names.keys()
        return mark is None and not names.isdisjoint(("judge", VOTER, "criterion"))

    def _says_nothing_new(self, key: Key, texts: Mapping[str, str], values: Record) -> bool:
        """Return whether a row of an answer that an earlier row has adds no verdict to it."""
        answer_key = (*key, texts["system"])
        if answer_key not in self.collected.answers:
            return False
        is_marked = (*answer_key, values.get("judge")) in self.collected.marked
        return is_marked or mark_of(values.get("verdict")) is None

    def arena(
        self, name: str, reference: str | None, note: str, most_pairs: int | None
    ) -> ForeignArena:
        """Put the arena together: what all answers to a question share becomes the question's.

        Args:
            name: Name of the arena.
            reference: System whose answers serve as reference.
            note: Anything a reader should know.
            most_pairs: Pairs of marked answers to keep of each question; None keeps all.

        Raises:
            UsageError: If the reference is no system of the arena.
            DataError: With every problem of all rows.
        """
        # Passages and turns that differ by answer stay with the answers.
        self.collected.share(OWN_PASSAGES)
        self.collected.share(HISTORY)
        self._refuse_missing_ids()
        return foreign_arena(
            self.collected, name, reference=reference, note=note, most_pairs=most_pairs
        )

    def _refuse_missing_ids(self) -> None:
        """Keep a fault for each question that has an id in some rows, and none in others."""
        queries = self.collected.queries
        text_ids: dict[Key, str] = {}
        named_places: dict[Key, Place] = {}
        for key, query in queries.items():
            language, query_id = key
            text_id = question_id(query["query"], query.get(HISTORY))
            text_ids[key] = text_id
            if query_id != text_id and not _is_asking(query_id, text_id):
                named_places[language, text_id] = query["place"]
        for key, query in queries.items():
            named_place = named_places.get(key)
            if named_place is not None and key[1] == text_ids[key]:
                self.collected.fault(
                    query["place"],
                    "query_id",
                    None,
                    fault=f"is missing here, and is {seen_from(query['place'], named_place)}",
                    hint="give an id to every row of a question, or to none",
                )


def _is_asking(query_id: str, first: str) -> bool:
    """Return whether an id is that of a further asking of a question."""
    start, dash, number = query_id.rpartition("-")
    return start == first and bool(dash) and number.isdigit()


def _identity_of_verdict(values: Record) -> Record:
    """Return who voted and with what weight, where a table says so."""
    identity: Record = {}
    if values.get(VOTER) is not None:
        identity[VOTER] = values[VOTER]
    if WEIGHT in values:
        # A weight that is no number stays as it is, for the checks of the arena.
        weight = read_number(values[WEIGHT])
        identity[WEIGHT] = values[WEIGHT] if weight is None else weight
    return identity


def _first_text(reference: object) -> object:
    """Return the first of several references, each of which is right."""
    references = decoded(reference) if isinstance(reference, str) else reference
    if isinstance(references, list) and references and isinstance(references[0], str):
        return references[0]
    return reference
