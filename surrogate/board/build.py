"""Building the board of an arena: measure, learn, estimate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from arena.data.arena import Arena
from arena.data.folder import open_arena
from arena.data.rows import are_in
from arena.data.types import Progress, finish
from arena.data.wording import Remark
from arena.quality.judge_report import JudgingRecords
from arena.rating.pairs import checked_number
from arena.rating.soft_verdicts import temperature_remarks, values_by_judge
from arena.statistics.bootstrap import by_content
from features.declare.feature import Feature
from features.declare.models import Models
from features.engine.extraction import FEATURE_KEY, completed_table, extract, feature_columns
from surrogate.board.board import Board
from surrogate.board.judged_board import estimate_by_verdicts, learn
from surrogate.board.settings import (
    NOBODY,
    PRESET,
    BoardSettings,
    ResolvedSettings,
    chosen_settings,
    lists_options,
)
from surrogate.board.slices import in_slices
from surrogate.board.view import (
    arena_view,
    board_judges,
    check_holdout,
    choose_holdout,
    comparable_judges,
    judging_temperatures,
)
from surrogate.learning.surrogate import Surrogate, find_surrogate

RUN_ARGUMENTS = (
    "settings",
    "feature_table",
    "judging_records",
    "n_jobs",
    "models",
    "progress",
    "cache",
)
"""Keyword arguments of ``build_board`` that are no options of the board."""


@lists_options([*BoardSettings.model_fields, PRESET])
def build_board(
    arena: Arena | Path | str,
    settings: BoardSettings | None = None,
    *,
    feature_table: pd.DataFrame | None = None,
    judging_records: JudgingRecords | None = None,
    n_jobs: int = 1,
    models: Models | None = None,
    progress: Progress | None = None,
    cache: Path | str | None = None,
    **options: Any,  # noqa: ANN401 - fields of BoardSettings
) -> Board:
    """Rate every system of an arena by verdicts and surrogate, in all its languages.

    An arena without any verdict or published rating gets a board without verdicts.

    Args:
        arena: The arena, or its folder.
        settings: Settings of the board; ``options`` override them.
        feature_table: Features at hand; only missing ones are measured.
        judging_records: Records of the judge; by default the folder's.
        n_jobs: Processes; -1 for all cores.
        models: How models are run.
        progress: Called as stages advance.
        cache: Folder that keeps features.
        options: Listed below; ``features`` may hold ``Feature`` values.

    Returns:
        The board, with a surrogate that ranks new systems.

    Raises:
        UsageError: For an unknown option or choice.

    Examples:
        >>> from arena import sample_arena
        >>> board = build_board(sample_arena(), judge="gpt-4o", features="citations", tournaments=5)
        >>> board.systems[0]
        'llm-essay'
    """
    features = options.pop("features", None)
    settings = chosen_settings(settings, options, RUN_ARGUMENTS)
    opened = open_arena(arena)
    records = judging_records or JudgingRecords()
    plan = _planned(opened, settings, records, n_jobs)
    measuring: dict[str, Any] = {
        "n_jobs": n_jobs,
        "models": models,
        "progress": progress,
        "cache": cache,
    }
    if feature_table is None:
        chosen = settings.features if features is None else features
        feature_table = extract(opened, chosen, **measuring)
        finish(progress, "features")
    elif features is not None:
        feature_table = completed_table(feature_table, opened, features, **measuring)
    table = in_slices(feature_table, opened.queries, settings.by)
    table = table[are_in(table, plan.arena.answers, FEATURE_KEY)].reset_index(drop=True)
    resolved = plan.settings.model_copy(update={"features": tuple(feature_columns(table))})
    if plan.has_verdicts:
        learned = learn(plan.arena, table, plan.surrogate, resolved, records, n_jobs, progress)
        estimation = estimate_by_verdicts(learned, plan.remarks, progress)
    else:
        from surrogate.board.unjudged_board import estimate_without_verdicts

        estimation = estimate_without_verdicts(plan.arena, table, plan.surrogate, resolved)
    own_features = tuple(feature for feature in features or () if isinstance(feature, Feature))
    board = replace(
        estimation.board(table, own_features),
        built_from=arena if isinstance(arena, Arena) else Path(arena).resolve(),
    )
    finish(progress, "tables")
    return board


class _Plan(NamedTuple):
    """Arena and settings of a board before answers are measured."""

    arena: Arena
    surrogate: Surrogate
    settings: ResolvedSettings
    remarks: tuple[Remark, ...] = ()

    @property
    def has_verdicts(self) -> bool:
        return self.settings.judge != NOBODY


def _planned(arena: Arena, settings: BoardSettings, records: JudgingRecords, n_jobs: int) -> _Plan:
    for _, systems in arena.answers.groupby("language")["system"]:
        checked_number(systems.nunique())
    judges = board_judges(arena, settings)
    omissions: tuple[Remark, ...] = ()
    if len(judges) > 1:
        judges, omissions = comparable_judges(arena, judges)
    surrogate = find_surrogate(
        settings.surrogate,
        rows=settings.rows,
        missing=settings.missing,
        seed=settings.seed,
        n_jobs=n_jobs,
    )
    unchanged = settings.model_dump(exclude={"judge", "features", "holdout", "ratings"})
    if not judges:
        resolved = ResolvedSettings(**unchanged, judge=NOBODY, ratings="consensus", holdout=())
        return _Plan(arena_view(arena, settings, {}), surrogate, resolved)
    by_judges = arena.by_criterion(settings.criterion).judgments
    temperatures = judging_temperatures(by_judges, settings)
    sliced_arena = arena_view(arena, settings, values_by_judge(temperatures))
    judged = sliced_arena.judged_by(judges[0])
    resolved = ResolvedSettings(
        **unchanged,
        judge=judges[0],
        other_judges=judges[1:],
        ratings=settings.ratings,
        holdout=_holdout(judged, settings.holdout, surrogate),
        metaevaluation=tuple(str(entry) for entry in records.metaevaluations),
        temperatures=values_by_judge(temperatures),
    )
    remarks = (*omissions, *temperature_remarks(temperatures, sliced_arena.judgments))
    return _Plan(sliced_arena, surrogate, resolved, remarks)


def _holdout(judged: Arena, holdout: Sequence[str] | None, surrogate: Surrogate) -> tuple[str, ...]:
    if holdout is not None:
        return check_holdout(holdout, judged.rated_systems)
    if surrogate.pooled:  # it does not learn from single tournaments
        return ()
    return choose_holdout(by_content(judged.rated_systems, judged.answers), surrogate.seed)
