"""Plain tables of answers: a row is an answer, its columns are those of the contract.

What is not clear is refused, with the command that makes it so; a hint is tried on the data first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import pandas as pd

from arena.data.errors import DataError, UsageError, counted_problems
from arena.data.rows import Rows
from arena.data.types import Record
from arena.data.wording import all_of, first_of
from surrogate_arena.importers.contract import (
    ASKING,
    FILE,
    MOST_NAMED,
    NO_COLUMNS,
    NO_HEADER,
    SIDES_IN_NAMES,
    WON_AND_LOST,
    Columns,
    are_addresses,
    are_ids,
    are_labels,
    are_numbers,
    are_texts,
    bare_column,
    cells_of,
    chosen_columns,
    columns_of_pairs,
    contract,
    field_names,
    looks_like_data,
    paired_columns,
    with_inner_paths,
    with_paths,
)
from surrogate_arena.importers.conversations import last_exchange
from surrogate_arena.importers.files import bare_name, distinct_names, files_below, shown_path
from surrogate_arena.importers.passages import passages_of
from surrogate_arena.importers.tables import SHEET, read_table
from surrogate_arena.importers.values import (
    first_text,
    is_value,
    mark_of,
    number_of,
    opened_or_same,
    option,
    short,
)

NEEDED = ("question", "system", "answer")


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
    may_repeat: bool = False,
) -> PlainTables:
    """Read tables of answers.

    Args:
        paths: Files, or folders of them.
        columns: Field to its column, or a path in its cells, where the names do not tell.
        scores: Columns whose numbers are marks by a judge of that name, beside known metrics.
        needed: Fields that a row must have.
        may_repeat: Whether a system may answer a question again.

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
    return known_tables(
        tables, columns=columns, scores=scores, needed=needed, may_repeat=may_repeat
    )


def known_tables(
    tables: Sequence[Rows],
    *,
    columns: Mapping[str, str] = NO_COLUMNS,
    scores: Sequence[str] = (),
    needed: Sequence[str] = NEEDED,
    may_repeat: bool = False,
) -> PlainTables:
    """Find the columns of tables; see ``read_plain_tables``."""
    named = {**columns, **dict(zip(scores, scores, strict=True))}
    tables = [replace(rows, table=with_paths(rows.table, named)) for rows in tables]
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
            f"no column names the system, so the name of the {names['system']} does: "
            f"{first_of(listed, MOST_NAMED)}"
        )
    _check_needed(tables, names, needed)
    if "question" in names and "system" not in columns and not may_repeat:
        _check_repeats(tables, names)
    tables = [_without_empty_rows(rows, names, left_out) for rows in tables]
    competitors = dict(chosen.competitors)
    others = competitors.pop("passages", ())
    _leave_out_passages(tables, names, columns, notes, left_out, others)
    if "passages" in names:
        competitors["passages"] = tuple(name for name in others if name != names["passages"])
    paths = _paths_of_metrics([rows.table for rows in tables])
    tables = [replace(rows, table=with_paths(rows.table, paths)) for rows in tables]
    frames = [rows.table for rows in tables]
    judges, lower_wins = _score_columns(frames, names, scores)
    if lower_wins:
        notes.append(f"of {all_of(sorted(lower_wins))} the lowest wins")
    _count_unread_marks(tables, judges, left_out)
    known = Columns(names, competitors, _unread(frames, chosen, names, judges))
    notes += known.notes()
    notes += _notes_on_units(names, columns)
    _note_numbers(frames, known, left_out, tables)
    return PlainTables(tables, known, judges, lower_wins, notes, left_out)


def with_file(rows: Rows, name: str) -> Rows:
    """Return rows with the name of their file as a column."""
    if FILE in rows.table:
        return rows
    table = rows.table.assign(**{FILE: name})
    return Rows(table, rows.lines, rows.source, rows.problems, notes=rows.notes)


# What is refused

_BATTLES = "a row compares two systems: these are battles; use 'import lmarena'"


