"""Rankings by part of the features: by families."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from arena.data.errors import UsageError
from features.engine.extraction import FEATURE_KEY
from features.measures.choosing import parse_features
from features.measures.registry import FEATURES
from surrogate.learning.language_data import LanguageData
from surrogate.learning.outcomes import Outcome

ALL = "all"
TEXTS = "texts"
"""The family of what a surrogate reads in the answers themselves, beside the features."""
TEXT_COLUMN = "answer"


@dataclass(frozen=True)
class FeatureSubset:
    """Part of what a surrogate learns from.

    ``family`` is left out or used alone, None for all; ``family_columns`` are its columns.
    """

    family: str | None
    columns: tuple[str, ...]
    has_texts: bool
    family_columns: tuple[str, ...] = ()

    def checked(self, outcome: Outcome, data: LanguageData) -> Outcome:
        """Drop ratings of a language without any value of the family."""
        if self.family is None:
            return outcome
        if self.family == TEXTS:
            has_values = bool((data.X[TEXT_COLUMN].fillna("") != "").any())
        else:
            has_values = bool(data.X[list(self.family_columns)].notna().any(axis=None))
        if has_values:
            return outcome
        nobody = np.full_like(outcome.predicted, np.nan)
        reason = f"no answer has a value of {self.family}"
        return replace(outcome, predicted=nobody, reasons=(reason,))

    def of(self, data: LanguageData) -> LanguageData:
        """Return a language with this part of its features and texts."""
        columns = [*FEATURE_KEY, *self.columns]
        if self.has_texts:
            columns.append(TEXT_COLUMN)
        return replace(data, X=data.X[[name for name in data.X if name in columns]])


def feature_families(columns: Sequence[str]) -> dict[str, list[str]]:
    """Group columns by the module that declares their feature; others stand alone."""
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
    """Return all features, and all without each family, and each family alone.

    Texts are a family where the surrogate reads answers.
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
