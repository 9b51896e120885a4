"""An arena with its features, arranged for studies that validate it many times over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from arena import Arena, UsageError, __version__
from features import DEFAULT_FEATURES, Feature, extract, feature_columns
from surrogate.validation.language_arena import (
    LanguageArena,
    TournamentSettings,
    language_arenas,
)


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
