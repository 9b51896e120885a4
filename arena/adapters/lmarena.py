"""Battle tables in the manner of LMArena: ``model_a, model_b, winner`` and little more.

Most hold neither questions nor answers: they become an arena whose questions are known by their id
alone, so that everything that needs only judgments works on it. Some are published with both
conversations, from which questions and answers are read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

import pandas as pd

from arena.adapters.files import files_below, read_foreign_rows, shown_path
from arena.adapters.foreign_rows import (
    ForeignArena,
    Skip,
    ignored_columns,
    joined_rows,
    missing_columns,
    skipped_table,
)
from arena.data.arena import Arena
from arena.data.errors import DataError, Problem, UsageError, checked_choice
from arena.data.files import parsed_json
from arena.data.folder import as_rows, checked_arena, empty_rows
from arena.data.languages import LANGUAGE_CODE, UNDETERMINED, language_code
from arena.data.rows import Rows, plain_table, read_rows
from arena.data.schema import ANSWERS, QUESTION_KEY, ArenaInfo, is_unstorable

WINNERS = MappingProxyType({"model_a": "a", "model_b": "b", "tie": "tie"})
"""Winner of a battle to ours."""

BOTH_BAD = ("tie (bothbad)", "both_bad")
"""Winners that say that both answers are bad."""

ANONYMOUS_JUDGE = "human"

BothBad = Literal["tie", "leave out"]

_REQUIRED = ["model_a", "model_b", "winner"]
_QUESTION_COLUMNS = ["query_id", "question_id", "id"]
_CONVERSATIONS = ["conversation_a", "conversation_b"]
_PROMPTED = ["prompt", "response_a", "response_b"]
_ONE_HOT = {"winner_model_a": "model_a", "winner_model_b": "model_b", "winner_tie": "tie"}
_KNOWN = [*_REQUIRED, *_QUESTION_COLUMNS, "language", "judge", *_CONVERSATIONS, *_PROMPTED]
_PUBLISHED_FIELDS = {"system_a": "model_a", "system_b": "model_b"}
_NOTE = "Battles only: questions are known by their id, there are no answers."


def read_battles(
    battles: Path | str | pd.DataFrame | Rows,
    *,
    name: str = "battles",
    judge: str | None = None,
    language: str = UNDETERMINED,
    other_languages: str | None = None,
    both_bad: BothBad = "tie",
) -> ForeignArena:
    """Read battles.

    A battle without a winner (null) is a failed judgment: left out and counted. Without a column
    ``query_id`` or ``question_id``, every battle is a question of its own (``battle-1`` ...).

    Args:
        battles: File in any row format, its rows, or table. Columns ``model_a, model_b, winner``
            (or ``winner_model_a``, ``winner_model_b``, ``winner_tie``, of which one is 1) and,
            optional, ``query_id``, ``question_id`` or ``id``, ``language`` (a code or an English
            name) and ``judge``; and what was said: ``conversation_a`` and ``conversation_b``
            (lists of ``{role, content}``), or ``prompt``, ``response_a`` and ``response_b``
            (texts, or lists of turns), each also as JSON text. Several turns become one text,
            with blank lines between. Other columns are not read.
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
    rows = _with_one_winner(_rows_of_battles(battles))
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
    said = _conversations(rows, judgments, decided)
    kept = replace(kept, problems=(*kept.problems, *said.problems))
    try:
        return ForeignArena(_arena(kept, name, said), skipped_table(skips))
    except DataError as error:
        raise DataError([_renamed(problem, names) for problem in error.problems]) from None


def read_battle_files(
    paths: Sequence[Path | str],
    *,
    name: str = "battles",
    judge: str | None = None,
    language: str = UNDETERMINED,
    other_languages: str | None = None,
    both_bad: BothBad = "tie",
) -> ForeignArena:
    """Read battles from files and folders of one schema together; see ``read_battles``."""
    checked_choice(both_bad, get_args(BothBad), "reading of two bad answers")
    files = files_below(paths)
    rows = joined_rows([read_foreign_rows(path, shown_path(path, paths)) for path in files])
    return read_battles(
        rows,
        name=name,
        judge=judge,
        language=language,
        other_languages=other_languages,
        both_bad=both_bad,
    )


def _rows_of_battles(battles: Path | str | pd.DataFrame | Rows) -> Rows:
    if isinstance(battles, Rows):
        return battles
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


@dataclass(frozen=True)
class _Said:
    """The questions' texts by key, and the answers; empty where battles come without."""

    questions: dict[tuple[object, object], str]
    answers: Rows
    problems: tuple[Problem, ...] = ()


