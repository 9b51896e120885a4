"""Choosing a surrogate by how it ranks training systems that it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from arena.errors import UsageError
from arena.seeds import generator
from surrogate.agreement import kendall_tau
from surrogate.field import Field
from surrogate.judge import FEWEST_SYSTEMS
from surrogate.surrogates import FittedSurrogate, Surrogate

Floats = npt.NDArray[np.float64]

FOLDS = 5
WORST = -1.0


@dataclass(frozen=True)
class SelectedSurrogate:
    """The best of several surrogates (nested selection).

    The training systems are split into folds of their own; each candidate rates every fold when
    trained on the others, and the one with the highest mean Kendall tau over languages is trained
    on all. Systems held out of the field have no part in the choice.

    One choice is made for all languages: a few systems in one of them are too few to choose by.

    Attributes:
        candidates: What to choose from; the first of equals is taken.
    """

    candidates: tuple[Surrogate, ...]
    pooled: bool = True

    def fit(self, fields: Sequence[Field], random_state: int) -> FittedSurrogate:
        """Choose, then train; see ``Surrogate.fit``."""
        taus = [_inner_tau(candidate, fields, random_state) for candidate in self.candidates]
        return self.candidates[int(np.argmax(taus))].fit(fields, random_state)

    def for_all_languages(self) -> SelectedSurrogate:
        """Return the choice among the candidates' pooled forms."""
        pooled = tuple(candidate.for_all_languages() for candidate in self.candidates)
        return replace(self, candidates=pooled)


def _inner_tau(candidate: Surrogate, fields: Sequence[Field], random_state: int) -> float:
    """Mean Kendall tau of ratings of unseen training systems; -1 where there are none."""
    systems = sorted({system for field in fields for system in field.answers.systems})
    order = generator(random_state, "selection").permutation(len(systems))
    ratings = {field.language: np.full(len(field.answers.systems), np.nan) for field in fields}
    for part in np.array_split(order, min(FOLDS, len(systems))):
        _rate_fold(candidate, fields, {systems[index] for index in part}, random_state, ratings)
    taus = [_fold_tau(field, ratings[field.language]) for field in fields]
    return float(np.mean(taus))


def _fold_tau(field: Field, ratings: Floats) -> float:
    tau = kendall_tau(ratings, field.targets)
    return tau if np.isfinite(tau) else WORST


def _rate_fold(
    candidate: Surrogate,
    fields: Sequence[Field],
    held: set[str],
    random_state: int,
    ratings: dict[str, Floats],
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
