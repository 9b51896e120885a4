"""The difference of two boards over all the languages they share."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from surrogate.regeneration.diff_reading import ComparedBoard
from surrogate.regeneration.language_diff import ARENA, OVERALL, rank_change, with_verdicts

NOT_IN_ALL = "it is not comparable in every language: {languages}"


def overall_diff(
    old: ComparedBoard, new: ComparedBoard, kind: str, languages: Sequence[pd.DataFrame]
) -> pd.DataFrame:
    """Compare the ranks over all languages, and test the mean change of the ratings.

    Questions may be translations of each other, and systems are weak in several languages at
    once: the standard error is the mean of the languages', as if their errors were fully
    correlated. That is never below the true one.

    Args:
        old: The earlier board.
        new: The later board.
        kind: ``synthetic`` or ``arena``.
        languages: ``language_diff`` of each language on both boards.

    Returns:
        ``DIFF_COLUMNS`` with ``language`` as ``overall``; ranks are those of the boards, ratings
        means over the shared languages.
    """
    prefix = "arena_" if kind == ARENA else ""
    ranks = [
        board.overall[["system", f"{prefix}rank", f"{prefix}mean_rank"]]
        .set_axis(["system", "rank", "mean_rank"], axis=1)
        .dropna(subset="rank" if kind == ARENA else [])
        .assign(there=True)
        for board in (old, new)
    ]
    table = ranks[0].merge(ranks[1], on="system", how="outer", suffixes=("_old", "_new"))
    both = (table["there_old"].notna() & table["there_new"].notna()).to_numpy()
    stacked = pd.concat(languages, ignore_index=True)
    table = table.merge(_means(stacked), on="system", how="left")
    table["rank_change"] = rank_change(table["mean_rank_old"], table["mean_rank_new"], both)
    table["reason"] = [
        _reason(present, system, stacked)
        for present, system in zip(both, table["system"], strict=True)
    ]
    table = table.assign(language=OVERALL, kind=kind)
    with_verdicts(table)
    return table.sort_values(["rank_new", "rank_old", "system"], kind="stable")


def _means(stacked: pd.DataFrame) -> pd.DataFrame:
    columns = ["rating_old", "rating_new", "rating_change", "standard_error"]
    grouped = stacked.groupby("system")
    count = stacked["language"].nunique()
    means = grouped[columns].mean().where(grouped[columns].count() == count)
    return means.assign(freedom=grouped["freedom"].min()).reset_index()


def _reason(present: bool, system: str, stacked: pd.DataFrame) -> str:
    if not present:
        return "it is on one of the boards only"
    rows = stacked[stacked["system"] == system]
    untested = rows.loc[rows["p_value"].isna(), "language"]
    absent = sorted(set(stacked["language"]) - set(rows["language"]))
    left_out = sorted({*untested, *absent})
    return NOT_IN_ALL.format(languages=", ".join(left_out)) if left_out else ""
