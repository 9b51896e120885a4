"""One language of an arena under validation, and the fields that may be learned from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.data.errors import UsageError
from arena.data.folder import Arena
from arena.data.version import __version__
from arena.rating.battles import TieRule, judged_systems
from arena.rating.bradley_terry import DEFAULT_RIDGE
from arena.rating.tournaments import DEFAULT_QUESTIONS, Tournaments, bootstrap_tournaments
from features.declare.feature import Feature
from features.engine.extraction import extract, feature_columns
from features.measures.registry import DEFAULT_FEATURES
from surrogate.learning.tensor import FeatureTensor, feature_tensor
from surrogate.learning.training import Field

Floats = npt.NDArray[np.float64]

DEFAULT_TOURNAMENTS = 50


@dataclass(frozen=True)
class TournamentSettings:
    """How tournaments are held; see ``arena.tournaments.bootstrap_tournaments``."""

    tournaments: int = DEFAULT_TOURNAMENTS
    questions: int = DEFAULT_QUESTIONS
    ties: TieRule = "half"
    ridge: float = DEFAULT_RIDGE
    seed: int = 0

    def hold(self, judgments: pd.DataFrame) -> Tournaments:
        """Hold the tournaments of one language's judgments."""
        return bootstrap_tournaments(
            judgments, self.tournaments, self.questions, self.ties, self.ridge, self.seed
        )


@dataclass(frozen=True)
class LanguageArena:
    """Judgments and features of one language.

    Attributes:
        judgments: Judgments of one judge in this language.
        answers: Features of the judged systems' answers to every question.
        tournaments: Tournaments of all judgments.
        settings: How tournaments are held.
    """

    judgments: pd.DataFrame
    answers: FeatureTensor
    tournaments: Tournaments
    settings: TournamentSettings

    @property
    def language(self) -> str:
        """Language code."""
        return self.answers.language

    @property
    def systems(self) -> tuple[str, ...]:
        """The judged systems, sorted."""
        return self.answers.systems

    @property
    def judged(self) -> FeatureTensor:
        """Features of the answers to the judged questions."""
        return self.answers.take(questions=self.tournaments.battles.questions)

    def drawn(self, index: int) -> FeatureTensor:
        """Features of the answers to one tournament's questions, as often as they were drawn."""
        names = np.repeat(self.tournaments.battles.questions, self.tournaments.draws[index])
        return self.answers.take(questions=[str(name) for name in names])

    @property
    def truth(self) -> Floats:
        """The arena's rating of each system, shape (S,)."""
        return self.tournaments.mean_coefficients

    def origin_of(self, field: Field) -> float:
        """Return what to add to ratings on a field's scale to have them on the arena's.

        Coefficients are differences. Among the other systems alone they lie about those systems'
        mean, which is the lower the stronger the held-out systems are: left there, the held-out
        systems of different folds could not be compared, and strong folds would be rated up.
        """
        names = field.tournaments.battles.systems
        moved = self.truth[[self.systems.index(name) for name in names]] - field.targets
        return float(moved[np.isfinite(moved)].mean()) if np.isfinite(moved).any() else 0.0

    def field_without(self, held: Sequence[str]) -> Field:
        """Return the field of the other systems.

        Tournaments are held anew among them, so no judgment of a held-out system has a part in
        what is learned.

        Raises:
            UsageError: If no judgment is left.
        """
        rows = self.judgments
        names = set(held)
        return self._field(rows[~rows["system_a"].isin(names) & ~rows["system_b"].isin(names)])

    def field_on(self, questions: Sequence[str]) -> Field:
        """Return the field judged on these questions only.

        Raises:
            UsageError: If no judgment is left.
        """
        return self._field(self.judgments[self.judgments["query_id"].isin(set(questions))])

    def field_as_in_paper(self, held: Sequence[str]) -> Field:
        """Return the other systems with their coefficients in the tournaments of all systems.

        As in Algorithm 1 of MIRAGE-Bench: the held-out systems take part in the tournaments, but
        not in training.
        """
        return Field(self.answers, self.tournaments).without(held)

    def ratings_on(self, questions: Sequence[str]) -> Floats:
        """Rate the systems by the judgments on some questions, shape (S,); NaN if not judged."""
        held = self._hold(self.judgments[self.judgments["query_id"].isin(set(questions))])
        ratings = np.full(len(self.systems), np.nan)
        ratings[[self.systems.index(system) for system in held.systems]] = held.mean_coefficients
        return ratings

    def _field(self, judgments: pd.DataFrame) -> Field:
        held = self._hold(judgments)
        return Field(self.answers.take(systems=held.systems), held)

    def _hold(self, judgments: pd.DataFrame) -> Tournaments:
        if judgments.empty:
            raise UsageError(f"{self.language}: no judgments are left to learn from")
        return self.settings.hold(judgments)


