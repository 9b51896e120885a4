"""Answers of new systems to an arena's questions, in any table that ``import csv`` reads."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import pandas as pd

from arena.data.cells import is_unstorable
from arena.data.errors import DataError, UsageError, checked_choice
from arena.data.frames import checked_answers, with_language_of
from arena.data.languages import UNDETERMINED
from arena.data.rows import Rows
from arena.data.schema import HISTORY, OWN_PASSAGES, QUESTION_KEY
from arena.data.types import Record
from arena.data.wording import first_of
from arena.text.notes import note_on_systems
from surrogate_arena.importers.amounts import amounts_of
from surrogate_arena.importers.answer_cells import (
    empty_answers,
    open_question,
    open_replies,
    row_language,
    row_passages,
    stripped_name,
    text_of_truth,
)
from surrogate_arena.importers.answer_rows import Repeats
from surrogate_arena.importers.cells import decoded, name_text, storable
from surrogate_arena.importers.collected import Collected, Place, question_id
from surrogate_arena.importers.columns import NO_COLUMNS, bare_column, with_whole_names
from surrogate_arena.importers.evident import evident_kind
from surrogate_arena.importers.files import bare_name
from surrogate_arena.importers.passage_columns import with_whole_passages
from surrogate_arena.importers.table_columns import (
    SINGLE,
    TableLayout,
    table_layout,
    with_file_name,
    with_joined_instruction,
)
from surrogate_arena.importers.table_shapes import in_known_shape, with_named_paths
from surrogate_arena.importers.tables import read_table

_LOG = logging.getLogger(__name__)


def read_answers(
    path: Path | str,
    queries: pd.DataFrame,
    columns: Mapping[str, str] = NO_COLUMNS,
    repeats: str | None = None,
) -> pd.DataFrame:
    """Read the answers of new systems to the questions of an arena.

    Args:
        path: Table of answers in any form that ``import csv`` reads. A row names its question by
            ``query_id``, or by its text where the table has no ids; it may leave out the language
            where that says which question is meant. Without a column for it, the system is the
            one that the file is named for.
        queries: Query table of the arena they answer.
        columns: Field to the name of its column, where the name does not tell.
        repeats: What becomes of a question that a system answers again, one of ``Repeats``,
            as where the arena was imported; None refuses it.

    Returns:
        Columns ``query_id, language, system, answer``; ``passages`` where some answers have their
        own; and ``cost, currency, latency, tokens`` where the table states them.

    Raises:
        UsageError: If there is no such file or column, or no answer in it.
        DataError: For malformed or duplicate answers and answers to unknown questions.
    """
    if repeats is not None:
        checked_choice(repeats, get_args(Repeats), "way to read repeated questions")
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"there is no file of answers at {path}")
    rows = with_whole_passages(with_named_paths(read_table(path), columns), columns)
    rows = with_joined_instruction(rows, columns)
    if rows.table.empty and not rows.problems:
        raise UsageError(f"{path}: there is no answer in it")
    # A file without a column for the system holds the answers of one.
    named_rows = with_file_name(rows, bare_name(path))
    layout = table_layout(
        [named_rows],
        columns,
        is_broken=bool(rows.problems),
        question_fields=("query_id", "question"),
    )
    if layout is None and not rows.problems and evident_kind([path]) is None:
        known = in_known_shape([named_rows], columns, ("query_id", "question"))
        if known is not None:
            [named_rows], layout = known
    if layout is None:
        # The checks say which columns of our own tables are missing.
        return checked_answers(with_language_of(rows, queries), queries)
    collected = Collected(names=layout.columns.names, notes=list(named_rows.notes))
    answers, lines = _answers_of(collected, named_rows, layout, _Questions(queries))
    unread = [column for column in layout.columns.unread if column in rows.table]
    _warn(collected, path.name, unread)
    if not answers and collected.problems:
        raise DataError(collected.problems)
    table = pd.DataFrame(answers, dtype=object)
    if repeats == "each":
        table = _with_numbered_askings(table)
    is_left_out = _is_repeated(table, path.name, repeats, is_single=layout.sides == SINGLE)
    distinct = Rows(
        table[~is_left_out].reset_index(drop=True),
        pd.Series(lines, dtype=int)[~is_left_out].reset_index(drop=True),
        rows.source,
        tuple(collected.problems),
    )
    return checked_answers(distinct, queries)


def _is_repeated(
    table: pd.DataFrame, source: str, repeats: str | None, *, is_single: bool
) -> pd.Series:
    """Tell of each answer whether an earlier one replaces it, and warn of those."""
    # An answer may be in several pairs, or in a row for each judge.
    keys = _comparable(table[[*QUESTION_KEY, "system", "answer"]])
    is_copy = keys.duplicated()
    if is_copy.any() and is_single:
        reason = "rows that repeat an earlier answer: left out"
        _LOG.warning("%s: %s (%d)", source, reason, is_copy.sum())
    if repeats != "first":
        return is_copy
    is_further = keys.duplicated([*QUESTION_KEY, "system"]) & ~is_copy
    if is_further.any():
        reason = "further answers to a question: the first is kept"
        _LOG.warning("%s: %s (%d)", source, reason, is_further.sum())
    return is_copy | is_further


def _comparable(cells: pd.DataFrame) -> pd.DataFrame:
    # JSON may hold lists, which have no hash; the checks refuse them later.
    return cells.map(repr)


def _with_numbered_askings(table: pd.DataFrame) -> pd.DataFrame:
    """Give each further answer to a question the id of that asking, as imports name it."""
    keys = _comparable(table[[*QUESTION_KEY, "system"]])
    number = keys.groupby(list(keys)).cumcount() + 1
    numbered = table["query_id"] + "-" + number.astype(str)
    return table.assign(query_id=table["query_id"].where(number == 1, numbered))


def _answers_of(
    collected: Collected, rows: Rows, layout: TableLayout, questions: _Questions
) -> tuple[list[Record], list[int]]:
    """Return the answers of a table, and the line of each."""
    answers: list[Record] = []
    lines: list[int] = []
    empty = Counter[str]()
    for place, record in collected.raw(with_whole_names(rows, layout.columns.names)):
        values = {field: storable(cell) for field, cell in layout.columns.values(record).items()}
        if is_unstorable(record):
            collected.skip(place, "half a surrogate pair", "read as U+FFFD in a text")
        open_question(collected, place, values)
        question = _question_of(collected, place, values, questions)
        if question is None:
            continue
        open_replies(collected, place, values, layout.sides)
        empty.update(empty_answers(values, layout.sides))
        for side in layout.sides:
            answers.append(_answer(collected, place, values, side, question))
            lines.append(place.line)
    if empty:
        collected.notes.append(note_on_systems(empty, "is empty", "are empty"))
    return answers, lines


def _warn(collected: Collected, source: str, unread: Sequence[str]) -> None:
    """Warn of what was left out or changed in a file of answers."""
    for note in collected.notes:
        _LOG.warning("%s: %s", source, note)
    for (_, noun, reason), count in sorted(collected.skips.items()):
        _LOG.warning("%s: %s: %s (%d)", source, noun, reason, count)
    if unread:
        most_columns = 5
        listed = first_of([repr(column) for column in unread], most_columns)
        _LOG.warning("%s: not read: %s", source, listed)


class _Questions:
    """The questions of an arena as rows of its query table, by id and by text."""

    def __init__(self, queries: pd.DataFrame) -> None:
        self.by_id: dict[str, list[Record]] = {}
        self.by_text: dict[str, list[Record]] = {}
        for question in queries.to_dict(orient="records"):
            self.by_id.setdefault(str(question["query_id"]), []).append(question)
            self.by_text.setdefault(_text_of(question), []).append(question)

    def with_text(self, text: str, history: object, language: str) -> Record | None:
        """Return the question of a text, and of the turns before it if several have the text."""
        questions = self.by_text.get(text, [])
        # Of questions with one text, the one after the same turns is meant.
        text_id = question_id(text, history)
        exact = [question for question in questions if str(question["query_id"]) == text_id]
        return _only(exact, language) or _only(questions, language)


def _text_of(question: Record) -> str:
    return str(question.get("query", "")).strip()


def _only(questions: Sequence[Record], language: str) -> Record | None:
    fitting = [question for question in questions if language in ("", question["language"])]
    return fitting[0] if len(fitting) == 1 else None


def _question_of(
    collected: Collected, place: Place, values: Record, questions: _Questions
) -> Record | None:
    """Return the question that a row answers; None if there is none, which is a fault."""
    language = row_language(collected, place, values.get("language"), default="")
    if language is None:
        return None
    named_id = name_text(values.get("query_id"))
    if named_id is None:
        return _question_by_text(collected, place, values, questions, language)
    query_id = str(named_id).strip()
    same_id = questions.by_id.get(query_id, [])
    question = _only(same_id, language)
    if question is None and not language and len(same_id) > 1:
        collected.fault(
            place,
            "language",
            None,
            fault="is missing, and the question is asked in several languages",
            hint="add a column with its language",
        )
        return None
    if question is None:
        # The checks of the whole table say that the arena has no such question.
        return {"language": language or UNDETERMINED, "query_id": query_id}
    if _has_other_text(collected, values, question):
        collected.fault(
            place,
            "question",
            name_text(values.get("question")),
            fault=f"is not the text that the question {query_id!r} has in the arena",
            hint="give the question's own id, or its text alone",
        )
        return None
    return question


def _question_by_text(
    collected: Collected, place: Place, values: Record, questions: _Questions, language: str
) -> Record | None:
    """Return the question of a row without an id; None if its text is of none, or of several."""
    history = storable(decoded(values.get(HISTORY)))
    question = questions.with_text(_stripped_question(values), history, language)
    if question is None:
        collected.fault(
            place,
            "question",
            name_text(values.get("question")),
            fault="is not the text of one question of the arena",
            hint="write it as there, or give its query_id",
        )
    return question


def _has_other_text(collected: Collected, values: Record, question: Record) -> bool:
    """Tell whether a row that names a question by its id has the text of another one."""
    # Any other column may be the name of the prompt, which 'generate' notes.
    column = bare_column(collected.names.get("question", ""))
    text = _stripped_question(values)
    is_text = column in ("question", "query", "user_input")
    return is_text and bool(text) and text != _text_of(question)


def _stripped_question(values: Record) -> str:
    text = name_text(values.get("question"))
    return text.strip() if isinstance(text, str) else ""


def _answer(
    collected: Collected, place: Place, values: Record, side: str, question: Record
) -> Record:
    system = name_text(values.get(f"system{side}"))
    if isinstance(system, str) and system.strip():
        system = stripped_name(collected, place, system)
    answer = values.get(f"answer{side}")
    row: Record = {
        "query_id": str(question["query_id"]),
        "language": str(question["language"]),
        "system": system,
        "answer": "" if answer is None else name_text(text_of_truth(answer)),
    }
    history = storable(decoded(values.get(HISTORY)))
    if history and history != question.get(HISTORY):
        row[HISTORY] = history
    shared = question.get("passages") or []
    row[OWN_PASSAGES] = _different_passages(collected, place, values.get("passages"), shared)
    if not side:
        row.update(amounts_of(collected, place, values))
    return row


def _different_passages(
    collected: Collected, place: Place, cell: object, shared: Sequence[Mapping[str, Any]]
) -> object:
    """Return the passages of an answer; None if they are those of its question."""
    ids = {passage["passage_id"] for passage in shared}
    # Passages may be ids among the question's; an empty list says that there were none.
    if isinstance(cell, list) and all(isinstance(name, str) and name in ids for name in cell):
        return cell
    passages = storable(row_passages(collected, place, cell))
    if not passages:
        return None
    texts = [passage["text"] for passage in passages]
    return passages if texts != [passage["text"] for passage in shared] else None
