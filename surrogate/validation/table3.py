"""Comparing surrogates as table 3 of MIRAGE-Bench does: R² on training and on held-out systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np
import pandas as pd
from joblib import delayed
from sklearn.base import BaseEstimator

from arena.data.arena import Arena
from arena.data.errors import UsageError
from surrogate.board.holdout import fit_tournament
from surrogate.learning.cross_fitting import derived_seed
from surrogate.learning.languages import LanguageData
from surrogate.learning.names import TABLE_3_SURROGATES, as_surrogate, described
from surrogate.learning.surrogate import TREES, Surrogate
from surrogate.validation.protocols import drawn_holdout
from surrogate.validation.scores import finite_mean
from surrogate.validation.study import Study, StudyOptions, StudyTable

HELD_OUT = 4
REPEATS = 50


def compare_surrogates(
    arena: Arena,
    surrogates: Sequence[str | Surrogate | BaseEstimator] = TABLE_3_SURROGATES,
    *,
    repeats: int = REPEATS,
    **options: Unpack[StudyOptions],
) -> StudyTable:
    """Compare surrogates on random held-out systems (MIRAGE-Bench, table 3).

    Each repeat takes one tournament, holds out four systems drawn by the seed, trains on the
    others' features in that tournament, and scores both.

    Arguments that are not told here are those of ``validate``.

    Args:
        surrogates: Some of ``surrogate.learning.names.SURROGATE_NAMES``, or unfitted ones; as
            published those of ``PLAIN_TABLE_3_SURROGATES`` that count missing values 0.
        repeats: Draws of held-out systems.

    Returns:
        Columns ``language, surrogate, train_r2, holdout_r2, holdout_r2_median, repeats``; means
        and median over repeats, which number those with a defined holdout R².

    Raises:
        UsageError: For an unknown surrogate, or a language with fewer than seven systems.
        MissingDependencyError: If xgboost is asked for and not installed.
    """
    chosen = [as_surrogate(item) for item in surrogates]
    study = Study.of(arena, repeats=repeats, **options)
    places = [(item, surrogate) for item in study.languages for surrogate in chosen]
    tasks = [
        delayed(_r2)(item, surrogate, repeat, study.settings.seed)
        for item, surrogate in places
        for repeat in range(repeats)
    ]
    done = study.repeats.run(tasks)
    rows = [
        _row(item.language, surrogate.name, done[number * repeats : (number + 1) * repeats])
        for number, (item, surrogate) in enumerate(places)
    ]
    names = ",".join(map(described, chosen))
    settings = study.signature("table3", f"held:{HELD_OUT}", surrogates=names)
    return StudyTable(pd.DataFrame(rows), settings)


def _r2(data: LanguageData, surrogate: Surrogate, repeat: int, seed: int) -> tuple[float, float]:
    """Train a surrogate on one tournament; R² on the training and the held-out systems."""
    held = drawn_holdout(data.systems_by_content, HELD_OUT, seed, data.language, str(repeat))
    state = derived_seed(seed, "table 3", data.language, str(repeat))
    index = repeat % data.settings.tournaments
    try:
        [fit] = fit_tournament([data], surrogate, held, index, state, TREES)
    except UsageError:
        return float("nan"), float("nan")
    return fit.train_r2, fit.holdout_r2


def _row(language: str, name: str, done: Sequence[tuple[float, float]]) -> dict[str, object]:
    train, held = np.array(done).T
    defined = held[np.isfinite(held)]
    return {
        "language": language,
        "surrogate": name,
        "train_r2": finite_mean(train.tolist()),
        "holdout_r2": finite_mean(held.tolist()),
        "holdout_r2_median": float(np.median(defined)) if defined.size else float("nan"),
        "repeats": defined.size,
    }
