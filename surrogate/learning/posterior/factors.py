"""What a model, a retriever or a prompt adds to a rating, and what a new combination would have.

A system's rating is a sum of what each of its attributes adds, in all systems that share its value,
and of what is its own: a composite Bradley-Terry model, as the small-area estimator of ``process``
with one kernel an attribute. Few systems share a value, so that effects are random and shrunk.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.statistics.rank_agreement import kendall_tau
from arena.statistics.significance import NORMAL_90
from surrogate.learning.languages import LanguageData, TournamentSettings, language_data
from surrogate.learning.posterior.observations import Observations, observe
from surrogate.learning.posterior.process import GaussianProcess, fit_process
from surrogate.learning.training import training_ratings

Floats = npt.NDArray[np.float64]
Objects = npt.NDArray[np.object_]

FEWEST_SYSTEMS = 4
MOST_COMBINATIONS = 1_000
EFFECT_COLUMNS = ("attribute", "value", "systems", "effect", "low", "high", "share")


@dataclass(frozen=True)
class FactorRatings:
    """Ratings of attributes and of their combinations, in logits, with 90% intervals.

    Attributes:
        effects: Columns ``attribute, value, systems, effect, low, high, share``: what a value
            adds, against the mean of the attribute's values; systems that have it; and the share
            of the variance between systems that the attribute explains.
        combinations: Columns one an attribute, ``system, rating, low, high``: every combination
            of values, with the name of the system that has it, or None where none has and the
            rating is predicted; best first.
        tau: Kendall's tau-b of systems' ratings by verdicts alone with those predicted from the
            other systems' attributes and battles; NaN where all are predicted alike.
        skipped: What is left out, to why: systems, combinations that are not predicted.
    """

    effects: pd.DataFrame
    combinations: pd.DataFrame
    tau: float
    skipped: dict[str, str]


def factor_ratings(
    arena: Arena, by: Sequence[str] | None = None, *, judge: str | None = None, seed: int = 0
) -> FactorRatings:
    """Rate what systems are made of, over all languages together.

    Args:
        arena: Its ``attributes`` say what systems are made of.
        by: Attributes to rate; by default all.
        judge: Whose judgments, or published ratings, to take.
        seed: Of all that is drawn.

    Raises:
        UsageError: Without attributes, for unknown ones, with fewer than four rated systems that
            have an attribute, or as ``Arena.judged_by`` raises.
    """
    known = [name for name in arena.attributes if name != "system"]
    if not known:
        raise UsageError(
            f"arena {arena.info.name!r} does not say what its systems are made of; write a table "
            "systems.csv into its folder: system, and columns such as model, retriever, prompt"
        )
    if unknown := [name for name in by or () if name not in known]:
        raise UsageError(f"no attribute {unknown[0]!r} here; there is {', '.join(known)}")
    names = known if by is None else list(dict.fromkeys(by))
    judged = arena.judged_by(judge)
    values = arena.attributes.set_index("system")[names].dropna(how="all")
    nothing = pd.DataFrame(columns=["language", "system", "query_id"])
    data = language_data(judged, nothing, TournamentSettings(tournaments=2, seed=seed))
    fit = _Fit.of(data, values)
    skipped = {}
    if absent := [name for name in judged.rated_systems if name not in values.index]:
        skipped["systems"] = f"no attributes of {', '.join(absent)}"
    wanted = list(product(*fit.levels))
    if len(wanted) > MOST_COMBINATIONS:
        skipped["combinations that nobody has built"] = (
            f"{len(wanted):,} are more than {MOST_COMBINATIONS:,}; rate fewer attributes"
        )
        wanted = []
    tau = _tau_unseen(data, values, fit)
    return FactorRatings(fit.effects(names), fit.combinations(names, wanted), tau, skipped)


@dataclass(frozen=True)
class _Fit:
    """The process on N ratings (a system in a language each), with the values of A attributes."""

    observed: Observations
    systems: Objects
    values: Objects
    process: GaussianProcess

    @classmethod
    def of(
        cls, data: Sequence[LanguageData], values: pd.DataFrame, fewest: int = FEWEST_SYSTEMS
    ) -> _Fit:
        rated = observe(training_ratings({item.language: item.tournaments for item in data}))
        seen = {name: item.among(set(values.index)) for name, item in rated.items()}
        observed = Observations({name: item for name, item in seen.items() if item.systems})
        systems = np.array([system for _, system in observed.keys], dtype=object)
        if len(set(systems)) < fewest:
            raise UsageError(
                f"{len(set(systems))} systems are rated and have attributes; {fewest} are needed"
            )
        own = values.loc[list(systems)].to_numpy(object)
        kernels = _kernels(own, own)
        for kernel in kernels:
            np.fill_diagonal(kernel, 1.0)  # a value that is not known is like no other
        if len(observed.by_language) > 1:
            everywhere = np.equal.outer(systems, systems).astype(np.float64)
            kernels = np.concatenate([kernels, everywhere[None]])
        share = 1 / (len(kernels) + 1)
        return cls(observed, systems, own, fit_process(kernels, observed, observed.groups, share))

    @property
    def levels(self) -> list[list[object]]:
        """The known values of each attribute, sorted."""
        return [sorted({value for value in own if value is not None}) for own in self.values.T]

    def effects(self, names: Sequence[str]) -> pd.DataFrame:
        """Rate the values of each attribute; see ``FactorRatings``."""
        shares = self.process.variances / self.process.variances.sum()
        rows = []
        for place, (name, levels) in enumerate(zip(names, self.levels, strict=True)):
            own = self.values[:, place]
            cross = np.equal.outer(np.array(levels, dtype=object), own).astype(np.float64)
            mean, covariance = self.process.component(place, cross, np.eye(len(levels)))
            centered = np.eye(len(levels)) - 1 / len(levels)
            width = NORMAL_90 * np.sqrt(np.diag(centered @ covariance @ centered))
            for level, effect, half in zip(levels, centered @ mean, width, strict=True):
                systems = len(set(self.systems[own == level]))
                bounds = (effect, effect - half, effect + half)
                rows.append((name, level, systems, *bounds, shares[place]))
        return pd.DataFrame(rows, columns=list(EFFECT_COLUMNS))

    def combinations(
        self, names: Sequence[str], wanted: Sequence[tuple[object, ...]]
    ) -> pd.DataFrame:
        """Rate the combinations that systems have, and others; see ``FactorRatings``."""
        means, covariance, _ = self.process.posterior()
        built, rows = set(), []
        for system in sorted(set(self.systems)):
            own = np.flatnonzero(self.systems == system)
            built.add(combination := tuple(self.values[own[0]]))
            rating = means[own].mean() - means.mean()
            rows.append((*combination, system, rating, covariance[np.ix_(own, own)].mean()))
        if new := [each for each in wanted if each not in built]:
            ratings, errors = self.predicted(new)
            found = zip(new, ratings - means.mean(), errors, strict=True)
            rows += [(*each, None, rating, error**2) for each, rating, error in found]
        table = pd.DataFrame(rows, columns=[*names, "system", "rating", "variance"])
        half = NORMAL_90 * np.sqrt(table.pop("variance").clip(lower=0.0))
        table = table.assign(low=table["rating"] - half, high=table["rating"] + half)
        named = table["system"].astype(object)
        table["system"] = named.where(named.notna(), None)
        return table.sort_values("rating", ascending=False, ignore_index=True)

    def predicted(self, combinations: Sequence[tuple[object, ...]]) -> tuple[Floats, Floats]:
        """Rate combinations that no system has: means over languages and their errors, (M,)."""
        new = np.array(combinations, dtype=object).reshape(len(combinations), -1)
        languages = len(self.observed.by_language)
        cross = _kernels(new, self.values)
        if languages > 1:
            cross = np.concatenate([cross, np.zeros((1, *cross.shape[1:]))])
        groups = np.full((len(new), languages), 1 / languages)
        return self.process.predict(cross, np.ones(cross.shape[:2]), groups)


def _tau_unseen(data: Sequence[LanguageData], values: pd.DataFrame, fit: _Fit) -> float:
    """Predict each system from the others and their battles, and compare with its own verdicts."""
    by_verdicts, predicted = [], []
    for system in sorted(set(fit.systems)):
        others = []
        for item in data:
            with suppress(UsageError):  # no others met there
                others.append(item.without([system]))
        try:
            rest = _Fit.of(others, values.drop(index=system), FEWEST_SYSTEMS - 1)
        except UsageError:
            return float("nan")
        expected, _ = rest.predicted([tuple(values.loc[system])])
        predicted.append(expected[0] - rest.process.posterior()[0].mean())
        by_verdicts.append(fit.observed.ratings[fit.systems == system].mean())
    return kendall_tau(np.array(predicted), np.array(by_verdicts))


def _kernels(one: Objects, other: Objects) -> Floats:
    """Whether items have the same value of each of A attributes, shape (A, M, N)."""
    own, others = one.T[:, :, None], other.T[:, None, :]
    return np.asarray((own == others) & (own != None), dtype=np.float64)  # noqa: E711
