"""What systems are made of: the table ``systems`` of an arena folder."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pandas as pd
import pandera.pandas as pa

from arena.data.errors import Problem
from arena.data.rows import Rows, write_rows
from arena.data.schema import ANSWERS, check_table, duplicates, undeclared

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
        Problem(
            rows.source,
            int(rows.lines.loc[row]),
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
