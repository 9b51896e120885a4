"""Judgments from any file: our own columns, or LMArena's battles."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd

from arena.adapters.lmarena import read_battles
from arena.data.errors import DataError, Problem, UsageError
from arena.data.folder import read_arena
from arena.data.frames import as_rows, with_language_of
from arena.data.languages import UNDETERMINED
from arena.data.rows import Rows, plain_table, read_rows
from arena.data.schema import (
    CHOSEN,
    CRITERION,
    JUDGMENTS,
    SOFT_COLUMNS,
    check_table,
    named_by_criterion,
    self_judgments,
    whole_digits,
)
from arena.data.systems import name_problems

ANONYMOUS_JUDGE = "judge"
"""Name of the judge where none is given."""

_COLUMNS = list(JUDGMENTS.columns)
_BATTLE_COLUMNS = {"model_a", "model_b"}


def read_judgments(path: Path | str, questions: pd.DataFrame | None = None) -> pd.DataFrame:
    """Read judgments.

    Args:
        path: Arena folder; or file in any row format, with the columns of ``judgments`` or with
            those of a battle table (``model_a, model_b, winner``). Without ``query_id`` every
            row is a question of its own; without ``language`` it is ``und``; without a judge it
            is ``judge``.
        questions: Columns ``query_id, language``: rows of a file without a language have that of
            their question, where its id alone says which.

    Returns:
        Columns ``query_id, language, system_a, system_b, winner, judge``, and ``criterion``,
        ``chosen``, ``soft``, ``probability_a`` and ``probability_b`` where they are there, one row
        a judgment.

    Raises:
        UsageError: If the file is absent, of unknown format, or holds no judgments.
        DataError: With every problem: unknown winners, missing values, systems against themselves.
    """
    path = Path(path)
    if path.is_dir():
        arena = read_arena(path)
        if arena.judgments.empty:
            there = ", only published ratings" if len(arena.published_ratings) else ""
            raise UsageError(f"{path}: there is no judgment in it{there}")
        return _known(arena.judgments)
    rows = read_rows(path)
    if set(rows.table) >= _BATTLE_COLUMNS and "system_a" not in rows.table:
        return _judgments_of_battles(path)
    return _checked(rows, questions)


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
    return _known(named_by_criterion(rows.table)).astype("str")


def _known(table: pd.DataFrame) -> pd.DataFrame:
    return table[
        [*_COLUMNS, *(name for name in (CRITERION, CHOSEN, *SOFT_COLUMNS) if name in table)]
    ]


def _completed(table: pd.DataFrame) -> pd.DataFrame:
    """Give every judgment a question, a language and a judge, where the columns are absent."""
    absent: dict[str, object] = {
        "query_id": [f"battle-{number}" for number in range(1, len(table) + 1)],
        "language": UNDETERMINED,
        "judge": ANONYMOUS_JUDGE,
    }
    added = {name: values for name, values in absent.items() if name not in table.columns}
    full = table.assign(**added).astype(object)
    unnamed = full["judge"].isna() | (full["judge"] == "")
    return full.assign(
        query_id=[whole_digits(value) or value for value in full["query_id"]],
        judge=full["judge"].where(~unnamed, ANONYMOUS_JUDGE),
    ).astype(object)


def _judgments_of_battles(path: Path) -> pd.DataFrame:
    battles = read_battles([path])
    skipped = battles.skipped
    undecided = int(skipped.loc[skipped["item"] == "judgment", "count"].sum())
    if undecided:
        fault, hint = f"is missing in {undecided} battles", "leave failed judgments out"
        raise DataError([Problem(path.name, None, "winner", None, fault, hint)])
    if battles.arena.judgments.empty:
        raise UsageError(f"{path.name}: there is no judgment in it")
    return battles.arena.judgments[_COLUMNS]
