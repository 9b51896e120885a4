"""Tables in memory, wrapped as rows, so that they are checked like files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pandas as pd
import pyarrow as pa

from arena.data.checks import check_table, duplicates, unknown_questions
from arena.data.errors import DataError, Problem, UsageError
from arena.data.languages import UNDETERMINED
from arena.data.names import row_name_problems
from arena.data.rows import Rows, is_null, plain_table, whole_digits, with_numbers
from arena.data.schema import (
    ANSWER_KEY,
    ANSWERS,
    HISTORY,
    NUMBERS,
    OWN_PASSAGES,
    QUERIES,
    REPEAT,
    TableSchema,
)
from arena.data.systems import with_own_passages
from arena.data.wording import repeated


def checked_answers(answers: Rows, queries: pd.DataFrame) -> pd.DataFrame:
    """Check answers to an arena's questions; systems' own ``passages`` stay."""
    answers = with_columns(answers, ANSWERS)
    problems = row_problems(answers, ANSWERS)
    if not problems:
        problems = [
            *duplicates(answers, ANSWER_KEY, "answer"),
            *unknown_questions(answers, as_rows(queries, "queries"), "answer"),
            *row_name_problems(answers, "system"),
        ]
    if not problems:
        answers, problems = with_own_passages(answers, queries)
    if problems:
        raise DataError(problems)
    return typed_table(answers, ANSWERS)


def answers_of_frame(answers: pd.DataFrame, queries: pd.DataFrame) -> pd.DataFrame:
    """Check answers; ``language`` may be absent where ids are unique."""
    query_rows = frame_rows(queries, "questions")
    answer_rows = rows_of_frame(answers, "answers", ANSWERS, questions=query_rows)
    return checked_answers(answer_rows, queries)


def frame_of(table: object, name: str) -> pd.DataFrame:
    """Convert a table of polars, pyarrow or DuckDB to pandas."""
    if isinstance(table, pd.DataFrame):
        return table
    if hasattr(table, "__arrow_c_stream__"):
        table = pa.table(table)
    if hasattr(table, "to_pandas"):
        return cast(pd.DataFrame, table.to_pandas())
    kind = type(table).__qualname__
    raise UsageError(f"{name} is of type {kind}; give a table, such as pandas.DataFrame({name})")


def frame_rows(table: object, name: str) -> Rows:
    """Wrap a user's table to be checked like a file; a named index is columns."""
    frame = frame_of(table, name)
    index_names = [label for label in frame.index.names if label is not None]
    repeated_names = repeated(str(column) for column in [*index_names, *frame.columns])
    if repeated_names:
        fault = "appears several times among the columns"
        hint = "keep one of them"
        raise DataError(
            [Problem(name, None, column, None, fault, hint) for column in repeated_names]
        )
    flat = frame.reset_index(drop=not index_names)
    lines = pd.Series(range(len(flat)), dtype=int)
    return Rows(plain_table(flat), lines, name, is_frame=True)


def rows_of_frame(
    table: object,
    name: str,
    schema: TableSchema,
    language: str | None = None,
    questions: Rows | None = None,
) -> Rows:
    """Wrap an arena's table: ids as texts, a language for every row."""
    none = replace(empty_rows(schema), source=name, is_frame=True)
    if table is None:
        return none
    rows = frame_rows(table, name)
    if rows.table.empty:
        return none
    columns: dict[str, pd.Series] = {}
    for key in ("query_id", "system", "system_a", "system_b"):
        if key not in rows.table:
            continue
        values = rows.table[key].dropna()
        # A single text shows that ids are texts: then a number among them stays a fault.
        if len(values) and all(whole_digits(value) is not None for value in values):
            columns[key] = rows.table[key].map(whole_digits).astype(object)
    for column in (OWN_PASSAGES, HISTORY):
        if column in rows.table:
            lists = [as_list(value) for value in rows.table[column]]
            columns[column] = pd.Series(lists, index=rows.table.index, dtype=object)
    rows = replace(rows, table=rows.table.assign(**columns))
    if language is None and questions is not None and "language" in questions.table:
        return with_language_of(rows, questions.table)
    return with_default(rows, "language", language)


def as_list(value: Any) -> Any:  # noqa: ANN401 - whatever a cell holds
    """Return a list for arrays and tuples of Parquet and pandas."""
    plain = value.tolist() if hasattr(value, "tolist") else value
    return list(plain) if isinstance(plain, tuple) else plain


