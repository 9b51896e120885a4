"""Judgments in memory: checked, completed, without copies, selected by language and judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import compress

import numpy as np
import pandas as pd

from arena.data.checks import check_table, probability_problems, self_judgments
from arena.data.errors import DataError, UsageError
from arena.data.frames import as_rows, frame_of, with_language_of
from arena.data.judges import UNKNOWN_JUDGE, chosen_judges, judges_named
from arena.data.languages import UNDETERMINED
from arena.data.names import name_problems, row_name_problems
from arena.data.rows import named_by_criterion, plain_table, whole_digits, with_numbers
from arena.data.schema import (
    ALL,
    BOTH_BAD,
    CHOSEN,
    CRITERION,
    JUDGMENTS,
    PROBABILITIES,
    REPEAT,
    SIDES,
    VERDICT_FLAGS,
    VOTER,
    WEIGHT,
)
from arena.data.types import Flags
from arena.data.wording import first_of
from arena.rating.judgment_columns import named_voters, sideless_by_name
from arena.statistics.codes import repeated_rows, text_codes


def copies_of_others(judgments: pd.DataFrame) -> Flags:
    """Return which judgments are copies, (N,), as of a file joined twice.

    They name a judge or voter: else equal rows are several votes.
    """
    if "query_id" not in judgments:
        return np.zeros(len(judgments), dtype=np.bool_)
    is_named = named_voters(judgments)
    if not is_named.any():
        return is_named
    if is_named.all():
        return repeated_rows(judgments)
    is_copy = np.zeros(len(judgments), dtype=np.bool_)
    is_copy[is_named] = repeated_rows(judgments[is_named])
    return is_copy


def checked_judgments(
    judgments: pd.DataFrame, questions: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Check and complete judgments in memory, as ``read_judgments`` does a file.

    Without a language they get their question's, if its id is unique.
    """
    rows = as_rows(plain_table(frame_of(judgments, "judgments")), JUDGMENTS.name)
    if rows.table.empty:
        raise UsageError("judgments: there is no judgment in it")
    if questions is not None:
        rows = with_language_of(rows, questions)
    rows = replace(rows, table=_completed(rows.table))
    problems = check_table(rows, JUDGMENTS)
    if not problems:
        names = {*rows.table["system_a"], *rows.table["system_b"]}
        problems = [
            *self_judgments(rows),
            *probability_problems(rows),
            *name_problems(names, rows.source, "system"),
            *row_name_problems(rows, "judge"),
        ]
    if problems:
        raise DataError(problems)
    complete = named_by_criterion(rows.table)
    table = with_known_columns(complete).astype(dict.fromkeys(JUDGMENTS.columns, "str"))
    table = with_numbers(table, PROBABILITIES)
    return _numbered(table, is_copy=copies_of_others(sideless_by_name(complete)))


def _completed(table: pd.DataFrame) -> pd.DataFrame:
    columns: dict[str, object] = {}
    if "query_id" in table:
        columns["query_id"] = [whole_digits(value) or value for value in table["query_id"]]
    else:
        columns["query_id"] = [f"battle-{number}" for number in range(1, len(table) + 1)]
    if "language" not in table:
        columns["language"] = UNDETERMINED
    if "judge" in table:
        is_unnamed = table["judge"].isna() | (table["judge"] == "")
        columns["judge"] = table["judge"].astype(object).where(~is_unnamed, UNKNOWN_JUDGE)
    else:
        columns["judge"] = UNKNOWN_JUDGE
    return table.assign(**columns).astype(object)


def with_known_columns(table: pd.DataFrame, further: Sequence[str] = ()) -> pd.DataFrame:
    """Keep the columns that this project reads, and further ones."""
    optional = [CRITERION, CHOSEN, *PROBABILITIES]
    optional += [SIDES, VOTER, WEIGHT, BOTH_BAD, REPEAT, VERDICT_FLAGS]
    optional += [name for name in further if name not in (*JUDGMENTS.columns, *optional)]
    return table[[*JUDGMENTS.columns, *(name for name in optional if name in table)]]


def _numbered(table: pd.DataFrame, is_copy: Flags) -> pd.DataFrame:
    votes = table.drop(columns=VERDICT_FLAGS, errors="ignore")
    is_repeat = copies_of_others(votes) & ~is_copy
    if not is_repeat.any():
        return table
    numbers = table.groupby([votes[name].astype(str) for name in votes]).cumcount() + 1
    repeat = table.get(REPEAT, pd.Series(None, table.index, dtype=object)).astype(object)
    return table.assign(**{REPEAT: repeat.where(~is_repeat, numbers.astype(str))})


def selected_judgments(
    judgments: pd.DataFrame, language: str | None = None, judge: str | None = None
) -> pd.DataFrame:
    """Keep the judgments of one language and one judge."""
    is_selected = np.ones(len(judgments), dtype=np.bool_)
    if "language" in judgments:
        codes, names = text_codes(judgments["language"])
        if language is None and len(names) > 1:
            raise UsageError(f"several languages, choose one (or all): {first_of(sorted(names))}")
        if language not in (None, ALL, *names):
            available = first_of(sorted(names))
            raise UsageError(f"no language {language!r} here; available: {available}")
        if language in names:
            is_selected = codes == names.index(language)
    if "judge" in judgments and judge != ALL and is_selected.any():
        codes, names = text_codes(judgments["judge"])
        present = np.zeros(len(names) + 1, dtype=np.bool_)
        present[codes[is_selected]] = True
        listed = sorted(compress(names, present))
        if judge is None:
            judge = chosen_judges(listed)[0]
        chosen = set(judges_named(listed, judge))
        is_named = [name in chosen for name in names]
        is_selected &= np.array([*is_named, False], dtype=np.bool_)[codes]
    if not is_selected.all():
        judgments = judgments[is_selected]
    return judgments.reset_index(drop=True)
