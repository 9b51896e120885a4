"""The board of one language: arena ratings, the surrogate's ratings, and how they agree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits

from arena.data.errors import UsageError
from arena.data.seeds import generator
from arena.rating.ratings import Ratings, rate
from arena.rating.tournaments import Tournaments
from arena.statistics.bootstrap import percentile_interval
from arena.statistics.rank_agreement import Agreement, agreement, kendall_tau
from surrogate.board.holdout import TournamentFits, fit_tournaments, random_state, rate_unseen
from surrogate.board.neighbours import NEIGHBOUR_COLUMNS, neighbours_table, system_space
from surrogate.board.summary import NO_RATINGS, HoldoutR2, RatingInterval
from surrogate.learning.regressors import find_learner
from surrogate.learning.surrogates import LanguageJudge, Recipe, train_language_judge
from surrogate.learning.tensor import FeatureTensor, feature_tensor

Floats = npt.NDArray[np.float64]

BOARD_COLUMNS = [
    *("language", "system", "rank", "rating", "low", "high", "coverage", "answers"),
    *("arena_rank", "arena_rating", "arena_low", "arena_high", "split", "note"),
]
SPREAD = {"low": 2.5, "high": 97.5, "q1": 25.0, "median": 50.0, "q3": 75.0}
"""Percentiles of a feature's importance over tournaments."""

NO_ANSWER = "no answer in this language"
NO_FEATURES = "no feature of its answers could be computed"
NO_HOLDOUT = "no system is held out"
NO_R2 = "fewer than two held-out systems are judged in this language"


@dataclass(frozen=True)
class LanguageData:
    """What the board of one language is built from.

    Attributes:
        ratings: The arena's ratings of the judged systems.
        tournaments: The arena's tournaments, which the surrogate learns from.
        judged: Features of the judged systems on the judged questions.
        everything: Features of every system of the arena on every question.
        holdout: Systems kept out of training.
    """

    ratings: Ratings
    tournaments: Tournaments
    judged: FeatureTensor
    everything: FeatureTensor
    holdout: tuple[str, ...]

    @property
    def language(self) -> str:
        """Language code."""
        return self.judged.language

    @property
    def arena_ratings(self) -> Floats:
        """The arena's rating of each judged system, shape (S,); NaN for one that is unrated."""
        table = self.ratings.table.set_index("system")["rating"]
        return np.asarray(table.reindex(self.tournaments.systems), dtype=np.float64)


@dataclass(frozen=True)
class LanguageFit:
    """Surrogates of one language trained on all its tournaments.

    Attributes:
        judge: Trained on all judged systems but the held-out ones.
        unseen: Each judged system's rating by a surrogate trained without it, shape (S,).
    """

    judge: LanguageJudge
    unseen: Floats


def language_data(
    table: pd.DataFrame,
    features: Sequence[str],
    systems: Sequence[str],
    questions: Sequence[str],
    tournaments: Tournaments,
    language: str,
    holdout: Sequence[str],
) -> LanguageData:
    """Arrange the features of one language.

    Args:
        table: Feature table.
        features: Feature columns the surrogate may use.
        systems: Every system of the arena.
        questions: Every question of this language.
        tournaments: The language's tournaments.
        language: Language code.
        holdout: Systems kept out of training in any language.
    """
    everything = feature_tensor(table, language, features, systems, questions)
    return LanguageData(
        ratings=rate(tournaments.battles, ties=tournaments.ties, seed=tournaments.seed),
        tournaments=tournaments,
        judged=everything.take(
            systems=tournaments.systems, questions=tournaments.battles.questions
        ),
        everything=everything,
        holdout=tuple(system for system in holdout if system in tournaments.systems),
    )


def fit_language(data: LanguageData, recipe: Recipe) -> LanguageFit:
    """Train the final surrogate of a language, and the ones that rate unseen systems.

    Raises:
        UsageError: If too few systems can be trained on, or no feature has a value.
    """
    tournaments = data.tournaments
    trained = [system for system in tournaments.systems if system not in data.holdout]
    kept = np.isin(tournaments.systems, trained)
    state = random_state(tournaments, data.language, "final")
    judge = train_language_judge(
        data.judged.take(systems=trained),
        tournaments.draws,
        tournaments.coefficients[:, kept],
        recipe,
        find_learner(recipe.learner).final(state),
    )
    return LanguageFit(judge, rate_unseen(data.judged, tournaments, recipe))


