"""Win rate and Elo: named alternatives to Bradley-Terry, for comparison."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError
from arena.data.seeds import generator
from arena.rating.battles import Battles
from arena.rating.pairs import POINTS_OF_A
from arena.statistics.bootstrap import percentile_intervals

Floats = npt.NDArray[np.float64]

ELO_START = 1000.0
ELO_SPREAD = 400.0
DEFAULT_K = 4.0
DEFAULT_ORDERS = 100
MOST_ELO_BATTLES = 1_000_000


def win_rate(battles: Battles) -> pd.DataFrame:
    """Share of battles won, ties half.

    Returns:
        Columns ``system, rating, rank, battles``, best first.
    """
    records = battles.records()
    met = records["wins"] + records["losses"] + records["ties"]
    share = (records["wins"] + 0.5 * records["ties"]) / met.where(met > 0)
    return _ranked(records.assign(rating=share, battles=met))[
        ["system", "rating", "rank", "battles"]
    ]


def elo(
    battles: Battles, k: float = DEFAULT_K, orders: int = DEFAULT_ORDERS, seed: int = 0
) -> pd.DataFrame:
    """Elo ratings, averaged over random orders of the battles.

    After a battle the winner takes K (1 - E) points from the loser, where E is its expected score
    1 / (1 + 10^((opponent - own) / 400)) (Elo, 1978). Ratings depend on the order of battles; the
    mean over orders does so less.

    Args:
        battles: At most a million, as each is played by itself.
        k: Largest change a battle makes, in points.
        orders: Number of random orders.
        seed: Seed of the orders.

    Returns:
        Columns ``system, rating, low, high, rank``, best first; the bounds hold 95% of orders.

    Raises:
        UsageError: For more than a million battles, or K or a number of orders below 0 or 1.
    """
    if len(battles) > MOST_ELO_BATTLES:
        raise UsageError(f"Elo plays battles one by one: at most {MOST_ELO_BATTLES:,} of them")
    if k <= 0 or orders < 1:
        raise UsageError("K must be above 0 and orders at least 1")
    random = generator(seed, "elo")
    played = np.array([random.permutation(len(battles)) for _ in range(orders)]).T
    ratings = np.full((orders, len(battles.systems)), ELO_START)
    row = np.arange(orders)
    shares = np.ones(len(battles)) if battles.weight is None else battles.weight
    for battle in played:
        a, b = battles.side_a[battle], battles.side_b[battle]
        expected = 1.0 / (1.0 + 10.0 ** ((ratings[row, b] - ratings[row, a]) / ELO_SPREAD))
        change = shares[battle] * k * (POINTS_OF_A[battles.winner[battle]] - expected)
        ratings[row, a] += change
        ratings[row, b] -= change
    low, high = percentile_intervals(ratings)
    table = {"system": battles.systems, "rating": ratings.mean(axis=0), "low": low, "high": high}
    return _ranked(pd.DataFrame(table))


def _ranked(table: pd.DataFrame) -> pd.DataFrame:
    ranks = table["rating"].rank(ascending=False, method="min").astype("Int64")
    return table.assign(rank=ranks).sort_values(["rank", "system"], ignore_index=True)
