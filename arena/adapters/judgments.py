"""Judgments from any file: our own columns, or LMArena's battles."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd

from arena.adapters.lmarena import read_battles
from arena.data.errors import DataError, Problem, UsageError
from arena.data.folder import as_rows, read_arena, with_language_of
from arena.data.languages import UNDETERMINED
from arena.data.rows import Rows, plain_table, read_rows
from arena.data.schema import CHOSEN, JUDGMENTS, SOFT_COLUMNS, check_table, self_judgments
from arena.data.tables.names import name_problems

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
        Columns ``query_id, language, system_a, system_b, winner, judge``, and ``chosen``, ``soft``,
        ``probability_a`` and ``probability_b`` where they are there, one row a judgment.

    Raises:
        UsageError: If the file is absent, of unknown format, or holds no judgments.
        DataError: With every problem: unknown winners, missing values, systems against themselves.
    """
    path = Path(path)
    if path.is_dir():
        arena = read_arena(path)
        if arena.judgments.empty and len(arena.published_ratings):
            raise UsageError(f"{path}: there is no judgment in it, only published ratings")
        return _some(_known(arena.judgments), str(path))
    rows = read_rows(path)
    if _is_battle_table(rows):
        return _some(_judgments_of_battles(path), rows.source)
    return _checked(rows if questions is None else with_language_of(rows, questions))


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
    rows = as_rows(plain_table(judgments), source)
    return _checked(rows if questions is None else with_language_of(rows, questions))


def _checked(rows: Rows) -> pd.DataFrame:
    if rows.table.empty and not rows.problems:
        raise UsageError(f"{rows.source}: there is no judgment in it")
    if rows.table.empty:
        raise DataError(rows.problems)
    completed = replace(rows, table=_completed(rows.table))
    found = check_table(completed, JUDGMENTS)
    problems = sorted([*rows.problems, *found], key=lambda problem: problem.line or 0)
    if not problems:
        names = {*completed.table["system_a"], *completed.table["system_b"]}
        problems = [
            *self_judgments(completed),
            *name_problems(names, rows.source, "system"),
            *name_problems(completed.table["judge"], rows.source, "judge"),
        ]
    if problems:
        raise DataError(problems)
    return _known(completed.table).astype("str")


def _known(table: pd.DataFrame) -> pd.DataFrame:
    further = [name for name in (CHOSEN, *SOFT_COLUMNS) if name in table]
    return table[[*_COLUMNS, *further]]


def _completed(table: pd.DataFrame) -> pd.DataFrame:
    """Give every judgment a question, a language and a judge, where the columns are absent."""
    size = len(table)
    absent: dict[str, list[str]] = {
        "query_id": [f"battle-{number}" for number in range(1, size + 1)],
        "language": [UNDETERMINED] * size,
        "judge": [ANONYMOUS_JUDGE] * size,
    }
    added = {name: values for name, values in absent.items() if name not in table.columns}
    full = table.assign(**added)
    unnamed = full["judge"].isna() | (full["judge"] == "")
    return full.assign(
        query_id=full["query_id"].map(_as_text).astype(object),
        judge=full["judge"].astype(object).where(~unnamed, ANONYMOUS_JUDGE),
    )


def _as_text(value: object) -> object:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if is_number else value


def _is_battle_table(rows: Rows) -> bool:
    columns = set(rows.table.columns)
    return columns >= _BATTLE_COLUMNS and "system_a" not in columns


def _judgments_of_battles(path: Path) -> pd.DataFrame:
    battles = read_battles(path)
    undecided = int(battles.skipped.loc[battles.skipped["item"] == "battle", "count"].sum())
    if undecided:
        fault = f"is missing in {undecided} battles"
        hint = "leave failed judgments out"
        raise DataError([Problem(path.name, None, "winner", None, fault, hint)])
    return battles.arena.judgments[_COLUMNS]


def _some(judgments: pd.DataFrame, source: str) -> pd.DataFrame:
    if judgments.empty:
        raise UsageError(f"{source}: there is no judgment in it")
    return judgments
