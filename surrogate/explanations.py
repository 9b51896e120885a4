"""What explains the rating of a new system: its drivers, its neighbours, and how foreign it is."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from surrogate.drivers import rating_drivers
from surrogate.judge import LanguageJudge
from surrogate.system_space import system_space
from surrogate.tensor import FeatureTensor, feature_tensor

Entries = list[dict[str, object]]


@dataclass(frozen=True)
class Explanation:
    """What explains a rating in one language.

    Attributes:
        drivers: Entries ``feature, contribution``, largest first; see ``drivers.Drivers``. Empty
            where the learner has none.
        neighbours: Entries ``neighbour, distance``, nearest first; see ``system_space``.
        outside_field: None where the system is like those the surrogate was trained on, else the
            features in which it is not; see ``SystemSpace.outside``.
    """

    drivers: Entries = field(default_factory=list)
    neighbours: Entries = field(default_factory=list)
    outside_field: tuple[str, ...] | None = None


def explain_systems(
    judge: LanguageJudge, table: pd.DataFrame, known: pd.DataFrame | None
) -> dict[str, Explanation]:
    """Explain the ratings of new systems in a judge's language.

    Args:
        judge: The language's surrogate.
        table: Feature table of the new systems.
        known: Feature table of the board's systems; None where there is none, and then nothing
            is said of neighbours and field.

    Returns:
        System to its explanation; systems without answers in the language are not there.
    """
    newcomers = _tensor(judge, table)
    field_of_board = None if known is None else _tensor(judge, known)
    drivers = rating_drivers(judge, newcomers)
    found = {}
    for row, system in enumerate(newcomers.systems):
        moved = drivers.largest_first(row) if drivers else []
        one = newcomers.take(systems=[system])
        near, outside = _placed(judge, one, field_of_board)
        found[system] = Explanation(moved, near, outside)
    return found


def _tensor(judge: LanguageJudge, table: pd.DataFrame) -> FeatureTensor:
    rows = table[table["language"] == judge.language]
    systems, questions = sorted(rows["system"].unique()), sorted(rows["query_id"].unique())
    return feature_tensor(rows, judge.language, judge.features, systems, questions)


def _placed(
    judge: LanguageJudge, one: FeatureTensor, known: FeatureTensor | None
) -> tuple[Entries, tuple[str, ...] | None]:
    """Place a system among the board's, all on the questions that it answered."""
    means = one.means()[0, 0]
    if known is None or not np.isfinite(means).any():
        return [], None
    answered = set(np.array(one.questions)[one.answered[0]])
    same = known.take(questions=[name for name in known.questions if name in answered])
    space = system_space(same, judge.features, judge.systems)
    return space.neighbours(means), space.outside(means)
