"""Averaging surrogates by how they rate training systems that they have not seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

from surrogate.field import Field
from surrogate.out_of_fold import out_of_fold_ratings
from surrogate.surrogates import FittedSurrogate, Surrogate
from surrogate.tensor import FeatureTensor

Floats = npt.NDArray[np.float64]


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
            _centred(fields, out_of_fold_ratings(candidate, fields, random_state))
            for candidate in self.candidates
        ]
        targets = _centred(fields, {field.language: field.targets for field in fields})
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


def _centred(fields: Sequence[Field], ratings: Mapping[str, Floats]) -> Floats:
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
