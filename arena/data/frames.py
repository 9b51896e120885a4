"""Tables, read or in memory: checked, and put together as an arena."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from html import escape
from typing import Any

import pandas as pd
from pydantic import ValidationError

from arena.data.arena import Arena
from arena.data.cells import passages_of
from arena.data.errors import DataError, Problem, UsageError
from arena.data.languages import UNDETERMINED, is_language_code, language_hint
from arena.data.published import TABLE as PUBLISHED_RATINGS
from arena.data.published import no_published_ratings, published_ratings
from arena.data.rows import Rows, plain_table
from arena.data.schema import (
    ANSWER_KEY,
    ANSWERS,
    HISTORY,
    INFO_FILE,
    JUDGMENTS,
    OWN_PASSAGES,
    QUERIES,
    QUESTION_KEY,
    REFERENCE,
    ArenaInfo,
    TableSchema,
    check_table,
    duplicates,
    named_by_criterion,
    self_judgments,
    undeclared,
    unknown_questions,
    validation_problems,
    whole_digits,
)
from arena.data.systems import name_problems, system_attributes, with_own_passages
from arena.data.wording import repeated

_WHOLE = "from_frames"
_KEYS = ("query_id", "system", "system_a", "system_b")

Frames = Mapping[str, pd.DataFrame | None]


def arena_of_frames(
    frames: Frames, language: str | None, judge: str | None, info: Mapping[str, object]
) -> Arena:
    """Make an arena of tables by the names of the arguments of ``Arena.from_frames``."""
    if language is not None and not is_language_code(language):
        fault, hint = "is not a language code", language_hint(language)
        raise DataError([Problem(_WHOLE, None, "language", language, fault, hint)])
    asked = _rows(frames, "questions", QUERIES, language)
    answered = _rows(frames, "answers", ANSWERS, language, asked)
    judged = _filled(_rows(frames, "judgments", JUDGMENTS, language, asked), "judge", judge)
    given = asked.table.get(OWN_PASSAGES, [None] * len(asked.lines))
    cells = pd.Series([_passages(cell) for cell in given], index=asked.table.index, dtype=object)
    asked = replace(asked, table=asked.table.assign(**{OWN_PASSAGES: cells}))
    languages = [code for code in _distinct(asked, "language") if is_language_code(code)]
    told = {"languages": languages, "systems": _distinct(answered, "system"), **info}
    beside = (
        None if (table := frames[name]) is None else frame_rows(table, name)
        for name in (PUBLISHED_RATINGS, "attributes")
    )
    return checked_arena(_info(told), asked, answered, judged, *beside)


def checked_arena(
    info: ArenaInfo,
    queries: Rows,
    answers: Rows,
    judgments: Rows | None = None,
    published: Rows | None = None,
    systems: Rows | None = None,
) -> Arena:
    """Build an arena from rows, checking each table and what ties them together.

    ``systems`` says what systems are made of: ``system`` and one column an attribute.

    Raises:
        DataError: With every problem of every table.
    """
    queries = with_columns(queries, QUERIES)
    answers = with_columns(answers, ANSWERS)
    judgments = with_columns(judgments or empty_rows(JUDGMENTS), JUDGMENTS)
    parts = [(queries, QUERIES), (answers, ANSWERS), (judgments, JUDGMENTS)]
    problems = [problem for rows, schema in parts for problem in row_problems(rows, schema)]
    if problems:
        raise DataError(problems)
    ratings, faults = no_published_ratings(), list[Problem]()
    if published is not None:
        asked = {str(name): len(part) for name, part in queries.table.groupby("language")}
        judges = sorted(set(judgments.table["judge"]))
        ratings, faults = published_ratings(published, info.languages, asked, judges)
    attributes, unclear = system_attributes(systems, info.systems)
    where = "systems" if queries.is_frame else INFO_FILE
    problems = [
        *duplicates(queries, QUESTION_KEY, "query"),
        *duplicates(answers, ANSWER_KEY, "answer"),
        *undeclared(queries, "language", info.languages, "languages"),
        *undeclared(answers, "system", info.systems, "systems"),
        *unknown_questions(answers, queries, "answer"),
        *unknown_questions(judgments, queries, "judgment"),
        *undeclared(judgments, "system_a", info.systems, "systems"),
        *undeclared(judgments, "system_b", info.systems, "systems"),
        *self_judgments(judgments),
        *_reference_problems(info, queries),
        *name_problems(info.systems, where, "systems"),
        *name_problems(judgments.table["judge"], judgments.source, "judge"),
        *faults,
        *unclear,
    ]
    if not problems:
        answers, problems = with_own_passages(answers, queries.table)
    if problems:
        raise DataError(problems)
    judged = named_by_criterion(_typed(judgments, JUDGMENTS))
    tables = (_typed(queries, QUERIES), _typed(answers, ANSWERS), judged)
    return Arena(info, *tables, ratings, attributes)


def _reference_problems(info: ArenaInfo, queries: Rows) -> Iterator[Problem]:
    """Check the reference system, and the reference answers of questions, which may have none."""
    name = info.reference_system
    if name is not None and name not in info.systems:
        source, where, none = INFO_FILE, f" of {INFO_FILE}", "write null"
        if queries.is_frame:
            source, where, none = "from_frames", "", "None"
        fault, hint = f"is not among the systems{where}", f"name one of the systems, or {none}"
        yield Problem(source, None, "reference_system", name, fault, hint)
    if REFERENCE in queries.table:
        given = queries.table[REFERENCE]
        wrong = given.notna() & ~given.map(lambda value: isinstance(value, str)).astype(bool)
        said = ("is not text", "write an answer, or leave it empty")
        yield from queries.problems_of(wrong, [REFERENCE], said)


def with_language_of(rows: Rows, questions: pd.DataFrame) -> Rows:
    """Give rows without a language that of their question, where its id alone says which."""
    has_keys = "query_id" in rows.table and {"query_id", "language"} <= set(questions)
    if "language" in rows.table or not has_keys or questions["query_id"].duplicated().any():
        return rows
    known = dict(zip(questions["query_id"], questions["language"], strict=True))
    languages = [known.get(str(key), UNDETERMINED) for key in rows.table["query_id"]]
    return replace(rows, table=rows.table.assign(language=languages).astype(object))


def checked_answers(answers: Rows, queries: pd.DataFrame) -> pd.DataFrame:
    """Check answers to the questions of an arena.

    Returns:
        Columns ``query_id, language, system, answer``, and ``passages`` where some have their own.

    Raises:
        DataError: For malformed or duplicate answers and answers to unknown questions.
    """
    answers = with_columns(answers, ANSWERS)
    problems = row_problems(answers, ANSWERS)
    if not problems:
        problems = [
            *duplicates(answers, ANSWER_KEY, "answer"),
            *unknown_questions(answers, as_rows(queries, "queries"), "answer"),
            *name_problems(answers.table["system"], answers.source, "system"),
        ]
    if not problems:
        answers, problems = with_own_passages(answers, queries)
    if problems:
        raise DataError(problems)
    return _typed(answers, ANSWERS)


def answers_of_frame(answers: pd.DataFrame, queries: pd.DataFrame) -> pd.DataFrame:
    """Check answers in memory; ``language`` may be absent where ids of questions are unique."""
    asked = frame_rows(queries, "questions")
    return checked_answers(_rows({"answers": answers}, "answers", ANSWERS, None, asked), queries)


def frame_rows(table: pd.DataFrame, name: str) -> Rows:
    """Wrap a table that a user holds in memory, so that it is checked like a file.

    Problems name its rows as ``iloc`` does. A named index counts as columns.

    Raises:
        UsageError: If it is no DataFrame.
        DataError: If a column stands several times.
    """
    if not isinstance(table, pd.DataFrame):
        kind = type(table).__name__
        raise UsageError(f"{name} is of type {kind}; give a pandas DataFrame, one row an item")
    named = [label for label in table.index.names if label is not None]
    columns = [*named, *table.columns]
    if twice := repeated(map(str, columns)):
        fault, hint = "appears several times among the columns", "keep one of them"
        raise DataError([Problem(name, None, column, None, fault, hint) for column in twice])
    flat = table.reset_index(drop=not named)
    return Rows(plain_table(flat), pd.Series(range(len(flat)), dtype=int), name, is_frame=True)


def notebook_html(caption: str, said: str, table: pd.DataFrame, small: str = "") -> str:
    """Show a table in a notebook, below a caption and sentences; all text is escaped."""
    shown = table.to_html(index=False, na_rep="–", float_format="{:z.2f}".format, escape=True)
    last = f"<p><small>{escape(small)}</small></p>" if small else ""
    return f"<p><b>{escape(caption)}</b><br>{escape(said)}</p>{shown}{last}"


def as_rows(table: pd.DataFrame, source: str) -> Rows:
    """Wrap a table already in memory so that it can be checked like a file."""
    lines = pd.Series(range(1, len(table) + 1), dtype=int)
    return Rows(table.reset_index(drop=True), lines, source)


def empty_rows(schema: TableSchema) -> Rows:
    """Rows of a table that has none."""
    return as_rows(pd.DataFrame(columns=list(schema.columns), dtype=object), schema.name)


def with_columns(rows: Rows, schema: TableSchema) -> Rows:
    """Give a file without any row or header the columns of its table."""
    if len(rows.table.columns) or len(rows.lines) or rows.problems:
        return rows
    return replace(empty_rows(schema), source=rows.source)


def row_problems(rows: Rows, schema: TableSchema) -> list[Problem]:
    """Return what is wrong with single rows, in line order."""
    if rows.table.empty and rows.problems:
        return list(rows.problems)
    found = check_table(rows, schema)
    return sorted([*rows.problems, *found], key=lambda problem: problem.line or 0)


def _typed(rows: Rows, schema: TableSchema) -> pd.DataFrame:
    known = list(schema.columns)
    texts = [column for column in known if column != "passages"]
    further = [column for column in rows.table.columns if column not in known]
    return rows.table[known + further].reset_index(drop=True).astype(dict.fromkeys(texts, "str"))


def _rows(
    frames: Frames, name: str, schema: TableSchema, language: str | None, asked: Rows | None = None
) -> Rows:
    """Wrap a frame: whole numbers in keys as texts, and a language for every row."""
    table = frames[name]
    rows = replace(empty_rows(schema), source=name, is_frame=True)
    if table is None or (isinstance(table, pd.DataFrame) and table.empty):
        return rows
    rows = frame_rows(table, name)
    texts: dict[str, Any] = {}
    for key in _KEYS:
        values = [] if key not in rows.table else list(rows.table[key].dropna())
        if values and all(whole_digits(value) is not None for value in values):
            texts[key] = rows.table[key].map(whole_digits).astype(object)
    for name in rows.table.columns.intersection([OWN_PASSAGES, HISTORY]):
        listed = [_listed(value) for value in rows.table[name]]
        texts[name] = pd.Series(listed, index=rows.table.index, dtype=object)
    rows = replace(rows, table=rows.table.assign(**texts))
    if language is not None or asked is None or "language" not in asked.table:
        return _filled(rows, "language", language)
    return with_language_of(rows, asked.table)


def _filled(rows: Rows, column: str, value: str | None) -> Rows:
    """Give every row a value where the column is absent."""
    if value is None or column in rows.table:
        return rows
    return replace(rows, table=rows.table.assign(**{column: value}).astype(object))


def _passages(value: object) -> object:
    """Read the passages of a cell; one that holds something else is told of by the checks."""
    try:
        return passages_of(value)
    except ValueError:
        return value


def _listed(value: Any) -> Any:  # noqa: ANN401 - whatever a cell holds
    """Return a list for what Parquet or pandas hold in its place."""
    plain = value.tolist() if hasattr(value, "tolist") else value
    return list(plain) if isinstance(plain, tuple) else plain


def _distinct(rows: Rows, column: str) -> list[str]:
    values = rows.table.get(column, ())
    return sorted({value for value in values if isinstance(value, str) and value.strip()})


def _info(told: Mapping[str, object]) -> ArenaInfo:
    unknown = sorted(set(told) - set(ArenaInfo.model_fields))
    if unknown:
        raise UsageError(f"from_frames has no argument {unknown[0]!r}; see help(Arena.from_frames)")
    try:
        return ArenaInfo.model_validate(told)
    except ValidationError as error:
        problems = validation_problems(error, _WHOLE, None, lambda _: "see help(Arena.from_frames)")
        raise DataError(problems) from error
