"""Columns of tables of answers: which are read, and names and numbers as programs write them.

The first of three passes: columns, then the values of each row, then the arena.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import pandas as pd

from arena.data.errors import checked_choice
from arena.data.rows import Rows
from arena.data.schema import TURN, WEIGHT
from arena.data.wording import count_of
from surrogate_arena.importers.answer_cells import is_missing_mark
from surrogate_arena.importers.cells import has_decimal_comma, is_missing_cell
from surrogate_arena.importers.collected import Collected
from surrogate_arena.importers.columns import (
    FILE,
    NEEDED,
    NEEDED_OF_PAIRS,
    ChosenColumns,
    FieldNames,
    bare_column,
    chosen_columns,
    field_names,
)

_ALPACA = ("instruction", "input", "output")
"""Columns of data in Alpaca's form: what to do, with what, and the reply."""
_SHARE = re.compile(r"\s*(?P<points>[0-9]{1,3}(?:[.,][0-9]{1,3})?)\s*/\s*(?P<most>[0-9]{1,3})\s*")
"""Points of the most that there are, such as ``4/5``."""
SINGLE: tuple[str, ...] = ("",)
"""Ending of the fields of a row's only answer."""
PAIR: tuple[str, ...] = ("_a", "_b")
"""Endings of the fields of a row's two answers."""


@dataclass(frozen=True)
class TableLayout:
    """The layout of a table: its columns, and whether a row is an answer or a pair.

    Attributes:
        columns: The column of each field.
        sides: Endings of the fields of a row's answers: ``SINGLE`` or ``PAIR``.
    """

    columns: ChosenColumns
    sides: tuple[str, ...]

    @property
    def is_pairs(self) -> bool:
        """Whether a row is a pair of answers."""
        return self.sides == PAIR


def with_file_name(rows: Rows, stem: str) -> Rows:
    """Add a column with the name of the file, unless there is one."""
    if FILE in rows.table:
        return rows
    return replace(rows, table=rows.table.assign(**{FILE: stem}).astype(object))


def with_joined_instruction(rows: Rows, columns: Mapping[str, str]) -> Rows:
    """Join Alpaca's ``instruction`` and ``input`` to one question, where a row has both.

    Args:
        rows: A table.
        columns: Field to the column that the user chose; a question that was chosen stays.

    Returns:
        The table as it was where it lacks one of Alpaca's columns, another one is known for
        questions, or no row has both texts.
    """
    table = rows.table
    questions = set(field_names("answers")["question"])
    found = {bare_column(name): name for name in map(str, table)}
    known = [name for name in map(str, table) if bare_column(name) in questions]
    if "question" in columns or not found.keys() >= {*_ALPACA} or len(known) != 2:
        return rows
    instruction, given = found["instruction"], found["input"]
    if {instruction, given} & {*columns.values()}:
        return rows
    n_joined = 0
    cells = []
    for texts in table[[instruction, given]].itertuples(index=False, name=None):
        filled = [text for text in texts if not is_missing_cell(text)]
        # A list or a record is no part of a question's text.
        if not all(isinstance(text, str) for text in filled):
            return rows
        n_joined += len(filled) == 2
        cells.append("\n\n".join(filled) or None)
    if not n_joined:
        return rows
    questions_of_rows = pd.Series(cells, table.index, dtype=object)
    table = table.drop(columns=given).assign(**{instruction: questions_of_rows})
    row_count = count_of(n_joined, "row")
    note = f"{rows.source}: the question of {row_count} is {instruction!r} and {given!r}"
    return replace(rows, table=table, notes=(*rows.notes, note))


def table_layout(
    tables: Sequence[Rows],
    columns: Mapping[str, str],
    *,
    is_broken: bool,
    question_fields: Sequence[str] = ("question",),
) -> TableLayout | None:
    """Choose the columns of tables of answers, and tell whether their rows are pairs.

    Args:
        tables: Tables of one layout.
        columns: Field to the column that the user chose.
        is_broken: Whether some rows could not be read, so that a column may be missing.
        question_fields: Fields that identify a question, of which one must be there.

    Returns:
        The layout; None if the columns are those of neither.

    Raises:
        UsageError: If the user chose a column that is not there, or an unknown field.
    """
    frames = [rows.table for rows in tables]
    for field in columns:
        all_fields = {**field_names("answers"), **field_names("pairs")}
        checked_choice(field, all_fields, "field of a table of answers")
    # A column that the user named may be in the rows that could not be read.
    if is_broken:
        present = set(map(str, chain.from_iterable(frames)))
        columns = {field: name for field, name in columns.items() if name in present}
    pair_fields = dict(field_names("pairs"))
    answer_fields = dict(field_names("answers"))
    for field in (TURN, WEIGHT):
        answer_fields.pop(field, None)  # a mark of one answer has no weight
    pair_fields.pop(TURN, None)
    pairs = chosen_columns(frames, pair_fields, _of_fields(columns, pair_fields))
    if _is_complete(pairs, NEEDED_OF_PAIRS, question_fields):
        return TableLayout(pairs, PAIR)
    answer_fields["system"] = _names_of_systems(frames, answer_fields["system"])
    named = _of_fields(columns, answer_fields)
    answers = chosen_columns(frames, answer_fields, named)
    generated = _generated_answers(frames, answers, answer_fields["answer"])
    if generated is not None and "answer" not in named:
        answers = chosen_columns(frames, answer_fields, {**named, "answer": generated})
    if not _is_complete(answers, NEEDED, question_fields):
        return None
    return None if holds_records(frames, answers.names["answer"]) else TableLayout(answers, SINGLE)


