"""What is trained for the board of one language, and how its ratings agree with the arena's."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from joblib import delayed

from arena.data.errors import UsageError
from arena.data.seeds import generator, seed_sequence
from arena.data.types import Flags, Floats, Progress
from arena.rating.posterior import RatingPosterior
from arena.rating.published import PublishedTournaments
from arena.rating.ratings import Ratings
from arena.statistics.bootstrap import percentile_interval
from arena.statistics.rank_agreement import Agreement, agreement
from surrogate.board.settings import BoardRecord
from surrogate.board.summary import HoldoutR2
from surrogate.learning.cross_fitting import Repeats, everything_left, leave_systems_out, run_tasks
from surrogate.learning.estimation.observations import JointPosterior
from surrogate.learning.estimation.ratings import expected_ratings, posterior_ratings
from surrogate.learning.estimation.replication import Replication, replicate
from surrogate.learning.languages import FEW_TOURNAMENTS, LanguageData, others_of
from surrogate.learning.outcomes import MANY_SYSTEMS, Outcome
from surrogate.learning.surrogate import FEW_TREES, FEWEST_SYSTEMS, Surrogate, reseeded
from surrogate.learning.training import training_ratings

DEFAULT_HOLDOUT_SIZE = 2
FEWEST_HELD_OUT = 2
SMALLEST_SPREAD = 1e-6
"""Held-out coefficients (logits) closer than this are equal: R² is not defined."""

SPREAD = {"low": 2.5, "high": 97.5, "q1": 25.0, "median": 50.0, "q3": 75.0}
"""Percentiles of a feature's importance over tournaments."""
TOURNAMENTS_PER_TASK = 25
ENOUGH_SYSTEMS = 40
MANY_RATINGS = 50
SPLITS, FEWER_SPLITS = 5, 3
NO_TOURNAMENTS = "no surrogate learned from one tournament with systems held out"
NO_R2 = "fewer than two held-out systems are judged here"


@dataclass(frozen=True)
class TournamentFit:
    """A surrogate trained on a single tournament of one language.

    Attributes:
        ratings: Rating of each judged system by its answers in the tournament, shape (S,).
        shares: Share of each feature in the surrogate's decisions, shape (F,); 0 for one that
            could not be used.
        coefficients: Coefficient of each system in the tournament, shape (S,).
        is_held: Which systems were held out, shape (S,).
    """

    ratings: Floats
    shares: Floats
    coefficients: Floats
    is_held: Flags

    @property
    def holdout_r2(self) -> float:
        """R² on the held-out systems; see ``r2``."""
        return r2(self.coefficients[self.is_held], self.ratings[self.is_held])

    @property
    def train_r2(self) -> float:
        """Likewise on the systems trained on."""
        return r2(self.coefficients[~self.is_held], self.ratings[~self.is_held])


def choose_holdout(
    systems: Sequence[str], seed: int, size: int = DEFAULT_HOLDOUT_SIZE, *keys: str
) -> tuple[str, ...]:
    """Draw the systems to hold out, sorted; none where fewer than three would be left.

    Judged systems stand in an order that draws may hang on; see ``by_content``.
    """
    if len(systems) < size + FEWEST_SYSTEMS:
        return ()
    drawn = generator(seed, "holdout", *keys).choice(len(systems), size, replace=False)
    return tuple(sorted(systems[index] for index in drawn))


def check_holdout(holdout: Sequence[str], judged: Sequence[str]) -> tuple[str, ...]:
    """Check the systems a user wants held out.

    Raises:
        UsageError: If one is not judged, stands twice, or too few are left to train on.
    """
    if unknown := [system for system in holdout if system not in judged]:
        raise UsageError(
            f"cannot hold out {', '.join(unknown)}: not judged; "
            f"the judged systems are {', '.join(sorted(judged))}"
        )
    chosen = tuple(sorted(set(holdout)))
    if len(chosen) < len(holdout):
        raise UsageError("a held-out system is named twice")
    if len(set(judged) - set(chosen)) < FEWEST_SYSTEMS:
        raise UsageError(f"holding out {len(chosen)} systems leaves fewer than 3 to train on")
    return chosen