def _check_answers(
    frames: Sequence[pd.DataFrame], chosen: Columns, stated: Mapping[str, str]
) -> None:
    """Refuse two columns that may both be the answers, and a column of labels beside a text."""
    if "answer" in stated or "answer" not in chosen.names:
        return
    column = chosen.names["answer"]
    others = list(chosen.competitors.get("answer", ()))
    if not are_labels(cells_of(frames, column)):
        others = [name for name in others if _has_texts(frames, name)]
    others += _named_alike(_answer_texts(frames, chosen.unread, set()), "answer")
    if others and "reference" in chosen.names:
        either = ", or ".join(option("column", f"answer={name}") for name in (others[0], column))
        raise UsageError(f"{column!r} and {others[0]!r} may both be the answers: {either}")
    if others:
        other = others[0]
        raise UsageError(
            f"{column!r} and {other!r} may both be the answers; if one is the reference: "
            f"{_both(other, column)}, or {_both(column, other)}"
        )
    cells = cells_of(frames, column)
    if cells and (are_labels(cells) or are_addresses(cells)):
        texts = [name for name in chosen.unread if _has_texts(frames, name)]
        if texts:
            raise UsageError(
                f"{column!r} holds labels such as {short(cells[0])!r}, and "
                f"{texts[0]!r} texts: {option('column', f'answer={texts[0]}')} reads the texts, "
                f"{option('column', f'answer={column}')} the labels"
            )


def _both(answer: str, reference: str) -> str:
    columns = (f"answer={answer}", f"reference={reference}")
    return " ".join(option("column", column) for column in columns)


def _has_texts(frames: Sequence[pd.DataFrame], column: str) -> bool:
    return are_texts(cells_of(frames, column))


def _check_needed(tables: Sequence[Rows], names: Mapping[str, str], needed: Sequence[str]) -> None:
    """Refuse tables that lack a field, with all that are missing and a command to try."""
    frames = [rows.table for rows in tables]
    missing = [name for name in needed if name not in names]
    if "question" not in needed and not {"question", "query_id"} & names.keys():
        missing.insert(0, "question")
    if not missing:
        return
    battles = chosen_columns(frames, "battles", NO_COLUMNS).names
    has_pairs = any(columns_of_pairs(frame) for frame in frames)
    has_sides = any({f"{name}_a", f"{name}_b"} <= battles.keys() for name in ("system", "answer"))
    if "answer" in missing and (has_pairs or has_sides):
        raise UsageError(_BATTLES)
    if "question" in missing and "answer" in missing and looks_like_data(frames):
        raise UsageError(f"{NO_HEADER} question,system,answer")
    columns = list(dict.fromkeys(str(name) for frame in frames for name in frame))
    columns = [column for column in columns if column not in (FILE, SHEET)]
    known = {**names, **_suggested_columns(frames, missing, names)}
    if "answer" in missing and "answer" not in known:
        _refuse_without_answers(frames, columns, known)
    hints = []
    for name in missing:
        hints.append(option("column", f"{name}={known.get(name, 'NAME')}"))
    question = known.get("question")
    if question is not None and names.get("system") == FILE:
        system = _system_of_repeats(tables, question, set(known.values()))
        if system is not None:
            hints.append(option("column", f"system={system}"))
    inner = list(dict.fromkeys(str(name) for frame in frames for name in with_inner_paths(frame)))
    inner = [column for column in inner if column not in (FILE, SHEET)]
    kind = "columns"
    if inner != columns:
        kind, columns = "columns and paths in them", inner
    raise UsageError(
        f"no column is known for {all_of(missing)}: {' '.join(hints)}; "
        f"the {kind} are {first_of(columns, MOST_NAMED)}. A row is one answer: the importing guide "
        "has short recipes for other shapes"
    )


def _refuse_without_answers(
    frames: Sequence[pd.DataFrame], columns: Sequence[str], known: Mapping[str, str]
) -> None:
    """Refuse tables without answers, or with several columns of them, one per system."""
    inner = [with_inner_paths(frame) for frame in frames]
    listed = list(dict.fromkeys(str(name) for frame in inner for name in frame))
    taken = set(known.values())
    texts = _answer_texts(inner, listed, taken)
    if not texts:
        raise UsageError(
            "there are no answers in it: no column holds texts that a system may have written; the "
            f"columns are {first_of(list(columns), MOST_NAMED)}. A row is one answer: question, "
            f"system, answer; if a column holds answers: {option('column', 'answer=NAME')}"
        )
    pairs = list(paired_columns(texts, [*SIDES_IN_NAMES, *WON_AND_LOST]))
    if len(pairs) == 1:
        raise UsageError(_BATTLES)
    systems = _named_alike(texts, "answer") or texts
    is_wide = 1 < len(systems) <= MOST_NAMED and set(systems) <= set(columns)
    if is_wide and "question" in known:
        kept = [column for column in columns if column in taken]
        others = [column for column in columns if _is_reference(column) and column not in kept]
        question = known["question"]
        is_known = bare_column(question) in field_names("answers")["question"]
        then = (
            "" if is_known else f", then import it with {option('column', f'question={question}')}"
        )
        raise UsageError(
            f"{first_of(systems, 3)} may each hold the answers of a system; write a row for each "
            f"answer by pandas: table.melt({kept + others}, {systems}, 'system', 'answer'){then}. "
            f"If one holds the answers: {option('column', f'answer={systems[0]}')}"
        )


