"""Unread parts of plain tables: empty rows, columns without passages, further columns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from arena.data.rows import Rows
from arena.data.wording import all_of
from surrogate_arena.importers.column_hints import is_reference, named_alike
from surrogate_arena.importers.contract import (
    FILE,
    Columns,
    Frames,
    are_addresses,
    are_ids,
    are_numbers,
    are_texts,
    bare_column,
    cells_of,
    whole_columns,
)
from surrogate_arena.importers.values import (
    first_text,
    is_value,
    mark_of,
    opened_or_same,
    option,
)


def without_empty_rows(rows: Rows, names: Mapping[str, str]) -> Rows:
    """Leave out rows without question and answer, such as means at the foot."""
    fields = [names[name] for name in ("question", "query_id", "answer") if name in names]
    present = [name for name in fields if name in rows.table]
    is_filled = rows.table[present].map(is_value).any(axis=1)
    if is_filled.all():
        return rows
    table = rows.table[is_filled].reset_index(drop=True)
    return replace(rows, table=table, lines=rows.lines[is_filled].reset_index(drop=True))


def with_true_passages(frames: Frames, columns: Columns) -> tuple[Columns, dict[str, str]]:
    """Read passages from the first column that may hold texts; return why others do not."""
    passed: dict[str, str] = {}
    if "passages" not in columns.names:
        return columns, passed
    names, competitors = dict(columns.names), dict(columns.competitors)
    candidates = [names.pop("passages"), *competitors.pop("passages", ())]
    for place, column in enumerate(candidates, start=1):
        cells = [item for cell in cells_of(frames, column) for item in _items(cell)]
        kind = _kind_without_texts(cells)
        if kind is None:
            names["passages"] = column
            competitors["passages"] = tuple(candidates[place:])
            break
        passed[column] = kind
    return replace(columns, names=names, competitors=competitors), passed


def _numbered_texts(frames: Frames, columns: Sequence[str]) -> list[str]:
    """Return columns of texts whose names differ in a number alone, such as ``passage_2``."""
    by_stem: dict[str, list[str]] = {}
    for column in columns:
        stem = column.rstrip("0123456789")
        if stem != column and are_texts(cells_of(frames, column)):
            by_stem.setdefault(stem, []).append(column)
    longest = max(by_stem.values(), key=len, default=[])
    return longest if len(longest) > 1 else []


def _kind_without_texts(cells: Sequence[object]) -> str | None:
    """Return what cells hold instead of texts of passages, if so."""
    if are_numbers(cells):
        return "numbers"
    if are_addresses(cells):
        return "file names or addresses"
    return "ids" if are_ids(cells) else None


def _items(cell: object) -> list[object]:
    inside = opened_or_same(cell)
    return inside if isinstance(inside, list) else [inside]


def n_unread_marks(rows: Rows, column: str) -> int:
    """Count cells in a column of scores that are no marks."""
    return sum(is_value(cell) and mark_of(cell) is None for cell in rows.table.get(column, ()))


def reasons_unread(
    frames: Frames, columns: Columns, judges: Sequence[str], n_answers: int
) -> dict[str, str]:
    """Say of unread columns what they hold, and how to read them from rows of ``n_answers``."""
    read = {*columns.names.values(), *judges}
    read = read.union(*map(whole_columns, read))
    reasons: dict[str, str] = {}
    numbered = [] if "passages" in columns.names else _numbered_texts(frames, columns.unread)
    for column in columns.unread:
        if column == FILE or column in read:
            continue
        first_steps = (f"{column}.", f"{column}[", f'"{column}"')
        parts = sorted(path for path in read if path.startswith(first_steps))
        reason = f"{column!r} is not read"
        values = [opened_or_same(cell) for cell in cells_of(frames, column)]
        cells = list(map(first_text, values))
        if parts:
            reason = f"{column!r} is read at {all_of(parts)} alone"
        elif not cells:
            reason = f"{column!r} is empty"
        elif "query_id" not in columns.names and bare_column(column).split("_")[-1] == "id":
            reason += f"; if it is the question's id: {option('column', f'query_id={column}')}"
        elif column and all(mark_of(cell) is not None for cell in cells):
            if n_answers > 1:
                reason += (
                    f"; a row holds {n_answers} answers and does not say whose score it is: see "
                    "the recipe 'Answers and scores in columns'"
                )
            else:
                reason += f"; if it is a score: {option('scores', column)}"
        elif are_texts(cells):
            reason += ", and holds texts"
            if is_reference(column) and "reference" not in columns.names:
                reason += f"; if they are references: {option('column', f'reference={column}')}"
            elif column in numbered[:1]:
                path = f"[{', '.join(map(json.dumps, numbered))}]"
                reason += _passages_hint(path)
            elif "passages" not in columns.names and (
                named_alike([column], "passages") or all(isinstance(v, list) for v in values)
            ):
                reason += _passages_hint(column)
        reasons[column] = reason
    return reasons


def _passages_hint(path: str) -> str:
    return f"; if they are passages: {option('column', f'passages={path}')}"
