"""One language of an arena: what surrogates are trained on, and what they are held against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property

import numpy as np
import pandas as pd

from arena.data.arena import Arena
from arena.data.cells import whole_digits
from arena.data.errors import UsageError, argument
from arena.data.published import no_published_ratings
from arena.data.schema import HISTORY, OWN_PASSAGES, QUESTION_KEY, REFERENCE
from arena.data.seeds import by_content
from arena.data.types import Flags, Floats
from arena.data.wording import count_of, did_you_mean
from arena.rating.battles import Battles, TieRule
from arena.rating.bradley_terry import DEFAULT_RIDGE
from arena.rating.published import published_tournaments
from arena.rating.tournaments import (
    DEFAULT_QUESTIONS,
    DEFAULT_TOURNAMENTS,
    Tournaments,
    bootstrap_tournaments,
)
from arena.text.thoughts import without_thoughts
from features.engine.columns import MISSING_SUFFIX
from surrogate.learning.estimation.observations import OtherJudges, told_by_others
from surrogate.learning.surrogate import KEYS

FEW_TOURNAMENTS = 20
"""Enough for surrogates that learn from tournaments, where many are trained to be compared."""
LANGUAGE = "language"
NO_VALUE = "(none)"
"""The part of questions without a value."""
QUESTIONS_A_PART = 2
"""Fewest questions a part, on average; with fewer a column tells questions apart, not parts."""
CODED = ("language", "query_id", "system_a", "system_b", "winner", "judge")
"""Columns of judgments that hold few values many times: a tenth of the memory, sent to workers."""
NO_JUDGMENTS = "{}: only ratings are published, there are no judgments to leave out"


@dataclass(frozen=True)
class TournamentSettings:
    """How tournaments are drawn; see ``arena.rating.tournaments.bootstrap_tournaments``."""

    tournaments: int = DEFAULT_TOURNAMENTS
    questions: int = DEFAULT_QUESTIONS
    ties: TieRule = "half"
    ridge: float = DEFAULT_RIDGE
    seed: int = 0

    def __str__(self) -> str:
        """Return the settings as part of a signature."""
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
        tournaments: Tournaments of the judgments, or around the published ratings.
        settings: How they are drawn.
        others: Judgments of other judges, which may tell of this one's.
    """

    language: str
    judgments: pd.DataFrame
    X: pd.DataFrame
    questions: tuple[str, ...]
    tournaments: Tournaments
    settings: TournamentSettings
    others: pd.DataFrame = field(default_factory=pd.DataFrame)

    @property
    def systems(self) -> tuple[str, ...]:
        """The judged systems, sorted."""
        return self.tournaments.systems

    @property
    def unmeasured(self) -> tuple[str, ...]:
        """The judged systems without a row of features, which can be neither learned nor rated."""
        measured = set(self.X["system"])
        return tuple(name for name in self.systems if name not in measured)

    @cached_property
    def systems_by_content(self) -> list[str]:
        """The judged systems by what they answer, for draws among them; see ``by_content``."""
        return by_content(self.systems, self.X)

    @property
    def truth(self) -> Floats:
        """The arena's rating of each judged system (logits), shape (S,); NaN without."""
        return self.tournaments.mean_coefficients

    def drawing(self, most: int) -> LanguageData:
        """Draw no more tournaments than so many, when they are drawn again."""
        few = min(self.settings.tournaments, most)
        return replace(self, settings=replace(self.settings, tournaments=few))

    def rows(
        self, systems: Sequence[str] | None = None, questions: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """Features of some systems' answers to some questions; by default those judged."""
        names = self.systems if systems is None else systems
        asked = self.tournaments.battles.questions if questions is None else questions
        return self.X[self.X["system"].isin(set(names)) & self.X["query_id"].isin(set(asked))]

    def drawn(self, index: int) -> pd.DataFrame:
        """Features of the judged systems' answers in one tournament, as often as drawn."""
        battles, draws = self.tournaments.battles, self.tournaments.draws[index]
        times = dict(zip(battles.questions, draws.tolist(), strict=True))
        rows = self.rows()
        return rows.take(np.repeat(np.arange(len(rows)), rows["query_id"].map(times)))

    def drawn_questions(self, index: int) -> tuple[str, ...]:
        """Questions of one tournament, each once."""
        draws = self.tournaments.draws[index]
        return tuple(np.array(self.tournaments.battles.questions)[draws > 0].tolist())

    def without(self, systems: Sequence[str]) -> LanguageData:
        """Leave systems out of everything: answers, judgments, and the tournaments drawn again.

        Published ratings of the others stay as they are, but for how often they were drawn.

        Raises:
            UsageError: If no judgment is left.
        """
        if self.judgments.empty:
            kept = self.tournaments.first(self.settings.tournaments).without(systems)
            return replace(self.hiding(systems), tournaments=kept)
        names, rows = set(systems), self.judgments
        left = rows[~rows["system_a"].isin(names) & ~rows["system_b"].isin(names)]
        battles = self.tournaments.battles
        out = np.isin(battles.systems, systems)
        return self.hiding(systems).judged_by(left, ~(out[battles.side_a] | out[battles.side_b]))

    def hiding(self, systems: Sequence[str]) -> LanguageData:
        """Leave out the answers of systems, which still take part in the tournaments.

        As in Algorithm 1 of MIRAGE-Bench: they are not trained on.
        """
        return replace(self, X=self.X[~self.X["system"].isin(set(systems))])

    def judged_by(self, judgments: pd.DataFrame, battles: Flags | None = None) -> LanguageData:
        """Rate the systems again, by some of the judgments; ``UsageError`` if there is none.

        Which battles these are may be given, too, so that they are not counted again.
        """
        if self.judgments.empty:
            raise UsageError(NO_JUDGMENTS.format(self.language))
        if judgments.empty:
            raise UsageError(f"{self.language}: no judgments are left to learn from")
        known = self.tournaments.battles
        own = Battles.from_judgments(judgments) if battles is None else known.only(battles)
        how = asdict(self.settings)
        tournaments = bootstrap_tournaments(own, language=self.language, **how)
        return replace(self, judgments=judgments, tournaments=tournaments)

    def judged_on(self, questions: Sequence[str]) -> LanguageData:
        """Rate the systems again, by the judgments on some questions."""
        battles, wanted = self.tournaments.battles, set(questions)
        kept = np.array([name in wanted for name in battles.questions])[battles.question]
        return self.judged_by(self.judgments[self.judgments["query_id"].isin(wanted)], kept)

    def origin_of(self, part: LanguageData) -> float:
        """Return what to add to ratings on a part's scale to have them on this one's.

        Coefficients are differences. Among the other systems alone they lie about those systems'
        mean, which is the lower the stronger the held-out systems are: left there, the held-out
        systems of different folds could not be compared, and strong folds would be rated up.
        """
        own = pd.Series(self.truth, self.systems).reindex(part.systems).to_numpy()
        return float(np.nan_to_num(pd.Series(own - part.truth).mean()))


def others_of(languages: Sequence[LanguageData]) -> OtherJudges | None:
    """Say what other judges tell of the ratings in all languages; see ``told_by_others``."""
    judgments, others = (
        pd.concat([getattr(item, name) for item in languages]) for name in ("judgments", "others")
    )
    return None if judgments.empty else told_by_others(judgments, others)


def judged_questions(languages: Sequence[LanguageData]) -> dict[str, tuple[str, ...]]:
    """Return the judged questions of each language: all of them where ratings are published."""
    return {data.language: data.tournaments.battles.questions for data in languages}


def sliced(arena: Arena, by: str) -> Arena:
    """Put the values of a column of the questions in the place of languages, in every table.

    Ratings published by language are left out.

    Raises:
        UsageError: If there is no such column, or nearly every question has its own value.
    """
    if by == LANGUAGE:
        return arena
    further = arena.queries.columns.difference(["query_id", "query", OWN_PASSAGES, HISTORY])
    known = sorted({*further} - {REFERENCE})
    if by not in known:
        hint = f"{did_you_mean(by, known)} there is {', '.join(known)}".lstrip()
        raise UsageError(
            f"the questions have no column {by!r} to part them by ({argument('by')}); {hint}"
        )
    tables = {
        name: in_slices(getattr(arena, name), arena.queries, by)
        for name in ("queries", "answers", "judgments")
    }
    names, count = sorted(set(tables["queries"][LANGUAGE])), len(arena.queries)
    if len(names) * QUESTIONS_A_PART > count:
        raise UsageError(
            f"{by!r} has {len(names)} values for {count_of(count, 'question')} "
            f"({argument('by')}): parts "
            "of a board need several questions each; take a column with fewer values"
        )
    info = arena.info.model_copy(update={"languages": tuple(names)})
    return replace(arena, info=info, published_ratings=no_published_ratings(), **tables)


def in_slices(table: pd.DataFrame, queries: pd.DataFrame, by: str) -> pd.DataFrame:
    """Put the values of a column of the questions in the place of a table's languages.

    Ids that stand in several languages get theirs before them (``en:17``). Rows on no question
    of ``queries`` stay as they are.
    """
    if by == LANGUAGE:
        return table
    ids, values = queries["query_id"], queries[by].map(lambda value: _slice_name(value, by))
    ids = queries[LANGUAGE] + ":" + ids if ids.duplicated().any() else ids
    asked = pd.MultiIndex.from_frame(queries[QUESTION_KEY].astype(object))
    places = asked.get_indexer(pd.MultiIndex.from_frame(table[QUESTION_KEY].astype(object)))
    keys = {
        name: np.where(places < 0, table[name], own.to_numpy(object)[places])
        for name, own in ((LANGUAGE, values), ("query_id", ids))
    }
    return table.assign(**keys).astype(table.dtypes[QUESTION_KEY].to_dict())


def _slice_name(value: object, by: str) -> str:
    if isinstance(value, list | dict):
        raise UsageError(
            f"{by!r} holds {value!r:.60} ({argument('by')}); questions are parted by a text each"
        )
    name = whole_digits(value) or ("" if pd.isna(value) else str(value).strip())
    return name or NO_VALUE


def with_answers(X: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Add a column ``answer`` to a feature table, by the keys of both; empty without any.

    Thoughts before an answer are left out, as features leave them out.
    """
    texts = answers[[*KEYS, "answer"]].drop_duplicates(KEYS)
    texts = texts.assign(answer=[without_thoughts(str(text)) for text in texts["answer"]])
    joined = X.drop(columns="answer", errors="ignore").merge(texts, on=KEYS, how="left")
    return joined.assign(answer=joined["answer"].fillna(""))


def language_data(
    judged: Arena, X: pd.DataFrame, settings: TournamentSettings
) -> list[LanguageData]:
    """Arrange the languages that one judge of an arena judged or published ratings of, sorted."""
    questions = {
        str(language): tuple(sorted(rows["query_id"]))
        for language, rows in judged.queries.groupby("language")
    }
    told = X[[name for name in X if not name.endswith(MISSING_SUFFIX)]]
    published = judged.published_ratings
    known = published[published["system"].isin(judged.info.systems)]
    arranged = []
    for language in sorted({*judged.judgments["language"], *known["language"]}):
        judgments = judged.judgments[judged.judgments["language"] == language]
        judgments = judgments.astype(dict.fromkeys(CODED, "category"))
        judgments = judgments.sort_values(["query_id", "system_a", "system_b", "winner"])
        rated, asked = known[known["language"] == language], questions[language]
        tournaments = (
            bootstrap_tournaments(judgments, **asdict(settings))
            if len(judgments)
            else published_tournaments(
                *(rated, asked, settings.tournaments, settings.questions, settings.seed)
            )
        )
        own = told[told["language"] == language]
        arranged.append(LanguageData(language, judgments, own, asked, tournaments, settings))
    return arranged
