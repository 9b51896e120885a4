"""Predicted places of systems that verdicts rank now."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from arena.data.wording import Remark, count_of

PLACEMENT_COLUMNS = ["language", "system", "place", "place_low", "place_high", "rank", "is_inside"]


def placements(old: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """Compare places on one board (``tables.RATINGS``) with ranks on a later one.

    Returns:
        ``PLACEMENT_COLUMNS`` by system and language: ``rank`` is by the new rating among the
        systems that were ranked then, ``is_inside`` whether that lies in the span.
    """
    key = ["language", "system"]
    ranked = new.loc[new["rank"].notna(), [*key, "rating"]]
    placed = old.loc[old["place"].notna(), [*key, "place", "place_low", "place_high"]]
    table = placed.merge(ranked, on=key)
    compared = old.loc[old["rank"].notna(), key].merge(ranked, on=key)
    ranks = []
    for row in table.itertuples():
        others = compared.loc[compared["language"] == row.language, "rating"]
        ranks.append(1 + int((others > row.rating).sum()))
    table["rank"] = pd.Series(ranks, table.index, "Int64")
    table["is_inside"] = table["rank"].between(table["place_low"], table["place_high"])
    return table[PLACEMENT_COLUMNS]


def placement_remarks(table: pd.DataFrame) -> Iterator[Remark]:
    """Say how many placements came true, and each that did not."""
    if table.empty:
        return
    n_inside = int(table["is_inside"].sum())
    distances = np.abs((table["place"] - table["rank"]).to_numpy(np.float64))
    sentence = (
        f"{n_inside} of {count_of(len(table), 'placement')} hold now that verdicts rank them; "
        f"ranks are {distances.mean():.1f} from the places on average"
    )
    yield Remark("placements", "info", sentence, statistic=n_inside / len(table))
    for row in table[~table["is_inside"]].itertuples():
        sentence = (
            f"{row.system} was placed {row.place} ({row.place_low} to {row.place_high}), and "
            f"verdicts rank it {row.rank}"
        )
        yield Remark("placement", "warning", sentence, row.language, systems=(row.system,))
