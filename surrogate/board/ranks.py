"""Verdicts rank, predictions are placed: ranks of judged systems, and places of all others.

A place is where the rating of a system that hardly anybody judged lies among the ranked systems. It
moves none of them.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from arena.rating.intervals import ranks_and_tiers
from surrogate.board.tables import RATINGS
from surrogate.checks.status import joined_texts

PLACE_COLUMNS = ["place", "place_low", "place_high"]
RANK_COLUMNS = ["rank", "rank_low", "rank_high"]
VERDICT_COLUMNS = ["arena_rank", "arena_rating", "arena_low", "arena_high"]
"""Columns by verdicts alone."""
FEWEST_JUDGED_QUESTIONS = 3
"""From so many questions on that a system was judged on, verdicts rank it."""
NOT_JUDGED = "placed by its answers: nobody has judged it here"
FEW_JUDGED = "placed: judged on {} of the {} questions that rank a system"


def needed_questions(n_judged: int) -> int:
    """Return on how many questions a system must be judged to be ranked.

    Where fewer are judged, on all of these.
    """
    return min(FEWEST_JUDGED_QUESTIONS, n_judged) or FEWEST_JUDGED_QUESTIONS


def with_placed_notes(rows: pd.DataFrame, judged_questions: pd.Series, needed: int) -> pd.DataFrame:
    """Mark rated systems that too few verdicts rank, with the reason as the beginning of a note.

    Args:
        rows: As of ``rated_rows``.
        judged_questions: By system, the questions on which it was judged.
        needed: Judged questions that a rank needs.

    Returns:
        The rows with a column ``is_placed``.
    """
    counts = judged_questions.reindex(rows.index)
    is_placed = (counts < needed) & rows["rating"].notna()
    reasons = counts.map(lambda count: FEW_JUDGED.format(count, needed) if count else NOT_JUDGED)
    reasons = reasons.where(is_placed, "")
    return rows.assign(is_placed=is_placed, note=joined_texts(reasons, rows["note"]))


def places_among(rows: pd.DataFrame, ratings: pd.Series) -> pd.DataFrame:
    """Return the place that each rating, and each end of its interval, takes among ratings.

    Args:
        rows: By system: ``rating, low, high``.
        ratings: Of the systems with a rank; if there is none, rows are placed among each other.

    Returns:
        ``PLACE_COLUMNS``, NaN where a bound is not known.
    """
    compared = ratings if len(ratings) else rows["rating"].dropna()
    places = pd.DataFrame(index=rows.index)
    # The better the rating, the lower the place: an interval's high end gives the lowest.
    for place_column, bound in zip(PLACE_COLUMNS, ("rating", "high", "low"), strict=True):
        taken = [1 + int((compared > value).sum()) for value in rows[bound]]
        places[place_column] = pd.Series(taken, rows.index, "Int64").mask(rows[bound].isna())
    return places


def ranks_and_places(places: pd.DataFrame, is_placed: pd.Series) -> pd.DataFrame:
    """Take a place for a rank, but of systems that are only placed.

    Args:
        places: ``PLACE_COLUMNS`` among the ranked systems.
        is_placed: Which systems have a place alone.
    """
    ranks = places.set_axis(RANK_COLUMNS, axis=1)
    return ranks.mask(is_placed).join(places.where(is_placed))


def ranked_rows(
    rows: pd.DataFrame,
    covariance: pd.DataFrame,
    language: str,
    verdict_ratings: pd.DataFrame | None = None,
    freedom: float = math.inf,
) -> pd.DataFrame:
    """Rank the rated systems of a language, and place those that verdicts do not rank.

    Args:
        rows: As of ``rated_rows``; with a column ``is_placed`` these take no rank.
        covariance: Of the ratings, see ``covariance_of``.
        language: Language code.
        verdict_ratings: By system: ``rank, rating, low, high`` by verdicts alone.
        freedom: Degrees of freedom of the covariance.

    Returns:
        ``tables.RATINGS``, best first, then placed systems, then those without either.
        ``rank_low, rank_high`` holds all ranks at once at 95%, and systems of a ``tier`` are not
        distinguishable from its best one. Places are among the ranked systems.
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
        by_verdicts = pd.DataFrame(np.nan, rows.index, VERDICT_COLUMNS)
    else:
        by_verdicts = verdict_ratings.add_prefix("arena_")
    table = table.join(by_verdicts).rename_axis("system").reset_index()
    table = table.astype(dict.fromkeys([*RANK_COLUMNS, "tier", *PLACE_COLUMNS], "Int64"))
    table["descending_rating"] = -table["rating"].where(table["rank"].isna())
    table = table.sort_values(["rank", "descending_rating", "system"], kind="stable")
    # Selected strictly: a misspelt column is a KeyError, not a column of NaN.
    return table[list(RATINGS.columns)]


def counting_languages(ratings: pd.DataFrame) -> list[str]:
    """Return the languages whose ranks count overall.

    They are those that rank at least half as many systems as have a rank anywhere: of few, the
    first could not be compared with the first of many. All languages count where none ranks so
    many.

    Args:
        ratings: ``tables.RATINGS``.
    """
    ranked = ratings[ratings["rank"].notna()]
    n_ranked = ranked.groupby("language").size()
    counting = n_ranked.index[2 * n_ranked >= ranked["system"].nunique()]
    return sorted(counting if len(counting) else ratings["language"].unique())


def overall_places(rows: pd.DataFrame, mean_ranks: pd.Series, n_languages: int) -> pd.DataFrame:
    """Place systems overall by the mean of their places, or ranks, in the languages.

    The interval is as if a system's errors were the same in every language.

    Args:
        rows: ``tables.RATINGS`` of systems that some language does not rank.
        mean_ranks: Of the systems with an overall rank; NaN of others.
        n_languages: Languages that must rank or place a system.

    Returns:
        By system, ``PLACE_COLUMNS``: places among the ranked systems; NaN where a language has
        neither, or a bound is not known.
    """
    places = pd.DataFrame(index=rows["system"].unique())
    for place_column, rank_column in zip(PLACE_COLUMNS, RANK_COLUMNS, strict=True):
        by_language = rows[place_column].astype(float).fillna(rows[rank_column].astype(float))
        grouped = by_language.groupby(rows["system"])
        means = grouped.mean().where(grouped.count() == n_languages).reindex(places.index)
        taken = [1 + int((mean_ranks < mean).sum()) for mean in means]
        places[place_column] = pd.Series(taken, places.index, "Int64").mask(means.isna())
    return places