def fit_tournament(
    languages: Sequence[LanguageData],
    surrogate: Surrogate,
    holdout: Sequence[str],
    index: int,
    seed: int,
    trees: int = FEW_TREES,
) -> list[TournamentFit]:
    """Train a surrogate on one tournament, some systems held out, and rate all of them by it.

    Lines 1 to 7 of Algorithm 1 of MIRAGE-Bench.

    Raises:
        UsageError: If too few systems can be trained on, or no feature has a value.
    """
    ratings = {data.language: data.tournaments.single(index) for data in languages}
    # One tournament has one row a system, whose features are those of its own questions.
    rows = "system" if surrogate.rows == "overall" else surrogate.rows
    fitted = reseeded(surrogate, seed, trees=trees, rows=rows, n_jobs=1).fit(
        pd.concat([data.hiding(holdout).X for data in languages]), ratings
    )
    drawn = pd.concat([data.drawn(index) for data in languages])
    asked = {data.language: data.drawn_questions(index) for data in languages}
    rated = fitted.predict(drawn, asked).set_index(["language", "system"])["rating"]
    importances = fitted.importances().set_index("language")["importance"]
    return [
        TournamentFit(
            rated.reindex([(data.language, name) for name in data.systems]).to_numpy(np.float64),
            importances[importances.index == data.language].fillna(0.0).to_numpy(np.float64),
            data.tournaments.coefficients[index],
            np.isin(data.systems, list(holdout)),
        )
        for data in languages
    ]


def r2(truth: Floats, predicted: Floats) -> float:
    """R² of predicted coefficients, both of shape (H,).

    Returns:
        NaN where fewer than two systems have both, or their coefficients are equal.
    """
    both = np.isfinite(truth) & np.isfinite(predicted)
    if both.sum() < FEWEST_HELD_OUT or np.ptp(truth[both]) < SMALLEST_SPREAD:
        return float("nan")
    missed, spread = truth[both] - predicted[both], truth[both] - truth[both].mean()
    return float(1 - missed @ missed / (spread @ spread))


@dataclass(frozen=True)
class LanguageStudy:
    """What was trained for the board of one language.

    Attributes:
        ratings: The arena's ratings of the judged systems.
        posterior: Their ratings by verdicts and surrogate together.
        joint: The same of all languages, and how they vary together.
        by: Whether the board's ratings are these, or by the trained surrogate alone.
        holdout: Judged systems kept out of training.
        halves: How ratings replicate; see ``surrogate.learning.estimation.replication``.
        unseen: Each judged system's rating by a surrogate trained without it.
        r2: R² on the held-out systems in each tournament, shape (T,); empty without a holdout.
        shares: Share of each feature in the surrogates of single tournaments, shape (T, F).
        borrows: Whether few systems are judged, and all rated by what other languages tell, too.
    """

    data: LanguageData
    ratings: Ratings
    posterior: RatingPosterior
    joint: JointPosterior
    by: Literal["posterior", "surrogate"]
    holdout: tuple[str, ...]
    halves: Replication
    unseen: Outcome
    r2: Floats
    shares: Floats
    failure: str | None = None
    borrows: bool = False

    @property
    def language(self) -> str:
        """Language code."""
        return self.data.language

    @property
    def without_error(self) -> frozenset[str]:
        """Systems whose published rating has no error, known or assumed."""
        known = self.data.tournaments
        if not isinstance(known, PublishedTournaments):
            return frozenset()
        return frozenset(np.compress(np.isnan(known.errors), known.systems))


