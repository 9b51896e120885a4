"""Beside the ratings: those by verdicts alone, who won against whom, how far systems differ."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
from scipy.special import ndtr

from arena.data.schema import SOFT
from arena.rating.battles import Battles
from arena.rating.published import NO_ERRORS
from arena.rating.ratings import TOO_MANY, Ratings
from arena.statistics.rank_agreement import kendall_tau
from arena.statistics.significance import NORMAL_90
from surrogate.board.tables import ARENA, DIFFERENCES, WIN_MATRIX

COMPARED = {"verdicts_alone": "arena_rating", "surrogate_alone": "surrogate_rating"}
"""What is compared with the truth beside the rating, to its column of a board."""
ROUNDING = 1e-12
"""Variances below it are rounding errors of none."""


def arena_table(ratings: Ratings, language: str) -> pd.DataFrame:
    """Arrange the arena's ratings of a language as ``tables.ARENA``, best first.

    ``rank_low, rank_high`` hold all ranks at once at 95%, systems of a ``tier`` (1 the best) are
    not distinguishable from its best one, and ``note`` says why a system has no rating or tier;
    see ``arena.rating.intervals``.
    """
    table = ratings.table.assign(language=language)
    reason = next((note for note in ratings.notes if note in (TOO_MANY, NO_ERRORS)), "")
    told = table["note"].where((table["note"] != "") | table["rating"].isna(), reason)
    return table.assign(note=told)[list(ARENA.names)]


def win_table(judgments: pd.DataFrame) -> pd.DataFrame:
    """Count who won against whom: whole verdicts, a soft one by its likelier winner.

    Args:
        judgments: Columns ``language, system_a, system_b, winner``; of one judge.

    Returns:
        ``tables.WIN_MATRIX``, each pair in both directions, sorted; pairs that never met are not
        there.
    """
    parts = [WIN_MATRIX.empty()]
    for language, rows in judgments.drop(columns=SOFT, errors="ignore").groupby("language"):
        parts.append(Battles.from_judgments(rows).outcomes().assign(language=str(language)))
    table = pd.concat(parts[1:] or parts, ignore_index=True)
    table = table.sort_values(["language", "system", "opponent"], ignore_index=True)
    return table[list(WIN_MATRIX.names)]


def difference_table(rated: Iterable[tuple[pd.DataFrame, pd.DataFrame]]) -> pd.DataFrame:
    """Say of each two systems of a language by how much one is better, and how surely.

    Ratings are taken as normal: of their difference the variance is the sum of the two variances
    less twice the covariance.

    Args:
        rated: Of each language, ``tables.RATINGS``, best first, and the covariance of the ratings,
            systems by systems; NaN where it is not known.

    Returns:
        ``tables.DIFFERENCES``, each pair once, ``system`` the better rated one: its rating less
        the opponent's, the 90% interval of that, and the ``probability`` that it is better; NaN
        where the covariance is. Sorted by language.
    """
    parts = [DIFFERENCES.empty()]
    for table, covariance in rated:
        rating = table[table["rating"].notna()].set_index("system")["rating"]
        if len(rating) < 2:
            continue
        first, second = np.triu_indices(len(rating), 1)
        names, values = rating.index.to_numpy(object), rating.to_numpy(np.float64)
        known = covariance.loc[rating.index, rating.index].to_numpy(np.float64)
        variances = np.diag(known)
        variance = variances[first] + variances[second] - 2 * known[first, second]
        error = np.sqrt(np.where(variance > ROUNDING, variance, np.nan))
        difference = values[first] - values[second]
        columns = {
            "language": table["language"].iloc[0],
            "system": names[first],
            "opponent": names[second],
            "difference": difference,
            "low": difference - NORMAL_90 * error,
            "high": difference + NORMAL_90 * error,
            "probability": ndtr(difference / error),
        }
        parts.append(pd.DataFrame(columns))
    stacked = pd.concat(parts[1:] or parts, ignore_index=True)
    return stacked.sort_values("language", kind="stable", ignore_index=True)


def compare_with_truth(board: pd.DataFrame, truth: pd.DataFrame) -> pd.DataFrame:
    """Return Kendall tau-b of the board's ratings, and of others in ``COMPARED``, with the truth.

    The truth has columns ``language, system, quality``. A row a language, and a last row ``macro``
    with the means.
    """
    merged = board.merge(truth, on=["language", "system"], validate="one_to_one")
    columns = {"rating": "rating", **COMPARED}
    taus = {
        language: {
            name: kendall_tau(part[column].to_numpy(float), part["quality"].to_numpy(float))
            for name, column in columns.items()
        }
        for language, part in merged.groupby("language")
    }
    compared = pd.DataFrame(taus).T
    compared.loc["macro"] = compared.mean()
    return compared.rename_axis("language").reset_index()
