"""Measuring features on all answers of an arena."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.folder import open_arena
from arena.data.frames import open_answers
from arena.data.schema import OWN_PASSAGES, QUESTION_KEY
from features.declare.feature import SENTENCES, Feature
from features.engine.answers import Measured, answers_of
from features.engine.columns import MISSING_SUFFIX, ORDER
from features.engine.measuring import Progress, measure, measure_with_models
from features.measures.registry import (
    DEFAULT_FEATURES,
    distinct_features,
    parse_features,
    with_templates,
)
from features.models.scorer import ModelOptions
from features.text.sentences import require_sentences


def extract(
    arena: Arena | Path | str,
    features: Sequence[Feature] | str = DEFAULT_FEATURES,
    answers: pd.DataFrame | Path | str | None = None,
    n_jobs: int | None = 1,
    progress: Progress | None = None,
    *,
    models: ModelOptions | None = None,
    cache: Path | str | None = None,
) -> pd.DataFrame:
    """Measure features on every answer.

    Args:
        arena: Its questions, its reference answers and, unless others are given, its answers; or
            the path of its folder.
        features: What to measure, as features or as text for ``parse_features``.
        answers: Answers of other systems to the arena's questions, with the columns
            ``query_id, language, system, answer``; or the path of their file.
        n_jobs: Number of processes, -1 for all cores, None for the workers that
            ``joblib.parallel_config`` names, such as a Dask cluster; results do not depend on it.
        progress: Called with the stage, the answers done and the answers in all.
        models: How to run models: device, batch size, whether they may be fetched; and templates
            of prompts, which become part of the names of features that read them.
        cache: Folder that keeps values and scores by content: only what is new is measured, and
            a run that was killed goes on where it was.

    Returns:
        One row an answer, sorted by ``language, system, query_id``. After these columns, each
        feature has a column of its name, NaN where it has no value, and a column
        ``<feature>:missing`` with the reason there, None elsewhere.

    Raises:
        UsageError: For unknown features, a feature asked for twice, a model that is not on this
            machine, or ``n_jobs=0``.
        DataError: For malformed or duplicate answers and answers to unknown questions.
        MissingDependencyError: If a feature needs a package that is not installed.
    """
    arena = open_arena(arena)
    named = parse_features(features) if isinstance(features, str) else distinct_features(features)
    options = ModelOptions() if models is None else models
    chosen = with_templates(named, options.templates)
    if n_jobs == 0:
        raise UsageError("`n_jobs` is a number of workers, or -1 for all cores; not 0")
    rows = _rows(arena, answers)
    _require(chosen, rows)
    asked = answers_of(arena, rows)
    folder = None if cache is None else Path(cache)
    measured = Measured.empty(len(rows), len(chosen))
    plain = [column for column, feature in enumerate(chosen) if feature.reading is None]
    reading = [column for column, feature in enumerate(chosen) if feature.reading is not None]
    if plain:
        wanted = [chosen[column] for column in plain]
        part = measure(asked, wanted, n_jobs, folder, progress)
        measured.put(np.arange(len(rows)), np.array(plain), part)
    if reading:
        wanted = [chosen[column] for column in reading]
        part = measure_with_models(asked, wanted, n_jobs, options, folder, progress)
        measured.put(np.arange(len(rows)), np.array(reading), part)
    return _table(rows, chosen, measured)


def _require(chosen: Sequence[Feature], rows: pd.DataFrame) -> None:
    """Check that all packages needed are there before anything is measured."""
    for feature in chosen:
        feature.require()
    if any(SENTENCES in feature.needs for feature in chosen):
        require_sentences(rows["language"].unique())


def _rows(arena: Arena, answers: pd.DataFrame | Path | str | None) -> pd.DataFrame:
    """Return the answers to measure, those to one question side by side."""
    given = arena.answers
    if answers is not None:
        given = open_answers(answers, arena.queries)
    columns = [*QUESTION_KEY, "system", "answer", OWN_PASSAGES]
    return given.filter(columns).sort_values([*QUESTION_KEY, "system"])


def _table(rows: pd.DataFrame, chosen: Sequence[Feature], measured: Measured) -> pd.DataFrame:
    columns: dict[str, Any] = {name: rows[name].astype("str").to_numpy() for name in ORDER}
    for column, feature in enumerate(chosen):
        columns[str(feature)] = measured.values[:, column]
    for column, feature in enumerate(chosen):
        reasons = pd.Series(measured.reasons[:, column], dtype=object)
        columns[f"{feature}{MISSING_SUFFIX}"] = reasons
    table = pd.DataFrame(columns).astype(dict.fromkeys(ORDER, "str"))
    return table.sort_values(ORDER, ignore_index=True)
