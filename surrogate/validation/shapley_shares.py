"""Share of each feature in the Shapley values of systems, over surrogates of single tournaments."""

from __future__ import annotations

from typing import TypeGuard

import numpy as np
import numpy.typing as npt
from joblib import delayed

from arena.errors import UsageError
from surrogate.field import Field
from surrogate.judge import LanguageJudge, train_language_judge
from surrogate.learners import find_learner
from surrogate.relative import RANK_SUFFIX, viewed
from surrogate.surrogate_names import SURROGATE_NAMES, find_surrogate
from surrogate.surrogates import Surrogate
from surrogate.system_surrogate import SystemSurrogate
from surrogate.tensor import FeatureTensor
from surrogate.training import training_rows
from surrogate.validation.arranged import Arranged
from surrogate.validation.language_arena import LanguageArena
from surrogate.validation.shapley_values import EXPLAINED_LEARNERS, load_shap, shapley_values
from surrogate.validation.tasks import Progress, learner_state, run_tasks

Floats = npt.NDArray[np.float64]

STAGE = "Shapley values"


def explained(name: str) -> SystemSurrogate:
    """Return a surrogate whose Shapley values can be had.

    Args:
        name: One of ``surrogate.surrogate_names.SURROGATE_NAMES``.

    Raises:
        MissingDependencyError: If the package ``shap`` is not installed.
        UsageError: If the surrogate is unknown, no one regressor a language, or neither of trees
            nor linear.
    """
    load_shap()
    surrogate = find_surrogate(name)
    if not _is_explained(surrogate):
        known = [other for other in SURROGATE_NAMES if _is_explained(find_surrogate(other))]
        raise UsageError(
            f"SHAP importances are for one regressor a language, of trees or linear, which {name} "
            f"is not; use one of {', '.join(known)}"
        )
    return surrogate


def _is_explained(surrogate: Surrogate) -> TypeGuard[SystemSurrogate]:
    if not isinstance(surrogate, SystemSurrogate):
        return False
    return surrogate.recipe.learner in EXPLAINED_LEARNERS


def shapley_shares(
    at_hand: Arranged, surrogate: SystemSurrogate, n_jobs: int, progress: Progress | None
) -> dict[str, Floats]:
    """Return how much of what moves the ratings is due to each feature.

    A surrogate is trained on each tournament, and what each feature adds to the rating of each
    system in it is taken without its sign and averaged over systems.

    Args:
        at_hand: The arena.
        surrogate: One that ``explained`` returns.
        n_jobs: Processes to use.
        progress: Called as languages end.

    Returns:
        Language code to shares, shape (T, F), each row with sum 1; NaN for a feature that the
        surrogate could not use, and where it rates all systems alike.
    """
    tasks = [delayed(_of_language)(item, surrogate, at_hand.how.seed) for item in at_hand.arenas]
    found = run_tasks(tasks, n_jobs, _at_stage(progress))
    return {item.language: shares for item, shares in zip(at_hand.arenas, found, strict=True)}


def _at_stage(progress: Progress | None) -> Progress | None:
    if progress is None:
        return None
    return lambda _, done, total: progress(STAGE, done, total)


def _of_language(arena: LanguageArena, surrogate: SystemSurrogate, seed: int) -> Floats:
    field = Field(arena.answers, arena.tournaments)
    view = viewed(field.judged, field.answers, surrogate.view)
    shares = np.full((len(arena.tournaments.draws), len(arena.answers.features)), np.nan)
    for index, row in enumerate(shares):
        state = learner_state(seed, "shares", arena.language, str(index))
        for name, share in _of_tournament(view, field.one_tournament(index), surrogate, state):
            row[arena.answers.features.index(name.removesuffix(RANK_SUFFIX))] = share
    return shares


def _of_tournament(
    view: FeatureTensor, field: Field, surrogate: SystemSurrogate, state: int
) -> list[tuple[str, float]]:
    draws, coefficients = field.tournaments.draws, field.tournaments.coefficients
    regressor = find_learner(surrogate.recipe.learner).tournament(state)
    judge = train_language_judge(view, draws, coefficients, surrogate.recipe, regressor)
    sizes = _mean_sizes(judge, view, field)
    total = sizes.sum()
    shares = sizes / total if total > 0 else np.full(len(sizes), np.nan)
    return list(zip(judge.features, map(float, shares), strict=True))


def _mean_sizes(judge: LanguageJudge, view: FeatureTensor, field: Field) -> Floats:
    """Mean size of each feature's Shapley values over the rows trained on, in log-odds, (F,)."""
    rows = training_rows(
        view.take(features=judge.features),
        field.tournaments.draws,
        field.tournaments.coefficients,
        judge.recipe.rows,
    )
    values = shapley_values(judge.estimator, rows.features)
    return np.asarray(np.abs(values).mean(axis=0))
