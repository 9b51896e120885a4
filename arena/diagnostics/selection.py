"""Choosing the judgments to look at."""

from __future__ import annotations

import pandas as pd

from arena.errors import UsageError


def chosen_judgments(
    judgments: pd.DataFrame, judge: str | None = None, language: str | None = None
) -> pd.DataFrame:
    """Keep the judgments of one judge, in one language, or both.

    Raises:
        UsageError: If there is none; says which judges or languages there are.
    """
    in_language = _kept(judgments, "language", language)
    return _kept(in_language, "judge", judge)


def _kept(judgments: pd.DataFrame, column: str, wanted: str | None) -> pd.DataFrame:
    if wanted is None:
        return judgments
    kept = judgments[judgments[column] == wanted]
    if kept.empty:
        there = ", ".join(sorted(judgments[column].unique()))
        raise UsageError(f"no judgments of {column} {wanted!r} here; there are {there}")
    return kept.reset_index(drop=True)
