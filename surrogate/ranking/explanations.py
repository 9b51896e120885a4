"""What explains a new system's rating: attributions, neighbors, whether it is like no other."""

from __future__ import annotations

import numpy as np
import pandas as pd

from surrogate.learning.neighbors import NEIGHBORS, system_space
from surrogate.learning.surrogate import Surrogate
from surrogate.learning.tensor import feature_tensor

DECIMALS = 6
Entries = list[dict[str, object]]


def explain_systems(
    surrogate: Surrogate, X: pd.DataFrame, known: pd.DataFrame, keys: pd.MultiIndex
) -> tuple[pd.DataFrame, list[str]]:
    """Explain the ratings of new systems, in the languages a surrogate was trained for.

    Args:
        surrogate: The surrogate.
        X: Feature table of the new systems.
        known: Feature table of the board's systems.
        keys: Languages and systems to explain.

    Returns:
        By key: ``attributions``, entries ``feature, contribution`` (logits), largest first;
        ``neighbors``, entries ``neighbor, distance``, nearest first; ``answer_neighbors``, entries
        ``neighbor, similarity`` of those whose answers are most alike; empty where the surrogate
        says nothing. ``outside_training``: the features in which the system is unlike those the
        surrogate was trained on, None where it is not. And the answered languages of which the
        surrogate does not say what moved a rating.
    """
    found = surrogate.attributions(X)
    moved = {} if found is None else _entries(found[found["contribution"].round(DECIMALS) != 0])
    alike = surrogate.answer_similarities(X)
    similar = {} if alike is None else _entries(alike, most=NEIGHBORS)
    near: dict[tuple[str, str], Entries] = {}
    outside: dict[tuple[str, str], list[str]] = {}
    trained = [name for name in surrogate.systems_ if name not in surrogate.failures_]
    for language in trained:
        left_out = surrogate.left_out_[language]
        used = [name for name in surrogate.features_ if name not in left_out]
        newcomers, board = (feature_tensor(table, language, used) for table in (X, known))
        for system in newcomers.systems:
            one = newcomers.take(systems=[system])
            means = one.means()[0, 0]
            if not np.isfinite(means).any():
                continue
            answered = set(np.array(one.questions)[one.answered[0]])
            same = board.take(questions=[name for name in board.questions if name in answered])
            space = system_space(same, same.features, surrogate.systems_[language])
            near[language, system] = space.neighbors(means)
            if (unlike := space.outside(means)) is not None:
                outside[language, system] = list(unlike)
    columns = {"attributions": moved, "neighbors": near, "answer_neighbors": similar}
    table = pd.DataFrame(
        {
            name: pd.Series([entries.get(key, []) for key in keys], keys, dtype=object)
            for name, entries in columns.items()
        }
    )
    table["outside_training"] = pd.Series([outside.get(key) for key in keys], keys, dtype=object)
    attributed = set() if found is None else set(found["language"])
    return table, [name for name in trained if name in {*X["language"]} - attributed]


def _entries(table: pd.DataFrame, most: int | None = None) -> dict[tuple[str, str], Entries]:
    """Arrange a table by language and system: all by size, or the highest ones."""
    name, number = table.columns[-2:]
    rows = table.assign(**{number: table[number].round(DECIMALS)}).dropna(subset=number)
    order = rows[number] if most else rows[number].abs()
    rows = rows.loc[order.sort_values(ascending=False, kind="stable").index]
    return {
        (str(language), str(system)): own[[name, number]].head(most or len(own)).to_dict("records")
        for (language, system), own in rows.groupby(["language", "system"])
    }
