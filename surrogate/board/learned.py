"""Learning from an arena: the results behind every table and sentence of its board."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.types import Progress, finish
from arena.quality.judge_report import JudgingRecords
from surrogate.board.language_study import LanguageStudy, study_languages
from surrogate.board.settings import ResolvedSettings
from surrogate.checks.copies import flag_judged, near_copies
from surrogate.checks.status import ranking_status
from surrogate.learning.language_data import (
    LanguageData,
    TournamentSettings,
    language_data,
    with_answers,
)
from surrogate.learning.observations import JointPosterior
from surrogate.learning.surrogate import Surrogate


@dataclass(frozen=True)
class Learned:
    """Everything learned from an arena, and its sources.

    Attributes:
        arena: The arena in its parts, with the verdicts of all judges.
        judged: The same with the verdicts of the board's own judge alone.
        settings: The settings that reproduce the board.
        judging_records: The judge's meta-evaluations and failures, from the arena's folder.
        features: Feature table, one row per answer.
        X: The same with the answers' texts.
        studies: One per judged language.
        posteriors: Their posteriors, and how these vary together across languages.
        surrogate: The fitted surrogate.
        predictions: Its ratings of all systems in all languages, also of those it was trained on;
            by surrogates that had not seen the system, ratings are in ``studies``.
    """

    arena: Arena
    judged: Arena
    settings: ResolvedSettings
    judging_records: JudgingRecords
    features: pd.DataFrame
    X: pd.DataFrame
    studies: Sequence[LanguageStudy]
    posteriors: JointPosterior
    surrogate: Surrogate
    predictions: pd.DataFrame

    @cached_property
    def judged_systems(self) -> frozenset[str]:
        """Systems with verdicts in at least one language."""
        names: set[str] = set()
        for study in self.studies:
            names.update(study.data.systems)
        return frozenset(names)

    def predictions_in(self, language: str) -> pd.DataFrame:
        """Return the surrogate's predictions in a language, by system."""
        is_here = self.predictions["language"] == language
        return self.predictions[is_here].set_index("system")

    def system_status(self) -> pd.DataFrame:
        """Say which answers in judged languages rank a system, and which are copies.

        Returns:
            By language and system, see ``checks.status.ranking_status``.
        """
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
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> Learned:
    """Train the surrogate, in place, on the judged systems of all languages; study each language.

    Raises:
        UsageError: If no language has verdicts or published ratings.
    """
    judged = arena.judged_by(settings.judge)
    X = with_answers(features, arena.answers)
    data = _with_judged_answers(language_data(judged, X, tournament_settings(settings)))
    if not data:
        raise UsageError(f"no {settings.by} has judgments or published ratings to learn from")
    data = _with_other_judges(data, arena.judgments, settings.other_judges)
    finish(progress, "ratings by verdicts")
    studies, posteriors = study_languages(data, surrogate, settings, n_jobs, progress)
    learned = Learned(
        arena=arena,
        judged=judged,
        settings=settings,
        judging_records=judging_records,
        features=features,
        X=X,
        studies=studies,
        posteriors=posteriors,
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
    """Leave out the answers of systems that no language judged.

    They move no rating of a judged system then, not even by standing in the field.
    """
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
