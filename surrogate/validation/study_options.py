"""Options of studies: the settings of a board that a study has, and the arena as it sees it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

import pandas as pd

from arena.data.arena import Arena
from arena.data.types import Progress
from surrogate.board.settings import (
    PRESET,
    BoardSettings,
    LearningOptions,
    chosen_settings,
    resolved_judges,
)
from surrogate.learning.surrogate import Surrogate

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

SurrogateLike: TypeAlias = "str | Surrogate | BaseEstimator"
"""A surrogate's name, an unfitted one, or a regressor of scikit-learn's form."""


class StudyOptions(LearningOptions, total=False):
    """Options of every study besides the arena, the surrogate and the number of repeats.

    Attributes:
        settings: Settings of a board; a study uses those that it has too.
        feature_table: Features already measured, used instead of extracting ``features``.
        n_jobs: Processes to use; -1 for all cores.
        progress: Called as trainings end.
    """

    settings: BoardSettings | None
    feature_table: pd.DataFrame | None
    n_jobs: int
    progress: Progress | None


STUDY_DEFAULTS = MappingProxyType({"tournaments": 50})
"""A study trains many times; its table hardly changes with more tournaments."""
LEARNING_OPTIONS = tuple(LearningOptions.__annotations__)
STUDY_OPTIONS = tuple(StudyOptions.__annotations__)


def study_settings(options: StudyOptions) -> BoardSettings:
    """Return the settings that options state, by default with fewer tournaments than a board.

    ``features`` that are values are left out.

    Raises:
        UsageError: As ``chosen_settings`` does.
    """
    settings = options.get("settings")
    values = {name: value for name, value in options.items() if name in LEARNING_OPTIONS}
    values.pop("features", None)
    is_set = settings is not None and "tournaments" in settings.model_fields_set
    if values.get(PRESET) is None and not is_set:
        values.setdefault("tournaments", STUDY_DEFAULTS["tournaments"])
    return chosen_settings(settings, values)


def judged_view(arena: Arena, settings: BoardSettings) -> Arena:
    """Return an arena as a study sees it: in its parts, judged by one criterion and judge.

    Raises:
        UsageError: If there is no such judge, part or criterion, or a choice to be made.
    """
    view = settings.view(arena)
    return view.judged_by(resolved_judges(view, settings)[0])
