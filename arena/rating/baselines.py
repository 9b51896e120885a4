"""Win rate and Elo: named alternatives to Bradley-Terry, for comparison."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError
from arena.data.seeds import generator
from arena.rating.battle_codes import BattleCodes

Floats = npt.NDArray[np.float64]

ELO_START = 1000.0
ELO_SPREAD = 400.0
DEFAULT_K = 4.0
DEFAULT_ORDERS = 100
MOST_ELO_BATTLES = 1_000_000

_SCORE_OF_A = np.array([1.0, 0.0, 0.5])


def win_rate(codes: BattleCodes) -> pd.DataFrame:
    """Share of battles won, ties half.

    Returns:
        Columns ``system, rating, rank, battles``, best first.
    """
    size = len(codes.systems)
    score = _SCORE_OF_A[codes.winner]
    points = np.bincount(codes.side_a, score, size) + np.bincount(codes.side_b, 1 - score, size)
    battles = np.bincount(codes.side_a, minlength=size) + np.bincount(codes.side_b, minlength=size)
    share = np.divide(points, battles, out=np.full(size, np.nan), where=battles > 0)
    return _ranked(codes, share).assign(
        battles=lambda table: table["system"].map(
            dict(zip(codes.systems, battles.tolist(), strict=True))
        )
    )


def elo(
    codes: BattleCodes, k: float = DEFAULT_K, orders: int = DEFAULT_ORDERS, seed: int = 0
) -> pd.DataFrame:
    """Elo ratings, averaged over random orders of the battles.

    After a battle the winner takes K (1 - E) points from the loser, where E is its expected score
    1 / (1 + 10^((opponent - own) / 400)) (Elo, 1978). Ratings depend on the order of battles; the
    mean over orders does so less.

    Args:
        codes: Battles; at most a million, as each is played by itself.
        k: Largest change a battle makes, in points.
        orders: Number of random orders.
        seed: Seed of the orders.

    Returns:
        Columns ``system, rating, low, high, rank``, best first; the bounds hold 95% of orders.

    Raises:
        UsageError: For more than a million battles, or K or a number of orders below 0 or 1.
    """
    if len(codes.winner) > MOST_ELO_BATTLES:
        raise UsageError(f"Elo plays battles one by one: at most {MOST_ELO_BATTLES:,} of them")
    if k <= 0 or orders < 1:
        raise UsageError("K must be above 0 and orders at least 1")
    random = generator(seed, "elo")
    battles = np.arange(len(codes.winner))
    played = np.array([random.permutation(battles) for _ in range(orders)]).T
    ratings = np.full((orders, len(codes.systems)), ELO_START)
    row = np.arange(orders)
    for battle in played:
        a, b = codes.side_a[battle], codes.side_b[battle]
        expected = 1.0 / (1.0 + 10.0 ** ((ratings[row, b] - ratings[row, a]) / ELO_SPREAD))
        change = k * (_SCORE_OF_A[codes.winner[battle]] - expected)
        ratings[row, a] += change
        ratings[row, b] -= change
    low, high = np.percentile(ratings, (2.5, 97.5), axis=0)
    table = _ranked(codes, ratings.mean(axis=0))
    place = [codes.systems.index(system) for system in table["system"]]
    return table.assign(low=low[place], high=high[place])[
        ["system", "rating", "low", "high", "rank"]
    ]


def _ranked(codes: BattleCodes, rating: Floats) -> pd.DataFrame:
    table = pd.DataFrame({"system": codes.systems, "rating": rating})
    table["rank"] = table["rating"].rank(ascending=False, method="min").astype("Int64")
    return table.sort_values(["rank", "system"], kind="stable", ignore_index=True)
