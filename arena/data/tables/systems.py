"""What is told of systems: what they are made of, and the passages that theirs alone retrieved."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pandera.pandas as pa

from arena.data.errors import HALF_SURROGATE, Problem
from arena.data.rows import Rows, write_rows
from arena.data.schema import (
    ANSWERS,
    QUESTION_KEY,
    check_table,
    duplicates,
    is_unstorable,
    passages_fault,
    undeclared,
)

SYSTEMS_TABLE = "systems"
SYSTEM = "system"

_KEY = pa.DataFrameSchema({SYSTEM: ANSWERS.columns[SYSTEM]}, name=SYSTEMS_TABLE)


def no_attributes() -> pd.DataFrame:
    """Return the table of what systems are made of where nothing is told."""
    return pd.DataFrame({SYSTEM: pd.Series(dtype="str")})


def system_attributes(
    rows: Rows | None, systems: Collection[str]
) -> tuple[pd.DataFrame, list[Problem]]:
    """Check what is told of systems.

    Args:
        rows: ``system`` and one column an attribute; None where nothing is told.
        systems: Systems of the arena.

    Returns:
        Columns ``system`` and one an attribute, texts or None, sorted by system; and what is wrong.
    """
    if rows is None or (rows.table.empty and not rows.problems):
        return no_attributes(), []
    problems = [*rows.problems, *check_table(rows, _KEY)]
    if not problems:
        problems = [
            *duplicates(rows, [SYSTEM], "system"),
            *undeclared(rows, SYSTEM, tuple(systems), "systems"),
            *_without_text(rows),
        ]
    if problems:
        return no_attributes(), problems
    table = rows.table.sort_values(SYSTEM, ignore_index=True).astype(object)
    attributes = [name for name in table if name != SYSTEM]
    for name in attributes:
        table[name] = pd.Series([_text(value) for value in table[name]], dtype=object)
    return table[[SYSTEM, *attributes]].astype({SYSTEM: "str"}), []


def write_attributes(table: pd.DataFrame, path: Path) -> None:
    """Write what is told of systems as CSV; the file goes where nothing is."""
    if len(table.columns) > 1:
        write_rows(table, path)
    else:
        path.unlink(missing_ok=True)


def _without_text(rows: Rows) -> list[Problem]:
    return [
        rows.problem(
            row,
            str(name),
            value,
            "is neither a text nor a number",
            "write one value, or nothing",
        )
        for name in rows.table
        if name != SYSTEM
        for row, value in rows.table[name].items()
        if isinstance(value, list | dict)
    ]


def _text(value: object) -> str | None:
    return None if value is None or value != value else str(value)


OWN_PASSAGES = "passages"
"""Column of answers, if it is there: null where the system was given the question's passages."""
PassageRecord = Mapping[str, Any]
"""A passage as tables hold it; see ``arena.data.schema.Passage``."""

_HINT = (
    "write [{passage_id, text, title|null, relevance: 1|0|null}, ...] with distinct ids, "
    "ids of the question's passages, or null for these"
)


def with_passages_of(queries: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Give every question the passages that any of some answers to it was given, each once.

    Args:
        queries: Columns ``language, query_id, passages``.
        answers: Columns ``language, query_id``, and ``passages`` where some have their own.
    """
    if OWN_PASSAGES not in answers:
        return queries
    found: dict[tuple[str, str], dict[tuple[object, object], PassageRecord]] = {}
    keys = answers[QUESTION_KEY].itertuples(index=False, name=None)
    for key, own in zip(keys, answers[OWN_PASSAGES], strict=True):
        if isinstance(own, list):
            known = found.setdefault(key, {})
            known |= {(each["passage_id"], each["text"]): each for each in own}
    cells = []
    asked = queries[QUESTION_KEY].itertuples(index=False, name=None)
    for key, shared in zip(asked, queries["passages"], strict=True):
        both = {(each["passage_id"], each["text"]): each for each in shared}
        cells.append(list((both | found.get(key, {})).values()))
    return queries.assign(passages=pd.Series(cells, index=queries.index, dtype=object))


def with_own_passages(answers: Rows, queries: pd.DataFrame) -> tuple[Rows, list[Problem]]:
    """Check the passages that answers have of their own, and look up those given by id.

    Of a passage that is one of the question's (same id and text), the relevance is known from
    there, unless the answer's row says it.

    Args:
        answers: Sound answers, with or without a column ``passages``.
        queries: Columns ``language, query_id, passages``, sound.

    Returns:
        The answers, their own passages as lists of records or None, without the column where no
        answer has any; and what is wrong with them.
    """
    table = answers.table
    if OWN_PASSAGES not in table:
        return answers, []
    shared = dict(
        zip(
            queries[QUESTION_KEY].itertuples(index=False, name=None),
            queries["passages"],
            strict=True,
        )
    )
    keys = table[QUESTION_KEY].itertuples(index=False, name=None)
    problems: list[Problem] = []
    found: list[object] = []
    for row, key, own in zip(table.index, keys, table[OWN_PASSAGES], strict=True):
        records = None if _is_missing(own) else _looked_up(own, shared.get(key, ()))
        fault = None if records is None else _fault(records)
        found.append(None if fault or records is None else records)
        if fault:
            problems.append(answers.problem(row, OWN_PASSAGES, own, fault, _HINT))
    if not any(records is not None for records in found):
        return replace(answers, table=table.drop(columns=OWN_PASSAGES)), problems
    column = pd.Series(found, index=table.index, dtype=object)
    return replace(answers, table=table.assign(**{OWN_PASSAGES: column})), problems


def _is_missing(own: object) -> bool:
    return own is None or (isinstance(own, float) and own != own)


def _looked_up(own: object, shared: Sequence[PassageRecord]) -> object:
    """Replace ids by the question's passages, and say of the others what is known there."""
    if not isinstance(own, list):
        return own
    by_id = {passage["passage_id"]: passage for passage in shared}
    return [
        by_id.get(each, each) if isinstance(each, str) else _labeled(each, by_id) for each in own
    ]


def _labeled(own: object, by_id: Mapping[str, PassageRecord]) -> object:
    if not isinstance(own, dict) or own.get("relevance") is not None:
        return own
    known = by_id.get(str(own.get("passage_id")), {})
    if known.get("text") != own.get("text"):
        return own
    return {**own, "relevance": known.get("relevance")}


def _fault(records: object) -> str | None:
    if is_unstorable(records):
        return HALF_SURROGATE
    for each in records if isinstance(records, list) else ():
        if isinstance(each, str):
            return f"no passage {each!r} is among those of the question"
    return passages_fault(records)
