"""Ratings by verdicts and surrogate, in all languages of an arena, and what is said beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from arena.data.answer_digests import outdated_sentence
from arena.data.arena import Arena
from arena.data.types import Progress, finish
from arena.data.wording import Remark
from arena.quality.judge_label import report_judge
from arena.quality.preferences import equal_length_ratings
from surrogate.board.estimation import Estimation, Rated, arena_table, stacked
from surrogate.board.judge_comparison import alone_ratings, side_by_side
from surrogate.board.language_study import importances_table, unconnected_remarks
from surrogate.board.learned import Learned, tournament_settings
from surrogate.board.overall import joint_covariance
from surrogate.board.rating_rows import rows_with_verdicts, rows_without_verdicts
from surrogate.board.summary import BoardSummary
from surrogate.board.summary_builder import summarize_board
from surrogate.checks.status import without_ranks
from surrogate.learning.language_data import language_data, others_of
from surrogate.learning.surrogate import reseeded


def estimate_by_verdicts(
    learned: Learned, further_remarks: Sequence[Remark], progress: Progress | None
) -> Estimation:
    """Rate systems by verdicts and surrogate, and sum up.

    Args:
        learned: What was learned from the arena.
        further_remarks: What else stands beside the conclusions.
        progress: Called as stages advance.
    """
    report = report_judge(learned.arena, learned.settings.judge, learned.judging_records)
    summary = summarize_board(learned, report.label)
    finish(progress, "summary")
    rated = _rated_languages(learned, summary)
    equal = equal_length_ratings(learned.judged, learned.settings.ties)
    arena_ratings = stacked(
        [arena_table(study.ratings, study.language, equal.moves) for study in learned.studies]
    )
    is_one_sided = summary.macro.is_one_sided
    if is_one_sided:
        # Verdicts that are all the same tell no ranks and no errors.
        rated = [(without_ranks(rows), covariance * np.nan) for rows, covariance in rated]
        arena_ratings = without_ranks(arena_ratings)
        equal = replace(equal, remarks=())
    by_judge, remarks = _ratings_by_judge(learned)
    if by_judge is not None:
        keys = ["language", "system"]
        rated = [(rows.join(by_judge, on=keys), covariance) for rows, covariance in rated]
    summary = _with_remarks(
        summary,
        *unconnected_remarks(learned.studies),
        *_edited_remarks(learned.judged),
        *remarks,
        *further_remarks,
        *equal.remarks,
    )
    return Estimation(
        rated=rated,
        judgments=learned.judged.judgments,
        report=report,
        summary=summary,
        surrogate=learned.surrogate,
        covariance=_joint_covariance(learned, rated),
        arena_ratings=arena_ratings,
        importances=_importances(learned),
    )


def _with_remarks(summary: BoardSummary, *remarks: Remark) -> BoardSummary:
    macro = summary.macro.model_copy(update={"remarks": remarks})
    return summary.model_copy(update={"macro": macro})


def _edited_remarks(judged: Arena) -> list[Remark]:
    n_outdated = len(judged.outdated)
    if not n_outdated:
        return []
    sentence = f"{outdated_sentence(n_outdated).capitalize()}."
    return [Remark("edited answers", "warning", sentence)]


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


def _ratings_by_judge(learned: Learned) -> tuple[pd.DataFrame | None, tuple[Remark, ...]]:
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
    by_language = {}
    for rows, covariance in rated:
        if not rows.empty:
            by_language[str(rows["language"].iloc[0])] = covariance
    across = None
    if learned.settings.ratings == "posterior":
        across = learned.posteriors.covariance_table()
    return joint_covariance(by_language, across)


def _importances(learned: Learned) -> pd.DataFrame:
    surrogate = learned.surrogate
    importances = surrogate.importances()
    return stacked(
        [importances_table(study, importances, surrogate.features_) for study in learned.studies]
    )
