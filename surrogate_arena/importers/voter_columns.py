"""Battles with a column of verdicts for each voter: each vote becomes a row of its own."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain

import pandas as pd

from arena.data.rows import Rows
from arena.data.schema import VOTER
from surrogate_arena.importers.battle_columns import (
    FLAGS,
    OUR_COLUMNS,
    battle_fields,
    columns_of_winners,
)
from surrogate_arena.importers.cells import is_missing_cell
from surrogate_arena.importers.columns import bare_column
from surrogate_arena.importers.judges import JUDGE_SOURCES
from surrogate_arena.importers.shaped_rows import with_records
from surrogate_arena.importers.winner_words import NO_VERDICT, word_of

_PEOPLE = frozenset(
    {
        *("annotator", "rater", "voter", "person", "user", "worker", "reviewer", "expert"),
        *("participant", "assessor", "labeler", "labeller", "human"),
    }
)
"""Words of the names of columns that are surely of people: judges and graders may be LLMs, and
other names may be those of qualities."""


BATTLE_ID = "battle_id"
HINT = "if columns hold the verdicts of one person each, begin them with 'voter '"
"""What to do where columns of verdicts are not known to be of people."""


def with_row_for_each_voter(rows: Rows) -> Rows | None:
    """Turn battles with the votes of several people in a row into a row for each vote.

    None unless that is certain: two or more columns hold words for a winner and nothing else, they
    are named for people (``rater 1``, ``voter Anna``), and no column is known for a winner or for
    who judged.
    """
    voters = columns_of_verdicts(rows)
    named = [column for column in _unknown_columns(rows) if _is_named_for_person(column)]
    if len(voters) < 2 or voters != named:
        return None
    names = {bare_column(column) for column in map(str, rows.table)}
    has_ids = not names.isdisjoint(battle_fields()["query_id"])
    numbered = []
    for number, record in enumerate(rows.table.drop(columns=voters).to_dict(orient="records")):
        # The votes on a battle are on one question.
        battle = {} if has_ids else {BATTLE_ID: f"{rows.source}:{rows.lines.iloc[number]}"}
        for voter in voters:
            vote = {"voter": voter.strip(), "winner": rows.table[voter].iloc[number]}
            numbered.append((number, record | battle | vote))
    note = f"these columns hold the votes of {len(voters)} people: {', '.join(voters)}"
    return with_records(replace(rows, table=rows.table.drop(columns=voters)), numbered, note)


def columns_of_verdicts(rows: Rows) -> list[str]:
    """Return the columns of unknown names that hold words for a winner and nothing else.

    Empty where a column is known for a winner or for who judged.
    """
    fields = battle_fields()
    names = {bare_column(column) for column in map(str, rows.table)}
    of_judges = chain.from_iterable(fields[field] for field in ("winner", "judge", VOTER))
    if columns_of_winners(rows.table) or not names.isdisjoint(of_judges):
        return []
    unknown = _unknown_columns(rows)
    return [column for column in unknown if _holds_verdicts_only(rows.table[column])]


def _unknown_columns(rows: Rows) -> list[str]:
    """Return the columns whose names say nothing of battles."""
    fields = battle_fields().values()
    known = {*chain.from_iterable(fields), *OUR_COLUMNS, *JUDGE_SOURCES, *FLAGS}
    return [column for column in map(str, rows.table) if bare_column(column) not in known]


def _holds_verdicts_only(cells: pd.Series) -> bool:
    has_verdict = False
    for cell in cells:
        word = word_of(cell) if isinstance(cell, str) else None
        if word is None and not is_missing_cell(cell):
            return False
        has_verdict = has_verdict or word not in (None, NO_VERDICT)
    return has_verdict


def _is_named_for_person(column: str) -> bool:
    words = re.findall(r"[^\W\d_]+", column.casefold())
    return not _PEOPLE.isdisjoint(words)
