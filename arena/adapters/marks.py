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
    # A digest of names draws the same in every run, whatever the order of rows.
    names = pairs[[*key, "system_a", "system_b"]].astype(str)
    draw = pd.util.hash_pandas_object(names, index=False)
    if most_pairs is not None:
        ranks = draw.groupby([pairs[name] for name in key]).rank(method="first")
        pairs = pairs[ranks <= most_pairs]
        draw = draw[ranks <= most_pairs]
    mirrored = pairs.rename(
        columns={
            "system_a": "system_b",
            "system_b": "system_a",
            "mark_a": "mark_b",
            "mark_b": "mark_a",
        }
    )
    # Half of the pairs are shown the other way round, so that no side has all winners.
    is_mirrored = draw % 2 == 1
    shown = pd.concat([pairs[~is_mirrored], mirrored[is_mirrored]])
    difference = shown["mark_a"] - shown["mark_b"]
    shown["winner"] = np.select([difference > 0, difference < 0], ["a", "b"], default="tie")
    ordered = shown.sort_values([*key, "system_a", "system_b"], ignore_index=True)
    return ordered[list(JUDGMENTS.columns)].astype(object)
