"""Rating training systems by surrogates that did not see them: what choices may rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

from arena.data.errors import UsageError
from arena.data.seeds import generator
from arena.statistics.rank_agreement import kendall_tau
from surrogate.learning.surrogates import FEWEST_SYSTEMS, FittedSurrogate, Surrogate
from surrogate.learning.tensor import FeatureTensor
from surrogate.learning.training import Field

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
    ratings = out_of_fold_ratings(candidate, fields, random_state)
    return float(np.mean([_fold_tau(field, ratings[field.language]) for field in fields]))


def _fold_tau(field: Field, ratings: Floats) -> float:
    tau = kendall_tau(ratings, field.targets)
    return tau if np.isfinite(tau) else WORST


@dataclass(frozen=True)
class StackedSurrogate:
    """A weighted mean of several surrogates (stacked regression).

    Each candidate rates every training system when trained without it; the weights, not negative
    and with the sum 1, are those whose mean of these ratings is the nearest to the arena's in
    least squares (Breiman, 1996, "Stacked regressions"). Then each is trained on all training
    systems. Systems held out of the field have no part in the weights, which are the same in all
    languages: a few systems in one of them are too few to learn them from.

    Attributes:
        candidates: What to average.
    """

    candidates: tuple[Surrogate, ...]
    pooled: bool = True

    def fit(self, fields: Sequence[Field], random_state: int) -> FittedSurrogate:
        """Weigh the candidates, then train them; see ``Surrogate.fit``."""
        columns = [
            _centerd(fields, out_of_fold_ratings(candidate, fields, random_state))
            for candidate in self.candidates
        ]
        targets = _centerd(fields, {field.language: field.targets for field in fields})
        weights = stacking_weights(np.column_stack(columns), targets)
        chosen = [place for place, weight in enumerate(weights) if weight > 0]
        fitted = tuple(self.candidates[place].fit(fields, random_state) for place in chosen)
        return _FittedStack(fitted, weights[chosen])

    def for_all_languages(self) -> StackedSurrogate:
        """Return the mean of the candidates' pooled forms."""
        pooled = tuple(candidate.for_all_languages() for candidate in self.candidates)
        return replace(self, candidates=pooled)


def stacking_weights(ratings: Floats, targets: Floats) -> Floats:
    """Return the weights of a mean of ratings that is near the targets.

    Args:
        ratings: One column a candidate, shape (N, C); rows with a NaN are left out.
        targets: Shape (N,).

    Returns:
        Not negative, with the sum 1, shape (C,); equal where no candidate is of any use.
    """
    usable = np.isfinite(ratings).all(axis=1) & np.isfinite(targets)
    size = ratings.shape[1]
    found = nnls(ratings[usable], targets[usable])[0] if usable.any() else np.zeros(size)
    total = found.sum()
    return np.asarray(found / total if total > 0 else np.full(size, 1 / size))


def _centerd(fields: Sequence[Field], ratings: Mapping[str, Floats]) -> Floats:
    """Put the ratings of all languages in one column, each language's mean taken off."""
    return np.concatenate(
        [ratings[field.language] - _finite_mean(ratings[field.language]) for field in fields]
    )


def _finite_mean(values: Floats) -> float:
    present = values[np.isfinite(values)]
    return float(present.mean()) if present.size else 0.0


@dataclass(frozen=True)
class _FittedStack:
    fitted: tuple[FittedSurrogate, ...]
    weights: Floats

    def predict(self, tensor: FeatureTensor, field: FeatureTensor) -> Floats:
        ratings = np.array([item.predict(tensor, field) for item in self.fitted])
        present = np.isfinite(ratings)
        held = (present * self.weights[:, None]).sum(axis=0)
        totals = (np.where(present, ratings, 0.0) * self.weights[:, None]).sum(axis=0)
        return np.asarray(np.divide(totals, held, out=np.full(len(held), np.nan), where=held > 0))