def with_language_of(rows: Rows, questions: pd.DataFrame) -> Rows:
    """Give rows their question's language, where its id alone tells it."""
    has_keys = "query_id" in rows.table and {"query_id", "language"} <= set(questions)
    if "language" in rows.table or not has_keys or questions["query_id"].duplicated().any():
        return rows
    language_of = dict(zip(questions["query_id"], questions["language"], strict=True))
    languages = [language_of.get(str(key), UNDETERMINED) for key in rows.table["query_id"]]
    return with_default(rows, "language", languages)


def with_default(rows: Rows, column: str, values: str | list[str] | None) -> Rows:
    """Give every row a value where the column is absent."""
    if values is None or column in rows.table:
        return rows
    return replace(rows, table=rows.table.assign(**{column: values}).astype(object))


def with_passages(queries: Rows) -> Rows:
    """Read the passages of questions: records, or texts, which are numbered."""
    values = queries.table.get(OWN_PASSAGES, [None] * len(queries.lines))
    cells = pd.Series([_passages(value) for value in values], queries.table.index, dtype=object)
    return replace(queries, table=queries.table.assign(**{OWN_PASSAGES: cells}))


def _passages(value: object) -> object:
    if is_null(value):
        return []
    if not isinstance(value, list):
        return value
    passages: list[object] = []
    for number, passage in enumerate(value, start=1):
        if isinstance(passage, str):
            passage = {"passage_id": str(number), "text": passage}
        if isinstance(passage, dict):
            passage = {"passage_id": None, "title": None, "relevance": None, **passage}
        passages.append(passage)
    return passages


def with_no_passages(queries: Rows) -> Rows:
    """Give questions without passages none, unless a list may hold them."""
    further = queries.table.drop(columns=[*QUERIES.columns, *QUERIES.optional], errors="ignore")
    has_list = further.map(lambda value: isinstance(value, list | np.ndarray)).any(axis=None)
    if queries.table.empty or OWN_PASSAGES in queries.table or has_list:
        return queries
    none: list[list[object]] = [[] for _ in range(len(queries.table))]
    cells = pd.Series(none, queries.table.index, dtype=object)
    return replace(queries, table=queries.table.assign(**{OWN_PASSAGES: cells}))


def distinct_texts(rows: Rows, column: str) -> list[str]:
    """Return the distinct texts of a column, without blank ones."""
    values = rows.table.get(column, ())
    texts = [value for value in values if isinstance(value, str) and value.strip()]
    return list(dict.fromkeys(texts))


def as_rows(table: pd.DataFrame, source: str) -> Rows:
    """Wrap a table in memory to be checked like a file."""
    lines = pd.Series(range(1, len(table) + 1), dtype=int)
    return Rows(table.reset_index(drop=True), lines, source)


def empty_rows(schema: TableSchema) -> Rows:
    """Return a table of the schema's columns without any row."""
    return as_rows(pd.DataFrame(columns=list(schema.columns), dtype=object), schema.name)


def with_columns(rows: Rows, schema: TableSchema) -> Rows:
    """Give an empty file without header the columns of its table."""
    if len(rows.table.columns) or len(rows.lines) or rows.problems:
        return rows
    return replace(empty_rows(schema), source=rows.source)


def row_problems(rows: Rows, schema: TableSchema) -> list[Problem]:
    """Return what is wrong with single rows, in line order."""
    if rows.table.empty and rows.problems:
        return list(rows.problems)
    problems = [*rows.problems, *check_table(rows, schema)]
    return sorted(problems, key=lambda problem: problem.line or 0)


def keys_of_rows(rows: pd.DataFrame, key: list[str]) -> pd.MultiIndex:
    """Return keys, with the number of a judgment's repeated vote."""
    repeats = rows.get(REPEAT, pd.Series(None, rows.index, dtype=object)).astype(object)
    votes = repeats.where(repeats.notna(), "").astype(str)
    return pd.MultiIndex.from_frame(rows[key].assign(**{REPEAT: votes}))


def typed_table(rows: Rows, schema: TableSchema) -> pd.DataFrame:
    """Return checked rows as an arena holds them: columns in order, texts typed."""
    columns = list(schema.columns)
    further = [column for column in rows.table.columns if column not in columns]
    texts = [column for column in columns if column != "passages"]
    table = rows.table[columns + further].reset_index(drop=True)
    numbers = [name for name, kind in schema.optional.items() if kind in NUMBERS]
    return with_numbers(table.astype(dict.fromkeys(texts, "str")), numbers)
