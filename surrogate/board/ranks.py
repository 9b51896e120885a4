"""Ranks of judged systems, places of others among them, and wins.

Wins are expected shares of points against the other ranked systems.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd
import scipy

from arena.data.types import Floats
from arena.statistics.bootstrap import SAME_DECIMALS
from arena.statistics.significance import NORMAL_90
from surrogate.board.rank_reasons import ONE_SIDED, joined_texts

PLACE_COLUMNS = ["place", "place_low", "place_high"]
RANK_COLUMNS = ["rank", "rank_low", "rank_high"]
WINS_COLUMNS = ["wins", "wins_low", "wins_high"]
NARROW = 0.03
"""Width of an interval of wins below which they are shown with a decimal."""
SMALLEST_SHARE = 1e-12
"""Smallest share of wins that differs from 0 by more than rounding."""
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


def with_wins(rows: pd.DataFrame, covariance: pd.DataFrame) -> pd.DataFrame:
    """Add ``WINS_COLUMNS`` against the ranked systems."""
    is_placed = rows["is_placed"]
    ratings = rows.loc[~is_placed, "rating"].dropna()
    shares, slopes = mutual_wins(ratings.to_numpy(np.float64))
    variances = variances_by_slopes(slopes, covariance.loc[ratings.index, ratings.index])
    low, high = share_bounds(shares, np.diag(variances))
    ranked = pd.DataFrame(dict(zip(WINS_COLUMNS, (shares, low, high), strict=True)), ratings.index)
    placed = wins_against(ratings, rows[is_placed])
    return rows.join(pd.concat([ranked, placed]))


def mutual_wins(ratings: Floats) -> tuple[Floats, Floats]:
    """Return expected wins with half ties, (S,), and derivatives, (S, S)."""
    n_systems = len(ratings)
    if n_systems < 2:
        return np.full(n_systems, np.nan), np.full((n_systems, n_systems), np.nan)
    shares = _expected_shares(ratings[:, None] - ratings[None, :])
    weights = (1 - np.eye(n_systems)) / (n_systems - 1)
    slopes = weights * shares * (1 - shares)
    return (weights * shares).sum(axis=1), np.diag(slopes.sum(axis=1)) - slopes


def variances_by_slopes(slopes: Floats, covariance: pd.DataFrame) -> Floats:
    """Return the covariance of S quantities by derivatives (S, N), or NaN."""
    values = covariance.to_numpy(np.float64)
    is_unknown = np.isnan(np.diag(values))
    variances = slopes @ np.nan_to_num(values) @ slopes.T
    without_error = (slopes[:, is_unknown] > 0).any(axis=1)
    variances[without_error] = np.nan
    variances[:, without_error] = np.nan
    return np.asarray(variances)


def share_bounds(shares: Floats, variances: Floats) -> tuple[Floats, Floats]:
    """Return shares' 90% intervals, normal in logits, within 0 and 1."""
    # Far from all other systems, shares round to 0 or 1, which have no logits.
    shares = np.clip(shares, SMALLEST_SHARE, 1.0 - SMALLEST_SHARE)
    half_widths = NORMAL_90 * np.sqrt(np.maximum(variances, 0.0)) / (shares * (1 - shares))
    logits = scipy.special.logit(shares)
    return _expected_shares(logits - half_widths), _expected_shares(logits + half_widths)


def _expected_shares(logits: Floats) -> Floats:
    # The logistic function, without loading scipy.
    return (1 + np.tanh(logits / 2)) / 2


def wins_against(ranked: pd.Series, rows: pd.DataFrame) -> pd.DataFrame:
    """Return ``WINS_COLUMNS`` of systems against the ranked ones."""
    opponents = ranked if len(ranked) else rows["rating"].dropna()
    ratings = opponents.to_numpy(np.float64)
    # No system meets itself.
    is_met = rows.index.to_numpy()[:, None] != opponents.index.to_numpy()[None, :]
    n_met = is_met.sum(axis=1)
    wins = pd.DataFrame(index=rows.index)
    for column, bound in zip(WINS_COLUMNS, ("rating", "low", "high"), strict=True):
        values = rows[bound].to_numpy(np.float64)
        shares = _expected_shares(values[:, None] - ratings[None, :])
        points = pd.Series((shares * is_met).sum(axis=1), rows.index)
        wins[column] = points / np.where(n_met, n_met, np.nan)
    return wins


OVERALL_MEANS = {"mean_rank": "rank", "mean_rating": "rating", "arena_mean_rank": "arena_rank"}
"""Columns of overall tables, and the columns that they average."""


def overall_means(rows: pd.DataFrame, languages: Collection[str]) -> pd.DataFrame:
    """Average rows over ``languages``, with equal weights; NaN where one has no value.

    Bounds of wins are averaged as if a system's errors were equal in all. ``languages`` counts the
    ranks; ``coverage`` is over all rows.
    """
    counted = rows[rows["language"].isin(languages)]
    has_place = counted["rank"].notna() | counted["place"].notna()
    values = counted[[*OVERALL_MEANS.values(), *WINS_COLUMNS]].astype(float)
    values[WINS_COLUMNS] = values[WINS_COLUMNS].where(has_place)
    grouped = values.groupby(counted["system"])
    counts = grouped.count()
    means = grouped.mean().where(counts == len(languages))
    table = pd.DataFrame({name: means[column] for name, column in OVERALL_MEANS.items()})
    return table.join(means[WINS_COLUMNS]).assign(
        languages=counts["rank"], coverage=rows.groupby("system")["coverage"].mean()
    )


def places_by_wins(wins: pd.DataFrame, rows: pd.DataFrame, ranked: Collection[str]) -> pd.DataFrame:
    """Return the overall places of wins and their bounds among ranked systems.

    Others meet every ranked system of ``rows``. These are compared as if each met itself, too.
    """
    met = rows[rows["rank"].notna()]
    n_met = met.groupby("language")["system"].transform("size")
    wins_with_itself = (met["wins"].astype(float) * (n_met - 1) + 0.5) / n_met
    ranked_wins = wins_with_itself.groupby(met["system"]).mean().reindex(list(ranked))
    bounds = dict(zip(WINS_COLUMNS, ("rating", "low", "high"), strict=True))
    rounded = wins[WINS_COLUMNS].astype(float).round(SAME_DECIMALS)
    return places_among(rounded.rename(columns=bounds), ranked_wins.round(SAME_DECIMALS))
