"""MIRAGE-Bench's pairwise judgments."""

from __future__ import annotations

from types import MappingProxyType

import pandas as pd

from arena.adapters.foreign_rows import Adapted, ignored_columns, missing_columns
from arena.adapters.skipped import Skip
from arena.errors import Problem
from arena.rows import Rows

VERDICTS = MappingProxyType({"A": "a", "B": "b", "Tie": "tie"})
"""Published verdict to our winner; anything else is a failed judgment."""

COLUMNS = MappingProxyType(
    {
        "query_id": "query_id",
        "model_A": "system_a",
        "model_B": "system_b",
        "verdict": "winner",
        "judge": "judge",
    }
)
"""Published column to ours."""


def adapt_judgments(rows: Rows, language: str) -> Adapted:
    """Bring rows of pairwise judgments into the schema of ours.

    A verdict other than A, B or Tie is a failed judgment: it is left out and counted, and never
    becomes a tie.

    Args:
        rows: Columns ``query_id, judge, model_A, model_B, verdict``.
        language: Their language code, which the schema does not hold.
    """
    missing = missing_columns(rows, list(COLUMNS))
    if missing or not len(rows.table.columns):
        empty = Rows(pd.DataFrame(), pd.Series(dtype=int), rows.source)
        return Adapted(empty, (*rows.problems, *missing), ())
    winners = [
        VERDICTS.get(verdict) if isinstance(verdict, str) else None
        for verdict in rows.table["verdict"]
    ]
    table = rows.table[list(COLUMNS)].rename(columns=dict(COLUMNS))
    table.insert(1, "language", language)
    table["winner"] = pd.Series(winners, index=table.index, dtype=object)
    decided = table["winner"].notna()
    failed = tuple(
        Skip(rows.source, "judgment", f"its verdict is {_shown(verdict)}")
        for verdict in rows.table.loc[~decided, "verdict"]
    )
    kept = Rows(
        table[decided].astype(object).reset_index(drop=True),
        rows.lines[decided].reset_index(drop=True),
        rows.source,
    )
    return Adapted(kept, rows.problems, (*failed, *ignored_columns(rows, list(COLUMNS))))


def _shown(verdict: object) -> str:
    return "null" if verdict is None else repr(verdict)


def unknown_models(judgments: Rows, systems: list[str], outputs: str) -> list[Problem]:
    """List the judged models that have no output at all.

    Args:
        judgments: Adapted judgments.
        systems: Models with outputs.
        outputs: What to call the outputs in the message.
    """
    table = judgments.table
    mend = "add its outputs or correct the name"
    return [
        Problem(
            judgments.source,
            int(judgments.lines.loc[row]),
            published,
            table.at[row, ours],
            f"has no output in {outputs}",
            mend,
        )
        for published, ours in [("model_A", "system_a"), ("model_B", "system_b")]
        if ours in table.columns
        for row in table.index[~table[ours].isin(systems) & table[ours].notna()]
    ]
