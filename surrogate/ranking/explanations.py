"""Where new systems lie: the systems nearest by features, and whether one is like no other."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from surrogate.learning.neighbors import system_space
from surrogate.learning.surrogate import Surrogate
from surrogate.learning.training import feature_tensor

Entries = list[dict[str, object]]


@dataclass(frozen=True)
class Explanation:
    """Where a system lies in one language.

    Attributes:
        neighbors: Entries ``neighbor, distance``, nearest first; see ``SystemSpace``.
        outside_training: None where the system is like those the surrogate was trained on, else
            the features in which it is not; see ``SystemSpace.outside``.
    """

    neighbors: Entries = field(default_factory=list)
    outside_training: tuple[str, ...] | None = None


def explain_systems(
    surrogate: Surrogate, X: pd.DataFrame, known: pd.DataFrame
) -> dict[tuple[str, str], Explanation]:
    """Place new systems among the board's, all on the questions that they answered.

    Args:
        surrogate: The surrogate.
        X: Feature table of the new systems.
        known: Feature table of the board's systems.

    Returns:
        Language the surrogate was trained for, and system, to where it lies.
    """
    explained = {}
    for language in surrogate.systems_:
        if language in surrogate.failures_:
            continue
        left_out = surrogate.left_out_[language]
        used = [name for name in surrogate.features_ if name not in left_out]
        newcomers = feature_tensor(X, language, used)
        board = feature_tensor(known, language, used)
        for place, system in enumerate(newcomers.systems):
            means = newcomers.means()[0, place]
            if not np.isfinite(means).any():
                explained[language, system] = Explanation()
                continue
            answered = set(np.array(newcomers.questions)[newcomers.answered[place]])
            same = board.take(questions=[name for name in board.questions if name in answered])
            space = system_space(same, same.features, surrogate.systems_[language])
            explained[language, system] = Explanation(space.neighbors(means), space.outside(means))
    return explained
