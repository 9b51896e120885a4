"""Answers of new systems to an arena's questions, in any table that ``import csv`` reads."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from arena.adapters.answer_tables import (
    empty_answers,
    open_replies,
    row_language,
    stripped_name,
    table_columns,
    text_of_truth,
    with_file_name,
    with_whole_names,
)
from arena.adapters.collected import Collected, Place, Record, question_id, said_of_systems
from arena.adapters.columns import NO_COLUMNS, bare_column
from arena.adapters.files import bare_name
from arena.data.cells import decoded, is_unstorable, name_text, storable
from arena.data.errors import DataError, Problem, UsageError
from arena.data.folder import append_rows, read_arena
from arena.data.frames import answers_of_frame, checked_answers, with_language_of
from arena.data.languages import UNDETERMINED
from arena.data.passages import passages_of
from arena.data.rows import Rows
from arena.data.schema import ANSWER_KEY, HISTORY, OWN_PASSAGES, QUESTION_KEY
from arena.data.systems import refuse_names_alike
from arena.data.tables import read_rows

_LOG = logging.getLogger(__name__)
_EXTRA_COLUMNS_SAID = 5
_NAMES_OF_TEXT = ("question", "query", "user_input")

Key = tuple[str, str]
"""Language and id of a question."""


def open_answers(
    answers: pd.DataFrame | Path | str,
    queries: pd.DataFrame,
    columns: Mapping[str, str] = NO_COLUMNS,
) -> pd.DataFrame:
    """Return answers to the questions of an arena, read by ``read_answers`` if a path is given.

    A table has ``query_id, system, answer``, and ``language`` unless ids of questions are unique.
    """
    if isinstance(answers, Path | str):
        return read_answers(answers, queries, columns)
    return answers_of_frame(answers, queries)


def read_answers(
    path: Path | str, queries: pd.DataFrame, columns: Mapping[str, str] = NO_COLUMNS
) -> pd.DataFrame:
    """Read the answers of new systems to the questions of an arena.

    Args:
        path: Table of answers in any form that ``import csv`` reads. A row names its question by
            ``query_id``, or by its text where the table has no ids; it may leave out the language
            where that says which question is meant. Without a column for it, the system is the
            one that the file is named for.
        queries: Query table of the arena they answer.
        columns: Field to the name of its column, where the name does not tell.

    Returns:
        Columns ``query_id, language, system, answer``, and ``passages`` where some answers have
        their own.

    Raises:
        UsageError: If there is no such file or column, or no answer in it.
        DataError: For malformed or duplicate answers and answers to unknown questions.
    """
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"there is no file of answers at {path}")
    rows = read_rows(path)
    if rows.table.empty and not rows.problems:
        raise UsageError(f"{path}: there is no answer in it")
    named_rows = with_file_name(rows, bare_name(path))
    known_by = ("query_id", "question")
    chosen, sides = table_columns([named_rows], columns, bool(rows.problems), known_by)
    if chosen is None:
        return checked_answers(with_language_of(rows, queries), queries)
    read = Collected(names=chosen.names, notes=list(rows.notes))
    questions = _Questions(queries)
    answers: list[Record] = []
    places: list[Place] = []
    empty = Counter[str]()
    for place, record in read.raw(with_whole_names(named_rows, chosen.names)):
        values = {field: storable(value) for field, value in chosen.values(record).items()}
        if is_unstorable(record):
            read.skip(place.source, "half a surrogate pair", "read as U+FFFD in a text")
        key = _question_of(read, place, values, questions)
        if key is None:
            continue
        open_replies(read, place, values, sides)
        empty.update(empty_answers(values, sides))
        for side in sides:
            answers.append(_answer(read, place, values, side, key, questions))
            places.append(place)
    if empty:
        read.notes.append(said_of_systems(empty, "is empty", "are empty"))
    _tell(read, path.name, [column for column in chosen.unread if column in rows.table])
    if not answers and read.problems:
        raise DataError(read.problems)
    table = pd.DataFrame(answers, dtype=object)
    lines = pd.Series([place.line for place in places], dtype=int)
    distinct = _without_copies(table, lines)
    copies = len(table) - len(distinct[0])
    if copies and len(sides) == 1:
        _LOG.warning("%s: rows that repeat an earlier answer: left out (%d)", path.name, copies)
    found = Rows(distinct[0], distinct[1], rows.source, tuple(read.problems))
    return checked_answers(found, queries)


class _Questions:
    """The questions of an arena, by id and by text."""

    def __init__(self, queries: pd.DataFrame) -> None:
        self.passages: dict[Key, list[dict[str, Any]]] = {}
        self.texts: dict[Key, str] = {}
        self.histories: dict[Key, object] = {}
        self._by_id: dict[str, list[Key]] = {}
        self._by_text: dict[str, list[Key]] = {}
        for row in queries.to_dict(orient="records"):
            key = (str(row["language"]), str(row["query_id"]))
            self.passages[key] = row.get("passages") or []
            self.histories[key] = row.get(HISTORY)
            self.texts[key] = str(row.get("query", "")).strip()
            self._by_id.setdefault(key[1], []).append(key)
            self._by_text.setdefault(self.texts[key], []).append(key)

    def with_id(self, query_id: str, language: str) -> Key | None:
        return _only(self._by_id.get(query_id, []), language)

    def is_ambiguous(self, query_id: str) -> bool:
        return len(self._by_id.get(query_id, ())) > 1

    def with_text(self, text: str, history: object, language: str) -> Key | None:
        """Return the question of a text, and of the turns before it if several have the text."""
        keys = self._by_text.get(text, [])
        exact = [key for key in keys if key[1] == question_id(text, history)]
        return _only(exact, language) or _only(keys, language)


def _only(keys: Sequence[Key], language: str) -> Key | None:
    fitting = [key for key in keys if language in ("", key[0])]
    return fitting[0] if len(fitting) == 1 else None


def _question_of(
    read: Collected, place: Place, values: Record, questions: _Questions
) -> Key | None:
    """Return the question that a row answers; None after telling that there is none."""
    language = row_language(read, place, values.get("language"), default="")
    if language is None:
        return None
    named, text = name_text(values.get("query_id")), name_text(values.get("question"))
    question = text.strip() if isinstance(text, str) else ""
    if named is None:
        key = questions.with_text(question, storable(decoded(values.get(HISTORY))), language)
        if key is None:
            fault = "is not the text of one question of the arena"
            read.fault(place, "question", text, fault, "write it as there, or give its query_id")
        return key
    query_id = str(named).strip()
    if bare_column(read.names.get("question", "")) not in _NAMES_OF_TEXT:
        question = ""  # such as the name of the prompt, which 'generate' notes
    key = questions.with_id(query_id, language)
    if key is None and not language and questions.is_ambiguous(query_id):
        fault = "is missing, and the question is asked in several languages"
        read.fault(place, "language", None, fault, "add a column with its language")
        return None
    if key is None:
        return language or UNDETERMINED, query_id
    if question and question != questions.texts[key]:
        fault = f"is not the text that the question {query_id!r} has in the arena"
        read.fault(place, "question", text, fault, "give the question's own id, or its text alone")
        return None
    return key


def _answer(
    read: Collected, place: Place, values: Record, side: str, key: Key, questions: _Questions
) -> Record:
    system, answer = name_text(values.get(f"system{side}")), values.get(f"answer{side}")
    if isinstance(system, str) and system.strip():
        system = stripped_name(read, place, system)
    row: Record = {"query_id": key[1], "language": key[0], "system": system}
    row["answer"] = "" if answer is None else name_text(text_of_truth(answer))
    history = storable(decoded(values.get(HISTORY)))
    if history and history != questions.histories.get(key):
        row[HISTORY] = history
    row[OWN_PASSAGES] = _own_passages(read, place, values, questions.passages.get(key, []))
    return row


def _own_passages(
    read: Collected, place: Place, values: Record, shared: Sequence[Mapping[str, Any]]
) -> object:
    """Return the passages of an answer; None where they are those of its question."""
    given: Any = values.get("passages")
    ids = {passage["passage_id"] for passage in shared}
    if isinstance(given, list) and all(isinstance(each, str) and each in ids for each in given):
        return given  # by their ids among the question's; an empty list says that there were none
    try:
        passages = storable(passages_of(given))
    except ValueError as error:
        hint = "give a text, a list of texts, or a list of {passage_id, text}"
        read.fault(place, "passages", given, str(error), hint)
        return None
    texts = [passage["text"] for passage in passages]
    is_shared = texts == [passage["text"] for passage in shared]
    return passages if passages and not is_shared else None


def _without_copies(table: pd.DataFrame, lines: pd.Series) -> tuple[pd.DataFrame, pd.Series]:
    """Keep each answer once; one may stand in several pairs, or in a row for each judge."""
    is_kept = ~table.duplicated([*QUESTION_KEY, "system", "answer"])
    return table[is_kept].reset_index(drop=True), lines[is_kept].reset_index(drop=True)


def _tell(read: Collected, source: str, unread: Sequence[str]) -> None:
    """Tell the user what was left out or changed in a file of answers."""
    for note in read.notes:
        _LOG.warning("%s: %s", source, note)
    for (_, item, reason), count in sorted(read.skips.items()):
        _LOG.warning("%s: %s: %s (%d)", source, item, reason, count)
    if unread:
        more = len(unread) - _EXTRA_COLUMNS_SAID
        listed = ", ".join(map(repr, unread[:_EXTRA_COLUMNS_SAID]))
        _LOG.warning("%s: not read: %s%s", source, listed, f" and {more} more" if more > 0 else "")


def add_answers(
    folder: Path | str,
    answers: pd.DataFrame | Path | str,
    columns: Mapping[str, str] = NO_COLUMNS,
) -> tuple[Path, int, int]:
    """Add a new system's answers, or further answers of a known one, to an arena folder.

    Args:
        folder: Arena folder; new systems are declared in its ``arena.json``.
        answers: Columns ``query_id, language, system, answer``, or the path of their file; those
            that are there already are left as they are.
        columns: Field to the name of its column in the file.

    Returns:
        The file, how many were added, and how many were there.

    Raises:
        UsageError: If the folder is no arena folder, there is no such file, or the name of a new
            system looks like another's.
        DataError: For malformed answers, answers to unknown questions, and answers that differ
            from those that the same system has there; nothing is added.
    """
    arena = read_arena(folder)
    given = open_answers(answers, arena.queries, columns)
    known = arena.answers.set_index(ANSWER_KEY)["answer"]
    before = pd.Series(known.reindex(pd.MultiIndex.from_frame(given[ANSWER_KEY])).to_numpy())
    differs = given[before.notna() & (before != given["answer"])]
    source, field = answers.name if isinstance(answers, Path) else "answers", "+".join(ANSWER_KEY)
    fault = "the arena holds another answer of this system to this question"
    hint = "leave it out, or give the new version of the system a name of its own"
    if len(differs):
        keys = differs[ANSWER_KEY].itertuples(index=False, name=None)
        raise DataError([Problem(source, None, field, key, fault, hint) for key in keys])
    known_systems = set(arena.info.systems)
    refuse_names_alike(set(given["system"]) - known_systems, known_systems)
    file, added = append_rows(folder, "answers", given)
    return file, added, len(given) - added
