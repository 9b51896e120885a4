"""Judgments of the language and judge that a user names."""

from __future__ import annotations

from itertools import compress

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from arena.data.judge_names import chosen_judges, judges_named
from arena.data.schema import ALL
from arena.data.wording import first_of
from arena.statistics.codes import text_codes


def selected_judgments(
    judgments: pd.DataFrame, language: str | None = None, judge: str | None = None
) -> pd.DataFrame:
    """Keep the judgments of one language and one judge.

    Args:
        judgments: An arena's ``judgments``.
        language: Language code, or ``all``; may be None if there is only one.
        judge: Name of a judge, several separated by commas, which count as one, or ``all``; by
            default people if people judged (``arena.data.judge_names.chosen_judges``).

    Raises:
        UsageError: If the language or judge does not exist, or there are several languages and
            none is chosen.
    """
    is_selected = np.ones(len(judgments), dtype=np.bool_)
    if "language" in judgments:
        codes, names = text_codes(judgments["language"])
        if language is None and len(names) > 1:
            raise UsageError(f"several languages, choose one (or all): {first_of(sorted(names))}")
        if language not in (None, ALL, *names):
            available = first_of(sorted(names))
            raise UsageError(f"no language {language!r} here; available: {available}")
        if language in names:
            is_selected = codes == names.index(language)
    if "judge" in judgments and judge != ALL and is_selected.any():
        codes, names = text_codes(judgments["judge"])
        present = np.zeros(len(names) + 1, dtype=np.bool_)
        present[codes[is_selected]] = True
        listed = sorted(compress(names, present))
        if judge is None:
            judge = chosen_judges(listed)[0]
        chosen = judges_named(listed, judge)
        is_named = [name in chosen for name in names]
        is_selected &= np.array([*is_named, False], dtype=np.bool_)[codes]
    if not is_selected.all():
        judgments = judgments[is_selected]
    return judgments.reset_index(drop=True)
