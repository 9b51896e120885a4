"""Verdicts that the longer answer nearly always won."""

from __future__ import annotations

import numpy as np
import pandas as pd

from arena.quality.preferences import DIFFERENCE
from arena.rating.biases import with_lengths


def nearly_all_longer(judgments: pd.DataFrame, answers: pd.DataFrame) -> tuple[int, int] | None:
    """Count decided verdicts that the longer answer won, and all; None unless nearly all."""
    fewest_verdicts = 10
    decided = judgments[judgments["winner"] != "tie"]
    differences = with_lengths(decided, answers)[DIFFERENCE].to_numpy()
    is_unlike = np.isfinite(differences) & (differences != 0)
    is_longer_a = differences > 0
    is_won_by_a = (decided["winner"] == "a").to_numpy()
    n_decided = int(is_unlike.sum())
    n_won = int((is_unlike & (is_longer_a == is_won_by_a)).sum())
    if n_decided < fewest_verdicts or n_won < 0.95 * n_decided:
        return None
    return n_won, n_decided
