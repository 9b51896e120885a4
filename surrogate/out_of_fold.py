"""Rating training systems by surrogates that did not see them: what choices may rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from arena.errors import UsageError
from arena.seeds import generator
from surrogate.field import Field
from surrogate.judge import FEWEST_SYSTEMS
from surrogate.surrogates import Surrogate

Floats = npt.NDArray[np.float64]

FOLDS = 5


def out_of_fold_ratings(
    candidate: Surrogate, fields: Sequence[Field], random_state: int
) -> Mapping[str, Floats]:
    """Rate every training system by a surrogate trained without it.

    The training systems are split into five folds, the same in every language and for every
    candidate. Systems held out of the fields have no part in it.

    Args:
        candidate: What to train.
        fields: What may be learned from, one a language.
        random_state: Seed of the folds and of the learner.

    Returns:
        Language code to ratings in the field's order, shape (S,); NaN where too few systems are
        left to train on.
    """
    systems = sorted({system for field in fields for system in field.answers.systems})
    order = generator(random_state, "selection").permutation(len(systems))
    ratings = {field.language: np.full(len(field.answers.systems), np.nan) for field in fields}
    for part in np.array_split(order, min(FOLDS, len(systems))):
        _rate_fold(candidate, fields, {systems[index] for index in part}, random_state, ratings)
    return ratings


def _rate_fold(
    candidate: Surrogate,
    fields: Sequence[Field],
    held: set[str],
    random_state: int,
    ratings: Mapping[str, Floats],
) -> None:
    kept = [field.without(sorted(held)) for field in fields]
    if min(len(field.answers.systems) for field in kept) < FEWEST_SYSTEMS:
        return
    try:
        fitted = candidate.fit(kept, random_state)
    except UsageError:
        return
    for field, training in zip(fields, kept, strict=True):
        places = [place for place, name in enumerate(field.answers.systems) if name in held]
        if places:
            unseen = field.judged.take(systems=[field.answers.systems[place] for place in places])
            ratings[field.language][places] = fitted.predict(unseen, training.answers)
