"""What a model, a retriever or a prompt adds to a rating.

A system's rating is a sum of what each of its attributes adds, in all systems that share its value,
and of what is its own: a composite Bradley-Terry model, as the small-area estimator of ``process``
with one kernel an attribute. Few systems share a value, so that effects are random and shrunk.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.statistics.rank_agreement import kendall_tau
from arena.statistics.significance import NORMAL_90
from surrogate.learning.estimation.observations import Observations, observe
from surrogate.learning.estimation.process import GaussianProcess
from surrogate.learning.languages import LanguageData, TournamentSettings, language_data
from surrogate.learning.training import training_ratings

Floats = npt.NDArray[np.float64]
Objects = npt.NDArray[np.object_]

FEWEST_SYSTEMS = 4
EFFECT_COLUMNS = ("attribute", "value", "systems", "effect", "low", "high", "share")


@dataclass(frozen=True)
class FactorRatings:
    """Ratings of attributes, in logits, with 90% intervals.

    Attributes:
        effects: Columns ``attribute, value, systems, effect, low, high, share``: what a value
            adds, against the mean of the attribute's values; systems that have it; and the share
            of the variance between systems that the attribute explains.
        tau: Kendall's tau-b of systems' ratings by verdicts alone with those predicted from the
            other systems' attributes and battles; NaN where all are predicted alike.
        skipped: What is left out, to why.
    """

    effects: pd.DataFrame
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
        raise UsageError(f"no attribute {unknown[0]!r} here; available: {', '.join(known)}")
    names = known if by is None else list(dict.fromkeys(by))
    judged = arena.judged_by(judge)
    values = arena.attributes.set_index("system")[names].dropna(how="all")
    nothing = pd.DataFrame(columns=["language", "system", "query_id"])
    data = language_data(judged, nothing, TournamentSettings(tournaments=2, seed=seed))
    fit = _Fit.of(data, values)
    skipped = {}
    if absent := [name for name in judged.rated_systems if name not in values.index]:
        skipped["systems"] = f"no attributes of {', '.join(absent)}"
    return FactorRatings(fit.effects(names), _tau_unseen(data, values, fit), skipped)


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
        return cls(observed, systems, own, observed.fitted(kernels))

    def effects(self, names: Sequence[str]) -> pd.DataFrame:
        """Rate the values of each attribute; see ``FactorRatings``."""
        shares = self.process.variances / self.process.variances.sum()
        rows = []
        for place, name in enumerate(names):
            own = self.values[:, place]
            levels = sorted({value for value in own if value is not None})
            cross = np.equal.outer(np.array(levels, dtype=object), own).astype(np.float64)
            mean, covariance = self.process.component(place, cross, np.eye(len(levels)))
            centered = np.eye(len(levels)) - 1 / len(levels)
            width = NORMAL_90 * np.sqrt(np.diag(centered @ covariance @ centered))
            for level, effect, half in zip(levels, centered @ mean, width, strict=True):
                systems = len(set(self.systems[own == level]))
                bounds = (effect, effect - half, effect + half)
                rows.append((name, level, systems, *bounds, shares[place]))
        return pd.DataFrame(rows, columns=list(EFFECT_COLUMNS))

    def predicted(self, combination: Sequence[object]) -> float:
        """Rate a system with these values that it has not seen, beside those it has."""
        cross = _kernels(np.array(combination, dtype=object)[None], self.values)
        weights = np.tensordot(self.process.variances[: len(cross)], cross[:, 0], 1)
        level = self.process.means.mean() - self.process.posterior()[0].mean()
        return float(weights @ self.process.dual + level)


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
        predicted.append(rest.predicted(tuple(values.loc[system])))
        by_verdicts.append(fit.process.ratings[fit.systems == system].mean())
    return kendall_tau(np.array(predicted), np.array(by_verdicts))


def _kernels(one: Objects, other: Objects) -> Floats:
    """Whether items have the same value of each of A attributes, shape (A, M, N)."""
    own, others = one.T[:, :, None], other.T[:, None, :]
    return np.asarray((own == others) & (own != None), dtype=np.float64)  # noqa: E711
