"""Published ratings: the file of a board that others made, read as ratings in logits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from arena.data.checks import check_table, duplicates
from arena.data.errors import Fault, Problem
from arena.data.rows import Rows, finite_number, is_null
from arena.data.schema import PUBLISHED_RATINGS
from arena.data.types import Floats
from arena.data.wording import Remark, count_of

if TYPE_CHECKING:
    from arena.data.arena import Arena

PUBLISHED = "published"
"""Name of the judge where the file names none."""
RATING_KEY = list(PUBLISHED_RATINGS.key)
RATING = "rating"
WIN_RATE = "win_rate"
ERROR = "standard_error"


def no_published_ratings() -> pd.DataFrame:
    """Return an empty table of published ratings."""
    columns = {name: pd.Series(dtype="str") for name in PUBLISHED_RATINGS.columns}
    for name in ("rating", "standard_error"):
        columns[name] = pd.Series(dtype="float64")
    return pd.DataFrame(columns)


def published_ratings(
    rows: Rows, languages: Sequence[str], queries: pd.DataFrame, judgments: pd.DataFrame
) -> tuple[pd.DataFrame, list[Problem]]:
    """Read published ratings (logits; error NaN where none), and every problem.

    A ``win_rate`` p gives log p/(1 - p), and its error is divided by p (1 - p) (delta method). One
    of 0 or 1 is moved by half a question, or half the distance to the next value if less.
    """
    table = rows.table
    if table.empty:
        return no_published_ratings(), list(rows.problems)
    columns: dict[str, str] = {}
    if "judge" not in table:
        columns["judge"] = PUBLISHED
    if "language" not in table and len(languages) == 1:
        columns["language"] = languages[0]
    full = replace(rows, table=table.assign(**columns).astype(object))
    column = RATING if RATING in table else WIN_RATE
    problems = [
        *rows.problems,
        *check_table(full, PUBLISHED_RATINGS),
        *_number_problems(rows, column),
    ]
    problems = problems or _key_problems(full, queries, judgments)
    if problems:
        return no_published_ratings(), sorted(problems, key=lambda problem: problem.line or 0)
    values = _numbers(full.table[column])
    errors = np.full(len(table), np.nan)
    if ERROR in table:
        errors = _numbers(full.table[ERROR])
    if column == WIN_RATE:
        question_counts = queries["language"].value_counts()
        n_questions = full.table["language"].map(question_counts).to_numpy(np.float64)
        values, errors = _in_logits(values, errors, n_questions)
    return _typed(full.table[RATING_KEY].assign(rating=values, standard_error=errors)), []


def _key_problems(rows: Rows, queries: pd.DataFrame, judgments: pd.DataFrame) -> list[Problem]:
    is_unasked = ~rows.table["language"].isin(queries["language"])
    no_question = ("no question of the arena is in it", "add its questions or leave it out")
    is_judge = rows.table["judge"].isin(judgments["judge"])
    judges_too = ("has judgments in this arena too", "give its published ratings another name")
    return [
        *duplicates(rows, RATING_KEY, "system"),
        *rows.problems_of(is_unasked, ["language"], no_question),
        *rows.problems_of(is_judge, ["judge"], judges_too),
    ]


def _number_problems(rows: Rows, column: str) -> Iterator[Problem]:
    if column not in rows.table:
        hint = f"add it, in logits, or the column {WIN_RATE}, in percent or as a share"
        yield Problem(rows.source, None, RATING, None, "this column is missing", hint)
    for name in (column, ERROR):
        if name not in rows.table:
            continue
        for row, value in rows.table[name].items():
            fault = _number_fault(value, name)
            if fault is not None:
                yield rows.problem(row, name, value, *fault)


def _typed(table: pd.DataFrame) -> pd.DataFrame:
    types = no_published_ratings().dtypes
    return table[list(types.index)].sort_values(RATING_KEY, ignore_index=True).astype(types)


def _numbers(values: pd.Series) -> Floats:
    return np.array([finite_number(value) for value in values], dtype=np.float64)


def _number_fault(value: object, name: str) -> Fault | None:
    largest_rating = 30.0
    if is_null(value):
        return None if name == ERROR else ("is missing", "give it a value or leave the system out")
    number = finite_number(value)
    if number is None:
        return "is not a number", "write it as a decimal number, or leave the cell empty"
    if name == ERROR and number < 0:
        return "is below 0", "write the standard error, 0 or more"
    if name == WIN_RATE and not 0 <= number <= 100:
        return "is not a win rate", "write the share of comparisons won, in percent or from 0 to 1"
    if name == RATING and abs(number) > largest_rating:
        hint = "write it in logits; an Elo rating is 173.7 (400 / ln 10) times as much"
        return "is not a rating in logits", hint
    return None


def _in_logits(values: Floats, errors: Floats, n_questions: Floats) -> tuple[Floats, Floats]:
    unit = 100.0 if (values > 1).any() else 1.0
    shares = values / unit
    errors = errors / unit
    # 0 and 1 have no logit. They move inwards by half a question, but never past half of the way
    # to the next share, so that the order of systems stays.
    inner = shares[(shares > 0) & (shares < 1)]
    nearest = np.min([*inner, *(1 - inner), 1.0]) / 2
    edge = np.minimum(0.5 / n_questions, nearest)
    is_extreme = (shares == 0) | (shares == 1)
    shares = np.where(is_extreme, np.abs(shares - edge), shares)
    errors = np.where(is_extreme, np.maximum(errors, edge), errors)
    # Delta method: d logit(p) / dp = 1 / (p (1 - p)).
    return np.log(shares) - np.log1p(-shares), errors / (shares * (1 - shares))


def published_remarks(arena: Arena) -> Iterator[Remark]:
    """Name whose ratings are published, and which have no answers here."""
    for (language, judge), rows in arena.published_ratings.groupby(["language", "judge"]):
        subject = f"{language}, {judge}"
        answered = set(arena.answers.loc[arena.answers["language"] == language, "system"])
        rated = set(rows["system"])
        sentence = f"{count_of(len(rated), 'rating')} are published"
        yield Remark("published", "info", sentence, subject)
        n_without_answers = len(rated - answered)
        if n_without_answers:
            ratings = count_of(n_without_answers, "published rating")
            sentence = f"{ratings} of systems without answers here: nothing is learned from them"
            yield Remark("published", "warning", sentence, subject)
        n_unrated = len(answered - rated)
        if n_unrated:
            systems = count_of(n_unrated, "system")
            sentence = f"{systems} of {len(answered)} that answered have no published rating"
            yield Remark("published", "warning", sentence, subject)
