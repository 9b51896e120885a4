"""Published ratings: the file of a board that others made, and what it says in logits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import Problem
from arena.data.rows import Rows
from arena.data.schema import TableSchema, check_table, duplicates, finite_number

Floats = npt.NDArray[np.float64]

TABLE = "published_ratings"
PUBLISHED = "published"
"""Name of the judge where the file names none."""
COLUMNS = ("judge", "language", "system", "rating", "standard_error")
KEY = ["judge", "language", "system"]

RATING = "rating"
WIN_RATE = "win_rate"
ERROR = "standard_error"
LARGEST_RATING = 30.0
ALL = 100.0

_WIN_RATES = ("win_rate", "winrate")
"""How the names of columns end that hold win rates; those in logits end in ``rating``."""
_NO_QUESTION = ("no question of the arena is in it", "add its questions or leave it out")
_JUDGES_TOO = ("has judgments in this arena too", "give its published ratings another name")
_KEYS = TableSchema(TABLE, {"judge": "name", "language": "language", "system": "name"})


def no_published_ratings() -> pd.DataFrame:
    """Return the table of published ratings where there are none."""
    return _typed(pd.DataFrame(columns=list(COLUMNS)))


def published_ratings(
    rows: Rows, languages: Sequence[str], questions: Mapping[str, int], judges: Sequence[str]
) -> tuple[pd.DataFrame, list[Problem]]:
    """Read what a file says of systems, and bring it to logits.

    The ratings are those of the column ``rating`` (logits), else ``win_rate`` (against a fixed
    opponent; percent where a value of the column is above 1, else shares), with the column
    ``standard_error`` in the same unit. They are by the judge of the column ``judge``, which is
    ``published`` without one. Any other column whose name ends in ``rating``, ``win_rate`` or
    ``winrate`` holds ratings too, with errors in ``<column>_standard_error``: their judge is
    ``<judge>:<column>``. An empty cell there is a system that is not rated.

    A win rate p is the rating log p/(1 - p), and its standard error is divided by p (1 - p) (delta
    method). A win rate of 0 or 1, which has no logit, is moved by half a question, or by half of
    what lies between it and the next value, if that is less; its error is at least as much.

    Args:
        rows: Rows of the file.
        languages: Languages of the arena; where there is one, the column may be absent.
        questions: Language to its number of questions.
        judges: Judges of the arena's judgments, which cannot have published ratings too.

    Returns:
        Columns ``judge, language, system, rating, standard_error`` (logits; NaN where none is
        published), sorted; and every problem: then the table says nothing.
    """
    table = rows.table
    if table.empty:
        return no_published_ratings(), list(rows.problems)
    added = {} if "judge" in table else {"judge": PUBLISHED}
    if "language" not in table and len(languages) == 1:
        added["language"] = languages[0]
    full = replace(rows, table=table.assign(**added).astype(object))
    problems = [*rows.problems, *check_table(full, _KEYS)]
    main = next((name for name in (RATING, WIN_RATE) if name in table), "")
    if not main:
        hint = f"add it, in logits, or the column {WIN_RATE}, in percent or as a share"
        problems.append(Problem(rows.source, None, RATING, None, "this column is missing", hint))
    rated = {column: ERROR if column == main else f"{column}_{ERROR}" for column in table}
    rated = {name: error for name, error in rated.items() if name.endswith((RATING, *_WIN_RATES))}
    problems += _faulty_numbers(rows, rated, main)
    problems = problems or [
        *duplicates(full, KEY, "system"),
        *_unfit(full, "language", ~full.table["language"].isin(list(questions)), _NO_QUESTION),
        *_unfit(full, "judge", full.table["judge"].isin(judges), _JUDGES_TOO),
    ]
    if problems:
        return no_published_ratings(), sorted(problems, key=lambda problem: problem.line or 0)
    parts = []
    for column, error in rated.items():
        values, errors = _in_logits(full.table, column, error, questions)
        names = full.table["judge"] if column == main else full.table["judge"] + f":{column}"
        part = full.table[["language", "system"]]
        parts.append(part.assign(judge=names, rating=values, standard_error=errors))
    whole = pd.concat(parts)
    return _typed(whole[whole["rating"].notna()]), []


def _typed(table: pd.DataFrame) -> pd.DataFrame:
    numbers = {"rating": "float64", "standard_error": "float64"}
    ordered = table[list(COLUMNS)].sort_values(KEY, ignore_index=True)
    return ordered.astype(dict.fromkeys(KEY, "str") | numbers)


def _number(value: object) -> float | None:
    """Return a number; None for what is none, NaN for an empty cell."""
    return math.nan if value is None or value != value else finite_number(value)


def _numbers(values: pd.Series) -> Floats:
    return np.array([_number(value) for value in values], dtype=np.float64)


def _faulty_numbers(rows: Rows, rated: Mapping[str, str], main: str) -> Iterator[Problem]:
    for column, error in rated.items():
        for name in (column, error):
            for row, value in rows.table[name].items() if name in rows.table else ():
                fault = _fault(_number(value), column, name, name == main)
                if fault is not None:
                    yield rows.problem(row, name, value, *fault)


def _fault(number: float | None, column: str, name: str, is_needed: bool) -> tuple[str, str] | None:
    """Say what is wrong with a rating or its error, and what to do about it."""
    if number is None:
        return "is not a number", "write it as a decimal number, or leave the cell empty"
    if math.isnan(number):
        return ("is missing", "give it a value or leave the system out") if is_needed else None
    if name != column:
        return ("is below 0", "write the standard error, 0 or more") if number < 0 else None
    if column.endswith(_WIN_RATES):
        hint = "write the share of battles won, in percent or from 0 to 1"
        return None if 0 <= number <= ALL else ("is no win rate", hint)
    hint = "write it in logits; an Elo rating is 173.7 (400 / ln 10) times as much"
    return None if abs(number) <= LARGEST_RATING else ("is no rating in logits", hint)


def _unfit(rows: Rows, column: str, is_unfit: pd.Series, fault: tuple[str, str]) -> list[Problem]:
    found = rows.table.loc[is_unfit, column].items()
    return [rows.problem(row, column, value, *fault) for row, value in found]


def _in_logits(
    table: pd.DataFrame, column: str, error: str, questions: Mapping[str, int]
) -> tuple[Floats, Floats]:
    """Return the ratings of a column and their standard errors, both in logits, shape (N,)."""
    values = _numbers(table[column])
    errors = _numbers(table[error]) if error in table else np.full(len(table), np.nan)
    if not column.endswith(_WIN_RATES):
        return values, errors
    unit = ALL if (values > 1).any() else 1.0
    shares, errors = values / unit, errors / unit
    asked = table["language"].map(questions).to_numpy(np.float64)
    inside = shares[(shares > 0) & (shares < 1)]
    nearest = np.min([*inside, *(1 - inside), 1.0]) / 2
    edge = np.minimum(0.5 / asked, nearest)
    is_extreme = (shares == 0) | (shares == 1)
    moved = np.where(is_extreme, np.abs(shares - edge), shares)
    errors = np.where(is_extreme, np.maximum(errors, edge), errors)
    return np.log(moved) - np.log1p(-moved), errors / (moved * (1 - moved))
