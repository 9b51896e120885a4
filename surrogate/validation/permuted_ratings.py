"""Rating unseen systems with their own values of a feature, and with those of other systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from joblib import delayed

from arena.errors import UsageError
from arena.seeds import generator
from surrogate.field import Field
from surrogate.surrogates import FittedSurrogate, Surrogate
from surrogate.tensor import FeatureTensor
from surrogate.validation.arranged import Arranged
from surrogate.validation.holding_out import system_folds
from surrogate.validation.language_arena import LanguageArena
from surrogate.validation.tasks import Progress, learner_state, run_tasks

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Rated:
    """Ratings of one fold's systems in one language, shape (1 + F x K, N): the first row plain."""

    language: str
    repeat: int
    places: list[int]
    ratings: Floats


def permuted_ratings(
    at_hand: Arranged,
    surrogate: Surrogate,
    repeats: int,
    permutations: int,
    n_jobs: int,
    progress: Progress | None,
) -> dict[str, Floats]:
    """Rate every system by surrogates trained without it, features plain and permuted.

    Args:
        at_hand: The arena.
        surrogate: What to train.
        repeats: How often to split the systems into folds anew (R).
        permutations: How often each feature is permuted (K).
        n_jobs: Processes to use.
        progress: Called as trainings end.

    Returns:
        Language code to ratings of S systems, shape (R, 1 + F x K, S): first plain, then the
        permutations of the first feature, and so on; NaN where nothing could be trained.
    """
    seed = at_hand.how.seed
    arenas = at_hand.arenas
    groups = [arenas] if surrogate.pooled else [[arena] for arena in arenas]
    tasks = [
        delayed(_rate_fold)(
            *(group, surrogate, fold, repeat, permutations, seed),
            learner_state(seed, str(repeat), str(number)),
        )
        for repeat, number, fold in system_folds(arenas, repeats, seed)
        for group in groups
    ]
    height = 1 + len(at_hand.features) * permutations
    gathered = {
        item.language: np.full((repeats, height, len(item.systems)), np.nan) for item in arenas
    }
    for done in run_tasks(tasks, n_jobs, progress):
        for item in done:
            gathered[item.language][item.repeat][:, item.places] = item.ratings
    return gathered


def _rate_fold(
    arenas: Sequence[LanguageArena],
    surrogate: Surrogate,
    held: Sequence[str],
    repeat: int,
    permutations: int,
    seed: int,
    state: int,
) -> list[_Rated]:
    fields: list[Field] = []
    for arena in arenas:
        try:
            fields.append(arena.field_without(held))
        except UsageError:
            continue
    try:
        fitted = surrogate.fit(fields, state) if fields else None
    except UsageError:
        fitted = None
    if fitted is None:
        return []
    known = {field.language: field for field in fields}
    return [
        _rate_permuted(arena, known[arena.language], fitted, held, repeat, permutations, seed)
        for arena in arenas
        if arena.language in known and set(arena.systems) & set(held)
    ]


def _rate_permuted(
    arena: LanguageArena,
    field: Field,
    fitted: FittedSurrogate,
    held: Sequence[str],
    repeat: int,
    permutations: int,
    seed: int,
) -> _Rated:
    judged = arena.judged
    places = [place for place, name in enumerate(arena.systems) if name in set(held)]
    own = judged.take(systems=[arena.systems[place] for place in places])
    ratings = [fitted.predict(own, field.answers)]
    for number, feature in enumerate(judged.features):
        for turn in range(permutations):
            donors = _donors(arena, feature, repeat, turn, seed)[places]
            altered = _with_values_of(own, judged.values[donors][:, :, number], number)
            ratings.append(fitted.predict(altered, field.answers))
    return _Rated(arena.language, repeat, places, np.array(ratings) + arena.origin_of(field))


def _donors(
    arena: LanguageArena, feature: str, repeat: int, turn: int, seed: int
) -> npt.NDArray[np.intp]:
    """Whose values of a feature each system gets: never its own, the same in every fold."""
    random = generator(seed, "permutation", arena.language, feature, str(repeat), str(turn))
    order = random.permutation(len(arena.systems))
    donors = np.empty_like(order)
    donors[order] = np.roll(order, 1)
    return donors


def _with_values_of(tensor: FeatureTensor, values: Floats, number: int) -> FeatureTensor:
    altered = tensor.values.copy()
    altered[:, :, number] = np.where(tensor.answered, values, np.nan)
    return replace(tensor, values=altered)