def study_languages(
    data: Sequence[LanguageData],
    surrogate: Surrogate,
    settings: BoardRecord,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> list[LanguageStudy]:
    """Train the surrogates of every language.

    The surrogate itself is fitted on all judged systems but the held-out ones. Others are trained
    without each fold of the systems, and on single tournaments: their mean R² over 200 is no more
    certain than over 50, for the held-out systems are the same.

    Args:
        data: One a language.
        surrogate: What to train; it is fitted in place.
        settings: The board's.
        n_jobs: Processes to use; -1 for all cores.
        progress: Called with ``"surrogates"``, the tasks done and the tasks in all.

    Returns:
        One a language, in the order given.
    """
    holdout = settings.holdout
    training = pd.concat([item.hiding(holdout).X for item in data], ignore_index=True)
    with suppress(UsageError):  # a board without ratings says why, language by language
        surrogate.fit(training, {item.language: item.tournaments for item in data})
    unseen = _unseen(data, surrogate, n_jobs, progress)
    known = training_ratings({item.language: item.tournaments for item in data})
    expected = pd.concat(map(expected_ratings, unseen))
    judged = training[training["system"].isin(expected["system"])]
    others = others_of(data)
    posteriors = posterior_ratings(surrogate, known, expected, judged, others)
    # By surrogates that must be trained several times for a split, once.
    is_cheap = surrogate.pooled and max(len(item.systems) for item in data) <= MANY_SYSTEMS
    how = Repeats(SPLITS if is_cheap else 1, surrogate.seed, n_jobs, progress)
    halves = replicate(data, surrogate, how, with_surrogate=False)
    held = [tuple(name for name in holdout if name in item.systems) for item in data]
    fits = _fit_tournaments(data, surrogate, held, settings, n_jobs, progress)
    size = len(surrogate.features_)
    return [
        LanguageStudy(
            data=item,
            ratings=item.tournaments.rate(settings.arena_ratings),
            posterior=posteriors[item.language],
            joint=posteriors,
            by="surrogate" if settings.ratings == "surrogate" else "posterior",
            holdout=held[place],
            halves=halves.of(item.language),
            unseen=unseen[place],
            r2=np.array([fit.holdout_r2 for fit in fits[place]]),
            shares=np.array([fit.shares for fit in fits[place]]).reshape(-1, size),
            failure=surrogate.failures_.get(item.language),
            borrows=item.language in surrogate.borrowing_,
        )
        for place, item in enumerate(data)
    ]


def _unseen(
    data: Sequence[LanguageData], surrogate: Surrogate, n_jobs: int, progress: Progress | None
) -> list[Outcome]:
    """Rate every system by a surrogate trained without it: what ``validate`` does."""
    how = Repeats(splits(data), surrogate.seed, n_jobs, progress)
    training = _left_of_few if surrogate.pooled else everything_left
    try:
        return leave_systems_out(data, surrogate, how, training)
    except UsageError as error:
        why = (str(error),)
        nothing = [np.full((1, len(item.systems)), np.nan) for item in data]
        return [
            Outcome(item.language, item.systems, none, item.truth[None], reasons=why)
            for item, none in zip(data, nothing, strict=True)
        ]


def _left_of_few(data: LanguageData, held: Sequence[str], repeat: int) -> LanguageData:
    """Draw few tournaments for surrogates that learn from none: they tell who is connected."""
    return everything_left(data.drawing(FEW_TOURNAMENTS), held, repeat)


def splits(data: Sequence[LanguageData]) -> int:
    """How often systems are split into folds: of few systems, tau hangs on who is held out."""
    if max(len(item.systems) for item in data) >= ENOUGH_SYSTEMS:
        return 1
    return SPLITS if sum(len(item.systems) for item in data) < MANY_RATINGS else FEWER_SPLITS


def _fit_tournaments(
    data: Sequence[LanguageData],
    surrogate: Surrogate,
    held: Sequence[Sequence[str]],
    settings: BoardRecord,
    n_jobs: int,
    progress: Progress | None,
) -> list[list[TournamentFit]]:
    """Train surrogates on single tournaments, in each language that has held-out systems."""
    stretches, size = [], TOURNAMENTS_PER_TASK
    for place, item in enumerate(data):
        if held[place] and item.language not in surrogate.failures_ and not surrogate.pooled:
            every = range(min(settings.r2_tournaments, len(item.tournaments.draws)))
            stretches += [(place, every[start : start + size]) for start in every[::size]]
    tasks = [
        delayed(_fit_stretch)(data[place], surrogate, held[place], stretch, settings.r2_trees)
        for place, stretch in stretches
    ]
    fits: list[list[TournamentFit]] = [[] for _ in data]
    for (place, _), done in zip(stretches, run_tasks(tasks, n_jobs, progress), strict=True):
        fits[place] += done
    return fits


def _fit_stretch(
    data: LanguageData, surrogate: Surrogate, holdout: Sequence[str], stretch: range, trees: int
) -> list[TournamentFit]:
    fits = []
    for index in stretch:
        keys = ("surrogate", data.language, "tournament", str(index))
        seed = int(seed_sequence(surrogate.seed, *keys).generate_state(1)[0])
        with suppress(UsageError):  # a tournament that rates fewer than three of the systems
            fits += fit_tournament([data], surrogate, holdout, index, seed, trees)
    return fits


def arena_agreement(study: LanguageStudy, predicted: pd.DataFrame) -> Agreement:
    """Compare what the trained surrogate predicts with the arena (MIRAGE-Bench, table 2).

    Returns:
        Kendall tau of the judged systems, with a bootstrap interval.
    """
    tournaments = study.data.tournaments
    own = predicted[predicted["language"] == study.language].set_index("system")
    rating = own["rating"].reindex(tournaments.systems).to_numpy(float)
    random = generator(tournaments.seed, "agreement", study.language)
    reported = study.ratings.table.set_index("system")["rating"].reindex(tournaments.systems)
    return agreement(rating, reported.to_numpy(float), tournaments.coefficients, random)


def holdout_r2(study: LanguageStudy) -> HoldoutR2:
    """Summarize R² on the held-out systems over tournaments."""
    defined = study.r2[np.isfinite(study.r2)]
    if not defined.size:
        return HoldoutR2(reason=NO_R2 if study.r2.size else NO_TOURNAMENTS)
    low, high = percentile_interval(defined)
    mean, median = float(defined.mean()), float(np.median(defined))
    return HoldoutR2(mean=mean, median=median, low=low, high=high, tournaments=defined.size)


def importances_table(
    study: LanguageStudy, known: pd.DataFrame, names: Sequence[str]
) -> pd.DataFrame:
    """Feature importances of a language (MIRAGE-Bench, figure 5).

    The second is what ``Surrogate.importances`` gives, of all languages.

    Returns:
        Columns ``language, feature, importance, tournament_mean, tournament_low,
        tournament_high, tournament_q1, tournament_median, tournament_q3``: the share in the final
        surrogate, then the mean, 95% percentile interval and quartiles over the surrogates of
        single tournaments (NaN where nothing is held out); most important first. A feature that
        was left out has NaN, as all have without a surrogate.
    """
    own = known[known["language"] == study.language].set_index("feature")["importance"]
    own = own.reindex(list(names)).rename_axis("feature").reset_index()
    table = pd.DataFrame({"language": study.language, **own})
    spread = np.full((1 + len(SPREAD), len(table)), np.nan)
    if len(study.shares):
        used = table["importance"].notna().to_numpy()
        shares = study.shares[:, used]
        percentiles = np.percentile(shares, list(SPREAD.values()), axis=0)
        spread[:, used] = [shares.mean(axis=0), *percentiles]
    for name, values in zip(("mean", *SPREAD), spread, strict=True):
        table[f"tournament_{name}"] = values
    return table.sort_values("importance", ascending=False, kind="stable", na_position="last")
