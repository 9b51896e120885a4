"""Ranks over all languages, and how sure they are: from the joint posterior over languages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from arena.data.seeds import generator
from arena.data.types import Floats
from arena.statistics.bootstrap import normal_draws
from surrogate.board.tables import OVERALL

DRAWS = 4_000
LEVEL = (5.0, 95.0)
"""Percentiles of a rank over draws: what an interval of 90% holds."""
MOST_RATINGS = 2_000
"""Ratings, of all languages together, that are drawn together; time grows as a cube."""
UNCERTAIN = ["rank_low", "rank_high", "probability_best"]


def overall_board(
    board: pd.DataFrame, covariance: pd.DataFrame | None = None, seed: int = 0
) -> pd.DataFrame:
    """Average each system's ranks in ``tables.RATINGS`` over languages of the same weight.

    Args:
        board: Ratings by language.
        covariance: Of all ratings of all languages, see ``joint_covariance``; without it the
            uncertainty of overall ranks is not known.
        seed: Of the draws.

    Returns:
        ``tables.OVERALL``, best first (MIRAGE-Bench, figure 4). A system that is unranked in a
        language is unranked here, with the number of languages that rank it. ``rank_low`` and
        ``rank_high`` hold 90% of the ranks in draws of all ratings together,
        ``probability_best`` is the share of draws in which the system is the first.
    """
    grouped, languages = board.groupby("system"), board["language"].nunique()

    def complete_mean(column: str) -> pd.Series:
        means = grouped[column].mean().astype(float)
        return means.where(grouped[column].count() == languages)

    table = pd.DataFrame(
        {
            "mean_rank": complete_mean("rank"),
            "mean_rating": complete_mean("rating"),
            "languages": grouped["rank"].count(),
            "coverage": grouped["coverage"].mean(),
            "arena_mean_rank": complete_mean("arena_rank"),
        }
    )
    table["rank"] = table["mean_rank"].rank(method="min").astype("Int64")
    table["arena_rank"] = table["arena_mean_rank"].rank(method="min").astype("Int64")
    ranked = list(table.index[table["rank"].notna()])
    known = pd.DataFrame(np.nan, table.index, UNCERTAIN)
    if covariance is not None and ranked:
        known.loc[ranked] = _rank_uncertainty(board, covariance, ranked, seed)
    table = table.join(known)
    table["rank_low"] = table[["rank_low", "rank"]].min(axis=1, skipna=False)
    table["rank_high"] = table[["rank_high", "rank"]].max(axis=1, skipna=False)
    table = table.astype({"rank_low": "Int64", "rank_high": "Int64"})
    ordered = table.reset_index().sort_values(["rank", "system"], kind="stable")
    return ordered[list(OVERALL.names)].reset_index(drop=True)


def joint_covariance(
    parts: Mapping[str, pd.DataFrame], across: pd.DataFrame | None
) -> pd.DataFrame:
    """Arrange how the ratings of all languages vary together.

    Args:
        parts: Language to the covariance of its ratings, systems by systems.
        across: Of those that the posterior of all languages holds, by language and system, see
            ``JointPosterior``. Others are errors of one surrogate, and of a system the same in
            every language, so that more languages make it no surer; by default all are.

    Returns:
        Rows and columns by language and system; NaN where a covariance is not known.
    """
    names = [(language, system) for language, part in parts.items() for system in part.index]
    index = pd.MultiIndex.from_tuples(names, names=["language", "system"])
    whole = np.zeros((len(names), len(names)))
    start = 0
    for part in parts.values():
        end = start + len(part)
        whole[start:end, start:end] = part.to_numpy(np.float64)
        start = end
    is_joint = np.zeros(len(names), dtype=np.bool_)
    languages = index.get_level_values("language").to_numpy()
    systems = index.get_level_values("system").to_numpy()
    is_apart = languages[:, None] != languages[None, :]
    if across is not None:
        places = across.index.get_indexer(index)
        is_joint = places >= 0
        both = np.ix_(is_joint, is_joint)
        known = across.to_numpy()[np.ix_(places[is_joint], places[is_joint])]
        whole[both] = np.where(is_apart[both], known, whole[both])
    spread = np.sqrt(np.diag(whole))
    is_same = (systems[:, None] == systems[None, :]) & is_apart
    is_same &= ~(is_joint[:, None] | is_joint[None, :])
    whole = np.where(is_same, spread[:, None] * spread[None, :], whole)
    return pd.DataFrame(whole, index, index)


def _rank_uncertainty(
    board: pd.DataFrame, covariance: pd.DataFrame, ranked: Sequence[str], seed: int
) -> Floats:
    """Return ``UNCERTAIN`` of the systems with an overall rank; NaN where errors are not known."""
    unknown = np.full((len(ranked), len(UNCERTAIN)), np.nan)
    rated = board[board["rank"].notna()].set_index(["language", "system"])["rating"]
    rated = rated.reindex(covariance.index).dropna().astype(float)
    spread = covariance.loc[rated.index, rated.index].to_numpy(np.float64)
    if len(rated) > MOST_RATINGS or np.isnan(spread).any():
        return unknown
    random = generator(seed, "overall ranks")
    draws = normal_draws(rated.to_numpy(), spread, DRAWS, random)
    languages = rated.index.get_level_values("language")
    mean_ranks = np.zeros((DRAWS, len(ranked)))
    for language in languages.unique():
        own = languages == language
        ranks = pd.DataFrame(draws[:, own]).rank(axis=1, ascending=False).to_numpy()
        systems = rated.index[own].get_level_values("system")
        mean_ranks += ranks[:, systems.get_indexer(list(ranked))]
    places = pd.DataFrame(mean_ranks).rank(axis=1, method="min").to_numpy()
    low, high = np.percentile(places, LEVEL, axis=0, method="nearest")
    is_first = places == 1
    best = (is_first / is_first.sum(axis=1, keepdims=True)).mean(axis=0)
    return np.column_stack([low, high, best])
