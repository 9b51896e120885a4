"""What others published, collected row by row into an arena; what is left out is counted."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, TypeVar

import pandas as pd
from pydantic import BaseModel, StringConstraints, ValidationError

from arena.adapters.files import files_below, shown_path
from arena.data.arena import Arena, checked_arena
from arena.data.cells import is_unstorable, storable, whole_digits
from arena.data.checks import check_table, history_fault, validation_problems
from arena.data.errors import DataError, Problem, checked_choice, counted_problems
from arena.data.judge_names import names_one_judge
from arena.data.rows import Rows, plain_table
from arena.data.schema import (
    ANSWER_KEY,
    ANSWERS,
    BOTH_BAD,
    CRITERION,
    HISTORY,
    JUDGMENTS,
    QUERIES,
    QUESTION_KEY,
    REPEAT,
    SOFT,
    VOTER,
    ArenaInfo,
    TableSchema,
)
from arena.data.tables import read_rows
from arena.data.winners import NoWinner, UndecidableWinnersError, WinnerReading, read_winners
from arena.text.thoughts import has_thoughts

ROLES: Mapping[str, str] = MappingProxyType(
    {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant"}
    | {"agent": "assistant", "gpt": "assistant"}
)
"""Who speaks, as published, to ours; what others say, such as systems and tools, is left out."""
ID_DIGITS = 12
NO_FURTHER: Mapping[str, object] = MappingProxyType({})
_RECORD = "record digest"
_NAMES = ("place", *ANSWER_KEY)
_REPLACED = "read as U+FFFD in a text, as no file can store it"
_MARK_KEY = [*QUESTION_KEY, "judge"]
_NAMED_SOURCES = 3
MOST_SAID = 10
"""Systems that a note names."""

Key = tuple[str, str]
"""Language and id of a question."""
Record = dict[str, Any]
RecordT = TypeVar("RecordT", bound=BaseModel)
StorableText = Annotated[str, StringConstraints(min_length=0)]
"""Any text but half a surrogate pair, which pydantic refuses in constrained strings alone."""


class Place(NamedTuple):
    """Where a row stands: its file, and its line."""

    source: str
    line: int


@dataclass(frozen=True)
class ForeignArena:
    """What others published, as an arena.

    Attributes:
        arena: Questions, answers and judgments, as far as there are any.
        skipped: What was left out: ``source`` (file or data set), ``item`` (``judgment``,
            ``battle``, ``answer``, ``passage``, ``column`` ...), ``reason, count``, sorted.
        features: Published features, one row an answer: ``language, system, query_id``, one float
            column a feature and one ``<feature>:missing`` with the reason of each NaN; empty
            where none are published.
        notes: What a user should know of how it was read.
    """

    arena: Arena
    skipped: pd.DataFrame
    features: pd.DataFrame = field(default_factory=pd.DataFrame)
    notes: tuple[str, ...] = ()


@dataclass
class Collected:
    """Questions, answers and judgments as they are found, with what was wrong or left out.

    Attributes:
        names: Our field to the name it has in the files, for what is said of faults.
        marks: Marks of single answers: ``language, query_id, system, judge, mark``.
        marked: Language, id of the question, system and judge of an answer to its mark.
        criteria: Judge to the criterion of its judgments, if it has one.
        decided: Number of judgments whose winner is read; see ``decide_winners``.
        notes: What a user should know of how the files were read.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    queries: dict[Key, Record] = field(default_factory=dict)
    answers: dict[tuple[str, str, str], Record] = field(default_factory=dict)
    judgments: list[Record] = field(default_factory=list)
    marks: list[Record] = field(default_factory=list)
    marked: dict[tuple[str, str, str, object], float] = field(default_factory=dict)
    criteria: dict[object, str] = field(default_factory=dict)
    decided: int = 0
    notes: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    skips: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def files(self, paths: Sequence[Path | str]) -> Iterator[tuple[Path, Rows]]:
        """Read the files that are named or lie in folders; a damaged one is a problem."""
        for path in files_below(paths):
            try:
                rows = read_rows(path, shown_path(path, paths))
                self.notes += rows.notes
                yield path, rows
            except DataError as error:
                self.problems += error.problems

    def records(self, rows: Rows, record: type[RecordT]) -> Iterator[tuple[Place, RecordT]]:
        """Yield the sound rows of a file; faults, and columns that are not read, are kept.

        The fields of ``record`` say in their description how to fix them.
        """
        columns = [name for name in record.model_fields if name in rows.table]
        self.skip_columns(rows, record.model_fields)
        needed = [name for name, info in record.model_fields.items() if info.is_required()]
        if self.lack_columns(rows, needed):
            return
        for row in self.raw(rows, columns):
            place, values = row
            try:
                yield place, record.model_validate(values)
            except ValidationError as error:
                self.problems += validation_problems(error, *place, lambda at: _hint(record, at))

    def raw(
        self, rows: Rows, columns: Sequence[str] | None = None
    ) -> Iterator[tuple[Place, Record]]:
        """Yield every row of a file as it is; lines that are no row are problems."""
        self.problems += rows.problems
        table = rows.table if columns is None else rows.table[list(columns)]
        for line, values in zip(rows.lines, table.to_dict(orient="records"), strict=True):
            yield Place(rows.source, int(line)), {str(name): it for name, it in values.items()}

    def lack_columns(self, rows: Rows, needed: Iterable[str]) -> bool:
        """Tell of the columns that a file lacks; a file without any row lacks none."""
        if not len(rows.table.columns) and not len(rows.lines):
            self.problems += rows.problems
            return True
        absent = [column for column in needed if column not in rows.table]
        fault, hint = "this column is missing", "add it to every row"
        self.problems += rows.problems if absent else ()
        self.problems += [
            Problem(rows.source, None, column, None, fault, hint) for column in absent
        ]
        return bool(absent)

    def skip_columns(self, rows: Rows, known: Collection[str]) -> None:
        """Count the columns that are not read."""
        for column in rows.table:
            if column not in known:
                self.skip(rows.source, "column", f"{column!r} is not a column of this schema")

    def skip(self, source: str, item: str, reason: str, count: int = 1) -> None:
        """Count something that is left out."""
        self.skips[source, item, reason] += count

    def fault(self, place: Place, name: str, value: object, fault: str, hint: str) -> None:
        """Keep what is wrong with a field, by the name that it has in the files."""
        self.problems.append(Problem(*place, self.names.get(name, name), value, fault, hint))

    def question(
        self, place: Place, key: Key, text: str, passages: list[Record], may_repeat: bool = False
    ) -> Record:
        """Add a question, and return the row that stands for it: the first one."""
        new: Record = {"query_id": key[1], "language": key[0], "query": text}
        new |= {"passages": passages, "place": place}
        known = self.queries.setdefault(key, new)
        if known is not new and not may_repeat:
            fault = f"this question is already {seen_from(place, known['place'])}"
            self.fault(place, "query_id", key[1], fault, "keep one of the two")
        return known

    def answer(
        self, place: Place, key: Key, system: str, text: str, may_repeat: bool = False
    ) -> Record:
        """Add a system's answer, and return its row; another one to the same question is a fault.

        Args:
            place: Where it stands.
            key: The question.
            system: Who answered.
            text: The answer.
            may_repeat: Whether the same text may stand there again.
        """
        system = self.system_name(place, system)
        new: Record = {"query_id": key[1], "language": key[0], "system": system}
        new |= {"answer": text, "place": place}
        known = self.answers.setdefault((*key, system), new)
        if known is not new and not (may_repeat and known["answer"] == text):
            fault = f"has answered this question {seen_from(place, known['place'])}"
            self.fault(place, "system", system, fault, "keep one of its answers")
        return known

    def answer_after(
        self, place: Place, key: Key, system: str, history: list[Record], text: str
    ) -> None:
        """Add an answer with the turns before it; it is left out if these are no conversation."""
        fault = history_fault(history)
        if fault is None:
            row = self.answer(place, key, system, text, may_repeat=True)
            row.setdefault(HISTORY, history)
        else:
            self.skip(place.source, "answer", f"of the turns before it, {fault}")

    def share(self, column: str) -> None:
        """Give each question what all its answers have alike of their own in a column."""
        own: dict[Key, list[Record]] = {}
        for (code, query_id, _), answer in self.answers.items():
            if answer.get(column) in (None, [], ""):
                answer.pop(column, None)
            else:
                own.setdefault((code, query_id), []).append(answer)
        for key, answers in own.items():
            if all(answer[column] == answers[0][column] for answer in answers):
                self.queries[key][column] = answers[0][column]
                for answer in answers:
                    del answer[column]

    def judgment(
        self,
        place: Place,
        key: tuple[str, Any],
        sides: tuple[Any, Any],
        winner: object,
        judge: object,
        *,
        columns: Mapping[str, object] = NO_FURTHER,
        record: Record | None = None,
    ) -> None:
        """Add a judgment of two systems.

        Args:
            place: Where it stands.
            key: The question.
            sides: The systems, as shown.
            winner: What the file says, which ``decide_winners`` reads together with the winners
                of the same file; or what was read of it already.
            judge: Who judged.
            columns: Further columns of the judgment.
            record: The whole row of the file, where one that is exactly like another row is a
                copy of it.
        """
        names = [self.system_name(place, side) for side in sides]
        row = {"query_id": key[1], "language": key[0], "system_a": names[0]}
        row |= {"system_b": names[1], "winner": winner, "judge": judge, **columns}
        if record is not None:
            row[_RECORD] = _digest(record)
        self.judgments.append(row | {"place": place})

    def system_name(self, place: Place, value: object) -> Any:  # noqa: ANN401 - what a cell holds
        """Return the name of a system: without spaces at its edges, which are counted; in digits.

        What is neither text nor a number stays as it is, for the checks.
        """
        if isinstance(value, str):
            name = value.strip()
            if name != value and name:
                reason = f"{value!r} has spaces at its edges: read as {name!r}"
                self.skip(place.source, "name", reason)
            return name if name else value
        if isinstance(value, int | float) and not isinstance(value, bool) and value == value:
            return whole_digits(value) or str(value)
        return value

    def decide_winners(self) -> None:
        """Read the winners of all judgments so far, those of a file together.

        Judgments without a winner are left out and counted.
        """
        by_source: dict[str, list[Record]] = {}
        for row in self.judgments[self.decided :]:
            by_source.setdefault(row["place"].source, []).append(row)
        read: dict[int, WinnerReading | NoWinner] = {}
        for source, rows in by_source.items():
            read |= self._winners_of(source, rows)
        kept = self.judgments[: self.decided]
        for row in self.judgments[self.decided :]:
            verdict = read.get(id(row))
            if isinstance(verdict, WinnerReading):
                kept.append(row | columns_of(verdict))
            elif verdict is not None and verdict.is_fault:
                is_read = row["winner"] is verdict
                value = verdict.value if is_read else row["winner"]
                self.fault(row["place"], "winner", value, verdict.reason, verdict.hint)
            elif verdict is not None:
                self.skip(row["place"].source, "judgment", verdict.reason)
        self.judgments = kept
        self.decided = len(kept)

    def _winners_of(
        self, source: str, rows: Sequence[Record]
    ) -> dict[int, WinnerReading | NoWinner]:
        """Read the winners of a file, by the identity of each row."""
        is_read = [isinstance(row["winner"], WinnerReading | NoWinner) for row in rows]
        cells = [row for row, is_done in zip(rows, is_read, strict=True) if not is_done]
        found = {
            id(row): row["winner"] for row, is_done in zip(rows, is_read, strict=True) if is_done
        }
        field = self.names.get("winner", "winner")
        values = [row["winner"] for row in cells]
        sides = [(row["system_a"], row["system_b"]) for row in cells]
        try:
            verdicts = read_winners(values, sides, field=field)
        except UndecidableWinnersError as error:
            self.problems.append(Problem(source, None, field, None, str(error), error.hint))
            return found
        return found | {id(row): it for row, it in zip(cells, verdicts, strict=True)}

    def foreign(
        self,
        name: str,
        source: str | None = None,
        reference: str | None = None,
        note: str = "",
        most_pairs: int | None = None,
        systems: Iterable[str] | None = None,
        features: pd.DataFrame | None = None,
    ) -> ForeignArena:
        """Put the arena together, and check it as any other.

        Args:
            name: Name of the arena.
            source: Where the data come from; the files' names by default.
            reference: System whose answers serve as reference.
            note: Anything a reader should know.
            most_pairs: Pairs of marked answers to keep of each question and judge; None keeps all.
            systems: Systems of the arena; those that answer by default.
            features: Published features, if there are any.

        Raises:
            UsageError: If the reference is no system of the arena.
            DataError: With every problem found so far, or of the arena.
        """
        self._replace_half_surrogates()
        self.share(HISTORY)
        self.decide_winners()
        queries = _rows(self.queries.values(), QUERIES)
        answers = _rows(self.answers.values(), ANSWERS)
        for mark in self.marks:
            mark["system"] = str(mark["system"]).strip()
        if self.marks and not self.problems:
            table = judgments_of_marks(pd.DataFrame(self.marks), most_pairs)
            source = f"verdicts of {answers.source}"
            made = enumerate(table.to_dict(orient="records"), start=1)
            self.judgments += [{**it, "place": Place(source, line)} for line, it in made]
        for row in self.judgments if self.criteria else ():
            row[CRITERION] = self.criteria.get(row["judge"])
        self._number_repeats()
        if any(row.get(BOTH_BAD) for row in self.judgments):
            for row in self.judgments:
                row.setdefault(BOTH_BAD, False)
        judgments = _rows(self.judgments, JUDGMENTS)
        if self.problems:
            parts = ((queries, QUERIES), (answers, ANSWERS), (judgments, JUDGMENTS))
            found = [problem for rows, schema in parts for problem in check_table(rows, schema)]
            raise DataError(_in_order([*self.problems, *self._named(found)]))
        answering = sorted({system for *_, system in self.answers})
        info = ArenaInfo(
            name=name,
            languages=tuple(sorted({code for code, _ in self.queries})),
            systems=tuple(answering if systems is None else systems),
            reference_system=reference,
            source=answers.source if source is None else source,
            note=note,
        )
        if reference is not None:
            checked_choice(reference, info.systems, "reference system")
        try:
            arena = checked_arena(info, queries, answers, judgments)
        except DataError as error:
            raise DataError(_in_order(self._named(error.problems))) from None
        features = pd.DataFrame() if features is None else features
        texts = zip(arena.answers["system"], arena.answers["answer"], strict=True)
        notes = [*self.notes, thoughts_note(texts)]
        return ForeignArena(arena, self.skipped(), features, tuple(filter(None, notes)))

    def _replace_half_surrogates(self) -> None:
        """Replace what no file can store in the texts of questions and answers; count the rows."""
        for row in (*self.queries.values(), *self.answers.values()):
            for name, value in row.items():
                if name not in _NAMES and is_unstorable(value):
                    row[name] = storable(value)
                    self.skip(row["place"].source, "half a surrogate pair", _REPLACED)

    def _number_repeats(self) -> None:
        """Number the votes of one judge on the same question and sides, exact copies alike.

        Without a number, judgments that differed in the file, such as in their time, would be
        taken for copies of each other.
        """
        seen: dict[tuple[object, ...], dict[object, int]] = {}
        for number, row in enumerate(self.judgments):
            if VOTER not in row and not names_one_judge(str(row["judge"])):
                row.pop(_RECORD, None)
                continue
            identity = tuple(
                repr(row[name]) for name in sorted(row) if name not in ("place", _RECORD, REPEAT)
            )
            votes = seen.setdefault(identity, {})
            vote = votes.setdefault(row.pop(_RECORD, number), len(votes) + 1)
            if vote > 1 and REPEAT not in row:
                row[REPEAT] = str(vote)

    def skipped(self) -> pd.DataFrame:
        """Return what was left out so far, as ``ForeignArena.skipped``."""
        texts = ["source", "item", "reason"]
        rows = [(*what, count) for what, count in sorted(self.skips.items()) if count]
        table = pd.DataFrame(rows, columns=[*texts, "count"])
        return table.astype({**dict.fromkeys(texts, "str"), "count": int})

    def _named(self, problems: Iterable[Problem]) -> list[Problem]:
        """Call fields by the names that they have in the files."""
        return [
            replace(problem, field=self.names.get(problem.field or "", problem.field))
            for problem in problems
        ]


