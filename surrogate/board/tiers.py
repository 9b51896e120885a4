"""Which judged systems the arena can tell apart, and who won against whom."""

from __future__ import annotations

import numpy as np
import pandas as pd

from arena.rating.ranks import rank_intervals, tiers
from arena.rating.ratings import MOST_COMPARED, TOO_MANY
from arena.rating.tournaments import NOT_CONNECTED, Tournaments

FEWEST_TOURNAMENTS = 20
TOO_FEW = f"tiers need {FEWEST_TOURNAMENTS} tournaments in which all rated systems are connected"

TIER_COLUMNS = ["language", "system", "tier", "rank_low", "rank_high", "note"]
WIN_COLUMNS = ["language", "system", "opponent", "wins", "losses", "ties"]


def tiers_table(tournaments: Tournaments, language: str) -> pd.DataFrame:
    """Group the judged systems of a language into tiers.

    The spread of the arena's ratings over its tournaments, which resample questions, is what
    tells systems apart; where a tournament holds fewer questions than were judged, it is wider
    than it need be, and tiers are larger.

    Args:
        tournaments: The language's tournaments.
        language: Language code.

    Returns:
        Columns ``language, system``; ``tier`` (1 the best; its systems cannot be told from its
        best one); ``rank_low, rank_high`` (95% intervals that hold for all ranks at once);
        ``note`` (why a system has none). Best first; see ``arena.tied_ranks``.
    """
    ratings = tournaments.ratings()
    rated = np.isfinite(tournaments.mean_coefficients)
    names = np.array(tournaments.systems, dtype=object)[rated]
    replicates = tournaments.coefficients[:, rated]
    complete = replicates[np.isfinite(replicates).all(axis=1)]
    table = pd.DataFrame({"language": language, "system": ratings["system"]})
    note = TOO_FEW if len(complete) < FEWEST_TOURNAMENTS else ""
    if len(names) > MOST_COMPARED:
        note = TOO_MANY
    found = pd.DataFrame(index=pd.Index(names), columns=TIER_COLUMNS[2:5], dtype="Int64")
    if not note:
        center = tournaments.mean_coefficients[rated]
        low, high = rank_intervals(center, complete)
        tier = tiers(center, complete)
        for name, values in zip(found.columns, (tier, low, high), strict=True):
            found[name] = pd.array(values, dtype="Int64")
    for name in found.columns:
        table[name] = found[name].reindex(table["system"]).array
    unrated = ratings["rating"].isna()
    table["note"] = np.where(unrated, NOT_CONNECTED, note)
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
