"""Orders that pooling reverses (Simpson's paradox): ahead over all, behind in each language."""

from __future__ import annotations

import numpy as np
import pandas as pd

from arena.data.wording import Remark, count_of
from arena.rating.battles import Battles
from arena.rating.bradley_terry import DEFAULT_RIDGE, NormalPrior
from arena.rating.intervals import MOST_COMPARED
from arena.rating.likelihood import BattleLikelihood
from arena.rating.ratings import Ratings


def pooling_remarks(judgments: pd.DataFrame, rated: Ratings) -> list[Remark]:
    """Name systems that judgments rate surely ahead over all languages, and behind in each."""
    sure = 0.975
    if judgments["language"].nunique() < 2 or len(rated.table) > MOST_COMPARED:
        return []
    pairs = rated.pairs()
    decided = pairs[pairs["probability"] > sure]
    n_ahead = np.zeros(len(decided), dtype=np.intp)
    n_languages = np.zeros(len(decided), dtype=np.intp)
    for _, rows in judgments.groupby("language", observed=True):
        ratings = _ratings(rows)
        gaps = ratings.reindex(decided["system"]).to_numpy()
        gaps = gaps - ratings.reindex(decided["opponent"]).to_numpy()
        n_languages += np.isfinite(gaps)
        n_ahead += gaps >= 0
    is_reversed = (n_languages > 1) & (n_ahead == 0)
    if not is_reversed.any():
        return []
    first = decided[is_reversed].iloc[0]
    others = int(is_reversed.sum()) - 1
    more = f" (and {count_of(others, 'other pair')})" if others else ""
    n_both = int(n_languages[is_reversed][0])
    sentence = (
        f"{first['system']} is ahead of {first['opponent']} over all languages, and behind in each "
        f"of the {n_both} that rate both{more}: rate each language by itself"
    )
    return [Remark("languages", "warning", sentence)]


def _ratings(judgments: pd.DataFrame) -> pd.Series:
    battles = Battles.from_judgments(judgments).largest_group()
    n_systems = len(battles.systems)
    likelihood = BattleLikelihood(battles.items_by_side)
    mode = likelihood.mode(NormalPrior.ridge(n_systems, DEFAULT_RIDGE))
    return pd.Series(mode[:n_systems], list(battles.systems))
