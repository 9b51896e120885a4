"""Published ratings: the file of a board that others made, and what it says in logits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from arena.data.cells import finite_number
from arena.data.checks import Fault, check_table, duplicates
from arena.data.errors import Problem
from arena.data.rows import Rows
from arena.data.schema import TableSchema
from arena.data.types import Floats

TABLE = "published_ratings"
PUBLISHED = "published"
"""Name of the judge where the file names none."""
KEY = ["judge", "language", "system"]
RATING = "rating"
WIN_RATE = "win_rate"
ERROR = "standard_error"
COLUMNS = (*KEY, RATING, ERROR)
LARGEST_RATING = 30.0
ALL = 100.0

_KEYS = TableSchema(TABLE, {"judge": "name", "language": "language", "system": "name"})
_NO_QUESTION = ("no question of the arena is in it", "add its questions or leave it out")
_JUDGES_TOO = ("has judgments in this arena too", "give its published ratings another name")


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
    ``published`` without one.

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
    column = RATING if RATING in table else WIN_RATE
    if column not in table:
        hint = f"add it, in logits, or the column {WIN_RATE}, in percent or as a share"
        problems.append(Problem(rows.source, None, RATING, None, "this column is missing", hint))
    problems += [
        rows.problem(row, name, value, *fault)
        for name in (column, ERROR)
        for row, value in (table[name].items() if name in table else ())
        if (fault := _fault(value, name)) is not None
    ]
    problems = problems or [
        *duplicates(full, KEY, "system"),
        *full.problems_of(
            ~full.table["language"].isin(list(questions)), ["language"], _NO_QUESTION
        ),
        *full.problems_of(full.table["judge"].isin(judges), ["judge"], _JUDGES_TOO),
    ]
    if problems:
        return no_published_ratings(), sorted(problems, key=lambda problem: problem.line or 0)
    values = _numbers(full.table[column])
    errors = _numbers(full.table[ERROR]) if ERROR in table else np.full(len(table), np.nan)
    if column == WIN_RATE:
        asked = full.table["language"].map(questions).to_numpy(np.float64)
        values, errors = _in_logits(values, errors, asked)
    return _typed(full.table[KEY].assign(rating=values, standard_error=errors)), []


def _typed(table: pd.DataFrame) -> pd.DataFrame:
    numbers = {RATING: "float64", ERROR: "float64"}
    ordered = table[list(COLUMNS)].sort_values(KEY, ignore_index=True)
    return ordered.astype(dict.fromkeys(KEY, "str") | numbers)


def _numbers(values: pd.Series) -> Floats:
    return np.array([finite_number(value) for value in values], dtype=np.float64)


def _fault(value: object, name: str) -> Fault | None:
    """Say what is wrong with a rating or its error, and what to do about it."""
    if value is None or value != value:
        hint = "give it a value or leave the system out"
        return None if name == ERROR else ("is missing", hint)
    number = finite_number(value)
    if number is None:
        return "is not a number", "write it as a decimal number, or leave the cell empty"
    if name == ERROR and number < 0:
        return "is below 0", "write the standard error, 0 or more"
    if name == WIN_RATE and not 0 <= number <= ALL:
        return "is not a win rate", "write the share of battles won, in percent or from 0 to 1"
    if name == RATING and abs(number) > LARGEST_RATING:
        hint = "write it in logits; an Elo rating is 173.7 (400 / ln 10) times as much"
        return "is not a rating in logits", hint
    return None


def _in_logits(values: Floats, errors: Floats, asked: Floats) -> tuple[Floats, Floats]:
    """Return ratings of win rates and their standard errors in logits, shape (N,)."""
    unit = ALL if (values > 1).any() else 1.0
    shares, errors = values / unit, errors / unit
    inside = shares[(shares > 0) & (shares < 1)]
    nearest = np.min([*inside, *(1 - inside), 1.0]) / 2
    edge = np.minimum(0.5 / asked, nearest)
    is_extreme = (shares == 0) | (shares == 1)
    moved = np.where(is_extreme, np.abs(shares - edge), shares)
    errors = np.where(is_extreme, np.maximum(errors, edge), errors)
    return np.log(moved) - np.log1p(-moved), errors / (moved * (1 - moved))
