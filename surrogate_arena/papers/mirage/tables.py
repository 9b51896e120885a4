"""MIRAGE-Bench's tables 3 and 4: R² of regressors, and rankings by groups of features.

Both are protocols of ``validate``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.folder import open_arena
from arena.statistics.agreement import kendall_tau
from features.measures.registry import GROUPS
from surrogate.learning.cross_fitting import (
    FEWEST_SYSTEMS_TO_FOLD,
    Repeats,
    derived_seed,
    systems_by_content,
)
from surrogate.learning.language_data import LanguageData
from surrogate.learning.surrogate import (
    FEWEST_SYSTEMS,
    RANDOM_FOREST,
    REGRESSORS,
    Surrogate,
    reseeded,
)
from surrogate_arena.papers.mirage.tournament_fits import fit_tournament
from surrogate_arena.studies.feature_groups import feature_name
from surrogate_arena.studies.protocols import drawn_holdout
from surrogate_arena.studies.scores import MACRO
from surrogate_arena.studies.study import Study, holdout_text
from surrogate_arena.studies.study_options import (
    SurrogateLike,
    check_rated_systems,
    holdout_names,
    is_chosen,
    study_settings,
)
from surrogate_arena.studies.study_table import StudyTable
from surrogate_arena.studies.validation import TABLE_3, TABLE_4

HELD_OUT = 4
"""Systems that a repeat of table 3 holds out."""
FEWEST_FOR_TABLE_3 = FEWEST_SYSTEMS + HELD_OUT
LLM_MEASURED = frozenset(feature.name for feature in GROUPS["llm"])
LOW_CORRELATION = frozenset({"target_language", "english", "nli_entailment", "nli_neutral"})
"""Language detection and support: the features of little importance in figure 5."""


def validate_table_3(
    arena: Arena | Path | str,
    surrogates: SurrogateLike | Sequence[SurrogateLike] | None,
    repeats: int,
    **options: Any,  # noqa: ANN401 - of STUDY_OPTIONS
) -> StudyTable:
    """Compare surrogates on random held-out systems (table 3), by default the paper's five.

    Each repeat trains on one tournament without four systems drawn by the seed. ``repeats`` number
    those with a defined holdout R².
    """
    settings = study_settings(options)
    compared = tuple(REGRESSORS) if surrogates is None else surrogates
    opened = open_arena(arena)
    check_rated_systems(opened, settings, TABLE_3, FEWEST_FOR_TABLE_3)
    study = Study.of(opened, compared, repeats, **options)
    table = _r2_of_surrogates(study.languages, study.surrogates, study.repeats)
    return study.tabulated(table, TABLE_3, f"held:{HELD_OUT}")


def _r2_of_surrogates(
    languages: Sequence[LanguageData], surrogates: Sequence[Surrogate], repeats: Repeats
) -> pd.DataFrame:
    keys = list(product(languages, surrogates, range(repeats.times)))
    tasks = [partial(_tournament_r2, *key, repeats.seed) for key in keys]
    scores = pd.DataFrame(repeats.run(tasks), columns=["train", "holdout"])
    scores["language"] = [data.language for data, _, _ in keys]
    scores["surrogate"] = [surrogate.name for _, surrogate, _ in keys]
    return scores.groupby(["language", "surrogate"], sort=False, as_index=False).agg(
        train_r2=("train", "mean"),
        holdout_r2=("holdout", "mean"),
        repeats=("holdout", "count"),
    )


def _tournament_r2(
    data: LanguageData, surrogate: Surrogate, repeat: int, seed: int
) -> tuple[float, float]:
    held_out = drawn_holdout(data.systems_by_content, HELD_OUT, seed, data.language, str(repeat))
    surrogate_seed = derived_seed(seed, "table 3", data.language, str(repeat))
    tournament = repeat % data.settings.tournaments
    try:
        fit = fit_tournament(data, surrogate, held_out, tournament, surrogate_seed)
    except UsageError:
        # Too few systems are rated in this tournament: the repeat counts as undefined.
        return float("nan"), float("nan")
    return fit.train_r2, fit.holdout_r2


def validate_table_4(
    arena: Arena | Path | str,
    surrogate: SurrogateLike | None,
    repeats: int,
    holdout: str | Sequence[str] | None,
    **options: Any,  # noqa: ANN401 - of STUDY_OPTIONS
) -> StudyTable:
    """Rank all systems by the paper's groups of features (table 4).

    Each group trains on all judged systems but those held out: named, or two that are drawn. Tau
    compares predicted ratings of all judged systems with the arena's, so it is higher than for new
    systems (``Study.ablate``), and NaN for a group without any of its features. Features are the
    paper's unless some are chosen.
    """
    settings = study_settings(options)
    if surrogate is None:
        # Section 4.3: the paper builds its boards with a random forest.
        is_set = is_chosen("surrogate", options)
        surrogate = settings.surrogate if is_set else RANDOM_FOREST
    if options.get("feature_table") is None and not is_chosen("features", options):
        options["features"] = GROUPS["paper"]
    held_out = settings.holdout if holdout is None else holdout_names(holdout)
    opened = open_arena(arena)
    check_rated_systems(opened, settings, TABLE_4, FEWEST_SYSTEMS_TO_FOLD, held_out)
    study = Study.of(opened, surrogate, repeats, **options)
    groups = papers_groups(study.features)
    languages_by_group = {
        name: study.with_features(columns).languages for name, columns in groups.items() if columns
    }
    taus = _taus_by_group(languages_by_group, study.surrogate, study.repeats, held_out)
    return study.tabulated(_group_table(groups, taus), TABLE_4, *holdout_text(held_out))


def papers_groups(columns: Sequence[str]) -> dict[str, list[str]]:
    """Return the columns of each of the paper's groups; empty if all are in none."""
    llm_measured = []
    low_correlation = []
    for column in columns:
        name = feature_name(column)
        if name in LLM_MEASURED:
            llm_measured.append(column)
        if name in LOW_CORRELATION:
            low_correlation.append(column)

    def without(group: Sequence[str]) -> list[str]:
        return [column for column in columns if column not in group] if group else []

    return {
        "all features": list(columns),
        "without LLM-measured": without(llm_measured),
        "without low correlation": without(low_correlation),
        "only LLM-measured": llm_measured,
    }


