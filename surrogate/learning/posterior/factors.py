"""What a model, a retriever or a prompt adds to a rating, and what a new combination would have.

A system's rating is a sum of what each of its attributes adds, in all systems that share its value,
and of what is its own: a composite Bradley-Terry model, as the small-area estimator of ``process``
with one kernel an attribute. Few systems share a value, so that effects are random and shrunk.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.schema import QUESTION_KEY
from arena.statistics.rank_agreement import kendall_tau
from arena.statistics.significance import NORMAL_90
from surrogate.learning.languages import LanguageData, TournamentSettings, language_data
from surrogate.learning.posterior.observations import Observation, Observations, observe
from surrogate.learning.posterior.process import GaussianProcess, fit_process
from surrogate.learning.training import training_ratings

Floats = npt.NDArray[np.float64]
Objects = npt.NDArray[np.object_]

FEWEST_SYSTEMS = 4
MOST_COMBINATIONS = 1_000
ALL = "all"
"""Name of the slice that holds every question."""
EFFECT_COLUMNS = ("slice", "attribute", "value", "systems", "effect", "low", "high", "share")
COMBINATION_COLUMNS = ("slice", "system", "rating", "low", "high")


@dataclass(frozen=True)
class FactorRatings:
    """Ratings of attributes and of their combinations, in logits, with 90% intervals.

    Attributes:
        effects: Columns ``slice, attribute, value, systems, effect, low, high, share``: what a
            value adds, against the mean of the attribute's values; systems that have it; and the
            share of the variance between systems that the attribute explains.
        combinations: Columns ``slice``, one an attribute, ``system, rating, low, high``: every
            combination of values, with the name of the system that has it, or None where none has
            and the rating is predicted.
        tau: Slice to Kendall's tau-b of systems' ratings by verdicts alone with those predicted
            from the other systems' attributes and battles; NaN where all are predicted alike.
        skipped: What is left out, to why: slices, systems, combinations that are not predicted.
    """

    effects: pd.DataFrame
    combinations: pd.DataFrame
    tau: dict[str, float]
    skipped: dict[str, str]


def factor_ratings(
    arena: Arena,
    by: Sequence[str] | None = None,
    *,
    judge: str | None = None,
    topic: str | None = None,
    seed: int = 0,
) -> FactorRatings:
    """Rate what systems are made of, over all languages together.

    Args:
        arena: Its ``attributes`` say what systems are made of.
        by: Attributes to rate; by default all.
        judge: Whose judgments, or published ratings, to take.
        topic: Column of the questions by whose values to rate slices beside all questions.
        seed: Seed of everything random.

    Raises:
        UsageError: Without attributes, for unknown ones or an unknown topic, with fewer than four
            rated systems that have an attribute, or as ``Arena.judged_by`` raises.
    """
    names = _chosen(arena, by)
    judged = arena.judged_by(judge)
    values = arena.attributes.set_index("system")[list(names)].dropna(how="all")
    effects, combinations, tau, skipped = [], [], {}, {}
    if unknown := [name for name in judged.rated_systems if name not in values.index]:
        skipped["systems"] = f"nothing is told of {', '.join(unknown)}"
    for name, part in _slices(judged, topic).items():
        try:
            data = _data(part, seed)
            found = _Fit.of(data, values)
        except UsageError as error:
            if name == ALL:
                raise
            skipped[name] = str(error)
            continue
        if found.count > MOST_COMBINATIONS:
            skipped[f"{name}, combinations that nobody has built"] = (
                f"{found.count:,} are more than {MOST_COMBINATIONS:,}; rate fewer attributes"
            )
        effects.append(found.effects().assign(slice=name))
        combinations.append(found.combinations().assign(slice=name))
        tau[name] = _tau_unseen(data, values, found)
    return FactorRatings(
        pd.concat(effects, ignore_index=True)[list(EFFECT_COLUMNS)],
        pd.concat(combinations, ignore_index=True)[["slice", *names, *COMBINATION_COLUMNS[1:]]],
        tau,
        skipped,
    )


def _chosen(arena: Arena, by: Sequence[str] | None) -> tuple[str, ...]:
    known = [name for name in arena.attributes if name != "system"]
    if not known:
        raise UsageError(
            f"arena {arena.info.name!r} does not say what its systems are made of; write a table "
            "systems.csv into its folder: system, and columns such as model, retriever, prompt"
        )
    unknown = [name for name in by or () if name not in known]
    if unknown:
        raise UsageError(f"no attribute {unknown[0]!r} here; there is {', '.join(known)}")
    return tuple(known if by is None else dict.fromkeys(by))


def _slices(judged: Arena, topic: str | None) -> dict[str, Arena]:
    slices = {ALL: judged}
    if topic is None:
        return slices
    columns = [name for name in judged.queries if name not in ("query", "passages", "query_id")]
    if topic not in columns:
        raise UsageError(f"questions have no column {topic!r}; there is {', '.join(columns)}")
    asked = judged.queries[[*QUESTION_KEY, topic]]
    topics = judged.judgments[QUESTION_KEY].merge(asked, on=QUESTION_KEY, how="left")
    if topics.empty:
        raise UsageError("published ratings are of all questions together; leave the topic out")
    for value in sorted(topics[topic].dropna().astype(str).unique()):
        rows = judged.judgments[(topics[topic].astype(str) == value).to_numpy()]
        slices[value] = replace(judged, judgments=rows.reset_index(drop=True))
    return slices


@dataclass(frozen=True)
class _Fit:
    """The process on N ratings (a system in a language each), with the values of A attributes."""

    observed: Observations
    values: Objects
    process: GaussianProcess
    names: tuple[str, ...]

    @classmethod
    def of(
        cls, data: Sequence[LanguageData], values: pd.DataFrame, fewest: int = FEWEST_SYSTEMS
    ) -> _Fit:
        rated = {item.language: item.tournaments for item in data}
        seen = {
            name: own
            for name, item in observe(training_ratings(rated)).items()
            if (own := item.among(set(values.index))).systems
        }
        systems = {system for item in seen.values() for system in item.systems}
        if len(systems) < fewest:
            raise UsageError(
                f"{len(systems)} systems are rated and have attributes; {fewest} are needed"
            )
        observed = Observations(seen)
        own = values.loc[[system for _, system in observed.keys]].to_numpy(object)
        return cls(observed, own, _fitted(observed, own), tuple(map(str, values.columns)))

    @property
    def systems(self) -> Objects:
        return np.array([system for _, system in self.observed.keys], dtype=object)

    @property
    def count(self) -> int:
        """Number of combinations of values."""
        return math.prod(len(_levels(column)) for column in self.values.T)

    def effects(self) -> pd.DataFrame:
        """Rate the values of each attribute; see ``FactorRatings``."""
        shares = self._shares()
        rows = []
        for place, name in enumerate(self.names):
            levels = _levels(self.values[:, place])
            cross = np.equal.outer(levels, self.values[:, place]).astype(np.float64)
            mean, covariance = self.process.component(place, cross, np.eye(len(levels)))
            centered = np.eye(len(levels)) - 1 / len(levels)
            mean = centered @ mean
            width = NORMAL_90 * np.sqrt(np.diag(centered @ covariance @ centered))
            for level, effect, half in zip(levels, mean, width, strict=True):
                systems = len(set(self.systems[self.values[:, place] == level]))
                row = (name, level, systems, effect, effect - half, effect + half, shares[place])
                rows.append(dict(zip(EFFECT_COLUMNS[1:], row, strict=True)))
        return pd.DataFrame(rows)

    def combinations(self) -> pd.DataFrame:
        """Rate every combination of values, built or not; see ``FactorRatings``."""
        levels = [_levels(column) for column in self.values.T]
        wanted = list(product(*levels)) if self.count <= MOST_COMBINATIONS else []
        built = {system: tuple(own) for system, own in zip(self.systems, self.values, strict=True)}
        rated = self._rated
        rows = [
            {**dict(zip(self.names, built[system], strict=True)), "system": system, **own}
            for system, own in rated.items()
        ]
        new = [each for each in wanted if each not in set(built.values())]
        rows += [
            {**dict(zip(self.names, each, strict=True)), "system": None, **own}
            for each, own in zip(new, self._predicted(new), strict=True)
        ]
        table = pd.DataFrame(rows).sort_values("rating", ascending=False, ignore_index=True)
        named = table["system"].astype(object)
        return table.assign(system=named.where(named.notna(), None))

    def of_system(self, system: str) -> list[Observation]:
        """What is observed in the languages that rate a system."""
        return [item for item in self.observed.by_language.values() if system in item.systems]

    def _shares(self) -> Floats:
        variances = self.process.variances
        return np.asarray(variances[: len(self.names)] / variances.sum())

    @cached_property
    def _rated(self) -> dict[str, dict[str, float]]:
        """Ratings of the systems, means over their languages."""
        means, covariance, _ = self.process.posterior()
        level = means.mean()
        found = {}
        for system in sorted(set(self.systems)):
            own = np.flatnonzero(self.systems == system)
            found[str(system)] = _interval(
                means[own].mean() - level, covariance[np.ix_(own, own)].mean()
            )
        return found

    def _predicted(self, combinations: Sequence[tuple[object, ...]]) -> list[dict[str, float]]:
        """Ratings of combinations that no system has, means over the languages."""
        if not combinations:
            return []
        new = np.array(combinations, dtype=object).reshape(len(combinations), -1)
        cross = _kernels(new, self.values)
        if len(self.observed.by_language) > 1:
            cross = np.concatenate([cross, np.zeros((1, *cross.shape[1:]))])
        languages = len(self.observed.by_language)
        groups = np.full((len(new), languages), 1 / languages)
        mean, error = self.process.predict(cross, np.ones(cross.shape[:2]), groups)
        level = self.process.posterior()[0].mean()
        return [_interval(*each) for each in zip(mean - level, error**2, strict=True)]


def _data(judged: Arena, seed: int) -> list[LanguageData]:
    nothing = pd.DataFrame(columns=["language", "system", "query_id"])
    return language_data(judged, nothing, TournamentSettings(tournaments=2, seed=seed))


def _tau_unseen(data: Sequence[LanguageData], values: pd.DataFrame, fit: _Fit) -> float:
    """Predict each system from the others and their battles, and compare with its own verdicts."""
    by_verdicts, predicted = [], []
    for system in sorted(set(fit.systems)):
        own = [item.ratings[item.systems.index(system)] for item in fit.of_system(system)]
        try:
            others = _Fit.of(
                [part for item in data if (part := _without(item, system))],
                values.drop(index=system),
                FEWEST_SYSTEMS - 1,
            )
        except UsageError:
            return float("nan")
        (expected,) = others._predicted([tuple(values.loc[system])])
        by_verdicts.append(float(np.mean(own)))
        predicted.append(expected["rating"])
    return kendall_tau(np.array(predicted), np.array(by_verdicts))


def _without(data: LanguageData, system: str) -> LanguageData | None:
    """Leave a system and its battles out; None where no others met."""
    try:
        return data.without([system])
    except UsageError:
        return None


def _interval(mean: float, variance: float) -> dict[str, float]:
    half = NORMAL_90 * np.sqrt(max(variance, 0.0))
    return {"rating": mean, "low": mean - half, "high": mean + half}


def _fitted(observed: Observations, values: Objects) -> GaussianProcess:
    kernels = _kernels(values, values)
    for kernel in kernels:
        np.fill_diagonal(kernel, 1.0)  # a value that is not known is like no other
    if len(observed.by_language) > 1:
        systems = np.array([system for _, system in observed.keys], dtype=object)
        everywhere = np.equal.outer(systems, systems).astype(np.float64)
        kernels = np.concatenate([kernels, everywhere[None]])
    share = 1 / (len(kernels) + 1)
    return fit_process(kernels, observed, observed.groups, share)


def _kernels(one: Objects, other: Objects) -> Floats:
    """Whether items have the same value of each of A attributes, shape (A, M, N)."""
    columns = zip(one.T, other.T, strict=True)
    return np.stack(
        [
            (np.equal.outer(own, others) & (own != None)[:, None]).astype(np.float64)  # noqa: E711
            for own, others in columns
        ]
    )


def _levels(column: Objects) -> Objects:
    return np.array(sorted({value for value in column if value is not None}), dtype=object)