def _suggested_columns(
    frames: Sequence[pd.DataFrame], missing: Sequence[str], names: Mapping[str, str]
) -> dict[str, str]:
    """Return the columns, or paths in them, that may hold the fields that are missing."""
    inner = [with_inner_paths(frame) for frame in frames]
    columns = list(dict.fromkeys(str(name) for frame in inner for name in frame if name != FILE))
    if {"question", "answer"} <= set(missing):
        for column in columns:
            if _are_messages(cells_of(inner, column)):
                return {"question": column, "answer": column}
    suggested: dict[str, str] = {}
    for name in missing:
        taken = {*names.values(), *suggested.values()}
        fitting = suggested_column(inner, name, columns, taken)
        if fitting is not None:
            suggested[name] = fitting
    return suggested


def _are_messages(cells: Sequence[object]) -> bool:
    """Tell whether cells are conversations that end with a reply."""
    for cell in cells:
        messages = opened_or_same(cell)
        if not isinstance(messages, list) or len(messages) < 2:
            return False
        if not all(isinstance(message, Mapping) and "role" in message for message in messages):
            return False
    return bool(cells)


def suggested_column(
    frames: Sequence[pd.DataFrame], name: str, columns: Sequence[str], taken: set[str]
) -> str | None:
    """Return the column that may hold a field, by its name or its cells; None if nothing fits."""
    if name == "system":
        return next(iter(_system_columns(frames, columns, taken)), None)
    if name == "answer":
        texts = _answer_texts(frames, columns, taken)
        fitting = _named_alike(texts, name) or texts
        return fitting[0] if len(fitting) == 1 else None
    texts = [column for column in columns if column not in taken and _has_texts(frames, column)]
    for column in _named_alike(texts, name):
        if not _is_reference(column):
            return column
    for column in texts:
        cells = [str(cell).strip() for cell in cells_of(frames, column)]
        asking = sum(cell.endswith(ASKING) for cell in cells)
        if asking * 2 >= len(cells):
            return column
    return None


def _named_alike(columns: Sequence[str], name: str) -> list[str]:
    """Return the columns whose names end as those of a field do, also in the plural."""
    known = field_names("answers")[name]
    tails = {column: bare_column(column.rpartition(".")[2]).removesuffix("s") for column in columns}
    return [column for column, tail in tails.items() if tail.endswith(known)]


def _answer_texts(
    frames: Sequence[pd.DataFrame], columns: Sequence[str], taken: set[str]
) -> list[str]:
    """Return the columns of texts that a system may have written."""
    systems = _system_columns(frames, columns, taken)
    return [
        column
        for column in columns
        if column not in taken
        and column not in systems
        and not _is_reference(column)
        and not _has_word(column, "not_answers")
        and _has_texts(frames, column)
    ]


def _is_reference(column: str) -> bool:
    return _has_word(column, "references")


def _has_word(column: str, words: str) -> bool:
    """Tell whether the name of a column has a word of a list of ``names.toml``."""
    listed = contract()["hints"][words]
    return any(word.removesuffix("s") in listed for word in bare_column(column).split("_"))


def _system_columns(
    frames: Sequence[pd.DataFrame], columns: Sequence[str], taken: set[str]
) -> list[str]:
    """Return the columns with few values, each of which may be a system."""
    # A column with more values is hardly one of systems
    most_systems = 30
    fitting = []
    for column in columns:
        if column in taken or column == FILE:
            continue
        cells = [cell for frame in frames if column in frame for cell in frame[column]]
        values = {str(cell) for cell in cells if is_value(cell)}
        is_short = all(len(value) <= 60 for value in values)
        if 2 <= len(values) <= most_systems and is_short and len(values) * 2 <= len(cells):
            fitting.append(column)
    return fitting


