"""Where new systems lie: the systems nearest by features, and whether one is like no other."""

from __future__ import annotations

import numpy as np
import pandas as pd

from surrogate.learning.neighbors import system_space
from surrogate.learning.surrogate import Surrogate
from surrogate.learning.training import feature_tensor


def explain_systems(
    surrogate: Surrogate, X: pd.DataFrame, known: pd.DataFrame, keys: pd.MultiIndex
) -> pd.DataFrame:
    """Place new systems among the board's, all on the questions that they answered.

    Args:
        surrogate: The surrogate.
        X: Feature table of the new systems.
        known: Feature table of the board's systems.
        keys: Languages and systems to explain.

    Returns:
        By key: ``neighbors``, entries ``neighbor, distance``, nearest first, empty where the
        surrogate was not trained; ``outside_training``: the features in which the system is unlike
        those the surrogate was trained on, None where it is not. See ``SystemSpace``.
    """
    near: dict[tuple[str, str], list[dict[str, object]]] = {}
    outside: dict[tuple[str, str], list[str]] = {}
    for language in set(surrogate.systems_) - set(surrogate.failures_):
        left_out = surrogate.left_out_[language]
        used = [name for name in surrogate.features_ if name not in left_out]
        newcomers, board = (feature_tensor(table, language, used) for table in (X, known))
        for place, system in enumerate(newcomers.systems):
            means = newcomers.means()[0, place]
            if not np.isfinite(means).any():
                continue
            answered = set(np.array(newcomers.questions)[newcomers.answered[place]])
            same = board.take(questions=[name for name in board.questions if name in answered])
            space = system_space(same, same.features, surrogate.systems_[language])
            near[language, system] = space.neighbors(means)
            if (unlike := space.outside(means)) is not None:
                outside[language, system] = list(unlike)
    columns = {
        "neighbors": [near.get(key, []) for key in keys],
        "outside_training": [outside.get(key) for key in keys],
    }
    return pd.DataFrame(
        {name: pd.Series(values, keys, dtype=object) for name, values in columns.items()}
    )
