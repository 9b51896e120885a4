"""Building the board of an arena: what is trained, the rows, and everything beside them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.folder import open_arena
from arena.data.seeds import by_content
from arena.data.types import Progress
from arena.diagnostics import diagnose_languages
from arena.rating.pairs import checked_number
from features.declare.feature import Feature
from features.engine.columns import feature_columns
from features.models.scorer import ModelOptions
from surrogate.board import tables
from surrogate.board.board import Board
from surrogate.board.details import (
    alone_ratings,
    arena_table,
    difference_table,
    judges_beside,
    side_by_side,
    win_table,
)
from surrogate.board.first_board import first_ratings
from surrogate.board.judge_report import JudgeReport, JudgingRecords, report_judge
from surrogate.board.overall import joint_covariance, overall_board
from surrogate.board.rows import judged_rows, unjudged_rows, without_intervals
from surrogate.board.settings import (
    NOBODY,
    PRESET,
    BoardRecord,
    BoardSettings,
    BuildOptions,
    board_judges,
    chosen_settings,
    lists_options,
)
from surrogate.board.study import (
    LanguageStudy,
    check_holdout,
    choose_holdout,
    importances_table,
    study_languages,
)
from surrogate.board.summarize import summarize_board, summarize_first_board
from surrogate.board.summary import UNPROVEN
from surrogate.integrity.notes import Seen, look_at, near_copies, system_status
from surrogate.learning.languages import (
    TournamentSettings,
    in_slices,
    language_data,
    others_of,
    with_answers,
)
from surrogate.learning.names import find_surrogate
from surrogate.learning.surrogate import KEYS, Surrogate, reseeded

RUN_ARGUMENTS = ("settings", "feature_table", "records", "n_jobs", "models", "progress", "cache")
"""Keyword arguments of ``build_board`` that are no options of the board."""


@lists_options([*BoardSettings.model_fields, PRESET])
def build_board(
    arena: Arena | Path | str,
    settings: BoardSettings | None = None,
    *,
    feature_table: pd.DataFrame | None = None,
    records: JudgingRecords | None = None,
    n_jobs: int = 1,
    models: ModelOptions | None = None,
    progress: Progress | None = None,
    cache: Path | str | None = None,
    **options: Unpack[BuildOptions],
) -> Board:
    """Rate every system of an arena by verdicts and surrogate, in all its languages.

    Or in all parts of the questions by another column of theirs, such as ``by="topic"``: whatever
    is called a language is such a part, then.

    An arena without any verdict or published rating gets a first board; see ``first_board``. The
    same arguments give the same board, whatever ``n_jobs``.

    Args:
        arena: The arena, or the path of its folder.
        settings: By default what ``options`` say.
        feature_table: Features already at hand (published scores, say), used instead of
            extracting any.
        records: What is known of the judge beside its judgments; see ``read_judging_records``.
        n_jobs: Processes to use; -1 for all cores.
        models: How features' models are run; see ``features.extract``.
        progress: Called as stages advance.
        cache: Folder that keeps features, so that only new answers are measured the next time.
        options: Listed below, such as ``judge="gpt-4o", tournaments=50, seed=1``;
            ``preset="mirage"`` for a board as MIRAGE-Bench was published. ``features`` may hold
            features as values, too.

    Raises:
        UsageError: For an unknown option, or a choice that the arena does not allow.
    """
    features = options.pop("features", None)
    settings = chosen_settings(settings, options, RUN_ARGUMENTS)
    arena = open_arena(arena)
    for _, names in arena.answers.groupby("language")["system"]:  # every two of them are compared
        checked_number(names.nunique())
    judges, left_out = judges_beside(arena, board_judges(arena, settings))
    judge = judges[0] if judges else None
    whole, arena = arena, settings.view(arena)
    judged = arena if judge is None else arena.judged_by(judge)
    surrogate = find_surrogate(  # before anything is measured: what is misspelt costs nothing
        settings.surrogate,
        rows=settings.rows,
        missing=settings.missing,
        seed=settings.seed,
        n_jobs=n_jobs,
    )
    holdout = () if judge is None else _holdout(judged, settings.holdout, surrogate)
    if feature_table is None:
        asked = settings.features if features is None else features
        from features.engine.extraction import extract  # loaded where it is needed

        table = extract(whole, asked, n_jobs=n_jobs, models=models, progress=progress, cache=cache)
        table = in_slices(table, whole.queries, settings.by)
    else:
        feature_table = in_slices(feature_table, whole.queries, settings.by)
        answered = pd.MultiIndex.from_frame(arena.answers[KEYS])
        own = pd.MultiIndex.from_frame(feature_table[KEYS]).isin(answered)
        table = feature_table[own].reset_index(drop=True)
    record = BoardRecord(
        **settings.model_dump(exclude={"judge", "features", "holdout", "ratings"}),
        judge=NOBODY if judge is None else judge,
        other_judges=judges[1:],
        ratings="consensus" if judge is None else settings.ratings,
        features=tuple(feature_columns(table)),
        holdout=holdout,
        metaevaluation=tuple(map(str, records.metaevaluations if records and judge else ())),
    )
    if judge is None:
        return _first_board(arena, table, record)
    X = with_answers(table, arena.answers)
    how = TournamentSettings(
        record.tournaments, record.questions, record.ties, record.ridge, record.seed
    )
    data = language_data(judged, X, how)
    if not data:
        raise UsageError(f"no {settings.by} has judgments or published ratings to learn from")
    others = arena.judgments[arena.judgments["judge"].isin(judges[1:])]
    data = [replace(item, others=others[others["language"] == item.language]) for item in data]
    studies = study_languages(data, surrogate, record, n_jobs, progress)
    predicted = surrogate.predict(X)
    diagnoses = diagnose_languages(judged)
    summary = summarize_board(
        arena, table, studies, surrogate, predicted, diagnoses, record, records or JudgingRecords()
    )
    questions = arena.queries["language"].value_counts()
    unproven = {str(code) for code in questions.index if not summary.ranks_unseen_in(str(code))}
    looks = _looks(arena, X, studies, surrogate, unproven)
    ever = {name for study in studies for name in study.data.systems}
    systems, rated = arena.info.systems, []
    by_language = {study.language: study for study in studies}
    for language in sorted(questions.index):
        own = predicted[predicted["language"] == language].set_index("system")
        if study := by_language.get(language):
            there = looks[looks.index.get_level_values("language") == language].droplevel(0)
            interval = summary.languages[language].interval
            rated.append(judged_rows(study, own, systems, interval, there))
        else:
            never = [] if language not in unproven else sorted(set(systems) - ever)
            rated.append(unjudged_rows(language, own, systems, int(questions[language]), never))
    alone = _stacked([arena_table(study.ratings, study.language) for study in studies])
    if summary.macro.judge is not None and summary.macro.judge.is_one_sided:
        rated = [(without_intervals(rows), covariance * np.nan) for rows, covariance in rated]
        alone = without_intervals(alone)
    parts = [(rows, covariance) for rows, covariance in rated if not rows.empty]
    ratings = _stacked([rows for rows, _ in parts])
    if others_known := others_of(data):
        by_judge = {judge: alone_ratings(data, surrogate)}
        for name in judges[1:]:
            own = language_data(arena.judged_by(name), X, how)
            by_judge[name] = alone_ratings(own, reseeded(surrogate, surrogate.seed))
        columns, said = side_by_side(by_judge, others_known.slopes)
        ratings = ratings.join(columns, on=["language", "system"])
        left_out = (*said, *left_out)
    joint = joint_covariance(
        {str(rows["language"].iloc[0]): covariance for rows, covariance in parts},
        studies[0].joint.covariance_table() if record.ratings == "posterior" else None,
    )
    macro = summary.macro.model_copy(update={"beside": tuple(left_out)})
    importances = surrogate.importances()
    return Board(
        ratings=ratings,
        overall=overall_board(ratings, joint, record.seed),
        arena=alone,
        importances=_stacked(
            [importances_table(study, importances, surrogate.features_) for study in studies]
        ),
        win_matrix=win_table(judged.judgments),
        differences=difference_table(rated),
        features=table,
        judge_report=report_judge(arena, judge, diagnoses, records or JudgingRecords()),
        summary=summary.model_copy(update={"macro": macro}),
        surrogate_or_file=surrogate,
        own_features=tuple(item for item in features or () if isinstance(item, Feature)),
    )


def _first_board(arena: Arena, table: pd.DataFrame, record: BoardRecord) -> Board:
    """Build a board without any verdict."""
    X = with_answers(table, arena.answers)
    counts = arena.queries["language"].value_counts().sort_index()
    systems, reference = arena.info.systems, arena.info.reference_system
    found = {
        str(language): first_ratings(X, str(language), systems, int(count), reference, record.seed)
        for language, count in counts.items()
        if (X["language"] == language).any()
    }
    if not found:
        raise UsageError("no language has answers to compare")
    ratings = _stacked([item.table for item in found.values()])
    nothing = arena.judgments.iloc[:0]
    unlearned = find_surrogate(record.surrogate, seed=record.seed)
    return Board(
        ratings=ratings,
        overall=overall_board(ratings),
        arena=tables.ARENA.empty(),
        importances=tables.IMPORTANCES.empty(),
        win_matrix=win_table(nothing),
        differences=difference_table([(item.table, item.covariance) for item in found.values()]),
        features=table,
        judge_report=JudgeReport(judge=NOBODY),
        summary=summarize_first_board(arena, table, found, record),
        surrogate_or_file=unlearned.restore(X.iloc[:0], {}, {}),
    )


def _holdout(judged: Arena, holdout: Sequence[str] | None, surrogate: Surrogate) -> tuple[str, ...]:
    """Hold systems out where that says something: for R² of surrogates of single tournaments."""
    if holdout is not None:
        return check_holdout(holdout, judged.rated_systems)
    if surrogate.pooled:
        return ()
    return choose_holdout(by_content(judged.rated_systems, judged.answers), surrogate.seed)


def _looks(
    arena: Arena,
    X: pd.DataFrame,
    studies: Sequence[LanguageStudy],
    surrogate: Surrogate,
    unproven: Collection[str],
) -> pd.DataFrame:
    """Look at everybody's answers, beside the judged systems'; see ``integrity.notes``.

    In languages where the surrogate is unproven, systems that nobody has judged have no rank.
    """
    judged: Mapping[str, Sequence[str]] = {study.language: study.data.systems for study in studies}
    questions = {study.language: len(study.data.questions) for study in studies}
    answers = arena.answers[arena.answers["language"].isin(judged)]
    keys = zip(answers["language"], answers["system"], strict=True)
    known = pd.Series([name in judged[language] for language, name in keys], answers.index, bool)
    seen = Seen(
        look_at(answers, judged, arena.queries), near_copies(answers[~known], answers[known])
    )
    looks = system_status(seen, surrogate, X[X["language"].isin(judged)], questions, judged)
    ever = {name for names in judged.values() for name in names}
    is_barred = looks.index.get_level_values("language").isin(list(unproven))
    is_barred &= ~looks.index.get_level_values("system").isin(ever)
    is_barred &= (looks[["original", "unranked"]] == "").all(axis=1).to_numpy()
    looks.loc[is_barred, "unranked"] = UNPROVEN
    return looks


def _stacked(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(parts, ignore_index=True)
