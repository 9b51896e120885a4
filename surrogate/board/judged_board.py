"""A board by verdicts: learn from an arena, and rate its systems in all its languages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from arena.data.answer_digests import outdated_remark
from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.types import Progress, finish
from arena.data.wording import Remark, sentence
from arena.quality.judge_label import report_judge
from arena.quality.judge_report import JudgingRecords
from arena.quality.preferences import equal_length_ratings
from surrogate.board.derived_tables import (
    Estimation,
    Rated,
    joint_covariance,
    stacked,
    verdict_rating_table,
)
from surrogate.board.language_rows import rows_with_verdicts, rows_without_verdicts
from surrogate.board.language_study import (
    LanguageStudy,
    importances_table,
    study_languages,
    unconnected_remarks,
)
from surrogate.board.rank_reasons import CONTRADICTED, joined_texts
from surrogate.board.ranks import without_ranks
from surrogate.board.rating_rows import ranking_status
from surrogate.board.settings import ResolvedSettings
from surrogate.board.summary import BoardSummary
from surrogate.board.summary_builder import summarize_board
from surrogate.checks.copies import flag_judged, near_copies
from surrogate.learning.language_data import LanguageData, TournamentSettings, language_data
from surrogate.learning.observations import JointPosterior
from surrogate.learning.replication import Replication
from surrogate.learning.surrogate import Surrogate
from surrogate.learning.training_data import with_answers


@dataclass(frozen=True)
class Learned:
    """Everything learned from an arena, and its sources.

    ``judged`` has the board's judge alone, ``X`` also texts, ``predictions`` also systems trained
    on.
    """

    arena: Arena
    judged: Arena
    settings: ResolvedSettings
    judging_records: JudgingRecords
    features: pd.DataFrame
    X: pd.DataFrame
    studies: Sequence[LanguageStudy]
    posteriors: JointPosterior
    halves: Replication
    surrogate: Surrogate
    predictions: pd.DataFrame

    @cached_property
    def judged_systems(self) -> frozenset[str]:
        """Return the systems with verdicts in at least one language."""
        names: set[str] = set()
        for study in self.studies:
            names.update(study.data.systems)
        return frozenset(names)

    def predictions_in(self, language: str) -> pd.DataFrame:
        """Return predictions in a language, by system."""
        is_here = self.predictions["language"] == language
        return self.predictions[is_here].set_index("system")

    def system_status(self) -> pd.DataFrame:
        """Say whose answers rank them, and which are copies."""
        judged = {study.language: study.data.systems for study in self.studies}
        n_questions = {study.language: len(study.data.questions) for study in self.studies}
        answers = self.arena.answers[self.arena.answers["language"].isin(judged)]
        is_judged = flag_judged(answers, judged)
        originals = near_copies(answers[~is_judged], answers[is_judged])
        rows = self.X[self.X["language"].isin(judged)]
        return ranking_status(originals, self.surrogate, rows, n_questions, judged)


def learn(
    arena: Arena,
    features: pd.DataFrame,
    surrogate: Surrogate,
    settings: ResolvedSettings,
    judging_records: JudgingRecords,
    n_jobs: int,
    progress: Progress | None,
) -> Learned:
    """Train the surrogate, in place, on all languages, and study each."""
    judged = arena.judged_by(settings.judge)
    X = with_answers(features, arena.answers)
    data = _with_judged_answers(language_data(judged, X, tournament_settings(settings)))
    if not data:
        raise UsageError(f"no {settings.by} has judgments or published ratings to learn from")
    data = _with_other_judges(data, arena.judgments, settings.other_judges)
    finish(progress, "ratings by verdicts")
    studies, posteriors, halves = study_languages(data, surrogate, settings, n_jobs, progress)
    learned = Learned(
        arena=arena,
        judged=judged,
        settings=settings,
        judging_records=judging_records,
        features=features,
        X=X,
        studies=studies,
        posteriors=posteriors,
        halves=halves,
        surrogate=surrogate,
        predictions=surrogate.predict(X),
    )
    finish(progress, "predictions")
    return learned


def tournament_settings(settings: ResolvedSettings) -> TournamentSettings:
    """Return how a board draws its tournaments."""
    return TournamentSettings(
        tournaments=settings.tournaments,
        questions=settings.questions,
        ties=settings.ties,
        ridge=settings.ridge,
        seed=settings.seed,
    )


def _with_judged_answers(data: Sequence[LanguageData]) -> list[LanguageData]:
    """Leave out answers of systems that no language judged."""
    judged: set[str] = set()
    for part in data:
        judged.update(part.systems)
    return [replace(part, X=part.X[part.X["system"].isin(judged)]) for part in data]


def _with_other_judges(
    data: Sequence[LanguageData], judgments: pd.DataFrame, judges: Sequence[str]
) -> list[LanguageData]:
    by_others = judgments[judgments["judge"].isin(judges)]
    extended = []
    for part in data:
        others = by_others[by_others["language"] == part.language]
        extended.append(replace(part, others=others))
    return extended


def estimate_by_verdicts(
    learned: Learned, further_remarks: Sequence[Remark], progress: Progress | None
) -> Estimation:
    """Rate systems by verdicts and surrogate, and sum up."""
    report = report_judge(learned.arena, learned.settings.judge, learned.judging_records)
    summary = summarize_board(learned, report.label)
    finish(progress, "summary")
    rated = _rated_languages(learned, summary)
    equal = equal_length_ratings(learned.judged, learned.settings.ties)
    verdict_ratings = stacked(
        [
            verdict_rating_table(study.ratings, study.language, equal.moves)
            for study in learned.studies
        ]
    )
    is_one_sided = summary.macro.is_one_sided
    if is_one_sided:
        # Verdicts that are all the same tell no ranks and no errors.
        rated = [(without_ranks(rows), covariance * np.nan) for rows, covariance in rated]
        verdict_ratings = without_ranks(verdict_ratings)
        equal = equal._replace(remarks=())
    remarks: tuple[Remark, ...] = ()
    if learned.settings.other_judges:
        from surrogate.board.several_judges import ratings_by_judge

        by_judge, remarks = ratings_by_judge(learned)
        if by_judge is not None:
            keys = ["language", "system"]
            rated = [(rows.join(by_judge, on=keys), covariance) for rows, covariance in rated]
    all_remarks = (
        *unconnected_remarks(learned.studies),
        *_edited_remarks(learned.judged),
        *remarks,
        *further_remarks,
        *equal.remarks,
    )
    macro = summary.macro.model_copy(update={"remarks": all_remarks})
    return Estimation(
        rated=rated,
        judgments=learned.judged.judgments,
        report=report,
        summary=summary.model_copy(update={"macro": macro}),
        surrogate=learned.surrogate,
        covariance=_joint_covariance(learned, rated),
        verdict_ratings=verdict_ratings,
        importances=_importances(learned),
    )


def _edited_remarks(judged: Arena) -> list[Remark]:
    n_outdated = len(judged.outdated)
    if not n_outdated:
        return []
    remark = outdated_remark(n_outdated)
    return [replace(remark, sentence=sentence(remark.sentence))]


def _rated_languages(learned: Learned, summary: BoardSummary) -> list[Rated]:
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
                language,
                predictions,
                systems,
                n_questions=int(n_questions[language]),
                unproven=unproven,
                unjudged=learned.settings.unjudged,
            )
        else:
            is_here = status.index.get_level_values("language") == language
            rows = rows_with_verdicts(
                study,
                predictions,
                systems,
                interval=summary.languages[language].interval,
                status=status[is_here].droplevel("language"),
                unproven=unproven,
                unjudged=learned.settings.unjudged,
            )
        rated.append((_with_contradictions(rows[0], learned.posteriors), rows[1]))
    return rated


def _with_contradictions(rows: pd.DataFrame, posteriors: JointPosterior) -> pd.DataFrame:
    keys = pd.MultiIndex.from_frame(rows[["language", "system"]])
    is_contradicted = keys.isin(posteriors.contradicted)
    reasons = pd.Series(np.where(is_contradicted, CONTRADICTED, ""), rows.index)
    return rows.assign(note=joined_texts(reasons, rows["note"].fillna("")))


def _joint_covariance(learned: Learned, rated: Sequence[Rated]) -> pd.DataFrame:
    by_language = {}
    for rows, covariance in rated:
        if not rows.empty:
            by_language[str(rows["language"].iloc[0])] = covariance
    across = None
    if learned.settings.ratings == "posterior":
        posteriors = learned.posteriors
        across = pd.DataFrame(posteriors.covariance, posteriors.keys, posteriors.keys)
    return joint_covariance(by_language, across)


def _importances(learned: Learned) -> pd.DataFrame:
    surrogate = learned.surrogate
    importances = surrogate.importances()
    return stacked(
        [importances_table(study, importances, surrogate.features_) for study in learned.studies]
    )
