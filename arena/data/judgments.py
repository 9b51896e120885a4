"""Judgments in memory: checked, completed, and which of them are copies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from arena.data.cells import is_null, whole_digits
from arena.data.checks import check_table, self_judgments
from arena.data.errors import DataError, UsageError
from arena.data.frames import as_rows, with_language_of
from arena.data.judge_names import UNKNOWN_JUDGE, names_one_judge
from arena.data.languages import UNDETERMINED
from arena.data.rows import Rows, plain_table
from arena.data.schema import (
    BOTH_BAD,
    CHOSEN,
    CRITERION,
    JUDGMENTS,
    REPEAT,
    SOFT_COLUMNS,
    VOTER,
    WEIGHT,
)
from arena.data.systems import name_problems
from arena.data.types import Flags

_COLUMNS = list(JUDGMENTS.columns)
_OPTIONAL = (CRITERION, CHOSEN, *SOFT_COLUMNS, VOTER, WEIGHT, BOTH_BAD, REPEAT)


def copies_of_others(judgments: pd.DataFrame) -> Flags:
    """Tell which judgments are copies of others, as of a file that was joined twice.

    A copy is like another judgment in all columns, and by a judge or voter who has a name. Where
    a file does not say who voted, or only that people did, rows that are alike are several votes.

    Returns:
        Shape (N,); nobody's where questions have no ids.
    """
    if "query_id" not in judgments:
        return np.zeros(len(judgments), dtype=np.bool_)
    is_named = named_voters(judgments)
    if not is_named.any():
        return is_named
    named = judgments[is_named]
    try:
        same = named.duplicated().to_numpy()
    except TypeError:  # lists have no hash
        same = named.astype(str).duplicated().to_numpy()
    copies = np.zeros(len(judgments), dtype=np.bool_)
    copies[is_named] = same
    return copies


def named_voters(judgments: pd.DataFrame) -> Flags:
    """Tell which judgments say who made them, rather than that people did, or nothing.

    Args:
        judgments: An arena's ``judgments``; ``judge``, ``voter`` and ``criterion`` count.

    Returns:
        Shape (N,).
    """
    if "judge" not in judgments:
        return np.zeros(len(judgments), dtype=np.bool_)
    codes, names = pd.factorize(judgments["judge"].astype(str))
    is_one = np.array([names_one_judge(name) for name in names], dtype=np.bool_)[codes]
    if CRITERION in judgments:
        for row in np.flatnonzero(is_one & judgments[CRITERION].notna().to_numpy()):
            criterion = str(judgments[CRITERION].iloc[row])
            judge = str(judgments["judge"].iloc[row]).removesuffix(f":{criterion}")
            is_one[row] = names_one_judge(judge)
    if VOTER in judgments:
        voters = judgments[VOTER].astype(object)
        is_one |= [pd.notna(voter) and names_one_judge(str(voter)) for voter in voters]
    return np.asarray(is_one)


def named_by_criterion(judgments: pd.DataFrame) -> pd.DataFrame:
    """Let the names of judges end in the criterion they judged by, where one is stated."""
    if CRITERION not in judgments:
        return judgments
    pairs = zip(judgments["judge"], judgments[CRITERION], strict=True)
    names = [
        judge if is_null(by) or judge.endswith(f":{by}") else f"{judge}:{by}" for judge, by in pairs
    ]
    return judgments.assign(judge=pd.Series(names, judgments.index, judgments["judge"].dtype))


def checked_judgments(
    judgments: pd.DataFrame, source: str = "judgments", questions: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Check and complete a table of judgments in memory, as ``read_judgments`` does a file.

    Args:
        judgments: Columns ``system_a, system_b, winner`` and, optional, ``query_id``,
            ``language``, ``judge``.
        source: What problems call the table.
        questions: As for ``read_judgments``.
    """
    return _checked(as_rows(plain_table(judgments), source), questions)


def _checked(rows: Rows, questions: pd.DataFrame | None) -> pd.DataFrame:
    if rows.table.empty and rows.problems:
        raise DataError(rows.problems)
    if rows.table.empty:
        raise UsageError(f"{rows.source}: there is no judgment in it")
    if questions is not None:
        rows = with_language_of(rows, questions)
    rows = replace(rows, table=_completed(rows.table))
    found = check_table(rows, JUDGMENTS)
    problems = sorted([*rows.problems, *found], key=lambda problem: problem.line or 0)
    if not problems:
        names = {*rows.table["system_a"], *rows.table["system_b"]}
        problems = [
            *self_judgments(rows),
            *name_problems(names, rows.source, "system"),
            *name_problems(rows.table["judge"], rows.source, "judge"),
        ]
    if problems:
        raise DataError(problems)
    named = named_by_criterion(rows.table)
    copies = copies_of_others(named)
    known = with_known_columns(named).astype(dict.fromkeys(_COLUMNS, "str"))
    return _numbered(known, copies)


def with_known_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Keep the columns of judgments that this project reads."""
    return table[[*_COLUMNS, *(name for name in _OPTIONAL if name in table)]]


def _numbered(table: pd.DataFrame, copies: Flags) -> pd.DataFrame:
    """Number the votes of one judge that are alike but for columns that are not kept."""
    alike = copies_of_others(table) & ~copies
    if not alike.any():
        return table
    numbers = table.groupby([table[name].astype(str) for name in table]).cumcount() + 1
    repeat = table.get(REPEAT, pd.Series(None, table.index, dtype=object)).astype(object)
    return table.assign(**{REPEAT: repeat.where(~alike, numbers.astype(str))})


def _completed(table: pd.DataFrame) -> pd.DataFrame:
    """Give every judgment a question, a language and a judge, where the columns are absent."""
    absent: dict[str, object] = {
        "query_id": [f"battle-{number}" for number in range(1, len(table) + 1)],
        "language": UNDETERMINED,
        "judge": UNKNOWN_JUDGE,
    }
    added = {name: values for name, values in absent.items() if name not in table.columns}
    full = table.assign(**added).astype(object)
    unnamed = full["judge"].isna() | (full["judge"] == "")
    return full.assign(
        query_id=[whole_digits(value) or value for value in full["query_id"]],
        judge=full["judge"].where(~unnamed, UNKNOWN_JUDGE),
    ).astype(object)
