"""Comparing groups of features as table 4 of MIRAGE-Bench does: tau of all systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd
from joblib import delayed
from sklearn.base import BaseEstimator

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.statistics.rank_agreement import kendall_tau
from features.measures.registry import GROUPS, PAPER_FEATURES, parse_features
from surrogate.board.holdout import DEFAULT_HOLDOUT_SIZE, check_holdout
from surrogate.learning.cross_fitting import derived_seed, systems_by_content
from surrogate.learning.languages import LanguageData
from surrogate.learning.names import PAPERS_SURROGATE
from surrogate.learning.surrogate import Surrogate, reseeded
from surrogate.validation.protocols import drawn_holdout
from surrogate.validation.scores import MACRO, finite_mean
from surrogate.validation.study import Study, StudyOptions, StudyTable

ALL = "all features"
LLM_MEASURED = frozenset(feature.name for feature in GROUPS["llm"])
LOW_CORRELATION = frozenset({"target_language", "english", "nli_entailment", "nli_neutral"})
"""Language detection and support: the features of little importance in figure 5."""
ABSENT = "the features that this group is about are not there"

Taus = dict[str, float]
"""Language to Kendall tau."""


def compare_feature_groups(
    arena: Arena,
    surrogate: str | Surrogate | BaseEstimator = PAPERS_SURROGATE,
    *,
    holdout: Sequence[str] | None = None,
    repeats: int = 1,
    **options: Unpack[StudyOptions],
) -> StudyTable:
    """Rank all systems by the paper's groups of features (MIRAGE-Bench, table 4).

    Each group trains what a board trains: on all judged systems but the held-out ones. Tau is
    that of all judged systems by their answers to all questions, and the arena's ratings. Most of
    them were trained on, so that it is higher than for new systems (``ablate``).

    Arguments that are not told here are those of ``validate``.

    Args:
        holdout: Systems to keep out of training; by default two, the first time those that a
            board with this seed holds out.
        repeats: How often to train, with other held-out systems.

    Returns:
        Columns ``language, group, features, tau, reason``: number of features, mean tau over
        repeats; the language ``macro`` is the average. NaN with a reason for a group of which no
        feature is there.

    Raises:
        UsageError: For an unknown surrogate, or systems that cannot be held out.
    """
    options.setdefault("features", PAPER_FEATURES)
    study = Study.of(arena, surrogate, repeats, **options)
    groups = papers_groups(study.features)
    held = [_held_out(study, holdout, repeat) for repeat in range(repeats)]
    tasks = [
        delayed(_taus)(study.with_features(columns).languages, _seeded(study, repeat), out)
        for columns in groups.values()
        if columns
        for repeat, out in enumerate(held)
    ]
    done = iter(study.repeats.run(tasks))
    taus = {name: [next(done) for _ in held] if columns else [] for name, columns in groups.items()}
    languages = [item.language for item in study.languages]
    table = pd.DataFrame(_rows(languages, groups, taus))
    left_out = "" if holdout is None else ",".join(sorted(holdout))
    settings = [f"holdout:{left_out}"] if left_out else []
    return StudyTable(table, study.signature("table4", *settings))


def papers_groups(columns: Sequence[str]) -> dict[str, list[str]]:
    """Return the feature columns of each of the paper's four groups, in their order.

    A group that would leave out or hold none of the columns is empty.
    """
    names = {column: _name(column) for column in columns}
    rated = [column for column in columns if names[column] in LLM_MEASURED]
    low = [column for column in columns if names[column] in LOW_CORRELATION]
    without = [[column for column in columns if column not in part] for part in (rated, low)]
    return {
        ALL: list(columns),
        "without LLM-measured": without[0] if rated else [],
        "without low correlation": without[1] if low else [],
        "only LLM-measured": rated,
    }


def _name(column: str) -> str:
    try:
        [feature] = parse_features(column)
    except (UsageError, ValueError):
        return column
    return feature.name


def _held_out(study: Study, holdout: Sequence[str] | None, repeat: int) -> tuple[str, ...]:
    systems = systems_by_content(study.languages)
    if holdout is not None:
        return check_holdout(holdout, systems)
    keys = [str(repeat)] if repeat else []
    return drawn_holdout(systems, DEFAULT_HOLDOUT_SIZE, study.settings.seed, *keys)


def _seeded(study: Study, repeat: int) -> Surrogate:
    """Return a copy for one training, the first time with the seed of a board."""
    seed = study.settings.seed
    return reseeded(study.surrogate, derived_seed(seed, "table 4", str(repeat)) if repeat else seed)


def _taus(languages: Sequence[LanguageData], surrogate: Surrogate, held: Sequence[str]) -> Taus:
    training = pd.concat([data.hiding(held).X for data in languages], ignore_index=True)
    try:
        surrogate.fit(training, {data.language: data.tournaments for data in languages})
    except UsageError:
        return {}
    rated = surrogate.predict(pd.concat([data.X for data in languages], ignore_index=True))
    known = rated.set_index(["language", "system"])["rating"]
    return {data.language: kendall_tau(_ratings(known, data), data.truth) for data in languages}


def _ratings(known: pd.Series, data: LanguageData) -> npt.NDArray[np.float64]:
    places = pd.MultiIndex.from_product([[data.language], data.systems])
    return np.asarray(known.reindex(places), dtype=np.float64)


def _rows(
    languages: Sequence[str],
    groups: Mapping[str, Sequence[str]],
    taus: Mapping[str, Sequence[Taus]],
) -> list[dict[str, object]]:
    rows = []
    for name, columns in groups.items():
        means = {
            code: finite_mean([done.get(code, np.nan) for done in taus[name]]) for code in languages
        }
        if len(languages) > 1:
            means[MACRO] = finite_mean(list(means.values()))
        said = {"group": name, "features": len(columns)}
        reason = {"reason": "" if columns else ABSENT}
        rows += [{"language": code, **said, "tau": tau, **reason} for code, tau in means.items()]
    order = {code: place for place, code in enumerate([*languages, MACRO])}
    return sorted(rows, key=lambda row: order[str(row["language"])])