def synthetic_ratings(
    data: LanguageData, judge: LanguageJudge | None, interval: RatingInterval = NO_RATINGS
) -> pd.DataFrame:
    """Rate every system of the arena in one language on all questions.

    Args:
        data: The language's data.
        judge: Its surrogate, or None where none could be trained.
        interval: How wide the conformal interval of a rating is.

    Returns:
        Columns ``language, system, rank, rating, low, high, coverage, answers, arena_rank,
        arena_rating, arena_low, arena_high, split, note``, best first, unranked systems last.
        ``low, high`` is what it would be for a system that the surrogate had not seen, so that
        it is wide for one it was trained on. ``coverage`` is the share of questions answered;
        ``split`` is ``train``, ``holdout`` or ``unjudged``.
    """
    systems = data.everything.systems
    answers = data.everything.answered.sum(axis=1)
    rating = np.full(len(systems), np.nan) if judge is None else judge.predict(data.everything)
    bounds = [interval.around(value) for value in rating.tolist()]
    table = pd.DataFrame(
        {
            "language": data.language,
            "system": systems,
            "rank": pd.Series(rating).rank(ascending=False, method="min").astype("Int64"),
            "rating": rating,
            "low": [low for low, _ in bounds],
            "high": [high for _, high in bounds],
            "coverage": answers / len(data.everything.questions),
            "answers": answers,
        }
    )
    arena = data.ratings.table[["system", "rank", "rating", "low", "high"]].add_prefix("arena_")
    table = table.merge(arena, how="left", left_on="system", right_on="arena_system")
    judged, held = set(data.tournaments.systems), set(data.holdout)
    table["split"] = [
        "holdout" if system in held else "train" if system in judged else "unjudged"
        for system in systems
    ]
    table["note"] = [
        _rank_note(rated, count, judge is not None)
        for rated, count in zip(np.isfinite(rating), answers, strict=True)
    ]
    ordered = table.sort_values(["rank", "system"], kind="stable")
    return ordered[BOARD_COLUMNS]


def _rank_note(rated: bool, answers: int, has_judge: bool) -> str:
    if rated or not has_judge:
        return ""
    return NO_ANSWER if answers == 0 else NO_FEATURES


def arena_agreement(data: LanguageData, ratings: pd.DataFrame) -> Agreement:
    """Compare the synthetic with the arena ranking, with a bootstrap interval."""
    tournaments = data.tournaments
    rating = ratings.set_index("system")["rating"].reindex(tournaments.systems).to_numpy(float)
    random = generator(tournaments.seed, "agreement", data.language)
    return agreement(rating, data.arena_ratings, tournaments.coefficients, random)


def unseen_agreement(data: LanguageData, unseen: Floats) -> float:
    """Kendall tau-b between the arena ranking and that of surrogates that saw no such system."""
    return kendall_tau(unseen, data.arena_ratings)


def holdout_r2(fits: Sequence[TournamentFits]) -> HoldoutR2:
    """Summarize R² on the held-out systems over tournaments."""
    if not fits:
        return HoldoutR2(reason=NO_HOLDOUT)
    values = np.concatenate([fit.r2 for fit in fits])
    defined = values[np.isfinite(values)]
    if not defined.size:
        return HoldoutR2(reason=NO_R2)
    low, high = percentile_interval(defined)
    return HoldoutR2(
        mean=float(defined.mean()),
        median=float(np.median(defined)),
        low=low,
        high=high,
        tournaments=defined.size,
    )


