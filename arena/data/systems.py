"""What an arena holds of systems: attributes, own passages, ratings that others published."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from arena.data.checks import check_table, duplicates, passages_fault, undeclared
from arena.data.errors import HALF_SURROGATE, Fault, Problem
from arena.data.rows import Rows, finite_number, is_null, is_unstorable
from arena.data.schema import AMOUNTS, OWN_PASSAGES, PUBLISHED_RATINGS, QUESTION_KEY, TableSchema
from arena.data.types import Floats
from arena.data.wording import Remark, count_of

if TYPE_CHECKING:
    from arena.data.arena import Arena

SYSTEMS_TABLE = "systems"
STATE = "state"
"""Column of ``systems.csv`` by which an arena leaves systems out."""
LISTED = "listed"
HELD = "held"
WITHDRAWN = "withdrawn"
STATES = (LISTED, HELD, WITHDRAWN)
_SYSTEMS = TableSchema(SYSTEMS_TABLE, {"system": "name"}, dict.fromkeys(AMOUNTS, "amount"))
PassageRecord = Mapping[str, Any]
"""A passage as tables hold it; see ``arena.data.schema.Passage``."""


def no_attributes() -> pd.DataFrame:
    """Return the table of attributes of systems that have none."""
    return pd.DataFrame({"system": pd.Series(dtype="str")})


def no_published_ratings() -> pd.DataFrame:
    """Return an empty table of published ratings."""
    columns = {name: pd.Series(dtype="str") for name in PUBLISHED_RATINGS.columns}
    for name in ("rating", "standard_error"):
        columns[name] = pd.Series(dtype="float64")
    return pd.DataFrame(columns)


def system_attributes(
    rows: Rows | None, systems: Collection[str]
) -> tuple[pd.DataFrame, list[Problem]]:
    """Check systems' attributes (texts or None); also return problems."""
    if rows is None or (rows.table.empty and not rows.problems):
        return no_attributes(), []
    problems = [*rows.problems, *check_table(rows, _SYSTEMS)]
    if not problems:
        problems = [
            *duplicates(rows, ["system"], "system"),
            *undeclared(rows, "system", tuple(systems), "systems"),
            *_nested_values(rows),
            *_state_problems(rows),
        ]
    if problems:
        return no_attributes(), problems
    table = rows.table.sort_values("system", ignore_index=True).astype(object)
    for name in table:
        texts = [None if is_null(value) else str(value) for value in table[name]]
        table[name] = pd.Series(texts, dtype=object)
    ordered = table[["system", *(name for name in table if name != "system")]]
    return ordered.astype({"system": "str"}), []


def _nested_values(rows: Rows) -> Iterator[Problem]:
    for name in rows.table:
        for row, value in rows.table[name].items():
            if isinstance(value, list | dict):
                fault = "is neither a text nor a number"
                yield rows.problem(row, str(name), value, fault, "write one value, or nothing")


def _state_problems(rows: Rows) -> Iterator[Problem]:
    for row, value in rows.table.get(STATE, pd.Series(dtype=object)).items():
        if not is_null(value) and value not in STATES:
            yield rows.problem(row, STATE, value, "is no state", f"write {', '.join(STATES)}")


def unlisted_systems(attributes: pd.DataFrame) -> dict[str, str]:
    """Return the systems that are held or withdrawn, with their state."""
    if STATE not in attributes:
        return {}
    rows = attributes[attributes[STATE].isin([HELD, WITHDRAWN])]
    return dict(zip(rows["system"], rows[STATE], strict=True))


def with_own_passages(answers: Rows, queries: pd.DataFrame) -> tuple[Rows, list[Problem]]:
    """Check answers' own passages, and look up ids.

    Those equal to the question's have its relevance. Also return problems.
    """
    table = answers.table
    if OWN_PASSAGES not in table:
        return answers, []
    query_keys = queries[QUESTION_KEY].itertuples(index=False, name=None)
    shared_passages = dict(zip(query_keys, queries["passages"], strict=True))
    answer_keys = table[QUESTION_KEY].itertuples(index=False, name=None)
    problems: list[Problem] = []
    cells: list[object] = []
    for row, key, value in zip(table.index, answer_keys, table[OWN_PASSAGES], strict=True):
        if is_null(value):
            cells.append(None)
            continue
        records = _looked_up(value, shared_passages.get(key, ()))
        fault = _records_fault(records)
        if fault is None:
            cells.append(records)
        else:
            cells.append(None)
            hint = (
                "write [{passage_id, text, title|null, relevance: 1|0|null}, ...] with distinct "
                "ids, ids of the question's passages, or null for these"
            )
            problems.append(answers.problem(row, OWN_PASSAGES, value, fault, hint))
    if all(records is None for records in cells):
        return replace(answers, table=table.drop(columns=OWN_PASSAGES)), problems
    column = pd.Series(cells, index=table.index, dtype=object)
    return replace(answers, table=table.assign(**{OWN_PASSAGES: column})), problems


def _looked_up(passages: object, shared: Sequence[PassageRecord]) -> object:
    if not isinstance(passages, list):
        return passages
    by_id = {passage["passage_id"]: passage for passage in shared}
    records: list[object] = []
    for passage in passages:
        if isinstance(passage, str):
            records.append(by_id.get(passage, passage))
            continue
        if isinstance(passage, dict) and passage.get("relevance") is None:
            twin = by_id.get(str(passage.get("passage_id")))
            if twin is not None and twin.get("text") == passage.get("text"):
                passage = {**passage, "relevance": twin.get("relevance")}
        records.append(passage)
    return records


def _records_fault(records: object) -> str | None:
    if is_unstorable(records):
        return HALF_SURROGATE
    if isinstance(records, list):
        for record in records:
            if isinstance(record, str):
                return f"no passage {record!r} is among those of the question"
    return passages_fault(records)


PUBLISHED = "published"
"""Name of the judge where the file names none."""
RATING_KEY = list(PUBLISHED_RATINGS.key)
RATING = "rating"
WIN_RATE = "win_rate"
ERROR = "standard_error"


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
        yield Remark(
            "published", "info", f"{count_of(len(rated), 'rating')} are published", subject=subject
        )
        without_answers = rated - answered
        if without_answers:
            sentence = (
                f"{count_of(len(without_answers), 'published rating')} of systems without answers "
                "here: nothing is learned from them"
            )
            yield Remark("published", "warning", sentence, subject=subject)
        unrated = answered - rated
        if unrated:
            sentence = (
                f"{count_of(len(unrated), 'system')} of {len(answered)} that answered have no "
                "published rating"
            )
            yield Remark("published", "warning", sentence, subject=subject)
