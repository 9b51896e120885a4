"""Check that an LLM asked about answers gave usable replies."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from arena.data.errors import UnusableRepliesError
from arena.llm.replies import OVER_BUDGET
from arena.llm.usage import Usage
from features.models.scorer import NO_USABLE_REPLY, NOT_REACHED


def require_replies(missing: pd.DataFrame, answers: int, usages: Iterable[Usage]) -> None:
    """Check that no LLM's feature is missing everywhere, but for the budget."""
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
