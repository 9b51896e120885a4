"""Building the board of an arena: learn from it, rate its systems, sum up, and put it together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from arena.data.answer_digests import outdated_sentence
from arena.data.arena import Arena
from arena.data.folder import open_arena
from arena.data.progress import finish
from arena.data.seeds import by_content
from arena.data.selection import are_in
from arena.data.slices import in_slices
from arena.data.types import Progress
from arena.rating.biases import JudgeBias
from arena.rating.pairs import checked_number
from arena.rating.soft_verdicts import Temperature, temperature_notes
from features.declare.feature import Feature
from features.declare.models import Models
from features.engine.columns import FEATURE_KEY, feature_columns
from surrogate.board.board import Board
from surrogate.board.detail_tables import arena_table, difference_table, win_table
from surrogate.board.equal_length import equal_length_ratings
from surrogate.board.first_board import build_first_board
from surrogate.board.holdout import check_holdout, choose_holdout
from surrogate.board.judge_comparison import alone_ratings, comparable_judges, side_by_side
from surrogate.board.judge_preferences import judge_preferences
from surrogate.board.judge_report import JudgeReport, JudgingRecords, report_judge
from surrogate.board.language_study import importances_table, unconnected_remarks
from surrogate.board.learned import Learned, learn, tournament_settings
from surrogate.board.overall import joint_covariance, overall_board
from surrogate.board.rating_rows import rows_with_verdicts, rows_without_verdicts
from surrogate.board.resolved_settings import ResolvedSettings
from surrogate.board.settings import (
    NOBODY,
    PRESET,
    BoardSettings,
    chosen_settings,
    lists_options,
)
from surrogate.board.summary import BoardSummary
from surrogate.board.summary_builder import summarize_board
from surrogate.board.view import (
    arena_view,
    board_judges,
    judging_temperatures,
    values_by_judge,
)
from surrogate.checks.status import without_ranks
from surrogate.learning.language_data import language_data, others_of
from surrogate.learning.names import find_surrogate
from surrogate.learning.surrogate import Surrogate, reseeded

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

Rated = tuple[pd.DataFrame, pd.DataFrame]
"""``tables.RATINGS`` of one language, and the covariance of the ratings."""


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

    With ``by="topic"``, or another column of the questions, the board has a part for each topic
    instead of one for each language.

    An arena without any verdict or published rating gets a first board; see ``first_board``. The
    same arguments give the same board, whatever ``n_jobs``.

    Args:
        arena: The arena, or the path of its folder.
        settings: Settings of the board; ``options`` override them.
        feature_table: Features already at hand (published scores, say), used instead of
            extracting any.
        judging_records: The judge's meta-evaluations and failures; see ``read_judging_records``.
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
    opened = open_arena(arena)
    built_from = opened if isinstance(arena, Arena) else Path(arena).resolve()
    arena = opened
    _check_pair_counts(arena)
    judges, omitted_judges = comparable_judges(arena, board_judges(arena, settings))
    # Before anything is measured, so that a misspelt name costs no time.
    surrogate = find_surrogate(
        settings.surrogate,
        rows=settings.rows,
        missing=settings.missing,
        seed=settings.seed,
        n_jobs=n_jobs,
    )
    temperatures: tuple[Temperature, ...] = ()
    if judges:
        by_judges = arena.by_criterion(settings.criterion).judgments
        temperatures = judging_temperatures(by_judges, settings)
    sliced_arena = arena_view(arena, settings, values_by_judge(temperatures))
    holdout: tuple[str, ...] = ()
    if judges:
        holdout = _holdout(sliced_arena.judged_by(judges[0]), settings.holdout, surrogate)
    if feature_table is None:
        from features.engine.extraction import extract  # heavy imports, not always needed

        feature_table = extract(
            arena,
            settings.features if features is None else features,
            n_jobs=n_jobs,
            models=models,
            progress=progress,
            cache=cache,
        )
        finish(progress, "features")
    table = in_slices(feature_table, arena.queries, settings.by)
    is_answer = are_in(table, sliced_arena.answers, FEATURE_KEY)
    table = table[is_answer].reset_index(drop=True)
    judging_records = judging_records or JudgingRecords()
    resolved = _resolved(settings, judges, holdout, table, judging_records, temperatures)
    if not judges:
        return replace(build_first_board(sliced_arena, table, resolved), built_from=built_from)
    learned = learn(sliced_arena, table, surrogate, resolved, judging_records, n_jobs, progress)
    own_features = tuple(feature for feature in features or () if isinstance(feature, Feature))
    remarks = [*omitted_judges, *temperature_notes(temperatures, learned.arena.judgments)]
    board = _board(learned, remarks, own_features, progress)
    return replace(board, built_from=built_from)


def _check_pair_counts(arena: Arena) -> None:
    """Refuse more systems in a language than can be compared with each other."""
    for _, systems in arena.answers.groupby("language")["system"]:
        checked_number(systems.nunique())


def _holdout(judged: Arena, holdout: Sequence[str] | None, surrogate: Surrogate) -> tuple[str, ...]:
    """Choose the systems to hold out, for R² of surrogates of single tournaments."""
    if holdout is not None:
        return check_holdout(holdout, judged.rated_systems)
    if surrogate.pooled:  # it does not learn from single tournaments
        return ()
    return choose_holdout(by_content(judged.rated_systems, judged.answers), surrogate.seed)


def _resolved(
    settings: BoardSettings,
    judges: Sequence[str],
    holdout: tuple[str, ...],
    features: pd.DataFrame,
    judging_records: JudgingRecords,
    temperatures: tuple[Temperature, ...],
) -> ResolvedSettings:
    """Return the settings with what they lead to: the judges, features and held-out systems."""
    unchanged = settings.model_dump(exclude={"judge", "features", "holdout", "ratings"})
    metaevaluations = judging_records.metaevaluations if judges else ()
    return ResolvedSettings(
        **unchanged,
        judge=judges[0] if judges else NOBODY,
        other_judges=tuple(judges[1:]),
        ratings=settings.ratings if judges else "consensus",
        features=tuple(feature_columns(features)),
        holdout=holdout,
        metaevaluation=tuple(str(entry) for entry in metaevaluations),
        temperatures=values_by_judge(temperatures),
    )


def _board(
    learned: Learned,
    further_remarks: Sequence[str],
    own_features: tuple[Feature, ...],
    progress: Progress | None,
) -> Board:
    """Put a board together from what was learned."""
    summary = summarize_board(learned)
    finish(progress, "summary")
    rated = _rated_languages(learned, summary)
    equal = equal_length_ratings(learned.judged, learned.settings.ties)
    arena_ratings = _stacked(
        [arena_table(study.ratings, study.language, equal.moves) for study in learned.studies]
    )
    is_one_sided = summary.macro.is_one_sided
    if is_one_sided:
        # Verdicts that are all the same tell no ranks, errors or preference, and no first place.
        rated = [(without_ranks(rows), covariance * np.nan) for rows, covariance in rated]
        arena_ratings = without_ranks(arena_ratings)
        equal = replace(equal, remarks=(), biases=())
    report = _judge_report(learned, equal.biases, has_first_places=not is_one_sided)
    ratings = _stacked([rows for rows, _ in rated if not rows.empty])
    by_judge, remarks = _ratings_by_judge(learned)
    if by_judge is not None:
        ratings = ratings.join(by_judge, on=["language", "system"])
    summary = _with_remarks(
        summary,
        *unconnected_remarks(learned.studies),
        *_edited_remarks(learned.judged),
        *remarks,
        *further_remarks,
        *report.member_sentences,
        *equal.remarks,
    )
    covariance = _joint_covariance(learned, rated)
    overall = overall_board(ratings, covariance, learned.settings.seed)
    built = Board(
        ratings=ratings,
        overall=overall,
        arena=arena_ratings,
        importances=_importances(learned),
        win_matrix=win_table(learned.judged.judgments),
        differences=difference_table(rated),
        features=learned.features,
        judge_report=report,
        summary=summary,
        surrogate_or_file=learned.surrogate,
        own_features=own_features,
    )
    finish(progress, "tables")
    return built


def _judge_report(
    learned: Learned, biases: Sequence[JudgeBias], *, has_first_places: bool
) -> JudgeReport:
    """Report the board's judge, with its preferences and, if it has any, its first places."""
    report = report_judge(learned.arena, learned.settings.judge, learned.judging_records)
    changes: dict[str, object] = {"preferences": judge_preferences(biases)}
    # Verdicts that do not connect all judged systems tell no first place.
    split = {study.language for study in learned.studies if study.data.unconnected}
    places = [place for place in report.first_places if place.language not in split]
    changes["first_places"] = tuple(places) if has_first_places else ()
    return report.model_copy(update=changes)


