"""Ranks of a language's rows, from their ratings and how these vary together."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from arena.rating.intervals import ranks_and_tiers
from surrogate.board.tables import RATINGS

if TYPE_CHECKING:
    from surrogate.board.language_study import LanguageStudy

VERDICT_COLUMNS = ["arena_rank", "arena_rating", "arena_low", "arena_high"]
"""Columns by verdicts alone."""


def ranked_rows(
    rows: pd.DataFrame,
    covariance: pd.DataFrame,
    language: str,
    verdict_ratings: pd.DataFrame | None = None,
    freedom: float = math.inf,
) -> pd.DataFrame:
    """Rank the rated systems of a language.

    Args:
        rows: As of ``rated_rows``.
        covariance: Of the ratings, see ``covariance_of``.
        language: Language code.
        verdict_ratings: By system: ``rank, rating, low, high`` by verdicts alone.
        freedom: Degrees of freedom of the covariance.

    Returns:
        ``tables.RATINGS``, best first, unranked systems last. ``rank_low, rank_high`` holds all
        ranks at once at 95%, and systems of a ``tier`` are not distinguishable from its best one.
    """
    ratings = rows["rating"].dropna()
    rated_covariance = covariance.loc[ratings.index, ratings.index].to_numpy(np.float64)
    ranks = ranks_and_tiers(ratings.to_numpy(float), rated_covariance, freedom)
    table = rows.join(pd.DataFrame(ranks, ratings.index))
    table["language"] = language
    table["rank"] = table["rating"].rank(ascending=False, method="min")
    if verdict_ratings is None:
        by_verdicts = pd.DataFrame(np.nan, rows.index, VERDICT_COLUMNS)
    else:
        by_verdicts = verdict_ratings.add_prefix("arena_")
    table = table.join(by_verdicts).rename_axis("system").reset_index()
    table = table.astype(dict.fromkeys(["rank", "rank_low", "rank_high", "tier"], "Int64"))
    table = table.sort_values(["rank", "system"], kind="stable")
    # Selected strictly: a misspelt column is a KeyError, not a column of NaN.
    return table[list(RATINGS.names)]


def covariance_of(rows: pd.DataFrame, study: LanguageStudy | None = None) -> pd.DataFrame:
    """Return how ratings of a language vary together, systems by systems that have a rating.

    Args:
        rows: By system: ``rating, standard_error``.
        study: Judged systems vary as its posterior does. Others, and all by default, vary on
            their own.

    Returns:
        NaN for ratings without an interval.
    """
    rated = rows[rows["rating"].notna()]
    variances = rated["standard_error"].to_numpy(np.float64) ** 2
    covariance = pd.DataFrame(np.diag(variances), rated.index, rated.index)
    if study is None:
        return covariance
    posterior = study.posterior
    judged = [name for name in posterior.systems if name in covariance.index]
    if study.rated_by == "posterior":
        indices = [posterior.systems.index(name) for name in judged]
        covariance.loc[judged, judged] = posterior.covariance[np.ix_(indices, indices)]
    without_error = [name for name in judged if name in study.without_error]
    covariance.loc[without_error] = np.nan
    covariance[without_error] = np.nan
    return covariance
