"""Which judged systems are distinguishable, and who won against whom: two tables of a board."""

from __future__ import annotations

import numpy as np
import pandas as pd

from arena.rating.battles import Battles
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


def win_table(judgments: pd.DataFrame) -> pd.DataFrame:
    """Count who won against whom.

    Args:
        judgments: Columns ``language, system_a, system_b, winner``; of one judge.

    Returns:
        Columns ``language, system, opponent, wins, losses, ties``, each pair in both directions;
        pairs that never met are not there. Sorted.
    """
    parts = [
        _of_language(Battles.from_judgments(rows), str(language))
        for language, rows in judgments.groupby("language")
    ]
    return pd.concat(parts).sort_values(WIN_COLUMNS[:3], ignore_index=True)[WIN_COLUMNS]


def _of_language(battles: Battles, language: str) -> pd.DataFrame:
    counts, names = battles.count(), np.array(battles.systems, dtype=object)
    wins, losses, ties = (
        part[:, 0].astype(int)
        for part in (counts.totals.wins, counts.totals.losses, counts.totals.ties)
    )
    sides = names[counts.pairs.first], names[counts.pairs.second]
    of_first = {"system": sides[0], "opponent": sides[1], "wins": wins, "losses": losses}
    of_second = {"system": sides[1], "opponent": sides[0], "wins": losses, "losses": wins}
    both = pd.concat(
        [pd.DataFrame(of_first | {"ties": ties}), pd.DataFrame(of_second | {"ties": ties})]
    )
    return both.astype({"system": "str", "opponent": "str"}).assign(language=language)
