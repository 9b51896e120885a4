"""An arena from tables in memory, checked as a folder is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import ValidationError

from arena.data.arena import Arena
from arena.data.errors import DataError, Problem, UsageError
from arena.data.folder import (
    checked_answers,
    checked_arena,
    empty_rows,
    read_answers,
    with_language_of,
)
from arena.data.languages import LANGUAGE_CODE
from arena.data.published import TABLE as PUBLISHED_RATINGS
from arena.data.rows import Rows, plain_table
from arena.data.schema import (
    ANSWERS,
    HISTORY,
    JUDGMENTS,
    OWN_PASSAGES,
    QUERIES,
    ArenaInfo,
    TableSchema,
    passages_of,
    validation_problems,
    whole_digits,
)

_WHOLE = "from_frames"
_KEYS = ("query_id", "system", "system_a", "system_b")

Frames = Mapping[str, pd.DataFrame | None]


def arena_of_frames(
    frames: Frames, language: str | None, judge: str | None, info: Mapping[str, object]
) -> Arena:
    """Make an arena of tables by the names of the arguments of ``Arena.from_frames``."""
    if language is not None and not re.fullmatch(LANGUAGE_CODE, language):
        fault, hint = "is not a language code", "use an ISO 639-1 code such as 'en' or 'zh'"
        raise DataError([Problem(_WHOLE, None, "language", language, fault, hint)])
    asked = _rows(frames, "questions", QUERIES, language)
    answered = _rows(frames, "answers", ANSWERS, language, asked)
    judged = _filled(_rows(frames, "judgments", JUDGMENTS, language, asked), "judge", judge)
    given = asked.table.get(OWN_PASSAGES, [None] * len(asked.lines))
    cells = pd.Series([_passages(cell) for cell in given], index=asked.table.index, dtype=object)
    asked = replace(asked, table=asked.table.assign(**{OWN_PASSAGES: cells}))
    languages = [code for code in _distinct(asked, "language") if re.fullmatch(LANGUAGE_CODE, code)]
    told = {"languages": languages, "systems": _distinct(answered, "system"), **info}
    beside = (
        None if (table := frames[name]) is None else frame_rows(table, name)
        for name in (PUBLISHED_RATINGS, "attributes")
    )
    return checked_arena(_info(told), asked, answered, judged, *beside)


def open_answers(answers: pd.DataFrame | Path | str, queries: pd.DataFrame) -> pd.DataFrame:
    """Return answers to the questions of an arena, read by ``read_answers`` if a path is given.

    A table has ``query_id, system, answer``, and ``language`` unless ids of questions are unique.
    """
    if isinstance(answers, Path | str):
        return read_answers(answers, queries)
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
    repeated = sorted({str(column) for column in columns if columns.count(column) > 1})
    if repeated:
        fault, hint = "appears several times among the columns", "keep one of them"
        raise DataError([Problem(name, None, column, None, fault, hint) for column in repeated])
    flat = table.reset_index(drop=not named)
    return Rows(plain_table(flat), pd.Series(range(len(flat)), dtype=int), name, is_frame=True)


def notebook_html(caption: str, said: str, table: pd.DataFrame, small: str = "") -> str:
    """Show a table in a notebook, below a caption and sentences; all text is escaped."""
    shown = table.to_html(index=False, na_rep="–", float_format="{:z.2f}".format, escape=True)
    last = f"<p><small>{escape(small)}</small></p>" if small else ""
    return f"<p><b>{escape(caption)}</b><br>{escape(said)}</p>{shown}{last}"


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
