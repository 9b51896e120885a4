"""Which judged systems are distinguishable, and who won against whom: two tables of a board."""

from __future__ import annotations

import pandas as pd

from arena.rating.ratings import TOO_MANY, Ratings

TIER_COLUMNS = ["language", "system", "tier", "rank_low", "rank_high", "note"]
WIN_COLUMNS = ["language", "system", "opponent", "wins", "losses", "ties"]


def tiers_table(ratings: Ratings, language: str) -> pd.DataFrame:
    """Group the judged systems of a language into tiers.

    Args:
        ratings: The arena's ratings.
        language: Language code.

    Returns:
        Columns ``language, system``; ``tier`` (1 the best; its systems are not distinguishable
        from its best one); ``rank_low, rank_high`` (95% intervals that hold for all ranks at
        once); ``note`` (why a system has none). Best first; see ``arena.rating.intervals``.
    """
    table = ratings.table.assign(language=language)
    reason = TOO_MANY if TOO_MANY in ratings.notes else ""
    unrated = table["rating"].isna()
    table["note"] = table["note"].where(unrated, reason)
    return table[TIER_COLUMNS]


def win_matrix(judgments: pd.DataFrame) -> pd.DataFrame:
    """Count who won against whom.

    Args:
        judgments: Columns ``language, system_a, system_b, winner``; of one judge.

    Returns:
        Columns ``language, system, opponent, wins, losses, ties``, each pair in both directions;
        pairs that never met are not there. Sorted.
    """
    sides = [
        pd.DataFrame(
            {
                "language": judgments["language"],
                "system": judgments[f"system_{side}"],
                "opponent": judgments[f"system_{other}"],
                "wins": (judgments["winner"] == side).astype(int),
                "losses": (judgments["winner"] == other).astype(int),
                "ties": (judgments["winner"] == "tie").astype(int),
            }
        )
        for side, other in (("a", "b"), ("b", "a"))
    ]
    keys = WIN_COLUMNS[:3]
    return pd.concat(sides).groupby(keys, sort=True).sum().reset_index()[WIN_COLUMNS]
