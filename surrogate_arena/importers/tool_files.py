"""Records in the files of a tool: found, opened, and joined where several are one answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from arena.data.errors import DataError, Problem, UsageError, counted_problems
from arena.data.types import Record
from surrogate_arena.importers.collected import Collected, Place, PlacedRecord
from surrogate_arena.importers.contract import FILE
from surrogate_arena.importers.field_maps import FieldMap
from surrogate_arena.importers.files import bare_name, files_below, shown_path
from surrogate_arena.importers.passage_rows import joined_passage_rows
from surrogate_arena.importers.record_values import at
from surrogate_arena.importers.tables import (
    JSON,
    READ_SUFFIXES,
    TABLE_SUFFIXES,
    read_json,
    read_table,
)
from surrogate_arena.importers.traces import joined_spans, with_retrieved
from surrogate_arena.importers.trec_rag import joined_runs


def tool_files(kind: FieldMap, paths: Sequence[Path | str]) -> list[Path]:
    """List the files of a tool, also one that it hides in a folder.

    Raises:
        UsageError: If a path is absent, or there is no file.
    """
    named: list[Path | str] = []
    for path in paths:
        hidden = [Path(path, name) for name in kind.hidden_files if Path(path, name).is_file()]
        named += hidden[:1] or [path]
    return files_below(named, (*JSON, *TABLE_SUFFIXES))


def records_of_files(
    kind: FieldMap, files: Sequence[Path], paths: Sequence[Path | str], collected: Collected
) -> Iterator[PlacedRecord]:
    """Yield the records of all files; those that belong together are joined to one.

    Args:
        kind: The tool, and how its files are built.
        files: The files.
        paths: Files and folders that the user named; messages call files by their path in these.
        collected: Counts what is left out.

    Raises:
        UsageError: For a file of an unknown ending.
        DataError: For a damaged file, items that are no records, and where no file has any.
    """
    records: list[PlacedRecord] = []
    without_list: list[Problem] = []
    for path in files:
        source = shown_path(path, paths)
        try:
            records += _records_of(kind, path, source, collected)
        except _NoListError as error:
            without_list.append(error.problem)
    if without_list and not records:
        raise DataError(without_list)
    for problem in without_list:
        collected.skip(problem.source, "file", problem.fault)
    if kind.pieces == "spans":
        return joined_spans(records)
    if kind.pieces == "trec-rag":
        return joined_runs(records, collected)
    if kind.pieces == "observations":
        return with_retrieved(records)
    if kind.pieces == "passage rows":
        return joined_passage_rows(records, collected)
    return iter(records)


class _NoListError(Exception):
    """A JSON file without a list of records."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem


def _records_of(
    kind: FieldMap, path: Path, source: str, collected: Collected
) -> Iterator[PlacedRecord]:
    """Yield the records of a file with their places."""
    stem = bare_name(path).lstrip(".")
    problems = []
    for line, element in _items_of(kind, path, source, collected):
        if isinstance(element, Mapping):
            yield Place(source, int(line)), {FILE: stem, **element}
        else:
            fault = "is not a record"
            problems.append(Problem(source, int(line), None, element, fault, kind.hint))
    if problems:
        raise DataError(counted_problems(problems))


def _items_of(
    kind: FieldMap, path: Path, source: str, collected: Collected
) -> Iterable[tuple[int, Any]]:
    """Return the items of a file, each with its line, or its place in a list.

    Raises:
        UsageError: If it is no file of a known ending.
        DataError: If it is damaged.
    """
    if path.suffix and not path.name.lower().endswith(READ_SUFFIXES):
        raise UsageError(f"{source} is none of {', '.join(READ_SUFFIXES)}; {kind.hint}")
    if not path.suffix or path.name.lower().endswith(JSON):
        value = read_json(path, source)
        return enumerate(_listed_items(kind, value, source, collected), start=1)
    rows = read_table(path, source)
    if rows.problems:
        raise DataError(rows.problems)
    records = rows.table.to_dict(orient="records") or [{} for _ in rows.lines]
    return zip(map(int, rows.lines), records, strict=True)


def _listed_items(kind: FieldMap, value: Any, source: str, collected: Collected) -> list[Any]:  # noqa: ANN401
    """Return the records of a JSON value, each with what the value says of all of them."""
    if isinstance(value, list):
        return value
    for unread in kind.other_lists:
        items = at(value, unread["at"])
        if isinstance(items, list) and items:
            collected.skip(source, "record", unread["reason"], len(items))
    lists = []
    for path in kind.lists:
        items = at(value, path)
        if isinstance(items, list):
            lists.append(items)
    if not lists:
        if isinstance(value, Mapping) and (not kind.lists or _is_one_record(kind, value)):
            return [value]
        places = " or ".join(map(repr, kind.lists)) or "the top"
        fault = f"holds no records of {kind.tool}: no list at {places}"
        raise _NoListError(Problem(source, None, None, None, fault, kind.hint))
    # Spans and log records are lists of their own, and belong together.
    if kind.pieces == "spans":
        return [element for items in lists for element in items]
    header: Record = {}
    for path in kind.header:
        shared = at(value, path)
        if shared is not None:
            header[path] = shared
    records = next((items for items in lists if items), lists[0])
    return [
        {**header, **element} if isinstance(element, Mapping) else element for element in records
    ]


def _is_one_record(kind: FieldMap, value: Mapping[str, Any]) -> bool:
    """Return whether a JSON object is a record itself: it has a question and an answer."""
    for field in ("question", "answer"):
        if all(at(value, path) is None for path in kind.fields[field]):
            return False
    return True