def language_arenas(
    judged: Arena, table: pd.DataFrame, features: Sequence[str], settings: TournamentSettings
) -> list[LanguageArena]:
    """Arrange an arena's judged languages.

    Args:
        judged: Arena with the judgments of one judge.
        table: Feature table.
        features: Feature columns a surrogate may use.
        settings: How tournaments are held.

    Returns:
        One a language with judgments, sorted by language.
    """
    questions = {
        str(language): sorted(rows["query_id"])
        for language, rows in judged.queries.groupby("language")
    }
    arenas = []
    for language, rows in judged.judgments.groupby("language"):
        judgments = rows.sort_values(["query_id", "system_a", "system_b", "winner"])
        name = str(language)
        systems = judged_systems(judgments)
        answers = feature_tensor(table, name, features, systems, questions[name])
        arenas.append(LanguageArena(judgments, answers, settings.hold(judgments), settings))
    return arenas


@dataclass(frozen=True)
class Study:
    """A table that a study of an arena gives.

    Attributes:
        table: See the study.
        signature: Settings that reproduce it.
    """

    table: pd.DataFrame
    signature: str


@dataclass(frozen=True)
class Arranged:
    """An arena's judged languages with their features.

    Attributes:
        arenas: One a judged language.
        features: Feature columns.
        name: Name of the arena.
        judge: Whose judgments they are.
        how: How tournaments are held, and the seed of everything random.
    """

    arenas: list[LanguageArena]
    features: tuple[str, ...]
    name: str
    judge: str
    how: TournamentSettings

    def signature(self, protocol: str, model: str, repeats: int, *further: str) -> str:
        """Return the settings that reproduce a study."""
        how = self.how
        parts = [
            f"protocol:{protocol}|arena:{self.name}|judge:{self.judge}",
            f"features:{','.join(self.features)}",
            f"model:{model}|repeats:{repeats}",
            *further,
            f"tournaments:{how.tournaments}|questions:{how.questions}|ties:{how.ties}",
            f"ridge:{how.ridge:g}|seed:{how.seed}|version:{__version__}",
        ]
        return "|".join(parts)


def arrange(
    arena: Arena,
    features: Sequence[Feature] = DEFAULT_FEATURES,
    *,
    judge: str | None = None,
    feature_table: pd.DataFrame | None = None,
    tournaments: TournamentSettings | None = None,
    n_jobs: int = 1,
) -> Arranged:
    """Measure the features, unless they are at hand, and hold the tournaments.

    Args:
        arena: The arena.
        features: Features to extract from every answer.
        judge: Whose judgments to learn from; may be left out where there is one judge.
        feature_table: Features already at hand, used instead of extracting ``features``.
        tournaments: How tournaments are held, and the seed of everything random.
        n_jobs: Processes for the extraction.
    """
    how = TournamentSettings() if tournaments is None else tournaments
    judged = arena.judged_by(judge)
    table = extract(arena, features, n_jobs=n_jobs) if feature_table is None else feature_table
    names = tuple(feature_columns(table))
    arenas = language_arenas(judged, table, names, how)
    return Arranged(arenas, names, judged.info.name, judged.judges[0], how)


def checked_repeats(repeats: int) -> int:
    """Return how often to repeat.

    Raises:
        UsageError: If it is less than once.
    """
    if repeats < 1:
        raise UsageError("repeats must be at least 1")
    return repeats