def _with_one_winner(rows: Rows) -> Rows:
    """Bring three columns of which one is 1 to one column of winners."""
    columns = [name for name in _ONE_HOT if name in rows.table.columns]
    if "winner" in rows.table.columns or len(columns) < len(_ONE_HOT):
        return rows
    marked = rows.table[columns].map(lambda value: str(value) in ("1", "1.0", "True"))
    winners = [
        next(name for name, is_one in zip(_ONE_HOT.values(), row, strict=True) if is_one)
        if sum(row) == 1
        else None
        for row in marked.itertuples(index=False, name=None)
    ]
    winner = pd.Series(winners, index=rows.table.index, dtype=object)
    return replace(rows, table=rows.table.drop(columns=columns).assign(winner=winner))


def _conversations(rows: Rows, judgments: pd.DataFrame, decided: pd.Series) -> _Said:
    """Read what was asked and answered in each battle that counts."""
    there = set(rows.table.columns)
    columns = next((c for c in (_CONVERSATIONS, _PROMPTED) if there >= set(c)), None)
    if columns is None:
        return _Said({}, empty_rows(ANSWERS))
    questions: dict[tuple[object, object], str] = {}
    answers = []
    lines = []
    problems = []
    cells = zip(rows.lines, *(rows.table[column] for column in columns), strict=True)
    asked = judgments[[*QUESTION_KEY, "system_a", "system_b"]]
    for is_kept, keys, (line, *said) in zip(
        decided, asked.itertuples(index=False, name=None), cells, strict=True
    ):
        if not is_kept or not all(map(_is_sound_name, keys)):  # the judgment's fault is told
            continue
        try:
            question, *texts = _turns(said)
        except ValueError as error:
            hint = "write a list of {role, content}, or of texts"
            problems.append(Problem(rows.source, int(line), columns[0], said, str(error), hint))
            continue
        language, query_id, *systems = keys
        questions.setdefault((language, query_id), question)
        answers += [
            (query_id, language, system, text) for system, text in zip(systems, texts, strict=True)
        ]
        lines += [line, line]
    table = pd.DataFrame(answers, columns=list(ANSWERS.columns), dtype=object)
    lines_of = pd.Series(lines, dtype=int)
    again = table.duplicated()
    kept = Rows(
        table[~again].reset_index(drop=True), lines_of[~again].reset_index(drop=True), rows.source
    )
    return _Said(questions, kept, tuple(problems))


def _turns(said: list[object]) -> tuple[str, str, str]:
    """Return the question and both answers of a battle.

    Raises:
        ValueError: If the cells hold no turns.
    """
    if len(said) == len(_PROMPTED):
        question, one, other = (_joined(_decoded(cell)) for cell in said)
        return question, one, other
    parts = [_decoded(cell) for cell in said]
    asked = _joined([turn["content"] for turn in parts[0] if _role(turn) == "user"])
    one, other = (
        _joined([turn["content"] for turn in turns if _role(turn) != "user"]) for turns in parts
    )
    return asked, one, other


def _decoded(cell: object) -> list[Any]:
    if isinstance(cell, str) and cell.lstrip().startswith("["):
        try:
            cell = parsed_json(cell)
        except ValueError:
            return [cell]
    if isinstance(cell, str):
        return [cell]
    if not isinstance(cell, list):
        raise ValueError("is no list of turns")
    return cell


def _role(turn: object) -> object:
    if not isinstance(turn, dict) or not isinstance(turn.get("content"), str):
        raise ValueError("holds a turn without a role and content")
    return turn.get("role")


def _joined(turns: list[Any]) -> str:
    if not all(isinstance(turn, str) or turn is None for turn in turns):
        raise ValueError("holds a turn that is no text")
    return "\n\n".join(turn or "" for turn in turns)


def _arena(judgments: Rows, name: str, said: _Said) -> Arena:
    questions = _asked(judgments.table)
    named = [*judgments.table["system_a"], *judgments.table["system_b"]]
    info = ArenaInfo(
        name=name,
        languages=tuple(sorted(set(questions["language"]))),
        systems=tuple(sorted({system for system in named if _is_sound_name(system)})),
        note="" if said.questions else _NOTE,
    )
    keys = zip(questions["language"], questions["query_id"], strict=True)
    texts = [said.questions.get(key) or key[1] for key in keys]
    queries = questions.assign(query=texts, passages=[[] for _ in questions.index])
    return checked_arena(info, as_rows(queries, "questions"), said.answers, judgments)


def _asked(judgments: pd.DataFrame) -> pd.DataFrame:
    sound = judgments[judgments["query_id"].map(_is_sound_name).astype(bool)]
    return sound[["query_id", "language"]].drop_duplicates(ignore_index=True)


def _is_sound_name(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and not is_unstorable(value)


def _renamed(problem: Problem, names: dict[str, str]) -> Problem:
    field = problem.field or ""
    return replace(problem, field=names.get(field, problem.field))