def importances(
    data: LanguageData, judge: LanguageJudge | None, fits: Sequence[TournamentFits]
) -> pd.DataFrame:
    """Feature importances of a language (MIRAGE-Bench, figure 5).

    Returns:
        Columns ``language, feature, importance, tournament_mean, tournament_low,
        tournament_high, tournament_q1, tournament_median, tournament_q3``: the share in the final
        surrogate, then the mean, 95% percentile interval and quartiles over the surrogates of
        single tournaments (NaN where nothing is held out); most important first. A feature that
        was left out has NaN, as all have without a surrogate.
    """
    final = judge.importances() if judge else {}
    table = pd.DataFrame(
        {
            "language": data.language,
            "feature": data.judged.features,
            "importance": [final.get(name, np.nan) for name in data.judged.features],
        }
    )
    spread = np.full((1 + len(SPREAD), len(table)), np.nan)
    if fits:
        used = table["importance"].notna().to_numpy()
        shares = np.concatenate([fit.importances for fit in fits])[:, used]
        spread[:, used] = [
            shares.mean(axis=0),
            *np.percentile(shares, list(SPREAD.values()), axis=0),
        ]
    for name, values in zip(("mean", *SPREAD), spread, strict=True):
        table[f"tournament_{name}"] = values
    return table.sort_values("importance", ascending=False, kind="stable", na_position="last")


def language_neighbours(data: LanguageData, judge: LanguageJudge | None) -> pd.DataFrame:
    """Name the systems nearest to each in the surrogate's feature space; none without it.

    Returns:
        As ``system_space.neighbours_table``.
    """
    if judge is None:
        return pd.DataFrame(columns=NEIGHBOUR_COLUMNS)
    space = system_space(data.everything, judge.features, judge.systems)
    return neighbours_table(space, data.language)


TOURNAMENTS_PER_TASK = 25


@dataclass(frozen=True)
class LanguageFits:
    """Everything trained for one language.

    Attributes:
        final: The surrogates trained on all tournaments, or None where none could be.
        tournaments: Surrogates of single tournaments, in order; empty without a holdout.
        failure: Why no surrogate could be trained.
    """

    final: LanguageFit | None
    tournaments: tuple[TournamentFits, ...] = field(default=())
    failure: str | None = None

    @property
    def judge(self) -> LanguageJudge | None:
        """The language's surrogate judge, if there is one."""
        return self.final.judge if self.final else None


def fit_languages(
    data: Sequence[LanguageData],
    recipe: Recipe,
    n_jobs: int,
    progress: Callable[[str, int, int], None] | None = None,
) -> list[LanguageFits]:
    """Train the surrogates of every language.

    Args:
        data: One a language.
        recipe: Learner and kind of rows.
        n_jobs: Processes to use; -1 for all cores.
        progress: Called with ``"surrogates"``, the tasks done and the tasks in all.

    Returns:
        One a language, in the order given.
    """
    finals = [delayed(_fit_final)(item, recipe) for item in data]
    stretches = [
        (index, stretch) for index, item in enumerate(data) for stretch in _stretches(item)
    ]
    singles = [delayed(_fit_stretch)(data[index], recipe, stretch) for index, stretch in stretches]
    tasks = [*finals, *singles]
    with threadpool_limits(1), parallel_config("loky", inner_max_num_threads=1):
        done = Parallel(n_jobs=n_jobs, return_as="generator")(tasks)
        results = _counted(done, len(tasks), progress)
        fits: list[LanguageFits] = list(islice(results, len(finals)))
        by_language: list[list[TournamentFits]] = [[] for _ in data]
        for (index, _), result in zip(stretches, results, strict=True):
            if result is not None:
                by_language[index].append(result)
    return [
        LanguageFits(fit.final, tuple(parts), fit.failure)
        for fit, parts in zip(fits, by_language, strict=True)
    ]


def _stretches(data: LanguageData) -> list[range]:
    if not data.holdout:
        return []
    total = len(data.tournaments.draws)
    return [
        range(start, min(start + TOURNAMENTS_PER_TASK, total))
        for start in range(0, total, TOURNAMENTS_PER_TASK)
    ]


def _fit_final(data: LanguageData, recipe: Recipe) -> LanguageFits:
    try:
        return LanguageFits(fit_language(data, recipe))
    except UsageError as error:
        return LanguageFits(None, failure=str(error))


def _fit_stretch(data: LanguageData, recipe: Recipe, stretch: range) -> TournamentFits | None:
    try:
        return fit_tournaments(data.judged, data.tournaments, data.holdout, recipe, stretch)
    except UsageError:
        return None


def _counted(
    results: Iterator[Any], total: int, progress: Callable[[str, int, int], None] | None
) -> Iterator[Any]:
    for done, result in enumerate(results, start=1):
        if progress is not None:
            progress("surrogates", done, total)
        yield result
