"""Battle tables in the manner of LMArena: ``model_a, model_b, winner`` and little more.

Such a table holds neither questions nor answers. It becomes an arena whose questions are known by
their id alone, so that everything that needs only judgments works on it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import pandas as pd

from arena.adapters.foreign_rows import Skip, ignored_columns, missing_columns, skipped_table
from arena.data.errors import DataError, Problem, UsageError
from arena.data.folder import Arena, as_rows, checked_arena, empty_rows
from arena.data.languages import LANGUAGE_CODE, UNDETERMINED, language_code
from arena.data.rows import Rows, plain_table, read_rows
from arena.data.schema import ANSWERS, ArenaInfo, is_unstorable

WINNERS = MappingProxyType({"model_a": "a", "model_b": "b", "tie": "tie"})
"""Winner of a battle to ours."""

BOTH_BAD = ("tie (bothbad)", "both_bad")
"""Winners that say that both answers are bad."""

ANONYMOUS_JUDGE = "human"

BothBad = Literal["tie", "leave out"]

_REQUIRED = ["model_a", "model_b", "winner"]
_QUESTION_COLUMNS = ["query_id", "question_id"]
_KNOWN = [*_REQUIRED, *_QUESTION_COLUMNS, "language", "judge"]
_PUBLISHED_FIELDS = {"system_a": "model_a", "system_b": "model_b"}
_NOTE = "Battles only: questions are known by their id, there are no answers."


@dataclass(frozen=True)
class ForeignBattles:
    """A battle table as an arena.

    Attributes:
        arena: The judgments, the questions they are about (by id alone), no answers.
        skipped: What was left out: ``source, item, reason, count``.
    """

    arena: Arena
    skipped: pd.DataFrame


def read_battles(
    battles: Path | str | pd.DataFrame,
    *,
    name: str = "battles",
    judge: str | None = None,
    language: str = UNDETERMINED,
    other_languages: str | None = None,
    both_bad: BothBad = "tie",
) -> ForeignBattles:
    """Read battles.

    A battle without a winner (null) is a failed judgment: left out and counted. Without a column
    ``query_id`` or ``question_id``, every battle is a question of its own (``battle-1`` ...).

    Args:
        battles: File in any row format, or table. Columns ``model_a, model_b, winner`` and,
            optional, ``query_id`` or ``question_id``, ``language`` (a code or an English name)
            and ``judge``; others are not read.
        name: Name of the arena.
        judge: Name to give the judge of all battles; without it the column ``judge`` counts, or
            ``human`` where there is none.
        language: Code of all battles where there is no column ``language``.
        other_languages: Code for languages whose name is not known, such as ``und``; without it
            they are problems.
        both_bad: What it counts as that both answers are bad.

    Raises:
        UsageError: If the file is absent or of unknown format, or a code is no language code.
        DataError: With every problem of the table.
    """
    for code in (language, other_languages or language):
        if not re.fullmatch(LANGUAGE_CODE, code):
            raise UsageError(f"{code!r} is not a language code; use one such as 'en' or 'und'")
    rows = _rows_of_battles(battles)
    missing = missing_columns(rows, _REQUIRED)
    if missing:
        raise DataError([*rows.problems, *missing])
    codes = _codes(rows, language, other_languages)
    reasons = [_reason_to_skip(winner, both_bad) for winner in _column(rows, "winner")]
    judgments = pd.DataFrame(
        {
            "query_id": _question_ids(rows),
            "language": [code or UNDETERMINED for code in codes],
            "system_a": _column(rows, "model_a"),
            "system_b": _column(rows, "model_b"),
            "winner": [_our_winner(winner) for winner in _column(rows, "winner")],
            "judge": [judge or own for own in _column(rows, "judge", ANONYMOUS_JUDGE)],
        },
        dtype=object,
    )
    decided = pd.Series([reason is None for reason in reasons], dtype=bool)
    kept = Rows(
        judgments[decided].reset_index(drop=True),
        rows.lines[decided].reset_index(drop=True),
        rows.source,
        (*rows.problems, *_winner_problems(rows), *_language_problems(rows, codes)),
    )
    skips = [
        *(Skip(rows.source, "battle", reason) for reason in reasons if reason is not None),
        *ignored_columns(rows, _KNOWN),
    ]
    names = {**_PUBLISHED_FIELDS, "query_id": _question_column(rows) or "query_id"}
    try:
        return ForeignBattles(_arena(kept, name), skipped_table(skips))
    except DataError as error:
        raise DataError([_renamed(problem, names) for problem in error.problems]) from None


def _rows_of_battles(battles: Path | str | pd.DataFrame) -> Rows:
    if not isinstance(battles, pd.DataFrame):
        return read_rows(Path(battles))
    return as_rows(plain_table(battles), "battles")


def _column(rows: Rows, name: str, default: object = None) -> list[object]:
    if name in rows.table.columns:
        return list(rows.table[name])
    return [default] * len(rows.table)


def _question_column(rows: Rows) -> str | None:
    return next((name for name in _QUESTION_COLUMNS if name in rows.table.columns), None)


def _question_ids(rows: Rows) -> list[object]:
    column = _question_column(rows)
    if column is None:
        return [f"battle-{number}" for number in range(1, len(rows.table) + 1)]
    return [_as_text(value) for value in rows.table[column]]


def _as_text(value: object) -> object:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if is_number else value


def _codes(rows: Rows, default: str, others: str | None) -> list[str | None]:
    names = _column(rows, "language", default)
    return [(language_code(name) if isinstance(name, str) else None) or others for name in names]


def _our_winner(winner: object) -> str:
    """Return our winner; that of a battle which is a problem or left out does not matter."""
    return WINNERS.get(winner, "tie") if isinstance(winner, str) else "tie"


def _reason_to_skip(winner: object, both_bad: BothBad) -> str | None:
    if winner is None:
        return "it has no winner"
    if both_bad == "leave out" and winner in BOTH_BAD:
        return "both answers are bad"
    return None


def _winner_problems(rows: Rows) -> list[Problem]:
    allowed = (*WINNERS, *BOTH_BAD)
    hint = f"write one of {', '.join(allowed)}, or null for a battle that has none"
    return [
        Problem(rows.source, int(line), "winner", winner, "is not a winner", hint)
        for line, winner in zip(rows.lines, _column(rows, "winner"), strict=True)
        if winner is not None and winner not in allowed
    ]


def _language_problems(rows: Rows, codes: Sequence[str | None]) -> list[Problem]:
    hint = "use a code such as 'en', or name a code for such languages with other_languages"
    return [
        Problem(rows.source, int(line), "language", name, "is not a language known by name", hint)
        for line, name, code in zip(rows.lines, _column(rows, "language"), codes, strict=True)
        if code is None
    ]


def _arena(judgments: Rows, name: str) -> Arena:
    questions = _asked(judgments.table)
    named = [*judgments.table["system_a"], *judgments.table["system_b"]]
    info = ArenaInfo(
        name=name,
        languages=tuple(sorted(set(questions["language"]))),
        systems=tuple(sorted({system for system in named if _is_sound_name(system)})),
        note=_NOTE,
    )
    queries = questions.assign(query=questions["query_id"], passages=[[] for _ in questions.index])
    return checked_arena(info, as_rows(queries, "questions"), empty_rows(ANSWERS), judgments)


def _asked(judgments: pd.DataFrame) -> pd.DataFrame:
    sound = judgments[judgments["query_id"].map(_is_sound_name).astype(bool)]
    return sound[["query_id", "language"]].drop_duplicates(ignore_index=True)


def _is_sound_name(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and not is_unstorable(value)


def _renamed(problem: Problem, names: dict[str, str]) -> Problem:
    field = problem.field or ""
    return replace(problem, field=names.get(field, problem.field))
