"""Judgments made of marks: of two answers to a question the one with the higher mark wins."""

from __future__ import annotations

import numpy as np
import pandas as pd

from arena.data.schema import JUDGMENTS, QUESTION_KEY


def judgments_of_marks(marks: pd.DataFrame, most_pairs: int | None = None) -> pd.DataFrame:
    """Turn marks of single answers into judgments of pairs: the higher mark wins, equal is a tie.

    Who is shown as ``a`` and which pairs are kept is drawn from their content.

    Args:
        marks: Columns ``language, query_id, system, judge, mark``, one row per answer and judge.
        most_pairs: Pairs to keep of each question and judge; None keeps all.

    Returns:
        An arena's ``judgments``, sorted.
    """
    key = [*QUESTION_KEY, "judge"]
    columns = [*key, "system", "mark"]
    pairs = marks[columns].merge(marks[columns], on=key, suffixes=("_a", "_b"))
    pairs = pairs[pairs["system_a"] < pairs["system_b"]].reset_index(drop=True)
    names = pairs[[*key, "system_a", "system_b"]].astype(str)
    draw = pd.util.hash_pandas_object(names, index=False)
    if most_pairs is not None:
        ranks = draw.groupby([pairs[name] for name in key]).rank(method="first")
        pairs = pairs[ranks <= most_pairs]
        draw = draw[ranks <= most_pairs]
    is_swapped = draw % 2 == 1
    table = pairs[key].copy()
    for side, other in (("a", "b"), ("b", "a")):
        table[f"system_{side}"] = pairs[f"system_{side}"].where(
            ~is_swapped, pairs[f"system_{other}"]
        )
    difference = (pairs["mark_a"] - pairs["mark_b"]).where(
        ~is_swapped, pairs["mark_b"] - pairs["mark_a"]
    )
    table["winner"] = np.select([difference > 0, difference < 0], ["a", "b"], default="tie")
    ordered = table.sort_values([*key, "system_a", "system_b"], ignore_index=True)
    return ordered[list(JUDGMENTS.columns)].astype(object)