def _check_repeats(tables: Sequence[Rows], names: Mapping[str, str]) -> None:
    """Refuse a file in which a question is answered several times, where a column tells systems."""
    if "system" not in names or not _has_repeats(tables, names):
        return
    column = _system_of_repeats(tables, names["question"], set(names.values()))
    if column is None:
        return
    values = systems_in_order(
        [replace(rows, table=with_paths(rows.table, {"system": column})) for rows in tables], column
    )
    raise UsageError(
        f"{tables[0].source} answers questions several times; {column!r} has {len(values)} values "
        f"({first_of(values, 5)}), which may be the systems: {option('column', f'system={column}')}"
        "; if they are not: --repeats first, or --repeats each"
    )


def _has_repeats(tables: Sequence[Rows], names: Mapping[str, str]) -> bool:
    """Tell whether a system answers a question in several ways."""
    for rows in tables:
        fields = [names[name] for name in ("question", "system", "answer") if name in names]
        present = [name for name in fields if name in rows.table]
        distinct = rows.table[present].map(str).drop_duplicates()
        key = [name for name in present if name != names.get("answer")]
        if key and distinct.duplicated(subset=key).any():
            return True
    return False


def _system_of_repeats(tables: Sequence[Rows], question: str, taken: set[str]) -> str | None:
    """Return the column that tells apart the answers to one question; None if there is none.

    Files that answer each question once need no such column.
    """
    named = {"question": question}
    frames = [with_paths(rows.table, named) for rows in tables]
    asked = [frame[question].map(_asked) for frame in frames if question in frame]
    if not any(questions.duplicated().any() for questions in asked):
        return None
    inner = [with_inner_paths(frame) for frame in frames]
    columns = list(dict.fromkeys(str(name) for frame in inner for name in frame))
    for column in _system_columns(inner, columns, taken):
        answered: list[tuple[str, str]] = []
        for frame in frames:
            with_system = with_paths(frame, {"system": column})
            if column in with_system and question in with_system:
                systems = with_system[column].map(str)
                answered += zip(with_system[question].map(_asked), systems, strict=True)
        if len(set(answered)) == len(answered):
            return column
    return None


def _asked(cell: object) -> str:
    """Return the question of a cell, also of one that holds a conversation."""
    messages = opened_or_same(cell)
    if _are_messages([messages]):
        return str(last_exchange(cast(list[Record], messages)).question)
    return str(cell)


# What is left out, and said


def _leave_out_passages(
    tables: Sequence[Rows],
    names: dict[str, str],
    stated: Mapping[str, str],
    notes: list[str],
    left_out: Counter[tuple[str, str, str]],
    others: Sequence[str],
) -> None:
    """Leave out columns of passages that hold numbers, names of files or addresses."""
    if "passages" not in names or "passages" in stated:
        return
    frames = [rows.table for rows in tables]
    for column in (names["passages"], *others):
        cells = [item for cell in cells_of(frames, column) for item in _items(cell)]
        kind = _no_passages(cells)
        if kind is None:
            names["passages"] = column
            return
        for rows in tables:
            left_out[rows.source, "column", f"{column!r} holds {kind}, not passages"] += 1
        notes.append(f"no passages: {column!r} holds {kind}")
    del names["passages"]


def _no_passages(cells: Sequence[object]) -> str | None:
    """Return what cells hold instead of texts of passages; None if they may hold these."""
    if are_numbers(cells):
        return "numbers"
    if are_addresses(cells):
        return "file names or addresses"
    return "ids" if are_ids(cells) else None


def _items(cell: object) -> list[object]:
    """Return the items of a list, also of one that was written as text."""
    inside = opened_or_same(cell)
    return inside if isinstance(inside, list) else [inside]


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
            raise UsageError(
                f"no column {name!r} of scores; the columns are {first_of(columns, MOST_NAMED)}"
            )
        judges[name] = name
        if not any(mark_of(cell) is not None for cell in cells_of(frames, name)):
            raise UsageError(f"{name!r} holds no numbers, which scores are")
    for column in columns:
        if _is_metric(column) and column not in taken and _are_marks(cells_of(frames, column)):
            judges[column] = column
    lower_is_better = {*scores["lower_is_better"], *scores["ranks"]}
    lower = frozenset(name for name in judges if _metric(name) in lower_is_better)
    return judges, lower


def _are_marks(cells: Sequence[object]) -> bool:
    """Tell whether cells are marks, but for a few strays, which are counted."""
    n_marks = sum(mark_of(cell) is not None for cell in cells)
    return bool(cells) and n_marks * 10 >= len(cells) * 9


