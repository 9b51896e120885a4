"""Columns of battles: which say who met, who won, what was shown, and which votes are flagged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from arena.data.cells import is_null
from arena.data.schema import (
    BOTH_BAD,
    CHOSEN,
    CRITERION,
    DIGESTS,
    PROBABILITIES,
    REPEAT,
    TURN,
    VERDICT_FLAGS,
    VOTER,
    WEIGHT,
)
from arena.data.types import Record
from surrogate_arena.importers.cells import opened_text
from surrogate_arena.importers.columns import FieldNames, bare_column, field_names
from surrogate_arena.importers.judged_turns import CONVERSATIONS
from surrogate_arena.importers.winner_columns import (
    NO_WINNER,
    ONE_HOT,
    ONE_HOT_NEEDED,
    SIDE_SCORES,
    SIDE_WINS,
    read_one_hot,
    read_probabilities,
    read_side_scores,
    read_side_wins,
)

_TEXTS = ("question", "answer_a", "answer_b")
_FIELDS = (
    "query_id",
    "language",
    "judge",
    CRITERION,
    VOTER,
    TURN,
    WEIGHT,
    "system_a",
    "system_b",
    "winner",
    *_TEXTS,
)
OUR_COLUMNS = (CHOSEN, *PROBABILITIES, BOTH_BAD, REPEAT, VERDICT_FLAGS)
"""Columns of our own tables that stay as they are."""
FLAGS = MappingProxyType(
    {
        "anony": "votes were not blind: the names of the models were shown",
        "dedup_tag": "votes are on prompts that the source flags as duplicates",
    }
)
"""Columns that flag votes, with what a flag says."""


def battle_fields() -> FieldNames:
    """Return the fields of battles, with the names that their columns may have."""
    names_of_fields = field_names("pairs")
    fields = {name: names_of_fields[name] for name in _FIELDS}
    # Where a row is a battle, its own id is that of its question.
    fields["query_id"] = (*fields["query_id"], "id", "battle_id", "conversation_id")
    return fields


def columns_of_texts(columns: Iterable[object], names: Mapping[str, str]) -> tuple[str, ...]:
    """Return the columns of conversations, or of a prompt and two replies; none if one lacks.

    Args:
        columns: All columns of a file.
        names: Field to its column.
    """
    if set(CONVERSATIONS) <= set(columns):
        return CONVERSATIONS
    if names.keys() >= set(_TEXTS):
        return tuple(names[field] for field in _TEXTS)
    return ()


def unused_columns(columns: Iterable[object]) -> tuple[str, ...]:
    """Return the columns of our own judges' tables that no rating needs."""
    return (*DIGESTS, "probability", "reason") if set(DIGESTS) <= set(columns) else ()


def is_flagged(column: str, value: object) -> bool:
    """Tell whether a vote has a flag, by its cell in one of the columns of ``FLAGS``."""
    if column == "anony":
        return str(value).strip().casefold() in ("false", "0", "0.0")
    tag = opened_text(value) if isinstance(value, str) else value
    return isinstance(tag, dict) and tag.get("sampled") is False


def winner_of(
    record: Record, names: Mapping[str, str], winner_columns: Mapping[str, str]
) -> object:
    """Return the winner of a row as it is written, or as it was read of several columns.

    Args:
        record: The row.
        names: Field to column.
        winner_columns: Those of ``columns_of_winners``, which count without a column ``winner``.
    """
    if "winner" in names:
        winner = record[names["winner"]]
        # Words for a missing value may name a system: `read_winners` decides.
        return NO_WINNER if is_null(winner) else winner
    values = {name: record[column] for name, column in winner_columns.items()}
    if values.keys() >= {*ONE_HOT_NEEDED}:
        return read_one_hot(values)
    if values.keys() <= SIDE_WINS.keys():
        return read_side_wins(values)
    if tuple(values) in SIDE_SCORES:
        return read_side_scores(*values.values())
    return read_probabilities(values)


def columns_of_winners(columns: Iterable[object]) -> dict[str, str]:
    """Return the columns that say who won without a column ``winner``.

    Returns:
        The names of ``ONE_HOT``, ``PROBABILITIES``, ``SIDE_WINS`` or ``SIDE_SCORES`` to the
        columns that have these names, whatever their case; empty where needed ones are missing.
    """
    column_by_name: dict[str, str] = {}
    for column in map(str, columns):
        name = bare_column(column)
        # Of columns that differ in case, the one that is written as the field is meant.
        if name not in column_by_name or column == name:
            column_by_name[name] = column
    for names, needed in ((ONE_HOT, ONE_HOT_NEEDED), (PROBABILITIES, PROBABILITIES)):
        if column_by_name.keys() >= {*needed}:
            return {name: column_by_name[name] for name in names if name in column_by_name}
    by_side: dict[str, str] = {}
    for name, side in SIDE_WINS.items():
        if name in column_by_name:
            by_side.setdefault(side, name)
    if by_side:
        return {name: column_by_name[name] for name in by_side.values()}
    for names in SIDE_SCORES:
        if column_by_name.keys() >= {*names}:
            return {name: column_by_name[name] for name in names}
    return {}
