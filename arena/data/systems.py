"""Systems: their attributes, and passages that they alone were given."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from arena.data.checks import check_table, duplicates, passages_fault, undeclared
from arena.data.errors import HALF_SURROGATE, Problem
from arena.data.rows import Rows, is_null, is_unstorable
from arena.data.schema import AMOUNTS, OWN_PASSAGES, QUESTION_KEY, TableSchema

SYSTEMS_TABLE = "systems"
STATE = "state"
"""Column of ``systems.csv`` by which an arena leaves systems out."""
LISTED = "listed"
HELD = "held"
WITHDRAWN = "withdrawn"
STATES = (LISTED, HELD, WITHDRAWN)
_SYSTEMS = TableSchema(SYSTEMS_TABLE, {"system": "name"}, dict.fromkeys(AMOUNTS, "amount"))
PassageRecord = Mapping[str, Any]
"""A passage as tables hold it; see ``arena.data.schema.Passage``."""


def no_attributes() -> pd.DataFrame:
    """Return the table of attributes of systems that have none."""
    return pd.DataFrame({"system": pd.Series(dtype="str")})


def system_attributes(
    rows: Rows | None, systems: Collection[str]
) -> tuple[pd.DataFrame, list[Problem]]:
    """Check systems' attributes (texts or None); also return problems."""
    if rows is None or (rows.table.empty and not rows.problems):
        return no_attributes(), []
    problems = [*rows.problems, *check_table(rows, _SYSTEMS)]
    if not problems:
        problems = [
            *duplicates(rows, ["system"], "system"),
            *undeclared(rows, "system", tuple(systems), "systems"),
            *_nested_values(rows),
            *_state_problems(rows),
        ]
    if problems:
        return no_attributes(), problems
    table = rows.table.sort_values("system", ignore_index=True).astype(object)
    for name in table:
        texts = [None if is_null(value) else str(value) for value in table[name]]
        table[name] = pd.Series(texts, dtype=object)
    ordered = table[["system", *(name for name in table if name != "system")]]
    return ordered.astype({"system": "str"}), []


def _nested_values(rows: Rows) -> Iterator[Problem]:
    for name in rows.table:
        for row, value in rows.table[name].items():
            if isinstance(value, list | dict):
                fault = "is neither a text nor a number"
                yield rows.problem(row, str(name), value, fault, "write one value, or nothing")


def _state_problems(rows: Rows) -> Iterator[Problem]:
    for row, value in rows.table.get(STATE, pd.Series(dtype=object)).items():
        if not is_null(value) and value not in STATES:
            yield rows.problem(row, STATE, value, "is no state", f"write {', '.join(STATES)}")


def unlisted_systems(attributes: pd.DataFrame) -> dict[str, str]:
    """Return the systems that are held or withdrawn, with their state."""
    if STATE not in attributes:
        return {}
    rows = attributes[attributes[STATE].isin([HELD, WITHDRAWN])]
    return dict(zip(rows["system"], rows[STATE], strict=True))


def with_own_passages(answers: Rows, queries: pd.DataFrame) -> tuple[Rows, list[Problem]]:
    """Check answers' own passages, and look up ids.

    Those equal to the question's have its relevance. Also return problems.
    """
    table = answers.table
    if OWN_PASSAGES not in table:
        return answers, []
    query_keys = queries[QUESTION_KEY].itertuples(index=False, name=None)
    shared_passages = dict(zip(query_keys, queries["passages"], strict=True))
    answer_keys = table[QUESTION_KEY].itertuples(index=False, name=None)
    problems: list[Problem] = []
    cells: list[object] = []
    for row, key, value in zip(table.index, answer_keys, table[OWN_PASSAGES], strict=True):
        if is_null(value):
            cells.append(None)
            continue
        records = _looked_up(value, shared_passages.get(key, ()))
        fault = _records_fault(records)
        if fault is None:
            cells.append(records)
        else:
            cells.append(None)
            hint = (
                "write [{passage_id, text, title|null, relevance: 1|0|null}, ...] with distinct "
                "ids, ids of the question's passages, or null for these"
            )
            problems.append(answers.problem(row, OWN_PASSAGES, value, fault, hint))
    if all(records is None for records in cells):
        return replace(answers, table=table.drop(columns=OWN_PASSAGES)), problems
    column = pd.Series(cells, index=table.index, dtype=object)
    return replace(answers, table=table.assign(**{OWN_PASSAGES: column})), problems


def _looked_up(passages: object, shared: Sequence[PassageRecord]) -> object:
    if not isinstance(passages, list):
        return passages
    by_id = {passage["passage_id"]: passage for passage in shared}
    records: list[object] = []
    for passage in passages:
        if isinstance(passage, str):
            records.append(by_id.get(passage, passage))
            continue
        if isinstance(passage, dict) and passage.get("relevance") is None:
            twin = by_id.get(str(passage.get("passage_id")))
            if twin is not None and twin.get("text") == passage.get("text"):
                passage = {**passage, "relevance": twin.get("relevance")}
        records.append(passage)
    return records


def _records_fault(records: object) -> str | None:
    if is_unstorable(records):
        return HALF_SURROGATE
    if isinstance(records, list):
        for record in records:
            if isinstance(record, str):
                return f"no passage {record!r} is among those of the question"
    return passages_fault(records)
