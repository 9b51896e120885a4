"""Contenders compared: the tau of each, and paired differences, corrected for their number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtr

from arena.data.types import Floats
from arena.statistics.agreement import lowest_tau
from arena.statistics.bootstrap import SAME_DECIMALS
from arena.statistics.significance import NORMAL_95, finite_means, holm_adjusted
from surrogate.learning.outcomes import Outcome
from surrogate_arena.studies.scores import (
    MACRO,
    Contender,
    Over,
    outcome_scores,
    replicate_taus,
    spread,
)

RATED_BY, MINUS = "rated_by", "minus"
"""Columns of the names of contenders."""
NOT_COMPARED = "rates nobody in some of the folds that others rate: left out"


class ResampledTau(NamedTuple):
    """A tau, or a difference of two, and in B resamples, shape (B,).

    ``systems`` counts those of the largest language.
    """

    value: float
    replicates: Floats
    systems: int

    def minus(self, other: ResampledTau) -> ResampledTau:
        """Subtract the tau of another contender in the same resamples."""
        difference = self.replicates - other.replicates
        return ResampledTau(self.value - other.value, difference, max(self.systems, other.systems))

    @classmethod
    def mean(cls, parts: Sequence[ResampledTau]) -> ResampledTau:
        """Average over languages or arenas that have a value."""
        defined = [part for part in parts if np.isfinite(part.value)]
        if not defined:
            return cls(np.nan, np.empty(0), 0)
        # Arenas of very many systems have fewer resamples.
        n_resamples = min(len(part.replicates) for part in defined)
        replicates = np.array([part.replicates[:n_resamples] for part in defined])
        value = float(np.mean([part.value for part in defined]))
        return cls(value, finite_means(replicates), max(part.systems for part in defined))


@dataclass(frozen=True)
class PairedTaus:
    """Contenders on the same systems and folds of one arena.

    Attributes:
        table: Column ``rated_by`` and those of ``outcome_scores``.
        estimates: Contender to language to its tau, in the same order.
    """

    table: pd.DataFrame
    estimates: Mapping[str, Mapping[str, ResampledTau]]

    @classmethod
    def of(
        cls,
        contenders: Mapping[str, Contender],
        seed: int,
        over: Over = "systems",
        arena_ratings: Mapping[str, Floats] | None = None,
    ) -> PairedTaus:
        """Compare contenders, with an outcome by language, on what all of them rate."""
        tables = []
        estimates: dict[str, dict[str, ResampledTau]] = {}
        for name, contender in on_common_systems(contenders).items():
            taus = replicate_taus(contender, seed, over, arena_ratings or {})
            scores = outcome_scores(contender.outcomes, seed, over, taus)
            scores.insert(1, RATED_BY, name)
            tables.append(scores)
            estimates[name] = {}
            for language, tau, systems in scores[["language", "tau", "systems"]].to_numpy():
                if language != MACRO:
                    estimates[name][language] = ResampledTau(tau, taus[language], systems)
        # Each table has the same languages: the n-th rows belong together.
        table = pd.concat(tables).sort_index(kind="stable").reset_index(drop=True)
        return cls(table, estimates)

    def macro(self, name: str) -> ResampledTau:
        """Average a contender's tau over languages."""
        return ResampledTau.mean(list(self.estimates[name].values()))

    def difference(self, first: str, second: str) -> dict[str, ResampledTau]:
        """Subtract taus by language; the mean is ``macro``."""
        differences = {}
        for language, estimate in self.estimates[first].items():
            differences[language] = estimate.minus(self.estimates[second][language])
        differences[MACRO] = ResampledTau.mean(list(differences.values()))
        return differences

    def differences(self, pairs: Sequence[tuple[str, str]] | None = None) -> pd.DataFrame:
        """Test paired differences, by default of all pairs, by language and ``macro``."""
        if pairs is None:
            pairs = list(combinations(self.estimates, 2))
        found = {pair: self.difference(*pair) for pair in pairs}
        tables = []
        for language in self.table["language"].unique():
            of_language = {pair: differences[language] for pair, differences in found.items()}
            tested = tested_differences(of_language)
            tested.insert(0, "language", language)
            tables.append(tested)
        return pd.concat(tables, ignore_index=True)


def tested_differences(differences: Mapping[tuple[str, str], ResampledTau]) -> pd.DataFrame:
    """Tabulate differences of contenders, corrected for their number (Holm).

    95% intervals and p-values are normal, with the standard deviation over resamples. Contenders
    that always agree may still differ in as many pairs as agree by chance (``lowest_tau``).

    Returns:
        Columns ``rated_by, minus, difference, standard_error, low, high, p, p_holm``.
    """
    values = np.array([estimate.value for estimate in differences.values()])
    errors = np.array([_standard_error(estimate) for estimate in differences.values()])
    p_values = 2 * ndtr(-np.abs(values / errors))
    table = pd.DataFrame(list(differences), columns=[RATED_BY, MINUS])
    return table.assign(
        difference=values,
        standard_error=errors,
        low=values - NORMAL_95 * errors,
        high=values + NORMAL_95 * errors,
        p=p_values,
        p_holm=holm_adjusted(p_values),
    )


def _standard_error(difference: ResampledTau) -> float:
    if np.isnan(difference.value):
        return float("nan")
    # Of equal taus in all resamples the error is a rounding error, if any.
    error = round(spread(difference.replicates), SAME_DECIMALS)
    return error or (1 - lowest_tau(difference.systems)) / NORMAL_95


def on_common_systems(contenders: Mapping[str, Contender]) -> dict[str, Contender]:
    """Keep the predictions of systems that all contenders rate in a language.

    Contenders that rate nobody in a fold that others rate are left out of the language.
    """
    names = list(contenders)
    kept: dict[str, list[Outcome]] = {name: [] for name in names}
    for outcomes in zip(*(contenders[name].outcomes for name in names), strict=True):
        is_rated = np.array([np.isfinite(outcome.predicted) for outcome in outcomes])
        groups = outcomes[0].groups.reshape(is_rated[0].shape)
        has_group = np.array([np.isin(np.unique(groups), groups[rated]) for rated in is_rated])
        is_complete = (has_group == has_group.any(axis=0)).all(axis=1)
        is_common = is_rated[is_complete].all(axis=0)
        for index, (name, outcome) in enumerate(zip(names, outcomes, strict=True)):
            reasons = outcome.reasons
            if is_rated[index].any() and not is_complete[index]:
                reasons = (*reasons, NOT_COMPARED)
            predicted = np.where(is_common & is_complete[index], outcome.predicted, np.nan)
            kept[name].append(replace(outcome, predicted=predicted, reasons=reasons))
    return {name: replace(contenders[name], outcomes=kept[name]) for name in names}