def _taus_by_group(
    languages_by_group: Mapping[str, Sequence[LanguageData]],
    surrogate: Surrogate,
    repeats: Repeats,
    holdout: Sequence[str] | None,
) -> pd.DataFrame:
    languages = next(iter(languages_by_group.values()))
    systems = systems_by_content(languages)
    draws = []
    for repeat in range(repeats.times):
        # The first repeat has the seed, and so the held-out systems, of a board.
        keys = [str(repeat)] if repeat else []
        seed = derived_seed(repeats.seed, "table 4", *keys) if keys else repeats.seed
        held_out = drawn_holdout(systems, holdout, repeats.seed, *keys)
        draws.append((reseeded(surrogate, seed), held_out))
    tasks = []
    for group in languages_by_group.values():
        for reseeded_surrogate, held_out in draws:
            tasks.append(partial(_taus_of_all, group, reseeded_surrogate, held_out))
    codes = [data.language for data in languages]
    taus = pd.DataFrame(repeats.run(tasks), columns=codes, dtype=np.float64)
    group_names = np.repeat(list(languages_by_group), repeats.times)
    return taus.groupby(group_names, sort=False).mean()


def _taus_of_all(
    languages: Sequence[LanguageData], surrogate: Surrogate, held_out: Sequence[str]
) -> dict[str, float]:
    training = pd.concat(
        [data.without_answers_of(held_out).X for data in languages], ignore_index=True
    )
    try:
        surrogate.fit(training, {data.language: data.tournaments for data in languages})
    except UsageError:
        return {}
    predictions = surrogate.predict(pd.concat([data.X for data in languages], ignore_index=True))
    ratings = predictions.set_index(["language", "system"])["rating"]
    taus = {}
    for data in languages:
        index = pd.MultiIndex.from_product([[data.language], data.systems])
        predicted = ratings.reindex(index).to_numpy(np.float64)
        taus[data.language] = kendall_tau(predicted, data.arena_ratings)
    return taus


def _group_table(groups: Mapping[str, Sequence[str]], taus: pd.DataFrame) -> pd.DataFrame:
    wide = taus.reindex(list(groups))
    if len(wide.columns) > 1:
        wide[MACRO] = wide.mean(axis=1)
    table = wide.unstack().rename_axis(["language", "group"]).reset_index(name="tau")
    sizes = table["group"].map({name: len(columns) for name, columns in groups.items()})
    table.insert(2, "features", sizes)
    absent = "the features that this group is about are not there"
    return table.assign(reason=np.where(sizes == 0, absent, ""))