def _in_order(problems: Sequence[Problem]) -> list[Problem]:
    """Sort problems by file and line; of more than can be told the rest is counted."""
    order = {source: at for at, source in enumerate(dict.fromkeys(p.source for p in problems))}
    ordered = sorted(problems, key=lambda each: (order[each.source], each.line or 0))
    return counted_problems(ordered)


def question_id(question: str, history: object = None) -> str:
    """Return the id of a question that has none: digits of its text's digest, and its history's."""
    text = f"{history}\x1f{question}" if history else question
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:ID_DIGITS]


def conversation(messages: object) -> tuple[list[Record], str, str]:
    """Part messages into the turns before the last question, the question, and what follows it.

    A message says who speaks (``role``, ``speaker``) and what (``content``, ``text``: a text, or a
    list of parts with one); what is no message is left out.
    """
    turns: list[Record] = []
    for it in messages if isinstance(messages, list) else ():
        told = it if isinstance(it, dict) else {}
        text, role = told.get("content", told.get("text")), told.get("role", told.get("speaker"))
        if isinstance(text, list):
            text = "\n".join(str(part["text"]) for part in text if "text" in part)
        if str(role).lower() in ROLES:
            turns.append({"role": ROLES[str(role).lower()], "content": str(text or "")})
    last = max((number for number, turn in enumerate(turns) if turn["role"] == "user"), default=-1)
    after = "\n\n".join(turn["content"] for turn in turns[last + 1 :])
    return turns[: max(last, 0)], turns[last]["content"] if last >= 0 else "", after