def _with_remarks(summary: BoardSummary, *remarks: str) -> BoardSummary:
    """Add what stands beside the conclusions on all languages."""
    macro = summary.macro.model_copy(update={"beside": remarks})
    return summary.model_copy(update={"macro": macro})


def _edited_remarks(judged: Arena) -> list[str]:
    n_outdated = len(judged.outdated)
    return [f"{outdated_sentence(n_outdated).capitalize()}."] if n_outdated else []


def _rated_languages(learned: Learned, summary: BoardSummary) -> list[Rated]:
    """Rate all systems in every language, by name of the language.

    Where the surrogate is not shown to work, systems without any verdict have no rank.
    """
    systems = learned.arena.info.systems
    n_questions = learned.arena.queries["language"].value_counts()
    studies = {study.language: study for study in learned.studies}
    status = learned.system_status()
    rated = []
    for language in sorted(n_questions.index):
        unproven: set[str] = set()
        if not summary.ranks_unseen_in(language):
            unproven = set(systems) - learned.judged_systems
        predictions = learned.predictions_in(language)
        study = studies.get(language)
        if study is None:
            rows = rows_without_verdicts(
                language, predictions, systems, int(n_questions[language]), unproven
            )
        else:
            is_here = status.index.get_level_values("language") == language
            of_language = status[is_here].droplevel("language")
            interval = summary.languages[language].interval
            rows = rows_with_verdicts(study, predictions, systems, interval, of_language, unproven)
        rated.append(rows)
    return rated


