"""Records that tools for evaluation and tracing write, read as one arena.

``tools.toml`` says for each tool which lists of a file are its records and which paths may hold
their fields; all else is the same for all. Every score is a judge: of two answers to a question
the one it marks higher wins.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, get_args

from arena.data.checks import history_fault
from arena.data.errors import UsageError, checked_choice
from arena.data.schema import HISTORY, OWN_PASSAGES
from arena.data.types import Record
from surrogate_arena.importers.answers import AnswerRows, Repeats, default_languages
from surrogate_arena.importers.collected import Collected, Place, PlacedRecord
from surrogate_arena.importers.contract import NO_COLUMNS
from surrogate_arena.importers.field_maps import FieldMap, kinds
from surrogate_arena.importers.field_paths import FieldPaths, chosen_paths
from surrogate_arena.importers.foreign_arena import ForeignArena, foreign_arena
from surrogate_arena.importers.plain_tables import NEEDED, shown_row
from surrogate_arena.importers.record_values import at, opened_value
from surrogate_arena.importers.scoped_ids import ToolRow, name_variants, scope_ids
from surrogate_arena.importers.scores import marks_of, plain_scores, scores_of, unnamed_scores
from surrogate_arena.importers.tool_files import records_of_files, tool_files


@dataclass(frozen=True)
class ToolReader:
    """Reader of records that a tool for evaluation or tracing wrote.

    Attributes:
        tool: One of ``kinds()``.
    """

    tool: str

    def __call__(
        self,
        paths: Sequence[Path | str],
        *,
        columns: Mapping[str, str] = NO_COLUMNS,
        scores: Sequence[str] = (),
        language: str | None = None,
        name: str | None = None,
        reference_system: str | None = None,
        most_pairs: int | None = None,
        repeats: Repeats = "first",
    ) -> ForeignArena:
        """Read records that the tool wrote.

        Args:
            paths: Files, or folders of them.
            columns: Field to its path in a record, such as ``question`` to ``vars.topic`` or
                ``input.args.0``; ``file`` is the name of the file without its ending.
            scores: Scores to read, each a judge; all by default.
            language: Language of records that name none; detected by default.
            name: Name of the arena; that of the tool by default.
            reference_system: System whose answers serve as reference.
            most_pairs: Pairs of marked answers to keep of each question and score; None keeps all.
            repeats: What becomes of a question that a system answers again: the first answer is
                kept, or each asking is a question of its own.

        Returns:
            The arena, whose note says which path each field was read from; and what was left out:
            records of failed calls, without a text, and later answers of a system to a question.

        Raises:
            UsageError: For an absent file, an unknown field, path or score, and where no path holds
                the question, the system or the answer.
            DataError: With every problem of all files.
        """
        checked_choice(repeats, get_args(Repeats), "way to read repeated questions")
        kind = kinds()[self.tool]
        collected = Collected()
        files = tool_files(kind, paths)
        placed = _answers(kind, records_of_files(kind, files, paths, collected), collected)
        records = [record for _, record in placed]
        chosen = chosen_paths(kind, records, columns, len(files))
        collected.names = chosen.names
        for path, count in chosen.unread.items():
            collected.skip(self.tool, "passages", f"{path!r} holds none that can be read", count)
        judges = _chosen_scores(kind, records, scores)
        if not scores:
            _count_plain_scores(collected, kind, placed, [*chosen.names.values(), *judges])
        rows = AnswerRows(collected, repeats=repeats)
        tool_rows = _tool_rows(kind, placed, chosen)
        rows_of_values = [row.values for row in tool_rows]
        defaults = default_languages(collected, rows_of_values, language)
        marked = _add_rows(rows, kind, list(zip(tool_rows, defaults, strict=True)), chosen, judges)
        note = _note(kind, chosen, [judge for judge in judges if judge in marked])
        collected.share(OWN_PASSAGES)
        collected.share(HISTORY)
        arena = foreign_arena(
            collected,
            name or self.tool,
            reference=reference_system,
            note=note,
            most_pairs=most_pairs,
        )
        shown = {name: value for name, value in tool_rows[0].values.items() if value is not None}
        return replace(arena, shown=shown_row(shown, {}))


def _note(kind: FieldMap, chosen: FieldPaths, judges: Sequence[str]) -> str:
    """Return which paths and scores were read."""
    note = f"Fields: {chosen.shown()}. Scores: {', '.join(judges) or 'none'}."
    lower = [judge for judge in judges if judge in kind.lower_is_better]
    if lower:
        note += f" Lower is better: {', '.join(lower)}."
    return note


def _left_out(collected: Collected) -> str:
    """Say what was left out, in brackets; nothing if that is nothing."""
    counts = Counter[str]()
    for (_, _, reason), count in collected.skips.items():
        counts[reason] += count
    listed = "; ".join(f"{reason}: {count}" for reason, count in sorted(counts.items()))
    return f" (left out: {listed})" if listed else ""


def _answers(
    kind: FieldMap, records: Iterable[PlacedRecord], collected: Collected
) -> list[PlacedRecord]:
    """Return the records that are answers; others are counted, with the reason.

    Raises:
        UsageError: If there are none.
    """
    answers = []
    for place, record in records:
        reason = _reason_to_leave_out(kind, record)
        if reason is None:
            answers.append((place, record))
        else:
            collected.skip(place, "record", reason)
    if not answers:
        left_out = _left_out(collected)
        raise UsageError(f"there is no record of an answer to read{left_out}; {kind.hint}")
    return answers


def _reason_to_leave_out(kind: FieldMap, record: Record) -> str | None:
    for rule in kind.left_out:
        value = at(record, rule["at"])
        # A rule without a value to compare with leaves out whatever has one.
        is_met = bool(value)
        if "is" in rule:
            is_met = value == rule["is"]
        if is_met:
            return str(rule["reason"])
    return None


def _chosen_scores(
    kind: FieldMap, records: Sequence[Record], named: Sequence[str]
) -> tuple[str, ...]:
    names = set(chain.from_iterable(scores_of(kind, record) for record in records))
    for score in named:
        # A score may be named by its path, as a column that is no list.
        if all(at(record, score) is None for record in records):
            checked_choice(score, sorted(names), "score")
    return tuple(named or sorted(names))


def _count_plain_scores(
    collected: Collected, kind: FieldMap, records: Sequence[PlacedRecord], taken: Sequence[str]
) -> None:
    """Count numbers other than the usual scores, which are scores only if the user names them."""
    for place, record in records:
        for name in plain_scores(kind, record):
            if name not in taken:
                collected.skip(
                    place,
                    "column",
                    f"{name!r} is read as a score only if named: --scores {name}",
                )


def _tool_rows(
    kind: FieldMap, records: Sequence[PlacedRecord], chosen: FieldPaths
) -> list[ToolRow]:
    """Return each record with its values, systems and ids made distinct."""
    rows = [ToolRow(place, record, chosen.values(record)) for place, record in records]
    # Variants come first: they may make systems of one name that answer the same ids.
    name_variants(kind, rows)
    if "query_id" not in chosen.user_fields:
        scope_ids(kind, rows, chosen.names["system"])
    return rows


def _add_rows(
    rows: AnswerRows,
    kind: FieldMap,
    tool_rows: Sequence[tuple[ToolRow, str]],
    chosen: FieldPaths,
    judges: tuple[str, ...],
) -> set[str]:
    """Add the answers with their marks, and return the scores that marked any."""
    collected = rows.collected
    answered: set[tuple[str, ...]] = set()
    marked: set[str] = set()
    n_split = 0
    for (place, record, values), default in tool_rows:
        unnamed = unnamed_scores(kind, record)
        if unnamed:
            collected.skip(place, "score", "it has no name", unnamed)
        marks = marks_of(collected, place, kind, record, judges)
        marked.update(judge for judge, mark in marks.items() if mark is not None)
        passages = values.get("passages")
        parts = _split_passages(kind, passages)
        if parts is not passages and len(parts) > 1:
            n_split += 1
        values["passages"] = parts
        if not _is_complete(collected, place, values, chosen):
            continue
        # Traces of a running app hold the same question many times.
        if rows.repeats == "first" and _is_answered(values, answered):
            collected.skip(
                place,
                "record",
                "its system has answered the question before: the first answer is kept",
            )
            continue
        known_marks = {judge: mark for judge, mark in marks.items() if mark is not None}
        filled = {name: value for name, value in values.items() if value is not None}
        rows.add(place, filled, known_marks, default)
    if n_split:
        collected.notes.append(f"texts split into passages at '|' or ';': {n_split}")
    return marked


def _split_passages(kind: FieldMap, value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the passages that a tool joined to one text; any other value as it is."""
    if not isinstance(value, str) or opened_value(value) is not value:
        return value
    # The tool writes no mark of its own: the first separator that parts the text is taken.
    for separator in kind.passage_separators:
        parts = [part.strip() for part in re.split(separator, value)]
        if len(parts) > 1:
            return list(filter(None, parts))
    return value


def _is_complete(collected: Collected, place: Place, values: Record, chosen: FieldPaths) -> bool:
    """Return whether a record lacks nothing; others are counted, and so is a wrong history."""
    fault = history_fault(values[HISTORY])
    if fault is not None:
        collected.skip(place, "history", fault)
        values[HISTORY] = []
    for field in NEEDED:
        if values[field] is None:
            collected.skip(
                place,
                "record",
                f"it has no text at {chosen.names[field]!r}, for the {field}",
            )
            return False
    return True


def _is_answered(values: Record, answered: set[tuple[str, ...]]) -> bool:
    """Return whether a system has answered a question before; if not, keep that it now has."""
    names = ("query_id", "question", "language", HISTORY)
    key = (*(str(values.get(name)) for name in names), values["system"])
    if key in answered:
        return True
    answered.add(key)
    return False