def said_of_systems(counts: Mapping[str, int], one: str, several: str) -> str:
    """Say what holds of how many answers of which systems."""
    total = sum(counts.values())
    systems = sorted(counts, key=lambda system: (-counts[system], system))
    listed = ", ".join(f"{system} {counts[system]}" for system in systems[:MOST_SAID])
    more = f" and {len(systems) - MOST_SAID} more systems" if len(systems) > MOST_SAID else ""
    verb = one if total == 1 else several
    return f"{total:,} answer{'' if total == 1 else 's'} {verb} ({listed}{more})"


def thoughts_note(answers: Iterable[tuple[str, str]]) -> str:
    """Say how many answers of which systems begin with thoughts; empty if none does.

    Args:
        answers: System and text of each.
    """
    counts = Counter(system for system, text in answers if has_thoughts(text))
    if not counts:
        return ""
    found = said_of_systems(counts, "begins with thoughts", "begin with thoughts")
    return f"{found}: features measure what follows them, judges see them"


def seen_from(place: Place, other: Place) -> str:
    """Say where another row stands, to one who reads of a row."""
    same = other.source == place.source
    return f"on line {other.line}" if same else f"at {other.source}:{other.line}"


def judgments_of_marks(marks: pd.DataFrame, most_pairs: int | None = None) -> pd.DataFrame:
    """Turn marks of single answers into judgments of pairs: the higher mark wins, equal is a tie.

    Who is shown as ``a`` and which pairs are kept is drawn from their content.

    Args:
        marks: Columns ``language, query_id, system, judge, mark``, one row an answer and judge.
        most_pairs: Pairs to keep of each question and judge; None keeps all.

    Returns:
        An arena's ``judgments``, sorted.
    """
    columns = [*_MARK_KEY, "system", "mark"]
    pairs = marks[columns].merge(marks[columns], on=_MARK_KEY, suffixes=("_a", "_b"))
    pairs = pairs[pairs["system_a"] < pairs["system_b"]].reset_index(drop=True)
    names = pairs[[*_MARK_KEY, "system_a", "system_b"]].astype(str)
    draw = pd.util.hash_pandas_object(names, index=False)
    if most_pairs is not None:
        kept = draw.groupby([pairs[name] for name in _MARK_KEY]).rank(method="first") <= most_pairs
        pairs, draw = pairs[kept], draw[kept]
    is_swapped = (draw % 2 == 1).to_numpy()
    sign = (pairs["mark_a"] - pairs["mark_b"]).where(~is_swapped, pairs["mark_b"] - pairs["mark_a"])
    table = pairs[_MARK_KEY].assign(
        system_a=pairs["system_a"].where(~is_swapped, pairs["system_b"]),
        system_b=pairs["system_b"].where(~is_swapped, pairs["system_a"]),
        winner=["a" if by > 0 else "b" if by < 0 else "tie" for by in sign],
    )
    ordered = table.sort_values([*_MARK_KEY, "system_a", "system_b"], ignore_index=True)
    return ordered[list(JUDGMENTS.columns)].astype(object)


