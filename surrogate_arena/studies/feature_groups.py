"""Rankings by part of the features: by families."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from arena.statistics.bootstrap import percentile_interval
from features.engine.extraction import FEATURE_KEY
from features.measures.registry import FEATURES, parse_features
from surrogate.learning.language_data import LanguageData
from surrogate.learning.outcomes import Outcome
from surrogate_arena.studies.scores import MACRO, outcome_scores, replicate_taus

ALL = "all"
TEXTS = "texts"
"""The family of what a surrogate reads in the answers themselves, beside the features."""
TEXT_COLUMN = "answer"
COLUMNS = [
    "language",
    "subset",
    "features",
    "tau",
    "tau_low",
    "tau_high",
    "difference",
    "difference_low",
    "difference_high",
    "reason",
]


@dataclass(frozen=True)
class FeatureSubset:
    """Part of what a surrogate learns from.

    ``family`` is the one left out or used alone, None for all; ``family_columns`` are its columns,
    with or without a value.
    """

    family: str | None
    columns: tuple[str, ...]
    has_texts: bool
    family_columns: tuple[str, ...] = ()

    def has_values(self, data: LanguageData) -> bool:
        """Return whether any answer of a language has a value of the family."""
        if self.family is None:
            return True
        if self.family == TEXTS:
            return bool((data.X[TEXT_COLUMN].fillna("") != "").any())
        return bool(data.X[list(self.family_columns)].notna().any(axis=None))

    def of(self, data: LanguageData) -> LanguageData:
        """Return a language with this part of its features and texts alone."""
        columns = [*FEATURE_KEY, *self.columns]
        if self.has_texts:
            columns.append(TEXT_COLUMN)
        return replace(data, X=data.X[[name for name in data.X if name in columns]])


def feature_families(columns: Sequence[str]) -> dict[str, list[str]]:
    """Group columns of features by family: the module that declares them.

    A feature that is not of this project is a family of its own.
    """
    groups: dict[str, list[str]] = {}
    for column in columns:
        feature = FEATURES.get(feature_name(column))
        module = column if feature is None else feature.measurement.__module__
        groups.setdefault(module.rpartition(".")[2], []).append(column)
    return groups


def feature_name(column: str) -> str:
    """Return the name of the feature in a column, without its parameters."""
    try:
        [feature] = parse_features(column, with_plug_ins=False)  # a file's column
    except (UsageError, ValueError):
        return column
    return feature.name


def feature_subsets(columns: Sequence[str], reads_texts: bool) -> dict[str, FeatureSubset]:
    """Return the subsets to compare: everything, without each family, each family alone.

    Texts are a family where the surrogate reads the answers, too.
    """
    families: dict[str, tuple[str, ...]] = {TEXTS: ()} if reads_texts else {}
    for name, family_columns in feature_families(columns).items():
        families[name] = tuple(family_columns)
    if len(families) < 2:
        raise UsageError(f"{len(families)} family of features leaves nothing to compare")
    subsets = {ALL: FeatureSubset(None, tuple(columns), reads_texts)}
    for name, family in families.items():
        others = tuple(column for column in columns if column not in family)
        keeps_texts = reads_texts and name != TEXTS
        subsets[f"without {name}"] = FeatureSubset(name, others, keeps_texts, family)
    for name, family in families.items():
        subsets[f"{name} alone"] = FeatureSubset(name, family, name == TEXTS, family)
    return subsets


def compared_with_all(
    outcomes: Mapping[str, Sequence[Outcome]],
    subsets: Mapping[str, FeatureSubset],
    languages: Sequence[str],
    seed: int,
) -> pd.DataFrame:
    """Tabulate tau of each subset and its paired difference from that of all features.

    Outcomes are in the languages where a subset's family has values. Systems that some subset has
    no prediction of are left out of all.
    """
    outcomes = _on_common_systems(outcomes)
    order = [*languages, MACRO]
    tables = []
    for name, subset in subsets.items():
        scored = [outcome.language for outcome in outcomes[name]]
        unscored = [language for language in languages if language not in scored]
        if not scored:
            unscored.append(MACRO)
        reason = f"no answer has a value of {subset.family}"
        scores = pd.DataFrame({"language": unscored, "reason": reason})
        if scored:
            # The mean over languages compares both in the languages where the family has values.
            of_all = [outcome for outcome in outcomes[ALL] if outcome.language in scored]
            scores = pd.concat([scores, _differences(outcomes[name], of_all, seed)])
        scores = scores.assign(subset=name, features=len(subset.columns))
        scores = scores.sort_values("language", key=lambda codes: codes.map(order.index))
        tables.append(scores.reindex(columns=COLUMNS))
    table = pd.concat(tables).sort_values("language", kind="stable", ignore_index=True)
    return table if len(languages) > 1 else table[table["language"] != MACRO]


def _differences(outcomes: Sequence[Outcome], of_all: Sequence[Outcome], seed: int) -> pd.DataFrame:
    scores = outcome_scores(outcomes, seed)
    scores["difference"] = scores["tau"] - outcome_scores(of_all, seed)["tau"]
    # The seed draws the same systems for both, so that their differences are paired.
    taus = replicate_taus(outcomes, seed)
    reference_taus = replicate_taus(of_all, seed)
    intervals = []
    for language in scores["language"]:
        intervals.append(percentile_interval(taus[language] - reference_taus[language]))
    bounds = np.array(intervals)
    bounds[scores["difference"].isna()] = np.nan
    scores["difference_low"], scores["difference_high"] = bounds.T
    return scores


def _on_common_systems(
    outcomes: Mapping[str, Sequence[Outcome]],
) -> dict[str, list[Outcome]]:
    """Keep the predictions of systems that all subsets rate in a language."""
    by_language: dict[str, dict[str, Outcome]] = {}
    for name, subset_outcomes in outcomes.items():
        for outcome in subset_outcomes:
            by_language.setdefault(outcome.language, {})[name] = outcome
    common: dict[str, list[Outcome]] = {name: [] for name in outcomes}
    for items_by_name in by_language.values():
        predicted = [outcome.predicted for outcome in items_by_name.values()]
        is_rated = np.array([np.isfinite(ratings).any(axis=0) for ratings in predicted])
        # A subset that rates nobody is ignored.
        is_common = is_rated[is_rated.any(axis=1)].all(axis=0)
        for name, outcome in items_by_name.items():
            ratings = np.where(is_common, outcome.predicted, np.nan)
            common[name].append(replace(outcome, predicted=ratings))
    return common
