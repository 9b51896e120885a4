"""Records of tools for evaluation and tracing, read by a map.

Every score is a judge: of two answers the one that it marks higher wins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from arena.data.checks import history_fault
from arena.data.errors import DataError, UsageError, checked_choice
from arena.data.schema import HISTORY
from arena.data.types import Record
from arena.data.wording import count_of, first_of
from surrogate_arena.importers.answer_rows import Repeats, add_rows, check_repeats_choice
from surrogate_arena.importers.clone_files import files_below
from surrogate_arena.importers.collected import Collected, Place, PlacedRecord, question_id
from surrogate_arena.importers.contract import (
    FILE,
    MOST_NAMED,
    MOST_ROWS,
    NO_COLUMNS,
    are_numbers,
    root_of,
    value_at,
)
from surrogate_arena.importers.foreign_arena import ForeignArena, foreign_arena
from surrogate_arena.importers.map_battles import battles_of_records
from surrogate_arena.importers.opened import texts_in
from surrogate_arena.importers.plain_tables import NEEDED
from surrogate_arena.importers.refused_battles import check_votes
from surrogate_arena.importers.score_columns import stated_directions
from surrogate_arena.importers.scores import marks_of, numbers_beside
from surrogate_arena.importers.tool_fields import (
    FieldReading,
    stated_paths,
    text_of,
    with_one_path_for_names,
    without_file,
)
from surrogate_arena.importers.tool_files import EXPORT, records_of_files, suffixes_of
from surrogate_arena.importers.tool_maps import Scores, ToolMap
from surrogate_arena.importers.values import contract, id_text, option

Row = tuple[Place, Record, Record]
"""A record with its place, and its fields."""


@dataclass(frozen=True)
class ToolReader:
    """Reads records of a tool for evaluation or tracing."""

    tool: str
    map: ToolMap

    def __call__(
        self,
        paths: Sequence[Path | str],
        *,
        columns: Mapping[str, str] = NO_COLUMNS,
        scores: Sequence[str] = (),
        lowest_wins: Sequence[str] = (),
        values: Sequence[str] = (),
        language: str | None = None,
        name: str | None = None,
        repeats: Repeats | None = None,
    ) -> ForeignArena:
        """Read records that the tool wrote.

        Args:
            paths: Files, or folders of them.
            columns: Field to path, such as ``vars.topic`` or ``input.args[0]``; ``file`` is the
                file's bare name.
            scores: Further scores, by column or path.
            lowest_wins: Scores whose lowest mark wins; ``NAME=no`` says that the highest does.
            values: Meanings of winners' values, where records are battles.
            language: Language of records that name none; by default detected.
            name: Name of the arena; by default the tool's.
            repeats: Treatment of questions that a system answers again; None refuses them.

        Returns:
            The arena, with notes on fields' paths, and what was left out.

        Raises:
            UsageError: For an absent file, an unknown field, path or score, and without questions,
                systems or answers.
            DataError: With all problems of all files.
        """
        check_repeats_choice(repeats)
        collected = Collected(lowest_wins=stated_directions(lowest_wins))
        files = files_below(paths, suffixes_of(self.map))
        try:
            records = records_of_files(self.map, files, paths, collected)
        except DataError as error:
            raise self._with_hint(error) from None
        records = self._answers(records, collected)
        name = name or self.tool
        if self.map.battles:
            return battles_of_records(self.map, records, collected, columns, values, name, language)
        reading = self._reading(records, columns, may_name_files=len(files) > 1)
        rows = self._rows(records, reading, collected)
        marks = self._marks(collected, reading, rows, [*scores, *collected.lowest_wins])
        answers = []
        for (place, record, fields), marked in zip(rows, marks, strict=True):
            if "answer" not in fields and _has_empty_answer(record, reading):
                fields["answer"] = ""
            if _is_complete(collected, place, fields, reading):
                answers.append((place, fields, marked))
        judges = _judges_of(marks)
        add_rows(collected, answers, language, repeats=repeats)
        note = f"Fields: {reading.shown()}. Scores: {', '.join(judges) or 'none'}."
        return foreign_arena(collected, name, note=note)

    def _rows(
        self, records: Sequence[PlacedRecord], reading: FieldReading, collected: Collected
    ) -> list[Row]:
        rows = [(place, record, reading.values(record)) for place, record in records]
        self._check_needed(records, rows, collected)
        collected.names = {field: used[0] for field, used in reading.used().items()}
        _name_variants(self.map, rows)
        if "query_id" not in reading.stated:
            _tell_ids_apart(collected, [values for *_, values in rows])
        for path, count in reading.unread.items():
            collected.skip(self.tool, "passages", f"{path!r} holds none that can be read", count)
        return rows

    def _reading(
        self, records: Sequence[PlacedRecord], columns: Mapping[str, str], *, may_name_files: bool
    ) -> FieldReading:
        fields = self.map.fields
        if not may_name_files:
            fields = {field: without_file(paths) for field, paths in fields.items()}
        chosen = stated_paths(fields, columns, records, self.tool)
        chosen = with_one_path_for_names(chosen, records)
        return FieldReading(self.map, chosen, frozenset(columns))

    def _with_hint(self, error: DataError) -> DataError:
        first, *further = error.problems
        if self.map.hint and self.map.hint not in first.hint:
            first = replace(first, hint=f"{self.map.hint}; or {first.hint}")
        return DataError([first, *further])

    def _answers(self, records: Iterable[PlacedRecord], collected: Collected) -> list[PlacedRecord]:
        answers = []
        for place, record in records:
            for reason, path in self.map.left_out.items():
                if value_at(record, path):
                    collected.skip(place, "record", reason)
                    break
            else:
                answers.append((place, record))
        if not answers:
            left_out = _left_out(collected)
            raise UsageError(f"there is no record of an answer{left_out}; {self.map.hint}")
        return answers

    def _check_needed(
        self, records: Sequence[PlacedRecord], rows: Sequence[Row], collected: Collected
    ) -> None:
        present: set[str] = set()
        for *_, values in rows:
            present.update(values)
        lacking = [name for name in NEEDED if name not in present]
        if not lacking:
            return
        if self.map.join == "topics" and lacking == ["question"]:
            hint = "add their file (ids with titles or narratives)"
            raise UsageError(f"topics are missing{_left_out(collected)}: {hint}")
        first_records = [record for _, record in records[:MOST_ROWS]]
        # As objects: Arrow takes no lone surrogate.
        check_votes(pd.DataFrame(first_records, dtype=object))
        texts = _texts_by_path(first_records)
        roots: list[str] = []
        for name in NEEDED:
            roots += map(root_of, self.map.fields[name])
        listed = sorted(texts, key=lambda path: (_rank(path, roots), path))
        options = []
        for name in lacking:
            usual = {root_of(path) for path in self.map.fields[name]}
            likely = {path: texts[path] for path in listed if root_of(path) in usual}
            path = FILE if name == "system" else _path_of_texts(likely, name)
            options.append(option("column", f"{name}={path or 'PATH'}"))
        raise UsageError(
            f"no record says its {' or '.join(lacking)} where {self.tool} has it; there are texts "
            f"at {first_of(listed, MOST_NAMED)}; say where: {' '.join(options)}; or {self.map.hint}"
        )

    def _marks(
        self,
        collected: Collected,
        reading: FieldReading,
        rows: Sequence[Row],
        asked: Sequence[str],
    ) -> list[dict[str, float]]:
        scores = _without_columns_of_fields(self.map, reading)
        known = contract()["scores"]["known"]
        marks = []
        for place, record, _ in rows:
            named = {name: name for name in asked}
            for column in numbers_beside(scores, record):
                if column in known:
                    named[column] = column
                elif column not in asked:
                    reason = f"{column!r} is a score only if named: {option('scores', column)}"
                    collected.skip(place, "column", reason)
            marks.append(marks_of(collected, place, scores, record, named))
        for name in asked:
            checked_choice(name, _judges_of(marks), "score")
        return marks


def _texts_by_path(records: Sequence[Record]) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = {}
    for record in records:
        shown = {name: value for name, value in record.items() if name not in (EXPORT, FILE)}
        for path, text in texts_in(shown).items():
            texts.setdefault(path, []).append(text)
    return texts


def _path_of_texts(texts: Mapping[str, Sequence[str]], name: str) -> str | None:
    likely = {}
    for path, found_texts in texts.items():
        are_read = all(text_of(name, text) is not None for text in found_texts)
        if are_read and not are_numbers(found_texts):
            likely[path] = (len(set(found_texts)) > 1, len(found_texts))
    return max(likely, key=lambda path: likely[path], default=None)


def _judges_of(marks: Iterable[Mapping[str, float]]) -> list[str]:
    judges: dict[str, float] = {}
    for marked in marks:
        judges.update(marked)
    return list(judges)


def _rank(path: str, roots: Sequence[str]) -> int:
    return roots.index(root_of(path)) if root_of(path) in roots else len(roots)


def _name_variants(tool: ToolMap, rows: Sequence[Row]) -> None:
    variants: dict[object, set[str]] = {}
    for _, record, values in rows:
        variants.setdefault(values.get("system"), set()).add(_variant(tool, record))
    for _, record, values in rows:
        if len(variants[values.get("system")]) > 1 and "system" in values:
            values["system"] = f"{values['system']} | {_variant(tool, record)}"


def _variant(tool: ToolMap, record: Record) -> str:
    for path in tool.variant:
        value = value_at(record, path)
        if isinstance(value, int):
            return f"prompt {value + 1}"
        if isinstance(value, str) and len(value) <= 60 and not {"\n", "{"} & {*value}:
            return value
    return ""


def _tell_ids_apart(collected: Collected, rows: Sequence[Record]) -> None:
    texts: dict[str, set[str]] = {}
    for values in rows:
        texts.setdefault(id_text(values.get("query_id")), set()).add(values.get("question", ""))
    shared = [key for key, named in texts.items() if len(named - {""}) > 1 and key != "None"]
    if not shared:
        return
    collected.notes.append(
        f"{count_of(len(shared), 'id')} that several questions have, such as {shared[0]!r}, are "
        "kept distinct by the question's text"
    )
    for values in rows:
        query_id = id_text(values.get("query_id"))
        if query_id in shared and "question" in values:
            values["query_id"] = f"{query_id}-{question_id(values['question'])[:6]}"


def _without_columns_of_fields(tool: ToolMap, reading: FieldReading) -> Scores:
    if not tool.scores.columns:
        return tool.scores
    roots: set[str] = set()
    for paths in reading.fields.values():
        roots.update(map(root_of, paths))
    passed = [*tool.scores.not_columns, *roots, *tool.scores.at, *tool.parts, FILE]
    return tool.scores.model_copy(update={"not_columns": passed})


def _has_empty_answer(record: Record, reading: FieldReading) -> bool:
    """Return whether a text is blank where other records have their answers."""
    for path in reading.used().get("answer", ()):
        value = value_at(record, path)
        if isinstance(value, str) and not value.strip():
            return True
    return False


def _is_complete(collected: Collected, place: Place, values: Record, reading: FieldReading) -> bool:
    fault = history_fault(values.get(HISTORY, []))
    if fault is not None:
        collected.skip(place, "history", fault)
        del values[HISTORY]
    for name in NEEDED:
        if name not in values:
            path = reading.used()[name][-1]
            reason = f"it has no text at {path!r}, for the {name}"
            collected.skip(place, "record", reason)
            return False
    return True


def _left_out(collected: Collected) -> str:
    counts = Counter[str]()
    for (_, _, reason), count in collected.skips.items():
        counts[reason] += count
    listed = "; ".join(f"{reason}: {count}" for reason, count in sorted(counts.items()))
    return f" (left out: {listed})" if listed else ""