def _paths_of_metrics(frames: Sequence[pd.DataFrame]) -> dict[str, str]:
    """Return the paths to known metrics in records of cells."""
    inner = [with_inner_paths(frame) for frame in frames]
    paths = dict.fromkeys(str(name) for frame in inner for name in frame)
    columns = {str(name) for frame in frames for name in frame}
    return {path: path for path in paths if path not in columns and _is_metric(path)}


def _is_metric(column: str) -> bool:
    scores = contract()["scores"]
    return _metric(column) in map(bare_column, (*scores["known"], *scores["lower_is_better"]))


def _metric(column: str) -> str:
    """Return the name of a metric without what programs write around it.

    ``outputs.gpt_groundedness``, ``groundedness/v1/score`` and ``groundedness_score`` are all
    ``groundedness``.
    """
    parts = [part for part in re.split(r"[./]", column) if not re.fullmatch(r"v\d+|score", part)]
    name = bare_column(parts[-1]) if parts else ""
    return name.removeprefix("gpt_").removesuffix("_score")


def _count_unread_marks(
    tables: Sequence[Rows], judges: Mapping[str, str], left_out: Counter[tuple[str, str, str]]
) -> None:
    """Count the cells of scores that are no numbers."""
    for rows in tables:
        for column in judges.values():
            cells = [cell for cell in rows.table.get(column, ()) if is_value(cell)]
            n_unread = sum(mark_of(cell) is None for cell in cells)
            if n_unread:
                left_out[rows.source, "score", f"{column!r} is no number"] += n_unread


def _notes_on_units(names: Mapping[str, str], stated: Mapping[str, str]) -> list[str]:
    """Say that a time whose column names no unit is read in seconds."""
    column = names.get("latency")
    if column is None or "latency" in stated or bare_column(column).endswith(("_s", "_seconds")):
        return []
    hint = option("column", f"latency_ms={column}")
    return [f"{column!r} is read in seconds; if it is in milliseconds: {hint}"]


def _unread(
    frames: Sequence[pd.DataFrame],
    chosen: Columns,
    names: Mapping[str, str],
    judges: Mapping[str, str],
) -> tuple[str, ...]:
    """Return the columns that nothing is read from; of a column that is read in part, its paths."""
    read = {*names.values(), *judges.values()}
    unread: list[str] = []
    for name in chosen.unread:
        if name == FILE or name in read:
            continue
        if not any(column.startswith((f"{name}.", f"{name}[")) for column in read):
            unread.append(name)
            continue
        columns = [frame[[name]] for frame in frames if name in frame]
        inner = dict.fromkeys(str(path) for frame in columns for path in with_inner_paths(frame))
        unread += [path for path in inner if path not in read and path != name]
    return tuple(unread)


def _note_numbers(
    frames: Sequence[pd.DataFrame],
    columns: Columns,
    left_out: Counter[tuple[str, str, str]],
    tables: Sequence[Rows],
) -> None:
    """Count the columns that nothing is read from; numbers may be scores."""
    source = tables[0].source if len(tables) == 1 else f"{len(tables)} files"
    inner = [*frames, *map(with_inner_paths, frames)]
    for column in columns.unread:
        reason = f"{column!r} is not read"
        cells = [first_text(opened_or_same(cell)) for cell in cells_of(inner, column)]
        if not cells:
            reason = f"{column!r} is empty"
        elif all(mark_of(cell) is not None for cell in cells) and not _counts_rows(cells):
            reason += f"; if it is a score: {option('scores', column)}"
        elif are_texts(cells):
            reason += ", and holds texts"
            if _is_reference(column) and "reference" not in columns.names:
                reason += f"; if they are references: {option('column', f'reference={column}')}"
        left_out[source, "column", reason] += 1


def _counts_rows(cells: Sequence[object]) -> bool:
    """Tell whether cells are 0, 1, 2 … or 1, 2, 3 …: numbers of rows, not scores."""
    numbers = [number_of(cell) for cell in cells]
    n_rows = len(numbers)
    fewest = 3
    return n_rows >= fewest and numbers in (list(range(n_rows)), list(range(1, n_rows + 1)))


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
        number = mark_of(record.get(column))
        if number is not None:
            marks[judge] = -number if judge in known.lower_wins else number
    return marks


def systems_in_order(tables: Iterable[Rows], column: str) -> list[str]:
    """Return the systems in the order in which the files first name them."""
    names: dict[str, None] = {}
    for rows in tables:
        names.update(dict.fromkeys(str(cell) for cell in rows.table.get(column, ())))
    return list(names)
