"""An arena from tables in memory, checked as a folder is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
import pandera.pandas as pa
from pydantic import ValidationError

from arena.data.arena import Arena
from arena.data.errors import DataError, Problem, UsageError
from arena.data.folder import (
    LANGUAGE,
    checked_answers,
    checked_arena,
    empty_rows,
    read_answers,
    with_language_of,
)
from arena.data.languages import LANGUAGE_CODE
from arena.data.rows import Rows, plain_table
from arena.data.schema import (
    ANSWER_KEY,
    ANSWERS,
    JUDGMENTS,
    PASSAGES,
    QUERIES,
    QUESTION_KEY,
    ArenaInfo,
    check_table,
    duplicates,
    passages_of,
    unknown_questions,
    validation_problems,
    whole_digits,
)
from arena.data.tables.published import TABLE as PUBLISHED_RATINGS

PASSAGES_COLUMN = "passages"
SYSTEM = "system"
_WHOLE = "from_frames"
_KEYS = ("query_id", "system", "system_a", "system_b", "passage_id")
_OPTIONAL = ("title", "relevance")
_OWN_PASSAGES = PASSAGES.add_columns({SYSTEM: ANSWERS.columns[SYSTEM]})


@dataclass(frozen=True)
class Frames:
    """The tables of an arena, as ``Arena.from_frames`` takes them."""

    questions: pd.DataFrame
    answers: pd.DataFrame
    judgments: pd.DataFrame | None
    passages: pd.DataFrame | None
    published_ratings: pd.DataFrame | None
    attributes: pd.DataFrame | None


@dataclass(frozen=True)
class Told:
    """What is told of an arena beside its tables; without systems those that answer."""

    name: str
    systems: Sequence[str] | None
    reference_system: str | None
    source: str
    note: str


def arena_of_frames(
    frames: Frames,
    told: Told,
    language: str | None = None,
    judge: str | None = None,
) -> Arena:
    """Make an arena of tables in memory; ``Arena.from_frames`` says what they hold.

    Args:
        frames: The tables.
        told: Its name, systems and the like.
        language: Language code of rows that name none.
        judge: Judge of rows that name none.
    """
    if language is not None and not re.fullmatch(LANGUAGE_CODE, language):
        fault, hint = "is not a language code", "use an ISO 639-1 code such as 'en' or 'zh'"
        raise DataError([Problem(_WHOLE, None, LANGUAGE, language, fault, hint)])
    asked = _rows(frames.questions, "questions", QUERIES, language)
    answered = _rows(frames.answers, "answers", ANSWERS, language, asked)
    judged = empty_rows(JUDGMENTS)
    if frames.judgments is not None:
        judged = _rows(frames.judgments, "judgments", JUDGMENTS, language, asked)
        judged = _filled(judged, "judge", judge)
    problems: list[Problem] = []
    shared = None
    if frames.passages is not None:
        every = _passage_rows(frames.passages, language, asked)
        shared, own = _shared_and_own(every, asked, answered)
        problems = [*_passage_problems(shared, asked), *_own_problems(own, answered)]
        answered = answered if problems else _with_own(answered, own)
    asked = _with_passages(asked, None if problems else shared)
    languages = [code for code in _distinct(asked, LANGUAGE) if re.fullmatch(LANGUAGE_CODE, code)]
    systems = _distinct(answered, "system") if told.systems is None else told.systems
    info = _info(**{**vars(told), "languages": languages, "systems": systems})
    published, made = frames.published_ratings, frames.attributes
    try:
        rated = None if published is None else frame_rows(published, PUBLISHED_RATINGS)
        attributes = None if made is None else frame_rows(made, "attributes")
        arena = checked_arena(info, asked, answered, judged, rated, attributes)
    except DataError as error:
        raise DataError([*problems, *error.problems]) from None
    if problems:
        raise DataError(problems)
    return arena


def open_answers(answers: pd.DataFrame | Path | str, queries: pd.DataFrame) -> pd.DataFrame:
    """Return answers to the questions of an arena, read from their file if a path is given.

    Args:
        answers: A file of answers in any row format; or the table ``query_id, system, answer``,
            and ``language`` unless ids of questions are unique.
        queries: Query table of the arena they answer.

    Returns:
        Columns ``query_id, language, system, answer``.

    Raises:
        UsageError: If there is no such file, or something else is given.
        DataError: For malformed or duplicate answers and answers to unknown questions.
    """
    if isinstance(answers, Path | str):
        return read_answers(answers, queries)
    asked = frame_rows(queries, "questions")
    return checked_answers(_rows(answers, "answers", ANSWERS, None, asked), queries)


def frame_rows(table: pd.DataFrame, name: str) -> Rows:
    """Wrap a table that a user holds in memory, so that it is checked like a file.

    Problems name its rows as ``iloc`` does.

    Args:
        table: The table; a named index counts as columns.
        name: What problems call it.

    Raises:
        UsageError: If it is no DataFrame.
        DataError: If a column stands several times.
    """
    if not isinstance(table, pd.DataFrame):
        kind = type(table).__name__
        raise UsageError(f"{name} is of type {kind}; give a pandas DataFrame, one row an item")
    named = [label for label in table.index.names if label is not None]
    columns = [*named, *table.columns]
    repeated = sorted({str(column) for column in columns if columns.count(column) > 1})
    if repeated:
        fault, hint = "stands several times among the columns", "keep one of them"
        raise DataError([Problem(name, None, column, None, fault, hint) for column in repeated])
    flat = table.reset_index(drop=not named)
    return Rows(plain_table(flat), pd.Series(range(len(flat)), dtype=int), name, is_frame=True)


def notebook_html(caption: str, said: str, table: pd.DataFrame, small: str = "") -> str:
    """Show a table in a notebook, under what is said of it; all text is escaped.

    Args:
        caption: First line, in bold.
        said: Sentences below it.
        table: The table, shown without its index.
        small: Last line, in small letters.
    """
    shown = table.to_html(index=False, na_rep="–", float_format="{:z.2f}".format, escape=True)
    last = f"<p><small>{escape(small)}</small></p>" if small else ""
    return f"<p><b>{escape(caption)}</b><br>{escape(said)}</p>{shown}{last}"


def _rows(
    table: pd.DataFrame,
    name: str,
    schema: pa.DataFrameSchema,
    language: str | None,
    asked: Rows | None = None,
) -> Rows:
    """Wrap a frame: whole numbers in keys as texts, and a language for every row."""
    rows = frame_rows(table, name)
    if rows.table.empty:
        return replace(empty_rows(schema), source=name, is_frame=True)
    whole = [key for key in _KEYS if key in rows.table and _are_whole(rows.table[key])]
    texts = {key: rows.table[key].map(whole_digits).astype(object) for key in whole}
    rows = replace(rows, table=rows.table.assign(**texts))
    if PASSAGES_COLUMN in rows.table and asked is not None:  # of answers: ids, or records
        own = [_listed(value) for value in rows.table[PASSAGES_COLUMN]]
        column = pd.Series(own, index=rows.table.index, dtype=object)
        rows = replace(rows, table=rows.table.assign(**{PASSAGES_COLUMN: column}))
    if language is not None or asked is None or LANGUAGE not in asked.table:
        return _filled(rows, LANGUAGE, language)
    return with_language_of(rows, asked.table)


def _are_whole(values: pd.Series) -> bool:
    known = list(values.dropna())
    return bool(known) and all(whole_digits(value) is not None for value in known)


def _filled(rows: Rows, column: str, value: str | None) -> Rows:
    """Give every row a value where the column is absent."""
    if value is None or column in rows.table:
        return rows
    return replace(rows, table=rows.table.assign(**{column: value}).astype(object))


def _passage_rows(table: pd.DataFrame, language: str | None, asked: Rows) -> Rows:
    rows = _rows(table, PASSAGES_COLUMN, PASSAGES, language, asked)
    absent = {column: None for column in _OPTIONAL if column not in rows.table}
    return replace(rows, table=rows.table.assign(**absent).astype(object))


def _shared_and_own(rows: Rows, asked: Rows, answered: Rows) -> tuple[Rows, Rows]:
    """Part passages of questions from those that one system alone was given.

    Raises:
        UsageError: If questions or answers have passages of their own beside them.
    """
    table = rows.table
    is_own = table[SYSTEM].notna() if SYSTEM in table else pd.Series(False, index=table.index)
    for kind, other, given in (("questions", asked, ~is_own), ("answers", answered, is_own)):
        if PASSAGES_COLUMN in other.table and (given.any() or kind == "questions"):
            raise UsageError(
                f"{kind} have a column 'passages', and passages are given beside them; keep one"
            )
    parts = (replace(rows, table=table[kept], lines=rows.lines[kept]) for kept in (~is_own, is_own))
    shared, own = parts
    return replace(shared, table=shared.table.drop(columns=SYSTEM, errors="ignore")), own


def _own_problems(own: Rows, answered: Rows) -> list[Problem]:
    """Check passages of systems: each is of an answer that is there, and stands once."""
    if own.table.empty:
        return []
    problems = check_table(own, _OWN_PASSAGES)
    if problems or check_table(answered, ANSWERS):
        return problems
    known = pd.MultiIndex.from_frame(answered.table[ANSWER_KEY].astype(object))
    given = pd.MultiIndex.from_frame(own.table[ANSWER_KEY].astype(object))
    fault, hint = "is of no answer of this system", "add the answer, or leave the passage out"
    absent = [
        own.problem(row, "+".join(ANSWER_KEY), tuple(own.table.loc[row, ANSWER_KEY]), fault, hint)
        for row in own.table.index[~given.isin(known)]
    ]
    return [*duplicates(own, [*ANSWER_KEY, "passage_id"], "passage"), *absent]


def _with_own(answered: Rows, own: Rows) -> Rows:
    """Give answers the passages that their systems alone were given."""
    if own.table.empty:
        return answered
    found = _records_by(own, ANSWER_KEY)
    keys = _keys_of(answered.table, ANSWER_KEY)
    cells = pd.Series([found.get(key) for key in keys], index=answered.table.index, dtype=object)
    return replace(answered, table=answered.table.assign(**{PASSAGES_COLUMN: cells}))


def _records_by(rows: Rows, key: list[str]) -> dict[tuple[object, ...], list[dict[str, Any]]]:
    """Group passages as an arena holds them."""
    found: dict[tuple[object, ...], list[dict[str, Any]]] = {}
    for record in rows.table.to_dict(orient="records"):
        whose = tuple(record.pop(column) for column in key)
        relevance = record["relevance"]
        record["relevance"] = None if relevance is None else int(relevance)
        found.setdefault(whose, []).append(record)
    return found


def _keys_of(table: pd.DataFrame, key: list[str]) -> Iterator[tuple[object, ...]]:
    """Yield the key of every row; what is no text or not there, as the checks tell, is None."""
    for cells in table.reindex(columns=key).itertuples(index=False, name=None):
        yield tuple(cell if isinstance(cell, str) else None for cell in cells)


def _passage_problems(rows: Rows, asked: Rows) -> list[Problem]:
    problems = check_table(rows, PASSAGES)
    if problems or check_table(_with_passages(asked, None), QUERIES):
        return problems
    key = [*QUESTION_KEY, "passage_id"]
    return [*duplicates(rows, key, "passage"), *unknown_questions(rows, asked, "passage")]


def _with_passages(asked: Rows, shown: Rows | None) -> Rows:
    """Give every question its passages: those of a table, or of its own column, or none."""
    questions = asked.table
    if shown is not None:
        found = _records_by(shown, QUESTION_KEY)
        cells = [found.get(key, []) for key in _keys_of(questions, QUESTION_KEY)]
    elif PASSAGES_COLUMN in questions:
        cells = [_cell(value) for value in questions[PASSAGES_COLUMN]]
    else:
        cells = [[] for _ in range(len(questions))]
    column = pd.Series(cells, index=questions.index, dtype=object)
    return replace(asked, table=questions.assign(**{PASSAGES_COLUMN: column}))


def _cell(value: Any) -> Any:  # noqa: ANN401 - whatever a cell holds
    """Read the passages of a cell; one that holds something else is told of by the checks."""
    try:
        return passages_of(_listed(value))
    except ValueError:
        return value


def _listed(value: Any) -> Any:  # noqa: ANN401 - whatever a cell holds
    """Return a list for what Parquet or pandas hold in its place."""
    plain = value.tolist() if hasattr(value, "tolist") else value
    return list(plain) if isinstance(plain, tuple) else plain


def _distinct(rows: Rows, column: str) -> list[str]:
    values = rows.table.get(column, ())
    return sorted({value for value in values if isinstance(value, str) and value.strip()})


def _info(**fields: object) -> ArenaInfo:
    try:
        return ArenaInfo.model_validate(fields)
    except ValidationError as error:
        problems = validation_problems(error, _WHOLE, None, lambda _: "see help(Arena.from_frames)")
        raise DataError(problems) from error