def _ratings_by_judge(learned: Learned) -> tuple[pd.DataFrame | None, tuple[str, ...]]:
    """Rate by each judge alone, where there are several, and compare them with the board's own."""
    data = [study.data for study in learned.studies]
    others = others_of(data)
    if others is None:
        return None, ()
    settings = learned.settings
    by_judge = {settings.judge: alone_ratings(data, learned.surrogate)}
    for name in settings.other_judges:
        judged = learned.arena.judged_by(name)
        judged_data = language_data(judged, learned.X, tournament_settings(settings))
        untrained = reseeded(learned.surrogate, learned.surrogate.seed)
        by_judge[name] = alone_ratings(judged_data, untrained)
    return side_by_side(by_judge, others.slopes)


def _joint_covariance(learned: Learned, rated: Sequence[Rated]) -> pd.DataFrame:
    """Return how the ratings of all languages vary together."""
    by_language = {}
    for rows, covariance in rated:
        if not rows.empty:
            by_language[str(rows["language"].iloc[0])] = covariance
    across = None
    if learned.settings.ratings == "posterior":
        across = learned.posteriors.covariance_table()
    return joint_covariance(by_language, across)


def _importances(learned: Learned) -> pd.DataFrame:
    """Return the importances of features in every judged language."""
    surrogate = learned.surrogate
    importances = surrogate.importances()
    return _stacked(
        [importances_table(study, importances, surrogate.features_) for study in learned.studies]
    )


def _stacked(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(parts, ignore_index=True)
