"""Answers of new systems to an arena's questions, in any plain table."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from arena.data.errors import DataError, UsageError
from arena.data.frames import checked_answers
from arena.data.schema import ANSWERS, HISTORY, OWN_PASSAGES
from arena.data.types import Record
from surrogate_arena.importers.answer_rows import (
    AnswerRows,
    Repeats,
    check_repeats_choice,
    language_of_row,
    passages_of_row,
    row_values,
)
from surrogate_arena.importers.collected import Collected, Place, question_id
from surrogate_arena.importers.contract import NO_COLUMNS
from surrogate_arena.importers.foreign_arena import collected_rows, shown_answer
from surrogate_arena.importers.passages import number_of_first
from surrogate_arena.importers.plain_tables import known_tables, tables_of_files
from surrogate_arena.importers.values import name_text

_LOG = logging.getLogger(__name__)


def read_answers(
    path: Path | str,
    queries: pd.DataFrame,
    columns: Mapping[str, str] = NO_COLUMNS,
    repeats: Repeats | None = None,
) -> pd.DataFrame:
    """Read new systems' answers to an arena's questions; log how, and what was left out.

    Args:
        path: As for ``import csv``. A row names its question by ``query_id`` or text, and its
            language where these are not unique. A file's name is the system if no column is.
        queries: ``Arena.queries``.
        columns: Field to column, if its name does not tell.
        repeats: Treatment of questions that a system answers again, as when the arena was
            imported; None refuses them.

    Returns:
        Columns ``query_id, language, system, answer``; perhaps own ``passages``, and ``cost,
        currency, latency, tokens``.

    Raises:
        UsageError: For an absent file or column, no answer, or ambiguity.
        DataError: For faulty or repeated answers, or unknown questions.

    Examples:
        >>> from surrogate_arena import sample_arena
        >>> arena = sample_arena()
        >>> arena.answers[["query_id", "answer"]].head(1).to_csv("new.csv", index=False)
        >>> read_answers("new.csv", arena.queries)["system"].tolist()
        ['new']
    """
    check_repeats_choice(repeats)
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"there is no file of answers at {path}")
    tables = tables_of_files([path])
    known = known_tables(
        tables, columns=columns, needed=("system", "answer"), may_repeat=repeats is not None
    )
    collected = Collected(names=known.columns.names, notes=list(known.notes))
    collected.skips.update(known.left_out)
    questions = _Questions(queries)
    placed = []
    for place, record in collected.raw(known.tables[0]):
        placed.append((place, row_values(collected, place, known.columns.values(record))))
    first_number = number_of_first(values for _, values in placed)
    rows = AnswerRows(collected, repeats=repeats, first_number=first_number)
    for place, values in placed:
        question = _question_of(collected, place, values, questions)
        if question is not None:
            _add_answer(rows, place, values, question)
    if not collected.answers and collected.problems:
        raise DataError(collected.problems)
    if not collected.answers:
        raise UsageError(f"{path}: there is no answer in it")
    collected.notes.insert(0, f"the first row is {', '.join(shown_answer(collected))}")
    _log(collected, path.name)
    answers = collected_rows(collected.answers.values(), ANSWERS)
    return checked_answers(replace(answers, problems=tuple(collected.problems)), queries)


def _log(collected: Collected, source: str) -> None:
    _LOG.warning("%s: %s", source, "; ".join(collected.notes))
    left_out = []
    for (_, noun, reason), count in sorted(collected.skips.items()):
        if count:
            left_out.append(reason if noun == "column" else f"{noun}: {reason} ({count})")
    if left_out:
        _LOG.warning("%s: left out or changed: %s", source, "; ".join(left_out))


class _Questions:
    """The questions of an arena by id and by text."""

    def __init__(self, queries: pd.DataFrame) -> None:
        self.by_id: dict[str, list[Record]] = {}
        self.by_text: dict[str, list[Record]] = {}
        for question in queries.to_dict(orient="records"):
            self.by_id.setdefault(str(question["query_id"]), []).append(question)
            self.by_text.setdefault(_text_of(question), []).append(question)

    def with_text(self, text: str, history: object, language: str) -> Record | None:
        """Return the question of a text, and of its history if several have the text."""
        questions = self.by_text.get(text, [])
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
    language = language_of_row(collected, place, values.get("language"), default="")
    if language is None:
        return None
    text = str(name_text(values.get("question")) or "").strip()
    named_id = name_text(values.get("query_id"))
    if named_id is None:
        question = questions.with_text(text, values.get(HISTORY), language)
        if question is None:
            fault = "is not the text of one question of the arena"
            hint = "write it as there, or give its query_id"
            collected.fault(place, "question", text, fault, hint)
        return question
    query_id = str(named_id).strip()
    same_id = questions.by_id.get(query_id, [])
    question = _only(same_id, language)
    if question is None and not language and len(same_id) > 1:
        fault = "is missing, and the question is asked in several languages"
        collected.fault(place, "language", None, fault, "add a column with its language")
        return None
    if question is None:
        # The checks of the whole table say that the arena has no such question.
        return {"language": language or "und", "query_id": query_id}
    if text and text != _text_of(question) and "?" in text:
        fault = f"is not the text that the question {query_id!r} has in the arena"
        hint = "give the question's own id, or its text alone"
        collected.fault(place, "question", text, fault, hint)
        return None
    return question


def _add_answer(rows: AnswerRows, place: Place, values: Record, question: Record) -> None:
    key = (str(question["language"]), str(question["query_id"]))
    if values.get(HISTORY) == question.get(HISTORY):
        values.pop(HISTORY, None)
    shared = question.get("passages") or []
    passages = _different_passages(rows, place, values.get("passages"), shared)
    row = rows.add_answer(place, key, values, {})
    if row is not None:
        shown = {"query": question.get("query"), OWN_PASSAGES: shared}
        rows.collected.queries.setdefault(key, shown)
        row.setdefault(OWN_PASSAGES, passages)


def _different_passages(
    rows: AnswerRows, place: Place, cell: object, shared: Sequence[Mapping[str, Any]]
) -> object:
    ids = {passage["passage_id"] for passage in shared}
    # Passages may be ids among the question's; an empty list says that there were none.
    if isinstance(cell, list) and all(isinstance(name, str) and name in ids for name in cell):
        return cell
    passages = passages_of_row(rows.collected, place, cell, rows.first_number)
    if not passages:
        return None
    texts = [passage["text"] for passage in passages]
    return passages if texts != [passage["text"] for passage in shared] else None
