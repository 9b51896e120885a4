"""Rows of others' files, collected for an arena, with counts of what is left out."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, NamedTuple

import pandas as pd
from pydantic import StringConstraints

from arena.data.checks import history_fault
from arena.data.errors import Problem
from arena.data.rows import Rows
from arena.data.schema import BOTH_BAD, HISTORY, WEIGHT
from arena.data.types import Record
from surrogate_arena.importers.tables import SHEET
from surrogate_arena.importers.values import is_share

if TYPE_CHECKING:
    from surrogate_arena.importers.verdict_values import StatedVerdict

Key = tuple[str, str]
"""Language and id of a question."""
StorableText = Annotated[str, StringConstraints(min_length=0)]
"""Any text but half a surrogate pair, which pydantic refuses in constrained strings alone."""


class Place(NamedTuple):
    """The file and the line of a row."""

    source: str
    line: int


PlacedRecord = tuple[Place, Record]
"""A record with its file and line."""

OUTCOMES = ("answers", "verdicts", "scores", "questions", "parts of others", "left out")
"""What a record becomes; of several, the first counts."""
ANSWER, VERDICT, SCORE, QUESTION, PART, LEFT_OUT = range(len(OUTCOMES))
LOST = len(OUTCOMES)
"""What no record may become: neither kept nor counted."""
_NO_FURTHER: Mapping[str, object] = MappingProxyType({})


@dataclass
class Collected:
    """Questions, answers and judgments as read, with faults and counts of what was left out.

    Attributes:
        names: Our field to its name in the files, which faults show.
        queries: Questions by language and id.
        answers: Answers by language and id of the question, and system.
        marks: ``language, query_id, system, judge`` to the mark.
        criteria: Judge to its criterion, if any.
        score_columns: Judge to the column of its marks, if that is not its name.
        lowest_wins: Score or judge to whether the user says that its lowest marks win.
        notes: Remarks for the user.
        skips: Source, item and reason to the count of what was left out.
        unread: Columns that are not read, and the reason of each in ``skips``.
        outcomes: Place of each record to its place in ``OUTCOMES``, or ``LOST`` if not known.
        n_empty: Number of empty rows.
        scales: Judge to the first mark that tells its scale, and whether it is a share as 4/5 is.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    queries: dict[Key, Record] = field(default_factory=dict)
    answers: dict[tuple[str, str, str], Record] = field(default_factory=dict)
    judgments: list[Record] = field(default_factory=list)
    marks: dict[tuple[str, str, str, str], float] = field(default_factory=dict)
    criteria: dict[object, str] = field(default_factory=dict)
    score_columns: dict[str, str] = field(default_factory=dict)
    lowest_wins: dict[str, bool] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    skips: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    unread: Mapping[str, str] = field(default_factory=dict)
    outcomes: dict[Place, int] = field(default_factory=dict)
    n_empty: int = 0
    scales: dict[str, tuple[object, bool]] = field(default_factory=dict)

    def raw(self, rows: Rows) -> Iterator[PlacedRecord]:
        """Yield every row of a file as it is; lines that are no row are problems."""
        self.problems += rows.problems
        for line, values in zip(rows.lines, rows.table.to_dict(orient="records"), strict=True):
            record = {str(name): value for name, value in values.items()}
            # Lines of a workbook count from the top of each sheet.
            source = f"{rows.source}[{record[SHEET]}]" if SHEET in record else rows.source
            place = Place(source, int(line))
            self.outcomes.setdefault(place, LOST)
            yield place, record

    def skip(self, place: Place | str, noun: str, reason: str, count: int = 1) -> None:
        """Count something left out of a file."""
        source = place.source if isinstance(place, Place) else place
        if isinstance(place, Place):
            self.became(place, LEFT_OUT)
        self.skips[source, noun, reason] += count

    def became(self, place: Place, outcome: int) -> None:
        """Record an outcome, unless the record has one before it in ``OUTCOMES``."""
        self.outcomes[place] = min(outcome, self.outcomes.get(place, LOST))

    def tally(self) -> Counter[str]:
        """Return how many records were read, and became what."""
        tally = Counter({"records": len(self.outcomes) + self.n_empty})
        for outcome in self.outcomes.values():
            tally[OUTCOMES[outcome] if outcome < LOST else "lost"] += 1
        tally[OUTCOMES[LEFT_OUT]] += self.n_empty
        return tally

    def fault(self, place: Place, name: str, value: object, fault: str, hint: str) -> None:
        """Keep a field's fault, by its name in the files."""
        self.problems.append(Problem(*place, self.names.get(name, name), value, fault, hint))

    def check_scale(self, place: Place, judge: str, value: object, mark: float) -> None:
        """Keep a fault where a judge's marks are shares, as 4/5 is, and also above 1, as 4 is."""
        is_of_highest = is_share(value)
        if not is_of_highest and mark <= 1:
            return
        first, is_first_of_highest = self.scales.setdefault(judge, (value, is_of_highest))
        if is_of_highest != is_first_of_highest:
            self.fault(
                place,
                self.score_columns.get(judge, judge),
                value,
                fault=f"is on another scale than {first!r} in an earlier row",
                hint="write all scores of a column in one way, such as 4/5, 80% or 4",
            )

    def question(
        self, place: Place, key: Key, text: str, passages: list[Record], may_repeat: bool = False
    ) -> Record:
        """Add a question; return the row first added."""
        self.became(place, QUESTION)
        language, query_id = key
        row: Record = {
            "query_id": query_id,
            "language": language,
            "query": text,
            "passages": passages,
            "place": place,
        }
        first = self.queries.setdefault(key, row)
        if first is not row and not may_repeat:
            self.fault(
                place,
                "query_id",
                query_id,
                fault=f"this question is already {seen_from(place, first['place'])}",
                hint="keep one of the two",
            )
        return first

    def answer(
        self, place: Place, key: Key, system: str, text: str, may_repeat: bool = False
    ) -> Record:
        """Add an answer; return its row. Another one to the same question is a fault."""
        self.became(place, ANSWER)
        language, query_id = key
        row: Record = {
            "query_id": query_id,
            "language": language,
            "system": system,
            "answer": text,
            "place": place,
        }
        # The first row is the answer: later ones may add what it lacks.
        first = self.answers.setdefault((language, query_id, system), row)
        if first is not row and not (may_repeat and first["answer"] == text):
            self.fault(
                place,
                "system",
                system,
                fault=f"has answered this question {seen_from(place, first['place'])}",
                hint="keep one of its answers",
            )
        return first

    def answer_after(
        self, place: Place, key: Key, system: str, history: list[Record], text: str
    ) -> None:
        """Add an answer after turns; leave it out if these are no conversation."""
        fault = history_fault(history)
        if fault is not None:
            self.skip(place, "answer", f"of the turns before it, {fault}")
            return
        row = self.answer(place, key, system, text, may_repeat=True)
        row.setdefault(HISTORY, history)

    def share(self, column: str) -> None:
        """Move a column's values that all answers to a question share to the question."""
        with_value: dict[Key, list[Record]] = {}
        for (language, query_id, _), answer in self.answers.items():
            # An answer without a value agrees with any.
            if answer.get(column) in (None, [], ""):
                answer.pop(column, None)
            else:
                with_value.setdefault((language, query_id), []).append(answer)
        for key, answers in with_value.items():
            value = answers[0][column]
            if all(answer[column] == value for answer in answers):
                self.queries[key][column] = value
                for answer in answers:
                    del answer[column]

    def judgment(
        self,
        place: Place,
        key: Key,
        sides: tuple[str, str],
        verdict: StatedVerdict,
        judge: object,
        *,
        columns: Mapping[str, object] = _NO_FURTHER,
    ) -> None:
        """Add a judgment of two systems; one without a winner is counted."""
        if verdict.winner == "none":
            self.skip(place, "judgment", "it has no winner")
            return
        self.became(place, VERDICT)
        language, query_id = key
        side_a, side_b = sides
        row = {
            "query_id": query_id,
            "language": language,
            "system_a": side_a,
            "system_b": side_b,
            "winner": verdict.winner,
            "judge": judge,
            **columns,
            "place": place,
        }
        if verdict.is_both_bad:
            row[BOTH_BAD] = True
        if verdict.weight != 1:
            row[WEIGHT] = verdict.weight
        self.judgments.append(row)

    def systems(self, *, with_judged: bool) -> list[str]:
        """Return the systems that answer, perhaps also those judged, in order of appearance."""
        names = [system for *_, system in self.answers]
        if with_judged:
            names += [system for *_, system, _ in self.marks]
            for row in self.judgments:
                names += (row["system_a"], row["system_b"])
        return list(dict.fromkeys(names))

    def skipped(self) -> pd.DataFrame:
        """Return what was left out so far, as ``ForeignArena.skipped``."""
        return skipped_table(self.skips)


def skipped_table(skips: Mapping[tuple[str, str, str], int]) -> pd.DataFrame:
    """Return columns ``source, item, reason, count`` of what was left out, sorted."""
    texts = ["source", "item", "reason"]
    rows = [(*skip, count) for skip, count in sorted(skips.items()) if count]
    table = pd.DataFrame(rows, columns=[*texts, "count"])
    return table.astype({**dict.fromkeys(texts, "str"), "count": int})


def question_id(question: str, history: object = None) -> str:
    """Return an id for a question that has none, from its text's and history's digest."""
    text = f"{history}\x1f{question}" if history else question
    n_digits = 12
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:n_digits]


def seen_from(place: Place, other: Place) -> str:
    """Return another row's place, as seen from a row."""
    if other.source == place.source:
        return f"on line {other.line}"
    return f"at {other.source}:{other.line}"
