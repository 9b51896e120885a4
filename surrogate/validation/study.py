"""What every study of surrogates starts from, and what it gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.folder import open_arena
from arena.data.version import __version__
from features.declare.feature import Feature
from features.engine.columns import feature_columns
from features.engine.extraction import extract
from features.measures.registry import DEFAULT_FEATURES
from surrogate.learning.languages import (
    LanguageData,
    TournamentSettings,
    language_data,
    with_answers,
)

DEFAULT_TOURNAMENTS = 50
DEFAULT_SETTINGS = TournamentSettings(tournaments=DEFAULT_TOURNAMENTS)


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
class StudyData:
    """An arena's judged languages with their features.

    Attributes:
        languages: One a judged language.
        features: Feature columns.
        name: Name of the arena.
        judge: Whose judgments they are.
        settings: How tournaments are drawn, and the seed of everything random.
    """

    languages: list[LanguageData]
    features: tuple[str, ...]
    name: str
    judge: str
    settings: TournamentSettings

    def with_features(self, features: Sequence[str]) -> StudyData:
        """Keep some feature columns."""
        dropped = [name for name in self.features if name not in features]
        languages = [replace(item, X=item.X.drop(columns=dropped)) for item in self.languages]
        return replace(self, languages=languages, features=tuple(features))

    def signature(self, protocol: str, surrogate: str, repeats: int, *further: str) -> str:
        """Return the settings that reproduce a study."""
        parts = [
            f"protocol:{protocol}|arena:{self.name}|judge:{self.judge}",
            f"features:{','.join(self.features)}",
            f"surrogate:{surrogate}|repeats:{repeats}",
            *further,
            f"{self.settings}|version:{__version__}",
        ]
        return "|".join(parts)


def study_data(
    arena: Arena | Path | str,
    features: Sequence[Feature] = DEFAULT_FEATURES,
    *,
    judge: str | None = None,
    feature_table: pd.DataFrame | None = None,
    tournaments: TournamentSettings | None = None,
    n_jobs: int = 1,
) -> StudyData:
    """Measure the features, unless they are at hand, and draw the tournaments.

    Args:
        arena: The arena, or the path of its folder.
        features: Features to extract from every answer.
        judge: Whose judgments to learn from; may be left out where there is one judge.
        feature_table: Features already at hand, used instead of extracting ``features``.
        tournaments: How tournaments are drawn, and the seed of everything random.
        n_jobs: Processes for the extraction.
    """
    settings = DEFAULT_SETTINGS if tournaments is None else tournaments
    arena = open_arena(arena)
    judged = arena.judged_by(judge)
    table = extract(arena, features, n_jobs=n_jobs) if feature_table is None else feature_table
    languages = language_data(judged, with_answers(table, arena.answers), settings)
    names = tuple(feature_columns(table))
    return StudyData(languages, names, judged.info.name, judged.judges[0], settings)


def checked_repeats(repeats: int) -> int:
    """Return how often to repeat.

    Raises:
        UsageError: If it is less than once.
    """
    if repeats < 1:
        raise UsageError("repeats must be at least 1")
    return repeats
