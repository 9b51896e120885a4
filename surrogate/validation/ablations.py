"""Families of features that look at the same side of an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Unpack

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.statistics.bootstrap import percentile_interval
from features.measures.registry import FEATURES, GROUPS, parse_features
from surrogate.learning.names import DEFAULT_SURROGATE
from surrogate.learning.outcomes import Outcome, on_common_systems
from surrogate.learning.surrogate import Surrogate
from surrogate.validation.scores import named_scores, replicate_taus, score_outcomes
from surrogate.validation.study import Study, StudyOptions, StudyTable

_FAMILY_OF = {
    name: feature.measurement.__module__.rpartition(".")[2] for name, feature in FEATURES.items()
}
_FAMILY_OF |= {"answer_length": "length"}
_FAMILY_OF |= {feature.name: "grounding" for feature in GROUPS["grounding"]}
_FAMILY_OF |= {name: "similarity" for name in FEATURES if name.startswith("similarity_")}
_FAMILY_OF |= {feature.name: "llm" for feature in (*GROUPS["llm"], *GROUPS["ragas"])}
"""Features of this project by what they look at."""


def feature_families(columns: Sequence[str]) -> dict[str, list[str]]:
    """Group the columns of a feature table by family.

    Args:
        columns: Names of features, such as ``citation_recall@10``; one that is not of this
            project is a family of its own.

    Returns:
        Family to its columns, in the order of the columns.
    """
    groups: dict[str, list[str]] = {}
    for column in columns:
        groups.setdefault(_family(column), []).append(column)
    return groups


def _family(column: str) -> str:
    try:
        [feature] = parse_features(column)
    except (UsageError, ValueError):
        return column
    return _FAMILY_OF.get(feature.name, column)


ALL = "all"
REPEATS = 5
FEWEST_GROUPS = 2


def ablate(
    arena: Arena,
    surrogate: str | Surrogate | BaseEstimator = DEFAULT_SURROGATE,
    *,
    groups: Mapping[str, Sequence[str]] | None = None,
    repeats: int = REPEATS,
    **options: Unpack[StudyOptions],
) -> StudyTable:
    """Rank unseen systems with all features, without each group of them, and with each alone.

    MIRAGE-Bench (table 4) does so with all features, without those an LLM rates, without those of
    low correlation, and with those an LLM rates alone. Every subset has the same folds and the
    same tournaments, so differences are paired.

    Arguments that are not told here are those of ``validate``.

    Args:
        groups: Name to feature columns; by default the families of features
            (``feature_families``). Groups may overlap.
        repeats: How often to split the systems.

    Returns:
        Columns ``language, subset, features, tau, tau_low, tau_high, difference, difference_low,
        difference_high, reason``: the number of features, Kendall tau of unseen systems and its
        difference from that of all features, both with 95% intervals over systems; the language
        ``macro`` is the average. NaN where tau is not defined, with the reason.

    Raises:
        UsageError: For an unknown surrogate or feature, fewer than two groups, or too few systems.
    """
    study = Study.of(arena, surrogate, repeats, **options)
    subsets = feature_subsets(study.features, groups)
    outcomes = {name: study.with_features(columns).unseen() for name, columns in subsets.items()}
    sizes = {name: len(columns) for name, columns in subsets.items()}
    table = compared_with_all(outcomes, sizes, study.settings.seed)
    return StudyTable(table, study.signature("ablation"))


def feature_subsets(
    columns: Sequence[str], groups: Mapping[str, Sequence[str]] | None = None
) -> dict[str, list[str]]:
    """Return the subsets of features to compare: all, without each group, each group alone.

    Raises:
        UsageError: If a group holds an unknown feature, or there are fewer than two.
    """
    chosen = feature_families(columns) if groups is None else groups
    unknown = sorted({name for group in chosen.values() for name in group} - set(columns))
    if unknown:
        raise UsageError(f"no feature is named {', '.join(unknown)}; use {', '.join(columns)}")
    if len(chosen) < FEWEST_GROUPS:
        raise UsageError(f"{len(chosen)} group of features leaves nothing to compare; name others")
    without = {
        f"without {name}": [column for column in columns if column not in set(group)]
        for name, group in chosen.items()
    }
    alone = {f"only {name}": list(group) for name, group in chosen.items()}
    subsets = {ALL: list(columns), **without, **alone}
    return {name: kept for name, kept in subsets.items() if kept}


def compared_with_all(
    outcomes: Mapping[str, Sequence[Outcome]], sizes: Mapping[str, int], seed: int
) -> pd.DataFrame:
    """Tabulate tau of each subset and its paired difference from that of all features.

    Systems that some subset has no prediction of are left out of all.
    """
    common = [on_common_systems(items) for items in zip(*outcomes.values(), strict=True)]
    outcomes = dict(zip(outcomes, zip(*common, strict=True), strict=True))
    reference = replicate_taus(outcomes[ALL], seed)
    whole = named_scores(score_outcomes(outcomes[ALL], seed))
    rows = []
    for name, items in outcomes.items():
        replicates = replicate_taus(items, seed)
        for code, item in named_scores(score_outcomes(items, seed)).items():
            difference = item.tau - whole[code].tau
            bounds = percentile_interval(replicates[code] - reference[code])
            low, high = bounds if np.isfinite(difference) else (np.nan, np.nan)
            rows.append(
                {
                    "language": code,
                    "subset": name,
                    "features": sizes[name],
                    "tau": item.tau,
                    "tau_low": item.tau_low,
                    "tau_high": item.tau_high,
                    "difference": difference,
                    "difference_low": low,
                    "difference_high": high,
                    "reason": item.reason or "",
                }
            )
    return pd.DataFrame(rows).sort_values("language", kind="stable", ignore_index=True)
