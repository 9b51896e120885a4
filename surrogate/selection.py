"""Choosing a surrogate by how it ranks training systems that it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from surrogate.agreement import kendall_tau
from surrogate.field import Field
from surrogate.out_of_fold import out_of_fold_ratings
from surrogate.surrogates import FittedSurrogate, Surrogate

Floats = npt.NDArray[np.float64]

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
