"""What a table of features holds: its columns, and what is missing in them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pandas as pd

from arena.data.errors import UnusableRepliesError
from features.models.scorer import NO_USABLE_REPLY, NOT_REACHED

if TYPE_CHECKING:
    from arena.llm.usage import Usage

ORDER = ["language", "system", "query_id"]
"""Columns that name an answer in a table of features, and their sorting."""
MISSING_SUFFIX = ":missing"
"""Of the name of a column that says why a feature is missing."""
KEY = "answer:key"
"""Column of digests of what an answer was measured on, in a folder of features."""
NOT_STATED = "no reason stated"


def feature_columns(table: pd.DataFrame) -> list[str]:
    """Return the columns of a table of features that hold features."""
    return [
        column
        for column in table.columns
        if column not in (*ORDER, KEY) and not column.endswith(MISSING_SUFFIX)
    ]


def missing_counts(table: pd.DataFrame) -> pd.DataFrame:
    """Count the answers that lack a feature, by language and reason.

    Args:
        table: What ``extract`` returns, or a table of features without columns of reasons.

    Returns:
        Columns ``language, feature, reason, answers``; nothing for what is not missing.
    """
    counts = []
    for feature in feature_columns(table):
        found = table.groupby([table["language"], _reasons(table, feature)]).size()
        counts += [(language, feature, reason, n) for (language, reason), n in found.items()]
    columns = ["language", "feature", "reason", "answers"]
    order = {feature: column for column, feature in enumerate(feature_columns(table))}
    counts.sort(key=lambda row: (row[0], order[row[1]], row[2]))
    return pd.DataFrame(counts, columns=columns)


def require_replies(missing: pd.DataFrame, answers: int, usages: Iterable[Usage]) -> None:
    """Check that no feature an LLM was asked for is missing in all answers.

    Values that are missing because no call was left for them are no failure.

    Args:
        missing: As of ``missing_counts``.
        answers: All answers.
        usages: What was asked, and what failed.

    Raises:
        UnusableRepliesError: If there is such a feature; with the reasons.
    """
    from arena.llm.replies import OVER_BUDGET

    reasons = [usage.shown_failures() for usage in usages if set(usage.failures) - {OVER_BUDGET}]
    if not reasons:
        return
    failed = missing[missing["reason"].isin([str(NO_USABLE_REPLY), str(NOT_REACHED)])]
    counts = missing.groupby("feature")["answers"].sum()
    empty = [str(name) for name in failed["feature"].unique() if counts[name] == answers]
    if empty:
        raise UnusableRepliesError(
            f"no reply could be used for {', '.join(empty)}: {'; '.join(reasons)}"
        )


def _reasons(table: pd.DataFrame, feature: str) -> pd.Series:
    """Return why a feature is missing, row by row; missing itself where there is a value."""
    column = f"{feature}{MISSING_SUFFIX}"
    if column in table:
        return table[column]
    stated = pd.Series(NOT_STATED, index=table.index, dtype=object)
    return stated.where(table[feature].isna(), None)
