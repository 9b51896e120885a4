"""Records in a tool's files: opened, and joined where several are one answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.data.errors import DataError, Problem, UsageError, counted_problems
from arena.data.types import Record
from surrogate_arena.importers.clone_files import bare_name, shown_path
from surrogate_arena.importers.collected import LOST, PART, Collected, Place, PlacedRecord
from surrogate_arena.importers.contract import FILE, value_at
from surrogate_arena.importers.opened import opened_value
from surrogate_arena.importers.spans import joined_spans
from surrogate_arena.importers.tables import (
    JSON,
    LINES,
    PARQUET,
    READ_SUFFIXES,
    TABLE_SUFFIXES,
    WORKBOOKS,
    read_json,
    read_table,
)
from surrogate_arena.importers.tool_maps import Part, ToolMap
from surrogate_arena.importers.trec_lines import LINE_FORMS, holds_json, read_lines
from surrogate_arena.importers.trec_rag import joined_runs

EXPORT = "export"
"""Field of a record with the object around all records of its file."""


def suffixes_of(tool: ToolMap) -> tuple[str, ...]:
    """Return the endings of files read in folders; runs of TREC may have any name."""
    return ("",) if tool.join == "topics" else (*JSON, *TABLE_SUFFIXES)


def records_of_files(
    tool: ToolMap, files: Sequence[Path], paths: Sequence[Path | str], collected: Collected
) -> list[PlacedRecord]:
    """Return all files' records, opened; those that belong together are joined."""
    records: list[PlacedRecord] = []
    problems: list[Problem] = []
    for path in files:
        try:
            records += _records_of(tool, path, shown_path(path, paths))
        except _NoRecordsError as error:
            problems.append(error.problem)
    if problems and not records:
        raise DataError(problems)
    for problem in problems:
        collected.skip(problem.source, "file", problem.fault)
    for place, _ in records:
        collected.became(place, LOST)
    whole = [place for place, _ in records]
    if tool.join == "spans":
        records = list(joined_spans(records))
    elif tool.join == "topics":
        records = list(joined_runs(records, collected))
    records = _with_parts(records, tool.parts, collected)
    joined = {place for place, _ in records}
    for place in whole:
        if place not in joined and collected.outcomes[place] == LOST:
            collected.became(place, PART)
    return records


class _NoRecordsError(Exception):
    def __init__(self, problem: Problem) -> None:
        self.problem = problem


def _records_of(tool: ToolMap, path: Path, source: str) -> Iterator[PlacedRecord]:
    stem = bare_name(path).lstrip(".")
    problems = []
    for line, element in _items_of(tool, path, source):
        if isinstance(element, Mapping):
            yield Place(source, int(line)), {FILE: stem, **opened_value(element)}
        else:
            fault = "is not a record"
            problems.append(Problem(source, int(line), None, element, fault, tool.hint))
    if problems:
        raise DataError(counted_problems(problems))


def _items_of(tool: ToolMap, path: Path, source: str) -> Iterator[tuple[int, Any]]:
    name = path.name.lower()
    if tool.join == "topics" and not name.endswith((*JSON, *LINES, PARQUET, *WORKBOOKS)):
        yield from _items_of_trec(tool, path, source)
        return
    if path.suffix and not name.endswith(READ_SUFFIXES):
        raise UsageError(f"{source} is none of {', '.join(READ_SUFFIXES)}; {tool.hint}")
    if not path.suffix or name.endswith(JSON):
        yield from enumerate(_listed(tool, read_json(path, source), source), start=1)
        return
    rows = read_table(path, source)
    if rows.problems:
        raise DataError(rows.problems)
    records = rows.table.to_dict(orient="records") or [{} for _ in rows.lines]
    yield from zip(map(int, rows.lines), records, strict=True)


def _items_of_trec(tool: ToolMap, path: Path, source: str) -> Iterator[tuple[int, Any]]:
    if holds_json(path, source):
        yield from enumerate(_listed(tool, read_json(path, source), source), start=1)
        return
    is_empty = True
    for item in read_lines(path, source):
        is_empty = False
        yield item
    if is_empty:
        fault = f"begins with neither a run nor {LINE_FORMS}"
        raise _NoRecordsError(Problem(source, None, None, None, fault, tool.hint))


def _listed(tool: ToolMap, value: Any, source: str) -> list[Any]:  # noqa: ANN401
    if not isinstance(value, Mapping):
        return value if isinstance(value, list) else [value]
    lists = [value_at(value, path) for path in tool.records]
    lists = [items for items in lists if isinstance(items, list)]
    if lists:
        around = {EXPORT: opened_value({**value, **dict.fromkeys(tool.records)})}
        items = next((items for items in lists if items), lists[0])
        return [{**around, **item} if isinstance(item, Mapping) else item for item in items]
    if tool.records and not _is_one_record(tool, value):
        places = " or ".join(map(repr, tool.records))
        fault = f"holds no records: no list at {places}"
        raise _NoRecordsError(Problem(source, None, None, None, fault, tool.hint))
    return [value]


def _is_one_record(tool: ToolMap, value: Mapping[str, Any]) -> bool:
    opened = opened_value(value)
    return all(
        any(value_at(opened, path) is not None for path in tool.fields.get(name, ()))
        for name in ("question", "answer")
    )


def _with_parts(
    records: list[PlacedRecord], parts: Mapping[str, Part], collected: Collected
) -> list[PlacedRecord]:
    for name, part in parts.items():
        by_id: dict[str, list[Record]] = {}
        places: dict[str, list[Place]] = {}
        rest: list[PlacedRecord] = []
        for place, record in records:
            if value_at(record, part.when):
                key = str(value_at(record, part.id))
                by_id.setdefault(key, []).append(record)
                places.setdefault(key, []).append(place)
            else:
                rest.append((place, record))
        joined = {str(value_at(record, part.of)) for _, record in rest}
        for key, listed in places.items():
            for place in listed if key not in joined else ():
                collected.skip(place, "record", f"no record has the {part.id} that it names")
        records = [
            (place, {**record, name: by_id.get(str(value_at(record, part.of)), [])})
            for place, record in rest
        ]
    return records
