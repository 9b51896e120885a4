"""Columns of a table of features, and counts of missing values."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from arena.statistics.codes import value_codes

FEATURE_KEY = ["language", "system", "query_id"]
"""Columns that identify an answer in a table of features; its rows are sorted by them."""
MISSING_SUFFIX = ":missing"
"""Ends the name of a column with the reasons why a feature is missing."""
KEY = "answer:key"
"""Column of answer keys (``answer_keys``) in a folder of features."""
NOT_STATED = "no reason stated"


def feature_columns(table: pd.DataFrame) -> list[str]:
    """Return the columns of a table of features that hold features."""
    return [
        column
        for column in table.columns
        if column not in (*FEATURE_KEY, KEY) and not column.endswith(MISSING_SUFFIX)
    ]


def plain_name(column: str) -> str:
    """Return the name of a column's feature, without its settings."""
    return re.split(r"[@(]", column, maxsplit=1)[0]


def missing_counts(table: pd.DataFrame, by: str = "language") -> pd.DataFrame:
    """Count the answers that lack a feature, by language or system, and reason.

    Args:
        table: What ``extract`` returns, or a table of features without columns of reasons.
        by: Column to count by.

    Returns:
        Columns ``language`` (or the other one), ``feature, reason, answers``; nothing for what is
        not missing.
    """
    group_codes, groups = value_codes(table[by])
    counts = []
    for position, feature in enumerate(feature_columns(table)):
        reason_codes, reasons = value_codes(_reasons(table, feature))
        is_missing = reason_codes >= 0
        cells = group_codes[is_missing] * len(reasons) + reason_codes[is_missing]
        n_answers = np.bincount(cells, minlength=len(groups) * len(reasons))
        for cell in np.flatnonzero(n_answers):
            group_index, reason_index = divmod(int(cell), len(reasons))
            group = groups[group_index]
            reason = reasons[reason_index]
            counts.append((group, position, reason, feature, int(n_answers[cell])))
    counts.sort(key=lambda row: row[:3])  # within a group in the order of the columns
    columns = [by, "position", "reason", "feature", "answers"]
    return pd.DataFrame(counts, columns=columns)[[by, "feature", "reason", "answers"]]


def _reasons(table: pd.DataFrame, feature: str) -> pd.Series:
    column = f"{feature}{MISSING_SUFFIX}"
    if column in table:
        return table[column]
    reasons = pd.Series(NOT_STATED, index=table.index, dtype=object)
    return reasons.where(table[feature].isna(), None)
