"""Plain tables of answers: a row is an answer, its columns are those of the contract.

What is not clear is refused, with the command that makes it so; a hint is tried on the data first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from arena.data.errors import DataError, UsageError, counted_problems
from arena.data.rows import Rows
from arena.data.types import Record
from arena.data.wording import count_of, first_of
from surrogate_arena.importers.contract import (
    FILE,
    NO_COLUMNS,
    Columns,
    are_addresses,
    are_labels,
    are_numbers,
    are_texts,
    bare_column,
    cells_of,
    chosen_columns,
    contract,
    field_names,
    with_paths,
)
from surrogate_arena.importers.files import bare_name, distinct_names, files_below, shown_path
from surrogate_arena.importers.passages import passages_of
from surrogate_arena.importers.tables import SHEET, read_table
from surrogate_arena.importers.values import is_value, number_of, option, short

NEEDED = ("question", "system", "answer")
_MOST_NAMED = 10
_MOST_SYSTEMS = 30
"""A column with more values is hardly one of systems."""


@dataclass(frozen=True)
class PlainTables:
    """Tables of answers whose columns are known.

    Attributes:
        tables: The tables, each with a column ``file``.
        columns: Which column is read as which field.
        scores: Name of a judge to its column of marks.
        lower_wins: Judges whose lower marks win.
        notes: What was understood, and what else might be meant.
        left_out: Source, item and reason of what was left out, with counts.
    """

    tables: Sequence[Rows]
    columns: Columns
    scores: Mapping[str, str]
    lower_wins: frozenset[str]
    notes: Sequence[str]
    left_out: Mapping[tuple[str, str, str], int]


def read_plain_tables(
    paths: Sequence[Path | str],
    *,
    columns: Mapping[str, str] = NO_COLUMNS,
    scores: Sequence[str] = (),
    needed: Sequence[str] = NEEDED,
) -> PlainTables:
    """Read tables of answers.

    Args:
        paths: Files, or folders of them.
        columns: Field to its column, or a path in its cells, where the names do not tell.
        scores: Columns whose numbers are marks by a judge of that name, beside known metrics.
        needed: Fields that a row must have.

    Raises:
        UsageError: If a field is missing, or may be read from several columns.
        DataError: If a file is damaged.
    """
    tables: list[Rows] = []
    files: list[Path] = []
    for path in files_below(paths):
        tables.append(read_table(path, shown_path(path, paths)))
        files.append(path)
    broken = [problem for rows in tables for problem in rows.problems]
    if broken:
        raise DataError(counted_problems(broken))
    names = [bare_name(files[0])] if len(tables) == 1 else distinct_names(files)
    tables = [with_file(rows, name) for rows, name in zip(tables, names, strict=True)]
    return known_tables(tables, columns=columns, scores=scores, needed=needed)


def known_tables(
    tables: Sequence[Rows],
    *,
    columns: Mapping[str, str] = NO_COLUMNS,
    scores: Sequence[str] = (),
    needed: Sequence[str] = NEEDED,
) -> PlainTables:
    """Find the columns of tables; see ``read_plain_tables``."""
    tables = [replace(rows, table=with_paths(rows.table, columns)) for rows in tables]
    frames = [rows.table for rows in tables]
    chosen = chosen_columns(frames, "answers", columns)
    names = dict(chosen.names)
    notes: list[str] = []
    left_out: Counter[tuple[str, str, str]] = Counter()
    _check_answers(frames, chosen, columns)
    if "system" not in names and "system" in needed:
        names["system"] = SHEET if any(SHEET in frame for frame in frames) else FILE
        listed = systems_in_order(tables, names["system"])
        notes.append(
            f"no column names the system: {count_of(len(listed), 'system')} by {names['system']} "
            f"name, {first_of(listed, _MOST_NAMED)}"
        )
    _check_needed(frames, names, needed)
    if names.get("system") == FILE and "question" in names:
        _check_repeats(tables, names)
    _leave_out_passages(tables, names, columns, notes, left_out)
    judges, lower_wins = _score_columns(frames, names, scores)
    known = Columns(names, chosen.competitors, _unread(chosen, judges))
    notes += known.notes()
    _note_numbers(frames, known, left_out, tables)
    kept = [_without_empty_rows(rows, names, left_out) for rows in tables]
    return PlainTables(kept, known, judges, lower_wins, notes, left_out)


def with_file(rows: Rows, name: str) -> Rows:
    """Return rows with the name of their file as a column."""
    if FILE in rows.table:
        return rows
    table = rows.table.assign(**{FILE: name})
    return Rows(table, rows.lines, rows.source, rows.problems, notes=rows.notes)


# What is refused


def _check_answers(
    frames: Sequence[pd.DataFrame], chosen: Columns, stated: Mapping[str, str]
) -> None:
    """Refuse two columns that may both be the answers, and a column of labels beside a text."""
    if "answer" in stated or "answer" not in chosen.names:
        return
    column = chosen.names["answer"]
    others = [name for name in chosen.competitors.get("answer", ()) if _has_texts(frames, name)]
    if others:
        other = others[0]
        raise UsageError(
            f"{column!r} and {other!r} may both be the answers. Of one the system's, of the other "
            f"the reference: {_both(other, column)}, or {_both(column, other)}"
        )
    if are_labels(cells_of(frames, column)):
        texts = [name for name in chosen.unread if _has_texts(frames, name)]
        if texts:
            raise UsageError(
                f"{column!r} holds labels such as {short(cells_of(frames, column)[0])!r}, and "
                f"{texts[0]!r} texts: {option('column', f'answer={texts[0]}')} reads the texts, "
                f"{option('column', f'answer={column}')} the labels"
            )


def _both(answer: str, reference: str) -> str:
    columns = (f"answer={answer}", f"reference={reference}")
    return " ".join(option("column", column) for column in columns)


def _has_texts(frames: Sequence[pd.DataFrame], column: str) -> bool:
    return are_texts(cells_of(frames, column))


def _check_needed(
    frames: Sequence[pd.DataFrame], names: Mapping[str, str], needed: Sequence[str]
) -> None:
    """Refuse tables that lack a field, with all that are missing and a command to try."""
    missing = [name for name in needed if name not in names]
    battles = chosen_columns(frames, "battles", NO_COLUMNS).names
    if "answer" in missing and {"system_a", "system_b"} <= battles.keys():
        raise UsageError("a row compares two systems: these are battles; use 'import lmarena'")
    if "query_id" in names and "question" in missing and "question" not in NEEDED:
        missing.remove("question")
    if not missing:
        return
    columns = list(dict.fromkeys(str(name) for frame in frames for name in frame if name != FILE))
    suggestions = []
    taken = set(names.values())
    for name in missing:
        suggestion = suggested_column(frames, name, columns, taken)
        if suggestion is not None:
            taken.add(suggestion)
        suggestions.append(option("column", f"{name}={suggestion or 'NAME'}"))
    raise UsageError(
        f"no column is known for {' and '.join(missing)}: {' '.join(suggestions)}; "
        f"the columns are {first_of(columns, _MOST_NAMED)}. A row is one answer: the importing "
        "guide has recipes of five lines for other shapes"
    )


def suggested_column(
    frames: Sequence[pd.DataFrame], name: str, columns: Sequence[str], taken: set[str]
) -> str | None:
    """Return the column that may hold a field: a text whose name ends as the field's do, or asks.

    None if nothing fits.
    """
    texts = [column for column in columns if column not in taken and _has_texts(frames, column)]
    if name == "system":
        return next(iter(_system_columns(frames, columns, taken)), None)
    known = field_names("answers")[name]
    for column in texts:
        if any(bare_column(column).endswith(wanted) for wanted in known):
            return column
    if name == "question":
        for column in texts:
            cells = [str(cell).strip() for cell in cells_of(frames, column)]
            asking = sum(cell.endswith(("?", "？", "؟")) for cell in cells)
            if asking * 2 >= len(cells):
                return column
        return None
    # Of texts that nothing else is read from, the only one.
    rest = [column for column in texts if not _is_reference(column)]
    return rest[0] if len(rest) == 1 else None


def _is_reference(column: str) -> bool:
    words = ("reference", "gold", "expected", "truth", "ideal", "target")
    return any(word in bare_column(column) for word in words)


def _system_columns(
    frames: Sequence[pd.DataFrame], columns: Sequence[str], taken: set[str]
) -> list[str]:
    """Return the columns with few values, each of which may be a system."""
    fitting = []
    for column in columns:
        if column in taken or column == FILE:
            continue
        cells = [cell for frame in frames if column in frame for cell in frame[column]]
        values = {str(cell) for cell in cells if is_value(cell)}
        is_short = all(len(value) <= 60 for value in values)
        if 2 <= len(values) <= _MOST_SYSTEMS and is_short and len(values) * 2 <= len(cells):
            fitting.append(column)
    return fitting


def _check_repeats(tables: Sequence[Rows], names: Mapping[str, str]) -> None:
    """Refuse a file in which a question is answered several times, where a column tells systems."""
    for rows in tables:
        questions = rows.table[names["question"]].map(str)
        if not questions.duplicated().any():
            continue
        taken = set(names.values())
        for column in _system_columns([rows.table], list(rows.table), taken):
            pairs = pd.DataFrame({"question": questions, "system": rows.table[column].map(str)})
            if not pairs.duplicated().any():
                values = list(dict.fromkeys(map(str, rows.table[column])))
                raise UsageError(
                    f"{rows.source} answers a question several times; {column!r} has "
                    f"{len(values)} values ({first_of(values, 5)}), which may be the systems: "
                    f"{option('column', f'system={column}')}"
                )


# What is left out, and said


def _leave_out_passages(
    tables: Sequence[Rows],
    names: dict[str, str],
    stated: Mapping[str, str],
    notes: list[str],
    left_out: Counter[tuple[str, str, str]],
) -> None:
    """Leave out a column of passages that holds numbers, names of files or addresses."""
    if "passages" not in names or "passages" in stated:
        return
    column = names["passages"]
    cells = cells_of([rows.table for rows in tables], column)
    kind = "numbers" if are_numbers(cells) else "file names or addresses"
    if are_numbers(cells) or are_addresses(cells):
        del names["passages"]
        for rows in tables:
            left_out[rows.source, "column", f"{column!r} holds {kind}, no texts of passages"] += 1
        notes.append(f"no passages: {column!r} holds {kind}")


def _score_columns(
    frames: Sequence[pd.DataFrame], names: Mapping[str, str], asked: Sequence[str]
) -> tuple[dict[str, str], frozenset[str]]:
    """Return the columns of marks by judge, and the judges whose lower marks win.

    Raises:
        UsageError: If a column that was asked for is not there, or holds no numbers.
    """
    scores = contract()["scores"]
    columns = list(dict.fromkeys(str(name) for frame in frames for name in frame))
    taken = set(names.values())
    judges: dict[str, str] = {}
    for name in asked:
        if name not in columns:
            raise UsageError(f"no column {name!r} of scores; the columns are {first_of(columns)}")
        judges[name] = name
    for column in columns:
        is_known = _metric(column) in {*scores["known"], *scores["lower_is_better"]}
        if is_known and column not in taken and are_numbers(cells_of(frames, column)):
            judges[column] = column
    lower = frozenset(name for name in judges if _metric(name) in scores["lower_is_better"])
    return judges, lower


def _metric(column: str) -> str:
    """Return the name of a metric without what surrounds it: ``outputs.f1_score`` is f1_score."""
    tail = column.rpartition(".")[2].rpartition("/")[2]
    return bare_column(tail).removeprefix("gpt_")


def _unread(chosen: Columns, judges: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(name for name in chosen.unread if name != FILE and name not in judges.values())


def _note_numbers(
    frames: Sequence[pd.DataFrame],
    columns: Columns,
    left_out: Counter[tuple[str, str, str]],
    tables: Sequence[Rows],
) -> None:
    """Count the columns that nothing is read from; numbers may be scores."""
    source = tables[0].source if len(tables) == 1 else f"{len(tables)} files"
    for column in columns.unread:
        reason = f"{column!r} is not read"
        if are_numbers(cells_of(frames, column)):
            reason += f"; if it is a score: {option('scores', column)}"
        elif _has_texts(frames, column):
            reason += ", and holds texts"
        left_out[source, "column", reason] += 1


def _without_empty_rows(
    rows: Rows, names: Mapping[str, str], left_out: Counter[tuple[str, str, str]]
) -> Rows:
    """Leave out rows without a question and an answer, such as means at the foot of a table."""
    fields = [names[name] for name in ("question", "query_id", "answer") if name in names]
    present = [name for name in fields if name in rows.table]
    if not present:
        return rows
    is_filled = rows.table[present].map(is_value).any(axis=1)
    n_empty = int((~is_filled).sum())
    if not n_empty:
        return rows
    left_out[rows.source, "row", "it has neither a question nor an answer"] += n_empty
    kept = rows.table[is_filled].reset_index(drop=True)
    lines = rows.lines[is_filled].reset_index(drop=True)
    return Rows(kept, lines, rows.source, rows.problems, notes=rows.notes)


_SHOWN = ("query_id", "language", "question", "system", "answer", "reference", "passages")
"""Fields of a row that are shown first, in this order."""


def shown_row(values: Mapping[str, object], marks: Mapping[str, float]) -> tuple[str, ...]:
    """Return one row as it was understood, a line per field, for the user to check."""
    names = [name for name in _SHOWN if name in values]
    names += [name for name in values if name not in _SHOWN]
    shown = []
    for name in names:
        value = values[name]
        if name == "passages":
            with suppress(ValueError):
                passages = passages_of(value)
                first = f", the first: {short(passages[0]['text'])}" if passages else ""
                shown.append(f"passages: {len(passages)}{first}")
                continue
        shown.append(f"{name}: {short(value)}")
    shown += [f"judge {judge}: {mark:g}" for judge, mark in marks.items()]
    return tuple(shown)


def marks_of_row(record: Record, known: PlainTables) -> dict[str, float]:
    """Return the marks of a row by judge, the higher the better."""
    marks: dict[str, float] = {}
    for judge, column in known.scores.items():
        number = number_of(record.get(column))
        if number is not None:
            marks[judge] = -number if judge in known.lower_wins else number
    return marks


def systems_in_order(tables: Iterable[Rows], column: str) -> list[str]:
    """Return the systems in the order in which the files first name them."""
    names: dict[str, None] = {}
    for rows in tables:
        names.update(dict.fromkeys(str(cell) for cell in rows.table.get(column, ())))
    return list(names)
