"""One language of an arena: the data that surrogates are trained on and compared with."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from arena.computing.codes import are_among
from arena.data.arena import Arena
from arena.data.errors import UsageError
from arena.data.schema import QUESTION_KEY
from arena.data.types import Flags, Floats
from arena.rating.battles import Battles, TieRule
from arena.rating.bradley_terry import DEFAULT_RIDGE
from arena.rating.tournaments import (
    DEFAULT_QUESTIONS,
    DEFAULT_TOURNAMENTS,
    Tournaments,
    bootstrap_tournaments,
    published_tournaments,
)
from arena.statistics.bootstrap import by_content
from arena.statistics.significance import finite_means
from features.engine.extraction import FEATURE_KEY, MISSING_SUFFIX
from surrogate.learning.training_data import arranged

if TYPE_CHECKING:
    from surrogate.learning.other_judges import OtherJudges

FEW_TOURNAMENTS = 20
"""Enough for surrogates that learn from tournaments, where many are trained to be compared."""


@dataclass(frozen=True)
class TournamentSettings:
    """Settings of drawing tournaments; see ``bootstrap_tournaments``."""

    tournaments: int = DEFAULT_TOURNAMENTS
    questions: int = DEFAULT_QUESTIONS
    ties: TieRule = "half"
    ridge: float = DEFAULT_RIDGE
    seed: int = 0

    def __str__(self) -> str:
        """Write the settings as part of a signature."""
        return (
            f"tournaments:{self.tournaments}|questions:{self.questions}|ties:{self.ties}"
            f"|ridge:{self.ridge:g}|seed:{self.seed}"
        )


@dataclass(frozen=True)
class LanguageData:
    """Judgments, or published ratings, and features of one language.

    Attributes:
        judgments: Judgments of one judge; none where ratings are published.
        X: Features of every system's answers to every question.
        questions: Every question of the language, judged or not.
        others: Judgments of other judges.
        unconnected: Systems that no judgments connect with the largest group, left out.
        reference: The arena's reference system, which every surrogate has seen through features.
    """

    language: str
    judgments: pd.DataFrame
    X: pd.DataFrame
    questions: tuple[str, ...]
    tournaments: Tournaments
    settings: TournamentSettings
    others: pd.DataFrame = field(default_factory=pd.DataFrame)
    unconnected: tuple[str, ...] = ()
    reference: str | None = None

    @property
    def systems(self) -> tuple[str, ...]:
        """Return the judged systems, sorted."""
        return self.tournaments.systems

    @property
    def unmeasured(self) -> tuple[str, ...]:
        """Return judged systems without features."""
        measured = set(self.X["system"].unique())
        return tuple(name for name in self.systems if name not in measured)

    @cached_property
    def systems_by_content(self) -> list[str]:
        """Return judged systems by their answers, for draws."""
        return by_content(self.systems, self.X)

    @property
    def arena_ratings(self) -> Floats:
        """Return the arena's ratings (logits), shape (S,), or NaN."""
        return self.tournaments.mean_coefficients

    def drawing(self, most: int) -> LanguageData:
        """Limit the tournaments, when they are drawn again."""
        n_tournaments = min(self.settings.tournaments, most)
        return replace(self, settings=replace(self.settings, tournaments=n_tournaments))

    def rows(
        self, systems: Sequence[str] | None = None, questions: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """Return features of systems' answers to questions; by default those judged."""
        if systems is None:
            systems = self.systems
        if questions is None:
            questions = self.tournaments.battles.questions
        is_system = are_among(self.X["system"], systems)
        is_question = are_among(self.X["query_id"], questions)
        return self.X[is_system & is_question]

    def without_systems(self, systems: Sequence[str]) -> LanguageData:
        """Leave systems out, and draw the tournaments again."""
        if self.judgments.empty:
            tournaments = self.tournaments.first(self.settings.tournaments).without(systems)
            return replace(self.without_answers_of(systems), tournaments=tournaments)
        has_system = involve(self.judgments, systems)
        return self.without_answers_of(systems).with_judgments(
            self.judgments[~has_system], self._battles_without(systems)
        )

    def judged_without(self, systems: Sequence[str]) -> set[str]:
        """Return the questions of the battles among other systems."""
        battles = self.tournaments.battles
        numbers = np.unique(battles.question[self._battles_without(systems)])
        return {battles.questions[number] for number in numbers}

    def _battles_without(self, systems: Sequence[str]) -> Flags:
        battles = self.tournaments.battles
        is_left = ~np.isin(battles.systems, systems)
        return is_left[battles.side_a] & is_left[battles.side_b]

    def without_answers_of(self, systems: Sequence[str]) -> LanguageData:
        """Leave out answers, but not from tournaments (MIRAGE-Bench, Algorithm 1)."""
        return replace(self, X=self.X[~are_among(self.X["system"], systems)])

    def without_answers_to(self, questions: Collection[str]) -> LanguageData:
        """Leave out the answers to some questions, but not the verdicts on them."""
        is_left_out = are_among(self.X["query_id"], questions)
        return replace(self, X=self.X[~is_left_out]) if is_left_out.any() else self

    def with_judgments(self, judgments: pd.DataFrame, battles: Flags | None = None) -> LanguageData:
        """Rate the systems again, by some judgments; ``battles`` selects their battles."""
        if self.judgments.empty:
            raise UsageError(
                f"{self.language}: only ratings are published, there are no judgments to leave out"
            )
        if judgments.empty:
            raise UsageError(f"{self.language}: no judgments are left to learn from")
        if battles is None:
            remaining = Battles.from_judgments(judgments)
        else:
            remaining = self.tournaments.battles.only(battles)
        tournaments = bootstrap_tournaments(
            remaining, language=self.language, **asdict(self.settings)
        )
        return replace(self, judgments=judgments, tournaments=tournaments)

    def judged_on(self, questions: Sequence[str]) -> LanguageData:
        """Rate the systems again, by the judgments on some questions."""
        battles = self.tournaments.battles
        wanted = set(questions)
        is_wanted = np.array([name in wanted for name in battles.questions])
        judgments = self.judgments[are_among(self.judgments["query_id"], wanted)]
        return self.with_judgments(judgments, is_wanted[battles.question])

    def origin_of(self, part: LanguageData) -> float:
        """Return what brings a part's ratings, centered on its systems, to this scale."""
        # The stronger the held-out systems are, the lower is the mean of the part's.
        ratings = arranged(self.arena_ratings, self.systems, part.systems)
        return float(np.nan_to_num(finite_means(ratings - part.arena_ratings)))


def others_of(languages: Sequence[LanguageData]) -> OtherJudges | None:
    """Learn how other judges' verdicts, if any, predict the ratings."""
    others = pd.concat([data.others for data in languages])
    if others.empty:
        return None
    judgments = pd.concat([data.judgments for data in languages])
    if judgments.empty:
        return None
    from surrogate.learning.other_judges import learn_from_other_judges

    return learn_from_other_judges(judgments, others)


def judged_questions(languages: Sequence[LanguageData]) -> dict[str, tuple[str, ...]]:
    """Return the judged questions by language; all where ratings are published."""
    return {data.language: data.tournaments.battles.questions for data in languages}


def language_data(
    judged: Arena, X: pd.DataFrame, settings: TournamentSettings
) -> list[LanguageData]:
    """Arrange the languages that one judge judged, sorted."""
    # As categories, the judgments sent to workers take a tenth of the memory.
    categories = [*QUESTION_KEY, "system_a", "system_b", "winner", "judge"]
    # A copy holds all features in one array, of which rows are taken at once.
    X = X[[name for name in X if not name.endswith(MISSING_SUFFIX)]]
    X = X.astype(dict.fromkeys(FEATURE_KEY, "category")).copy()
    published = judged.published_ratings
    published = published[published["system"].isin(judged.info.systems)]
    languages = []
    indices = judged.judgments.groupby("language").indices
    for language in sorted({*indices, *published["language"]}):
        query_ids = judged.queries.loc[judged.queries["language"] == language, "query_id"]
        questions = tuple(sorted(query_ids))
        judgments = judged.judgments.take(indices.get(language, []))
        judgments = judgments.astype(dict.fromkeys(categories, "category"))
        judgments = judgments.sort_values(["query_id", "system_a", "system_b", "winner"])
        tournaments: Tournaments
        unconnected: tuple[str, ...] = ()
        if len(judgments):
            tournaments = bootstrap_tournaments(judgments, **asdict(settings))
            unconnected = _unconnected(tournaments)
            if unconnected:
                judgments = judgments[~involve(judgments, unconnected)]
                tournaments = bootstrap_tournaments(judgments, **asdict(settings))
        else:
            tournaments = published_tournaments(
                published[published["language"] == language],
                questions,
                settings.tournaments,
                settings.questions,
                settings.seed,
            )
        languages.append(
            LanguageData(
                language=language,
                judgments=judgments,
                X=X[X["language"] == language],
                questions=questions,
                tournaments=tournaments,
                settings=settings,
                unconnected=unconnected,
                reference=judged.info.reference_system,
            )
        )
    return languages


def _unconnected(tournaments: Tournaments) -> tuple[str, ...]:
    connected = set(tournaments.battles.largest_group().systems)
    return tuple(name for name in tournaments.systems if name not in connected)


def involve(judgments: pd.DataFrame, systems: Collection[str]) -> Flags:
    """Return which judgments compare one of these systems, shape (N,)."""
    return are_among(judgments["system_a"], systems) | are_among(judgments["system_b"], systems)
