"""What entries share: verdicts on random pairs, for methods that have no plan of their own."""

from __future__ import annotations

import numpy as np
import pandas as pd
from tasks import Ask


def ask_at_random(ask: Ask, seed: int) -> pd.DataFrame:
    """Spend the budget on random pairs, each asked once.

    Returns:
        Columns ``query_id, system_a, system_b, winner``.
    """
    pairs = ask.pairs
    names = np.sort(pairs[["system_a", "system_b"]].to_numpy(str), axis=1)
    of_pair = pairs[["query_id"]].assign(first=names[:, 0], second=names[:, 1])
    pairs = pairs[~of_pair.duplicated().to_numpy()]
    drawn = np.random.default_rng(seed).permutation(len(pairs))[: ask.left]
    for pair in pairs.iloc[drawn].itertuples():
        ask(pair.query_id, pair.system_a, pair.system_b)
    return ask.verdicts


def shares_of_points(verdicts: pd.DataFrame) -> pd.Series:
    """Return each asked system's mean share of points, a tie being half."""
    points_of_a = verdicts["winner"].map({"a": 1.0, "tie": 0.5, "b": 0.0})
    points = pd.concat(
        [
            pd.Series(points_of_a.to_numpy(), verdicts["system_a"]),
            pd.Series(1 - points_of_a.to_numpy(), verdicts["system_b"]),
        ]
    )
    return points.groupby(level=0).mean()