def _digest(record: Record) -> bytes:
    """Return what tells a row from others, whatever it holds."""
    text = json.dumps(record, sort_keys=True, default=str).encode(errors="surrogatepass")
    return hashlib.blake2b(text, digest_size=16).digest()


def columns_of(verdict: WinnerReading) -> Record:
    """Return the columns of judgments that hold a verdict."""
    columns: Record = {"winner": verdict.winner}
    if verdict.is_both_bad:
        columns[BOTH_BAD] = True
    if verdict.is_soft:
        columns |= {SOFT: True, "probability_a": verdict.probability_a}
        columns["probability_b"] = verdict.probability_b
    return columns


def _hint(record: type[BaseModel], place: str) -> str:
    name = place.partition(".")[0]
    return f"give {name} as {record.model_fields[name].description}"


def _rows(records: Iterable[Record], schema: TableSchema) -> Rows:
    """Return rows with their places; columns that the schema does not have are kept."""
    held = list(records)
    columns = dict.fromkeys([*schema.columns, *(name for record in held for name in record)])
    columns.pop("place", None)
    sources = [record["place"].source for record in held]
    files = list(dict.fromkeys(sources))
    name = " + ".join(files) if len(files) <= _NAMED_SOURCES else f"{len(files)} files"
    return Rows(
        plain_table(pd.DataFrame(held, columns=list(columns), dtype=object)),
        pd.Series([record["place"].line for record in held], dtype=int),
        name or str(schema.name),
        sources=pd.Series(sources, dtype=object),
    )
