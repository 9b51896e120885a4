"""Training for the board of one language, and agreement with the arena's ratings."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from arena.data.types import Progress, finish
from arena.data.wording import Remark, first_of
from arena.quality.agreement import SHOWN_NAMES
from arena.rating.posterior import RatingPosterior
from arena.rating.ratings import Ratings
from arena.rating.tournaments import DECIMALS, PublishedTournaments
from arena.statistics.agreement import Agreement, agreement
from arena.statistics.bootstrap import generator
from surrogate.board.settings import ResolvedSettings
from surrogate.learning.cross_fitting import (
    Repeats,
    everything_left,
    leave_systems_out,
)
from surrogate.learning.language_data import FEW_TOURNAMENTS, LanguageData, others_of
from surrogate.learning.observations import JointPosterior
from surrogate.learning.outcomes import MANY_SYSTEMS, Outcome
from surrogate.learning.ratings import expected_ratings, posterior_ratings
from surrogate.learning.replication import Replication, replicate
from surrogate.learning.surrogate import Surrogate
from surrogate.learning.training_data import training_ratings


@dataclass(frozen=True)
class LanguageStudy:
    """The results of training for the board of one language.

    Attributes:
        ratings: The arena's ratings of the judged systems.
        posterior: Their ratings by verdicts and surrogate together.
        rated_by: Source of the board's ratings: posterior or surrogate.
        holdout: Judged systems kept out of training.
        unseen: Judged systems' ratings by surrogates trained without them.
        failure: Why no surrogate could be trained here.
        borrows: Whether other languages' verdicts count, too, as few systems are judged.
    """

    data: LanguageData
    ratings: Ratings
    posterior: RatingPosterior
    rated_by: Literal["posterior", "surrogate"]
    holdout: tuple[str, ...]
    unseen: Outcome
    failure: str | None
    borrows: bool

    @property
    def language(self) -> str:
        """Return the language code."""
        return self.data.language

    @cached_property
    def unseen_ratings(self) -> pd.DataFrame:
        """Return ``language, system, rating, standard_error`` by surrogates trained without."""
        return expected_ratings(self.unseen)

    @property
    def without_error(self) -> frozenset[str]:
        """Return systems whose published rating has no error, known or assumed."""
        tournaments = self.data.tournaments
        if not isinstance(tournaments, PublishedTournaments):
            return frozenset()
        return frozenset(np.compress(np.isnan(tournaments.errors), tournaments.systems))


def study_languages(
    data: Sequence[LanguageData],
    surrogate: Surrogate,
    settings: ResolvedSettings,
    n_jobs: int,
    progress: Progress | None,
) -> tuple[list[LanguageStudy], JointPosterior, Replication]:
    """Train on all data, without each fold of systems, and on halves of the questions.

    Returns:
        The studies, the joint posterior, and how well halves of the questions agree.
    """
    training = [part.without_answers_of(settings.holdout).X for part in data]
    rows = pd.concat(training, ignore_index=True)
    ratings = training_ratings({part.language: part.tournaments for part in data})
    with suppress(UsageError):  # a board without ratings says why, language by language
        surrogate.fit(rows, ratings)
    finish(progress, "surrogate")
    unseen = _rate_unseen(data, surrogate, n_jobs, progress)
    expected = pd.concat([expected_ratings(outcome) for outcome in unseen])
    # A language with few judged systems also rates those that other languages have judged. Those
    # that none has judged would get a posterior, too; a board shows the surrogate's prediction.
    rows = rows[rows["system"].isin(expected["system"])]
    posteriors = posterior_ratings(surrogate, ratings, expected, rows, others_of(data))
    finish(progress, "ratings by both")
    halves = _split_halves(data, surrogate, n_jobs, progress)
    studies = []
    for part, outcome in zip(data, unseen, strict=True):
        studies.append(
            LanguageStudy(
                data=part,
                ratings=part.tournaments.rate(settings.arena_ratings),
                posterior=posteriors[part.language],
                rated_by="surrogate" if settings.ratings == "surrogate" else "posterior",
                holdout=tuple(name for name in settings.holdout if name in part.systems),
                unseen=outcome,
                failure=surrogate.failures_.get(part.language),
                borrows=part.language in surrogate.borrowing_,
            )
        )
    return studies, posteriors, halves


def _split_halves(
    data: Sequence[LanguageData], surrogate: Surrogate, n_jobs: int, progress: Progress | None
) -> Replication:
    times = _question_splits(data, surrogate)
    repeats = Repeats(times, surrogate.seed, n_jobs, progress, stage="split halves")
    return replicate(data, surrogate, repeats, with_surrogate=False)


def _rate_unseen(
    data: Sequence[LanguageData], surrogate: Surrogate, n_jobs: int, progress: Progress | None
) -> list[Outcome]:
    times = _system_splits(data)
    repeats = Repeats(times, surrogate.seed, n_jobs, progress, stage="held-out systems")
    training = _few_tournaments_left if surrogate.pooled else everything_left
    try:
        return leave_systems_out(data, surrogate, repeats, training)
    except UsageError as error:
        return [_nothing_predicted(part, surrogate, str(error)) for part in data]


def _nothing_predicted(data: LanguageData, surrogate: Surrogate, reason: str) -> Outcome:
    unknown = np.full((1, len(data.systems)), np.nan)
    return Outcome(
        language=data.language,
        systems=data.systems,
        predicted=unknown,
        arena_ratings=data.arena_ratings[None],
        standard_errors=unknown if surrogate.has_errors else None,
        reasons=(reason,),
    )


def _few_tournaments_left(data: LanguageData, held: Sequence[str], repeat: int) -> LanguageData:
    """Leave systems out, and draw few tournaments, to tell who is connected."""
    return everything_left(data.drawing(FEW_TOURNAMENTS), held, repeat)


SPLITS = 5
"""How often questions are split into halves, and systems into folds, on a small board."""


def _question_splits(data: Sequence[LanguageData], surrogate: Surrogate) -> int:
    if not surrogate.pooled:
        return 1  # a split also trains it without each fold of the systems
    if _most_systems(data) > MANY_SYSTEMS:
        return 1  # comparing the halves takes most of the time, which grows with their square
    return SPLITS


def _system_splits(data: Sequence[LanguageData]) -> int:
    """Return how often systems are split into folds."""
    # With few systems, tau depends on the split: for nine it was 0.56 by one and 0.94 by another.
    if _most_systems(data) >= 40:
        return 1  # five folds of eight systems: 140 pairs are compared
    n_ratings = sum(len(part.systems) for part in data)
    if n_ratings >= 50:
        return 3  # few systems, but tau is a mean over several languages
    return SPLITS


def _most_systems(data: Sequence[LanguageData]) -> int:
    return max(len(part.systems) for part in data)


def unconnected_remarks(studies: Sequence[LanguageStudy]) -> list[Remark]:
    """Name systems unconnected with the largest group, by language."""
    languages_of: dict[tuple[str, ...], list[str]] = {}
    for study in studies:
        if study.data.unconnected:
            languages_of.setdefault(study.data.unconnected, []).append(study.language)
    remarks = []
    for systems, languages in languages_of.items():
        start = f"{', '.join(languages)}: no" if len(studies) > 1 else "No"
        sentence = (
            f"{start} judgments connect {first_of(systems, SHOWN_NAMES)} with the other judged "
            "systems: those among themselves do not count. Have pairs of both judged."
        )
        remarks.append(Remark("connected", "error", sentence))
    return remarks


def arena_agreement(study: LanguageStudy, predictions: pd.DataFrame) -> Agreement:
    """Compare the trained surrogate's predictions with the arena (MIRAGE-Bench, table 2)."""
    tournaments = study.data.tournaments
    is_here = predictions["language"] == study.language
    predicted = predictions[is_here].set_index("system")["rating"].reindex(tournaments.systems)
    reported = study.ratings.table.set_index("system")["rating"].reindex(tournaments.systems)
    return agreement(
        predicted.to_numpy(float),
        reported.to_numpy(float),
        tournaments.coefficients,
        generator(tournaments.seed, "agreement", study.language),
    )


def importances_table(
    study: LanguageStudy, importances: pd.DataFrame, features: Sequence[str]
) -> pd.DataFrame:
    """Return each feature's share in a language, highest first."""
    is_here = importances["language"] == study.language
    by_feature = importances[is_here].set_index("feature")["importance"].reindex(list(features))
    table = by_feature.rename_axis("feature").reset_index()
    table.insert(0, "language", study.language)
    # Rounded, so that features with equal values on all answers stay in their order.
    places = table["importance"].round(DECIMALS).sort_values(ascending=False, kind="stable")
    return table.loc[places.index]
