"""The learners a surrogate judge may use: scikit-learn regressors by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from sklearn.ensemble import RandomForestRegressor

from arena.errors import UsageError
from surrogate.small_forest import SmallForest

DEFAULT_LEARNER = "random-forest"


@dataclass(frozen=True)
class Learner:
    """A family of regressors.

    Attributes:
        final: Random state to the unfitted regressor trained on all tournaments.
        tournament: Random state to the unfitted regressor trained on one tournament.
    """

    final: Callable[[int], Any]
    tournament: Callable[[int], Any]


def random_forest(random_state: int) -> Any:  # noqa: ANN401 - any regressor
    """Random forest of 100 trees (MIRAGE-Bench, section 4.3); missing values go down the trees."""
    return RandomForestRegressor(n_estimators=100, random_state=random_state, n_jobs=1)


def small_random_forest(random_state: int) -> Any:  # noqa: ANN401 - any regressor
    """Grow the same forest faster on the few rows of one tournament."""
    return SmallForest(n_estimators=100, random_state=random_state)


LEARNERS: MappingProxyType[str, Learner] = MappingProxyType(
    {DEFAULT_LEARNER: Learner(random_forest, small_random_forest)}
)


def find_learner(name: str) -> Learner:
    """Return a learner by name.

    Raises:
        UsageError: If the name is unknown.
    """
    if name not in LEARNERS:
        raise UsageError(f"unknown learner {name!r}; use one of {', '.join(LEARNERS)}")
    return LEARNERS[name]
