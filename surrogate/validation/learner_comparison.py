"""Comparing learners as table 3 of MIRAGE-Bench does: R² on training and on held-out systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from joblib import delayed

from arena.data.errors import UsageError
from arena.data.folder import Arena
from arena.data.version import __version__
from features.declare.feature import Feature
from features.engine.extraction import extract, feature_columns
from features.measures.registry import DEFAULT_FEATURES
from surrogate.board.holdout import held_out_r2
from surrogate.learning.regressors import TABLE_3_LEARNERS, find_learner
from surrogate.learning.surrogates import Recipe, SystemSurrogate
from surrogate.validation.scores import finite_mean
from surrogate.validation.study import LanguageArena, TournamentSettings, language_arenas
from surrogate.validation.tasks import (
    Progress,
    Trial,
    learner_state,
    run_tasks,
    train_and_rate,
)
from surrogate.validation.validate import draw_systems

HELD_OUT = 4
REPEATS = 50


@dataclass(frozen=True)
class LearnerComparison:
    """R² of learners on systems they were trained on and on held-out ones.

    Attributes:
        table: Columns ``language, model, train_r2, holdout_r2, holdout_r2_median, repeats``;
            means and median over repeats, which number those with a defined holdout R².
        signature: Settings that reproduce it.
    """

    table: pd.DataFrame
    signature: str


def compare_learners(
    arena: Arena,
    models: Sequence[str] = TABLE_3_LEARNERS,
    features: Sequence[Feature] = DEFAULT_FEATURES,
    *,
    judge: str | None = None,
    feature_table: pd.DataFrame | None = None,
    repeats: int = REPEATS,
    tournaments: TournamentSettings | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> LearnerComparison:
    """Compare learners on random held-out systems (MIRAGE-Bench, table 3).

    Each repeat takes one tournament, holds out four systems drawn by the seed, trains on the
    others' features in that tournament, and scores both.

    Args:
        arena: The arena.
        models: Names of learners.
        features: Features to extract from every answer.
        judge: Whose judgments to learn from.
        feature_table: Features already at hand.
        repeats: Draws of held-out systems.
        tournaments: How tournaments are held, and the seed of everything random.
        n_jobs: Processes to use.
        progress: Called as trainings end.

    Raises:
        UsageError: For an unknown learner, or a language with fewer than seven systems.
        MissingDependencyError: If xgboost is asked for and not installed.
    """
    for model in models:
        find_learner(model).final(0)
    if repeats < 1:
        raise UsageError("repeats must be at least 1")
    how = TournamentSettings() if tournaments is None else tournaments
    judged = arena.judged_by(judge)
    table = extract(arena, features, n_jobs=n_jobs) if feature_table is None else feature_table
    names = feature_columns(table)
    arenas = language_arenas(judged, table, names, how)
    places = [(item, model) for item in arenas for model in models]
    tasks = [
        delayed(_r2)(item, model, repeat, how.seed)
        for item, model in places
        for repeat in range(repeats)
    ]
    done = run_tasks(tasks, n_jobs, progress)
    rows = [
        _row(item.language, model, done[number * repeats : (number + 1) * repeats])
        for number, (item, model) in enumerate(places)
    ]
    signature = (
        f"protocol:table3|arena:{judged.info.name}|judge:{judged.judges[0]}"
        f"|features:{','.join(names)}|models:{','.join(models)}|held:{HELD_OUT}|repeats:{repeats}"
        f"|{arenas[0].tournaments.signature}|version:{__version__}"
    )
    return LearnerComparison(pd.DataFrame(rows), signature)


def _r2(arena: LanguageArena, model: str, repeat: int, seed: int) -> tuple[float, float]:
    """Train one learner on one tournament; R² on the training and the held-out systems."""
    held = draw_systems(arena.systems, HELD_OUT, seed, arena.language, str(repeat))
    index = repeat % arena.settings.tournaments
    field = arena.field_as_in_paper(held).one_tournament(index)
    trial = Trial(arena.drawn(index), field.answers)
    state = learner_state(seed, "table 3", arena.language, str(repeat))
    [rated] = train_and_rate(SystemSurrogate(Recipe(model)), [field], [trial], state)
    truth = arena.tournaments.coefficients[index]
    is_held = np.isin(arena.systems, held)
    return (
        held_out_r2(truth[~is_held], rated.values[~is_held]),
        held_out_r2(truth[is_held], rated.values[is_held]),
    )


def _row(language: str, model: str, done: Sequence[tuple[float, float]]) -> dict[str, object]:
    train, held = np.array(done).T
    defined = held[np.isfinite(held)]
    return {
        "language": language,
        "model": model,
        "train_r2": finite_mean(train.tolist()),
        "holdout_r2": finite_mean(held.tolist()),
        "holdout_r2_median": float(np.median(defined)) if defined.size else float("nan"),
        "repeats": defined.size,
    }
