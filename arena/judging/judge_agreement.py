"""Agreement of judges with each other, every two of them."""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd

from arena.quality.agreement import MEASURED, QUESTION_PAIR, majorities, measured_agreement
from arena.statistics.bootstrap import generator

MANY_JUDGES = 50
"""Pairs grow with the square of the judges; those with the most judgments are compared."""


def agreement_table(table: pd.DataFrame, of: Collection[str]) -> pd.DataFrame:
    """Compare every two judges (with one of ``of``, if any), by majority.

    Kappa has a bootstrap error and a 95% interval over questions (NaN with one question or fewer
    than ``FEWEST_ITEMS`` items).
    """
    shared = shared_by_two(table, of)
    rows = []
    for key, part in shared.groupby(["language", "judge", "judge_other"]):
        language, judge, other_judge = key
        random = generator(0, "agreement", *key)
        row = {"language": language, "judge": judge, "other_judge": other_judge}
        rows.append(row | measured_agreement(part, part["outcome_other"], random))
    return pd.DataFrame(rows, columns=["language", "judge", "other_judge", *MEASURED])


def shared_by_two(table: pd.DataFrame, of: Collection[str] = ()) -> pd.DataFrame:
    """Return items that two judges share, by majority: a row for every two of their judges.

    Of more than ``MANY_JUDGES``, those with the most judgments, and ``of``.
    """
    counts = table["judge"].value_counts().sort_index().sort_values(ascending=False, kind="stable")
    judges = {*counts.index[:MANY_JUDGES], *of}
    items = majorities(table[table["judge"].isin(judges)], [*QUESTION_PAIR, "judge"])
    # Items of one judge alone would make the join below large for nothing.
    items = items[items.duplicated(QUESTION_PAIR, keep=False)]
    shared = items.merge(items, on=QUESTION_PAIR, suffixes=("", "_other"))
    shared = shared[shared["judge"] < shared["judge_other"]]
    if of:
        shared = shared[shared["judge"].isin(of) | shared["judge_other"].isin(of)]
    return shared
