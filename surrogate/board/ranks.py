"""Ranks of judged systems, and places of others among them."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from arena.rating.intervals import ranks_and_tiers
from surrogate.board.rank_reasons import ONE_SIDED, joined_texts
from surrogate.board.tables import RATINGS

PLACE_COLUMNS = ["place", "place_low", "place_high"]
RANK_COLUMNS = ["rank", "rank_low", "rank_high"]
ARENA_COLUMNS = ["arena_rank", "arena_rating", "arena_low", "arena_high"]
"""Columns by verdicts alone."""
COMPARING_COLUMNS = [
    *RANK_COLUMNS,
    "tier",
    *PLACE_COLUMNS,
    "wins_low",
    "wins_high",
    "low",
    "high",
    "standard_error",
    "surrogate_low",
    "surrogate_high",
    "surrogate_error",
    "arena_low",
    "arena_high",
]
"""Columns of a board's tables that order systems, or say how surely."""


def places_among(rows: pd.DataFrame, ratings: pd.Series) -> pd.DataFrame:
    """Return the places (``PLACE_COLUMNS``) of ratings and bounds.

    Without ranked systems, rows are placed among each other.
    """
    compared = (ratings if len(ratings) else rows["rating"]).dropna().astype(float)
    ascending = np.sort(compared.to_numpy())
    own = compared.reindex(rows.index)
    places = pd.DataFrame(index=rows.index)
    # The better the rating, the lower the place: an interval's high end gives the lowest.
    for place_column, bound in zip(PLACE_COLUMNS, ("rating", "high", "low"), strict=True):
        values = rows[bound].astype(float)
        n_above = len(ascending) - np.searchsorted(ascending, values, side="right")
        # No system is above itself.
        taken = 1 + n_above - (own > values)
        places[place_column] = taken.astype("Int64").mask(values.isna())
    return places


def ranks_and_places(places: pd.DataFrame, is_placed: pd.Series) -> pd.DataFrame:
    """Take a place for a rank, unless only placed."""
    ranks = places.set_axis(RANK_COLUMNS, axis=1)
    return ranks.mask(is_placed).join(places.where(is_placed))


def ranked_rows(
    rows: pd.DataFrame,
    covariance: pd.DataFrame,
    language: str,
    verdict_ratings: pd.DataFrame | None = None,
    freedom: float = math.inf,
) -> pd.DataFrame:
    """Rank a language's rated systems, and place the others.

    Rows with ``is_placed`` take no rank. The best are first, then placed systems, then others.
    """
    is_placed = rows.get("is_placed", pd.Series(False, rows.index))
    ratings = rows.loc[~is_placed, "rating"].dropna()
    rated_covariance = covariance.loc[ratings.index, ratings.index].to_numpy(np.float64)
    ranks = ranks_and_tiers(ratings.to_numpy(float), rated_covariance, freedom)
    table = rows.join(pd.DataFrame(ranks, ratings.index))
    table = table.join(places_among(rows[is_placed], ratings))
    table["language"] = language
    table["rank"] = ratings.rank(ascending=False, method="min")
    if verdict_ratings is None:
        by_verdicts = pd.DataFrame(np.nan, rows.index, ARENA_COLUMNS)
    else:
        by_verdicts = verdict_ratings.add_prefix("arena_")
    table = table.join(by_verdicts).rename_axis("system").reset_index()
    table = table.astype(dict.fromkeys([*RANK_COLUMNS, "tier", *PLACE_COLUMNS], "Int64"))
    table["descending_rating"] = -table["rating"].where(table["rank"].isna())
    table = table.sort_values(["rank", "descending_rating", "system"], kind="stable")
    # Selected strictly: a misspelt column is a KeyError, not a column of NaN.
    return table[list(RATINGS.columns)]


def counting_languages(ratings: pd.DataFrame) -> list[str]:
    """Return languages that rank at least half of all ranked systems; all if none does."""
    ranked = ratings[ratings["rank"].notna()]
    n_ranked = ranked.groupby("language").size()
    counting = n_ranked.index[2 * n_ranked >= ranked["system"].nunique()]
    return sorted(counting if len(counting) else ratings["language"].unique())


def without_ranks(rows: pd.DataFrame) -> pd.DataFrame:
    """Leave out ranks of a judge that always says the same."""
    is_rated = rows["rating"].notna()
    reason = pd.Series(ONE_SIDED, rows.index)
    notes = rows["note"].mask(is_rated, joined_texts(rows["note"], reason))
    columns = {name: rows[name].mask(is_rated) for name in COMPARING_COLUMNS if name in rows}
    return rows.assign(**columns, note=notes.astype(rows["note"].dtype))
