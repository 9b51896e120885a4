"""What explains a new system's rating: attributions, neighbors, whether it is like no other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from surrogate.learning.neighbors import NEIGHBORS, system_space
from surrogate.learning.surrogate import Surrogate
from surrogate.learning.tensor import FeatureTensor, feature_tensor

DECIMALS = 6
Entries = list[dict[str, object]]


@dataclass(frozen=True)
class Explanation:
    """What explains a rating in one language.

    Attributes:
        attributions: Entries ``feature, contribution`` (logits), largest first, without
            features that did nothing; empty where the surrogate has none.
        neighbors: Entries ``neighbor, distance``, nearest first; see ``SystemSpace``.
        answer_neighbors: Entries ``neighbor, similarity``, those whose answers are most alike
            first; empty where the surrogate does not read answers.
        outside_training: None where the system is like those the surrogate was trained on, else
            the features in which it is not; see ``SystemSpace.outside``.
    """

    attributions: Entries = field(default_factory=list)
    neighbors: Entries = field(default_factory=list)
    answer_neighbors: Entries = field(default_factory=list)
    outside_training: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Explanations:
    """Explanations of new systems.

    Attributes:
        by_system: Language and system to what explains the rating there.
        unattributed: Languages of which the surrogate does not say what moved a rating.
    """

    by_system: dict[tuple[str, str], Explanation]
    unattributed: tuple[str, ...]


def explain_systems(surrogate: Surrogate, X: pd.DataFrame, known: pd.DataFrame) -> Explanations:
    """Explain the ratings of new systems, in the languages a surrogate was trained for.

    Args:
        surrogate: The surrogate.
        X: Feature table of the new systems.
        known: Feature table of the board's systems.
    """
    attributions = surrogate.attributions(X)
    moved = {} if attributions is None else _largest_first(attributions)
    alike = _most_alike(surrogate.answer_similarities(X))
    explained = {}
    trained = [name for name in surrogate.systems_ if name not in surrogate.failures_]
    for language in trained:
        left_out = surrogate.left_out_[language]
        used = [name for name in surrogate.features_ if name not in left_out]
        newcomers = feature_tensor(X, language, used)
        board = feature_tensor(known, language, used)
        for system in newcomers.systems:
            one = newcomers.take(systems=[system])
            near, outside = _placed(one, board, surrogate.systems_[language])
            explained[language, system] = Explanation(
                moved.get((language, system), []), near, alike.get((language, system), []), outside
            )
    attributed = set() if attributions is None else set(attributions["language"])
    answered = set(X["language"])
    unattributed = [name for name in trained if name in answered and name not in attributed]
    return Explanations(explained, tuple(unattributed))


def _largest_first(attributions: pd.DataFrame) -> dict[tuple[str, str], Entries]:
    rounded = attributions.assign(contribution=attributions["contribution"].round(DECIMALS))
    shown = rounded[rounded["contribution"].notna() & (rounded["contribution"] != 0)]
    ordered = shown.sort_values("contribution", key=lambda part: -part.abs(), kind="stable")
    return {
        (str(language), str(system)): [
            {"feature": str(name), "contribution": float(value)}
            for name, value in zip(rows["feature"], rows["contribution"], strict=True)
        ]
        for (language, system), rows in ordered.groupby(["language", "system"])
    }


def _most_alike(similarities: pd.DataFrame | None) -> dict[tuple[str, str], Entries]:
    if similarities is None:
        return {}
    rounded = similarities.assign(similarity=similarities["similarity"].round(DECIMALS))
    ordered = rounded.sort_values("similarity", ascending=False, kind="stable")
    return {
        (str(language), str(system)): rows[["neighbor", "similarity"]]
        .head(NEIGHBORS)
        .to_dict(orient="records")
        for (language, system), rows in ordered.groupby(["language", "system"])
    }


def _placed(
    one: FeatureTensor, board: FeatureTensor, trained: Sequence[str]
) -> tuple[Entries, tuple[str, ...] | None]:
    """Place a system among the board's, all on the questions that it answered."""
    means = one.means()[0, 0]
    if not np.isfinite(means).any():
        return [], None
    answered = set(np.array(one.questions)[one.answered[0]])
    same = board.take(questions=[name for name in board.questions if name in answered])
    space = system_space(same, same.features, trained)
    return space.neighbors(means), space.outside(means)
