"""The surrogate that is found by validation: the better of some on systems they did not see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from arena.data.errors import UsageError
from arena.data.seeds import by_content
from arena.rating.bradley_terry import ConvergenceError
from arena.statistics.rank_agreement import kendall_tau
from surrogate.learning.cross_fitting import folds_of
from surrogate.learning.posterior.observations import Observation, Posterior
from surrogate.learning.surrogate import Arrays, Asked, Surrogate
from surrogate.learning.training import (
    DEFAULT_ROWS,
    KnownRatings,
    RowKind,
    TrainingRatings,
    finite_means,
    training_ratings,
)

Candidates = tuple[tuple[str, Callable[..., Surrogate]], ...]


@dataclass(eq=False, repr=False)
class SelectedSurrogate(BaseEstimator):  # type: ignore[misc]
    """The candidate with the highest Kendall tau on training systems left out in turn.

    The first is preferred: another must be better by a standard error of tau (the rule of Breiman
    et al., 1984, section 3.4.3), for with few systems the highest is often so by chance. The
    choice sees the training systems only, so that what validates this surrogate is not what chose
    it. Saved is what was chosen.

    Attributes:
        name: Name it is found by.
        rows: Training rows of the candidates that have such.
        pooled: Always: some candidates learn from all languages together.
        seed: Seed of the candidates, and of the folds.
        n_jobs: Processes that candidates train languages in.
        candidates: Names and what makes them, the preferred one first.
        chosen_: The chosen candidate, fitted.
        taus_: Kendall tau of each candidate, mean over languages; NaN where it is not defined.
    """

    learns_tournaments = False

    name: str = "auto"
    rows: RowKind = DEFAULT_ROWS
    pooled: bool = True
    seed: int = 0
    n_jobs: int = 1
    candidates: Candidates = ()

    @property
    def signature(self) -> str:
        """The settings as part of a board's signature."""
        return f"surrogate:{self.name}|rows:{self.rows}"

    def fit(self, X: pd.DataFrame, ratings: KnownRatings) -> Self:
        """Choose a candidate and fit it; see ``Surrogate.fit``."""
        known = training_ratings(ratings)
        if not any(rated.systems for rated in known.values()):
            raise UsageError("no system has a rating to learn from")
        self.taus_ = {name: self._tau(name, X, known) for name, _ in self.candidates}
        preferred, *others = self.taus_
        sizes = [len(rated.systems) for rated in known.values()]
        least = np.nan_to_num(self.taus_[preferred], nan=-np.inf) + _standard_error(max(sizes))
        better = [name for name in others if self.taus_[name] > least]
        self.chosen_ = self._made(max(better or [preferred], key=lambda name: self.taus_[name]))
        self.chosen_.fit(X, known)
        return self

    def restore(
        self,
        X: pd.DataFrame,
        ratings: KnownRatings,
        arrays: Mapping[str, Arrays],  # noqa: ARG002 - the chosen one is saved, not this
        n_jobs: int = 1,  # noqa: ARG002
    ) -> Self:
        """Choose again; see ``Surrogate.restore``."""
        return self.fit(X, ratings)

    def predict(self, X: pd.DataFrame, questions: Asked | None = None) -> pd.DataFrame:
        """See ``Surrogate.predict``."""
        return self.chosen_.predict(X, questions)

    def posterior(
        self, observed: Mapping[str, Observation], X: pd.DataFrame | None = None
    ) -> dict[str, Posterior] | None:
        """See ``Surrogate.posterior``."""
        return self.chosen_.posterior(observed, X)

    def predict_answers(self, X: pd.DataFrame) -> pd.DataFrame:
        """See ``Surrogate.predict_answers``."""
        return self.chosen_.predict_answers(X)

    def importances(self) -> pd.DataFrame:
        """See ``Surrogate.importances``."""
        return self.chosen_.importances()

    def attributions(self, X: pd.DataFrame) -> pd.DataFrame | None:
        """See ``Surrogate.attributions``."""
        return self.chosen_.attributions(X)

    def answer_similarities(self, X: pd.DataFrame) -> pd.DataFrame | None:
        """See ``Surrogate.answer_similarities``."""
        return self.chosen_.answer_similarities(X)

    def arrays(self) -> dict[str, Arrays]:
        """See ``Surrogate.arrays``."""
        return self.chosen_.arrays()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - what the chosen one has learned
        """What was learned is the chosen one's."""
        if name.endswith("_") and not name.startswith("_") and "chosen_" in self.__dict__:
            return getattr(self.chosen_, name)
        raise AttributeError(f"{type(self).__name__} has no {name}")

    def _made(self, name: str) -> Surrogate:
        return dict(self.candidates)[name](
            name=name, rows=self.rows, pooled=False, seed=self.seed, n_jobs=self.n_jobs
        )

    def _tau(self, name: str, X: pd.DataFrame, known: Mapping[str, TrainingRatings]) -> float:
        """Rate the training systems, a fifth of them left out at a time."""
        systems = by_content((name for rated in known.values() for name in rated.systems), X)
        parts = [
            self._held_out(name, X, known, set(fold))
            for fold in folds_of(systems, self.seed, "selection")
        ]
        rated = pd.concat(parts).set_index(["language", "system"])["rating"]
        taus = [
            kendall_tau(
                rated.reindex([(language, item) for item in own.systems]).to_numpy(np.float64),
                own.means,
            )
            for language, own in known.items()
        ]
        defined = [tau for tau in taus if np.isfinite(tau)]
        return float(np.mean(defined)) if defined else float("nan")

    def _held_out(
        self, name: str, X: pd.DataFrame, known: Mapping[str, TrainingRatings], held: set[str]
    ) -> pd.DataFrame:
        left, levels = {}, {}
        for language, rated in known.items():
            others = rated.take([system for system in rated.systems if system not in held])
            # Some candidates learn from battles, and rate about the mean of those that are left,
            # others on the scale of the ratings: all rate about that mean, and are moved from it.
            levels[language] = float(finite_means(others.means))
            left[language] = replace(others, coefficients=others.coefficients - levels[language])
        is_held = X["system"].isin(held)
        try:
            found = self._made(name).fit(X[~is_held], left).predict(X[is_held])
        except (UsageError, ConvergenceError):
            return pd.DataFrame(columns=["language", "system", "rating"])
        return found.assign(rating=found["rating"] + found["language"].map(levels))


def _standard_error(systems: int) -> float:
    """Of Kendall's tau of so many systems, were the ratings independent (Kendall, 1938)."""
    pairs = systems * (systems - 1)
    return float(np.sqrt(2 * (2 * systems + 5) / (9 * pairs))) if pairs else 0.0
