"""The surrogates that can be validated, by name."""

from __future__ import annotations

from types import MappingProxyType

from arena.data.errors import UsageError
from surrogate.learning.ensembles import SelectedSurrogate, StackedSurrogate
from surrogate.learning.pairwise import PairwiseSurrogate, boosting, logistic
from surrogate.learning.rank_aware import RankAwareSurrogate
from surrogate.learning.regressors import DEFAULT_LEARNER, LEARNERS
from surrogate.learning.surrogates import (
    DEFAULT_ROWS,
    PooledSurrogate,
    Recipe,
    Surrogate,
    SystemSurrogate,
)
from surrogate.learning.training import RowKind

DEFAULT_SURROGATE = DEFAULT_LEARNER
SELECTED = "selected"
STACKED = "stacked"
CANDIDATES = ("extra-trees", "relative-ridge", "pairwise-logistic")
"""Surrogates that ``selected`` chooses from and ``stacked`` averages, by the training systems
alone."""


def _composed(rows: RowKind) -> dict[str, Surrogate]:
    """Surrogates beyond one learner a language on plain features."""
    forest, trees, ridge = (
        Recipe(name, rows) for name in ("random-forest", "extra-trees", "ridge")
    )
    return {
        "relative-forest": SystemSurrogate(forest, "rank"),
        "relative-extra-trees": SystemSurrogate(trees, "rank"),
        "relative-ridge": SystemSurrogate(ridge, "rank"),
        "pooled-forest": PooledSurrogate(forest),
        "pooled-extra-trees": PooledSurrogate(trees),
        "pooled-ridge": PooledSurrogate(ridge),
        "pairwise-logistic": PairwiseSurrogate(logistic),
        "pairwise-boosting": PairwiseSurrogate(boosting),
        "relative-pairwise-logistic": PairwiseSurrogate(logistic, "rank"),
        "pooled-pairwise-logistic": PairwiseSurrogate(logistic, pooled=True),
        "lambdamart": RankAwareSurrogate("rank:ndcg"),
        "relative-lambdamart": RankAwareSurrogate("rank:ndcg", "rank"),
        "pooled-lambdamart": RankAwareSurrogate("rank:ndcg", pooled=True),
        "rank-pairwise": RankAwareSurrogate("rank:pairwise"),
        "relative-rank-pairwise": RankAwareSurrogate("rank:pairwise", "rank"),
    }


def _all(rows: RowKind) -> dict[str, Surrogate]:
    plain: dict[str, Surrogate] = {name: SystemSurrogate(Recipe(name, rows)) for name in LEARNERS}
    named = plain | _composed(rows)
    candidates = tuple(named[name] for name in CANDIDATES)
    return named | {
        SELECTED: SelectedSurrogate(candidates),
        STACKED: StackedSurrogate(candidates),
    }


SURROGATE_NAMES: tuple[str, ...] = tuple(_all(DEFAULT_ROWS))
"""Names of all surrogates: learners, then what is composed of them."""

_BY_ROWS: MappingProxyType[RowKind, dict[str, Surrogate]] = MappingProxyType(
    {"system": _all("system"), "question": _all("question")}
)


def find_surrogate(name: str, rows: RowKind = DEFAULT_ROWS) -> Surrogate:
    """Return a surrogate by name.

    Args:
        name: One of ``SURROGATE_NAMES``.
        rows: One training row a ``system`` or a ``question``; the pairwise ones have a row a
            battle, those that learn to rank a row a system and tournament, whatever is asked.

    Raises:
        UsageError: If the name is unknown.
    """
    if name not in SURROGATE_NAMES:
        raise UsageError(f"unknown model {name!r}; use one of {', '.join(SURROGATE_NAMES)}")
    return _BY_ROWS[rows][name]
