"""What every study of surrogates starts from, and what it gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict, Unpack

import pandas as pd
from sklearn.base import BaseEstimator

from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.folder import open_arena
from arena.data.version import __version__
from features.declare.feature import Feature
from features.engine.columns import feature_columns
from features.engine.extraction import extract
from features.measures.registry import DEFAULT_FEATURES
from surrogate.learning.cross_fitting import (
    Progress,
    Repeats,
    Training,
    everything_left,
    leave_systems_out,
)
from surrogate.learning.languages import (
    LanguageData,
    TournamentSettings,
    language_data,
    with_answers,
)
from surrogate.learning.names import DEFAULT_SURROGATE, as_surrogate, described
from surrogate.learning.outcomes import Outcome
from surrogate.learning.surrogate import Surrogate

DEFAULT_TOURNAMENTS = 50
DEFAULT_SETTINGS = TournamentSettings(tournaments=DEFAULT_TOURNAMENTS)


@dataclass(frozen=True)
class StudyTable:
    """A table that a study of an arena gives.

    Attributes:
        table: See the study.
        signature: Settings that reproduce it.
    """

    table: pd.DataFrame
    signature: str


class StudyOptions(TypedDict, total=False):
    """What every study takes beside the arena, the surrogate and the number of repeats.

    Attributes:
        features: Features to extract from every answer.
        judge: Whose judgments to learn from; may be left out where there is one judge.
        feature_table: Features already at hand, used instead of extracting ``features``.
        tournaments: How tournaments are drawn, and the seed of everything random.
        n_jobs: Processes to use; -1 for all cores.
        progress: Called as trainings end.
    """

    features: Sequence[Feature]
    judge: str | None
    feature_table: pd.DataFrame | None
    tournaments: TournamentSettings | None
    n_jobs: int
    progress: Progress | None


@dataclass(frozen=True)
class Study:
    """An arena's judged languages with their features, and a surrogate to be studied there.

    Attributes:
        languages: One a judged language.
        features: Feature columns.
        name: Name of the arena.
        judge: Whose judgments they are.
        settings: How tournaments are drawn, and the seed of everything random.
        surrogate: What is trained, unfitted.
        repeats: How often.
    """

    languages: list[LanguageData]
    features: tuple[str, ...]
    name: str
    judge: str
    settings: TournamentSettings
    surrogate: Surrogate
    repeats: Repeats

    @classmethod
    def of(
        cls,
        arena: Arena | Path | str,
        surrogate: str | Surrogate | BaseEstimator = DEFAULT_SURROGATE,
        repeats: int = 1,
        **options: Unpack[StudyOptions],
    ) -> Study:
        """Measure the features, unless they are at hand, and draw the tournaments.

        Args:
            arena: The arena, or the path of its folder.
            surrogate: One of ``surrogate.learning.names.SURROGATE_NAMES``, one unfitted, or a
                regressor of scikit-learn's form.
            repeats: How often to split, draw or reseed.
            options: See ``StudyOptions``.

        Raises:
            UsageError: For an unknown surrogate, or fewer than one repeat.
        """
        if repeats < 1:
            raise UsageError("repeats must be at least 1")
        settings = options.get("tournaments") or DEFAULT_SETTINGS
        trained, n_jobs = as_surrogate(surrogate), options.get("n_jobs", 1)
        arena = open_arena(arena)
        judged = arena.judged_by(options.get("judge"))
        table = options.get("feature_table")
        if table is None:
            table = extract(arena, options.get("features", DEFAULT_FEATURES), n_jobs=n_jobs)
        return cls(
            language_data(judged, with_answers(table, arena.answers), settings),
            tuple(feature_columns(table)),
            judged.info.name,
            judged.judges[0],
            settings,
            trained,
            Repeats(repeats, settings.seed, n_jobs, options.get("progress")),
        )

    def with_features(self, features: Sequence[str]) -> Study:
        """Keep some feature columns."""
        dropped = [name for name in self.features if name not in features]
        languages = [replace(item, X=item.X.drop(columns=dropped)) for item in self.languages]
        return replace(self, languages=languages, features=tuple(features))

    def unseen(self, training: Training = everything_left) -> list[Outcome]:
        """Rate every system by surrogates that have not seen it; see ``leave_systems_out``."""
        return leave_systems_out(self.languages, self.surrogate, self.repeats, training)

    def signature(self, protocol: str, *further: str, surrogates: str = "") -> str:
        """Return the settings that reproduce a study, of one or of several surrogates."""
        parts = [
            f"protocol:{protocol}|arena:{self.name}|judge:{self.judge}",
            f"features:{','.join(self.features)}",
            f"surrogate:{surrogates or described(self.surrogate)}|repeats:{self.repeats.times}",
            *further,
            f"{self.settings}|version:{__version__}",
        ]
        return "|".join(parts)
