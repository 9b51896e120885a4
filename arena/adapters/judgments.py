"""Judgments from any file: our own columns, or LMArena's battles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from arena.adapters.battle_rows import NO_LANGUAGES, BattleOptions, battles_of
from arena.adapters.collected import Collected
from arena.adapters.columns import NO_COLUMNS
from arena.adapters.lmarena import add_judgment, foreign_of_battles
from arena.data.errors import DataError, UsageError
from arena.data.folder import read_arena
from arena.data.frames import as_rows, with_language_of
from arena.data.languages import UNDETERMINED
from arena.data.rows import Rows, plain_table
from arena.data.schema import (
    BOTH_BAD,
    CHOSEN,
    CRITERION,
    INFO_FILE,
    JUDGMENTS,
    REPEAT,
    SOFT_COLUMNS,
    UNKNOWN_JUDGE,
    VOTER,
    WEIGHT,
    check_table,
    named_by_criterion,
    self_judgments,
    whole_digits,
)
from arena.data.systems import name_problems
from arena.data.types import Flags
from arena.rating.battles import copies_of_others

_COLUMNS = list(JUDGMENTS.columns)
_OPTIONAL = (CRITERION, CHOSEN, *SOFT_COLUMNS, VOTER, WEIGHT, BOTH_BAD, REPEAT)


@dataclass(frozen=True)
class CountedJudgments:
    """Judgments of a file, and what was left out of it.

    Attributes:
        table: Columns ``query_id, language, system_a, system_b, winner, judge``, and those of
            ``criterion``, ``chosen``, ``soft``, ``probability_a``, ``probability_b``, ``voter``,
            ``weight``, ``both_bad`` and ``repeat`` that it has; one row a judgment.
        skipped: What was left out or changed: ``source, item, reason, count``, sorted.
    """

    table: pd.DataFrame
    skipped: pd.DataFrame


def read_judgments(path: Path | str, questions: pd.DataFrame | None = None) -> pd.DataFrame:
    """Read judgments, as ``counted_judgments_of`` does, without what was left out.

    Raises:
        UsageError: If the file is absent, of unknown format, or holds no judgments.
        DataError: With every problem: unknown winners, missing values, systems against themselves.
    """
    return counted_judgments_of(path, questions).table


def counted_judgments_of(
    path: Path | str,
    questions: pd.DataFrame | None = None,
    *,
    columns: Mapping[str, str] = NO_COLUMNS,
    drop_flagged: bool = False,
) -> CountedJudgments:
    """Read judgments.

    Args:
        path: Arena folder; or file in any row format, with the columns of ``judgments`` or those
            of battles (``model_a, model_b, winner``), or other names that ``columns.toml`` lists.
            Without ``query_id`` every row is a question of its own; without ``language`` it is
            ``und``; without a judge it is ``unknown``.
        questions: Columns ``query_id, language``: rows of a file without a language have that of
            their question, where its id alone says which.
        columns: Field to the name of its column, where its own name is not known.
        drop_flagged: As for ``read_battles``.

    Raises:
        UsageError: If the file is absent, of unknown format, or holds no judgments.
        DataError: With every problem: unknown winners, missing values, systems against themselves.
    """
    path = Path(path)
    if path.is_dir() and (path / INFO_FILE).is_file():
        arena = read_arena(path)
        if arena.judgments.empty:
            published = ", only published ratings" if len(arena.published_ratings) else ""
            raise UsageError(f"{path}: there is no judgment in it{published}")
        return CountedJudgments(_known(arena.judgments), Collected().skipped())
    if not path.exists():
        raise UsageError(f"there is no file {path}")
    read = Collected()
    languages = _languages_of(questions)
    options = BattleOptions(columns, languages=languages, drops_flagged=drop_flagged)
    number = 0
    for _, rows in read.files([path]):
        rows = replace(rows, source=path.name)
        for battle in battles_of(read, rows, options, number):
            if battle.is_sound:
                key = (battle.key[0], str(battle.key[1]))
                read.question(battle.place, key, key[1], [], may_repeat=True)
            add_judgment(read, battle)
        number += len(rows.table)
    if not number and not read.problems:
        raise UsageError(f"{path.name}: there is no judgment in it")
    foreign = foreign_of_battles(read, "battles")
    if foreign.arena.judgments.empty:
        raise UsageError(f"{path.name}: there is no judgment in it")
    return CountedJudgments(_known(foreign.arena.judgments), foreign.skipped)


def _languages_of(questions: pd.DataFrame | None) -> Mapping[str, str]:
    """Return the language of each question by its id; none where ids do not say which."""
    if questions is None or not {"query_id", "language"} <= set(questions):
        return NO_LANGUAGES
    if questions["query_id"].duplicated().any():
        return NO_LANGUAGES
    return dict(zip(questions["query_id"].astype(str), questions["language"], strict=True))


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
    known = _known(named).astype(dict.fromkeys(_COLUMNS, "str"))
    return _numbered(known, copies)


def _known(table: pd.DataFrame) -> pd.DataFrame:
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