def holds_records(frames: Sequence[pd.DataFrame], column: str) -> bool:
    """Tell whether all cells of a column are records, which are no texts."""
    cells = [
        cell for frame in frames for cell in frame.get(column, ()) if not is_missing_cell(cell)
    ]
    return bool(cells) and all(isinstance(cell, Mapping) for cell in cells)


def _names_of_systems(frames: Sequence[pd.DataFrame], names: Sequence[str]) -> tuple[str, ...]:
    """Leave out the name ``system`` where its column holds prompts, and another one fits.

    Chats call the instructions to a model its system prompt, or ``system``.
    """
    others = tuple(name for name in names if name != "system")
    prompts = _cells_of(frames, ("system",))
    if not prompts or not all(_is_prompt(str(cell)) for cell in prompts):
        return tuple(names)
    # Every table has a file's name, which is no sign of prompts.
    has_other_names = bool(_cells_of(frames, [name for name in others if name != FILE]))
    return others if has_other_names else tuple(names)


def _cells_of(frames: Sequence[pd.DataFrame], names: Sequence[str]) -> list[object]:
    """Return the cells of the columns with some names that are not missing."""
    cells: list[object] = []
    for frame in frames:
        for column in frame:
            if bare_column(str(column)) in names:
                cells += [cell for cell in frame[column] if not is_missing_cell(cell)]
    return cells


def _is_prompt(text: str) -> bool:
    longest_name = 100
    return len(text) > longest_name or "\n" in text or text.endswith((".", "!", "?", ":", "。"))


def _of_fields(columns: Mapping[str, str], fields: FieldNames) -> dict[str, str]:
    return {field: name for field, name in columns.items() if field in fields}


def _is_complete(
    chosen: ChosenColumns, needed: Sequence[str], question_fields: Sequence[str]
) -> bool:
    names = chosen.names.keys()
    return names >= {*needed} - {"question"} and not names.isdisjoint(question_fields)


def _generated_answers(
    frames: Sequence[pd.DataFrame], chosen: ChosenColumns, answer_names: Sequence[str]
) -> str | None:
    """Return another column of answers where the chosen one holds right answers instead.

    These are the same for all systems that answer a question.
    """
    names = chosen.names
    question = names.get("query_id", names.get("question"))
    if question is None or "system" not in names or "answer" not in names:
        return None
    # Columns of this name may also hold how a run ended.
    usable = [name for name in answer_names if name != "result"]
    unread = [column for column in chosen.unread if bare_column(column) in usable]
    unread.sort(key=lambda column: usable.index(bare_column(column)))
    for column in (names["answer"], *unread):
        if not _is_shared(frames, question, names["system"], column):
            return column if column != names["answer"] else None
    return None


def _is_shared(frames: Sequence[pd.DataFrame], question: str, system: str, column: str) -> bool:
    """Return whether all systems have one text for each question that several answer."""
    # No pandas: a column of texts cannot hold half a surrogate pair, which is read later.
    systems: dict[str, set[str]] = defaultdict(set)
    texts: dict[str, set[str]] = defaultdict(set)
    for frame in frames:
        if {question, system, column} <= set(frame):
            for cells in zip(frame[question], frame[system], frame[column], strict=True):
                query, name, text = map(str, cells)
                systems[query].add(name)
                texts[query].add(text)
    n_texts = [len(texts[query]) for query, names in systems.items() if len(names) > 1]
    return bool(n_texts) and max(n_texts) == 1


def count_unread(
    collected: Collected, rows: Rows, chosen: ChosenColumns, further: Sequence[str]
) -> None:
    """Count the columns of a file that are not read; ``further`` columns are read too."""
    fallbacks = set(chain.from_iterable(chosen.fallbacks.values()))
    for column, reason in chosen.unread.items():
        if column in fallbacks:
            collected.notes.append(f"{rows.source}: {reason}: it is read there")
        elif column in rows.table and column not in further:
            collected.skip(rows.source, "column", reason)


def with_shares(table: pd.DataFrame, column: str | None) -> pd.DataFrame:
    """Write marks such as ``4/5`` as numbers, where a column holds nothing but such marks."""
    if column is None or column not in table:
        return table
    shares = [None if is_missing_mark(cell) else _share_of(cell) for cell in table[column]]
    n_marks = sum(not is_missing_mark(cell) for cell in table[column])
    n_shares = sum(share is not None for share in shares)
    # A plain number beside them may be of another scale.
    if not n_shares or n_shares < n_marks:
        return table
    return table.assign(**{column: pd.Series(shares, table.index, dtype=object)})


def _share_of(cell: object) -> float | None:
    match = _SHARE.fullmatch(cell) if isinstance(cell, str) else None
    if match is None:
        return None
    points = float(match["points"].replace(",", "."))
    most = int(match["most"])
    return points / most if most > 0 and points <= most else None


def has_decimal_commas(table: pd.DataFrame, column: str | None) -> bool:
    """Return whether numbers of a column have a decimal comma."""
    if column is None or column not in table:
        return False
    return any(isinstance(cell, str) and has_decimal_comma(cell) for cell in table[column])


def has_only_decimal_commas(table: pd.DataFrame, column: str | None) -> bool:
    """Return whether commas in a column of numbers can only be decimal commas.

    They do if that is sure of one number, and no number has a point or a second comma.
    """
    if not has_decimal_commas(table, column):
        return False
    texts = [cell for cell in table[column] if isinstance(cell, str)]
    return not any("." in text or text.count(",") > 1 for text in texts)
