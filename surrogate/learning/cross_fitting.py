"""Rating systems by surrogates that saw neither answers nor verdicts of them: k-fold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import call
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from arena.computing.workers import work
from arena.data.errors import UsageError
from arena.data.types import Floats, Progress
from arena.rating.bradley_terry import ConvergenceError
from arena.statistics.bootstrap import by_content, generator, seed_sequence
from surrogate.learning.language_data import LanguageData, judged_questions
from surrogate.learning.outcomes import Outcome
from surrogate.learning.surrogate import FEWEST_SYSTEMS, Asked, Surrogate, joined, reseeded
from surrogate.learning.training_data import places_in

Rating = tuple[pd.DataFrame, dict[str, str]]
"""Ratings of a table's systems, and language to why there are none."""
Training = Callable[[LanguageData, Sequence[str], int], LanguageData]
"""From a language, held-out systems and a repeat to the data to learn from."""
FEWEST_SYSTEMS_TO_FOLD = FEWEST_SYSTEMS + 2
HELD_OUT_COLUMNS = ["repeat", "fold", "language", "system", "rating", "standard_error"]


class Fold(NamedTuple):
    """Systems that are held out together."""

    repeat: int
    number: int
    systems: list[str]


@dataclass(frozen=True)
class Repeats:
    """Number of trainings, their seed, and processes."""

    times: int
    seed: int
    n_jobs: int = 1
    progress: Progress | None = None
    stage: str = "surrogates"

    def reseeded(self, surrogate: Surrogate, *keys: str) -> Surrogate:
        """Return an unfitted surrogate for one training, in one process."""
        return reseeded(surrogate, derived_seed(self.seed, *keys), n_jobs=1)

    def run(self, tasks: Sequence[partial[Any]]) -> list[Any]:
        """Run partial calls."""
        return run_tasks(tasks, self.n_jobs, self.progress, self.stage)


@dataclass(frozen=True)
class HeldOutRatings:
    """Ratings by surrogates that did not see the systems.

    ``table`` has ``repeat, fold, language, system, rating, standard_error``, NaN without.
    """

    table: pd.DataFrame
    reasons: Mapping[str, tuple[str, ...]]

    @classmethod
    def gathered(cls, folds: Iterable[Rating]) -> HeldOutRatings:
        """Join the ratings of all folds, whose tables state ``repeat`` and ``fold``."""
        tables = []
        reasons: dict[str, dict[str, None]] = {}  # of ordered sets
        for table, reasons_of_fold in folds:
            if len(table):
                # A surrogate without standard errors has no such column.
                tables.append(table.reindex(columns=HELD_OUT_COLUMNS))
            for language, reason in reasons_of_fold.items():
                reasons.setdefault(language, {})[reason] = None
        combined = joined(tables, HELD_OUT_COLUMNS)
        return cls(combined, {language: tuple(texts) for language, texts in reasons.items()})

    def matrix(
        self, language: str, systems: Sequence[str], repeats: int, column: str = "rating"
    ) -> Floats:
        """Arrange a language's column, shape (R, S), or NaN."""
        rows = self.table[self.table["language"] == language]
        # Place -1, of a system that is not asked for, takes the last column.
        arranged = np.full((repeats, len(systems) + 1), np.nan)
        cells = (rows["repeat"].to_numpy(np.intp), places_in(systems, rows["system"]))
        arranged[cells] = rows[column].to_numpy(np.float64)
        return arranged[:, :-1]

    def outcome(self, data: LanguageData, repeats: int) -> Outcome:
        """Compare ratings with the arena's, without its reference system's."""
        predicted = self.matrix(data.language, data.systems, repeats)
        errors = self.matrix(data.language, data.systems, repeats, "standard_error")
        folds = self.matrix(data.language, data.systems, repeats, "fold")
        is_rated = np.isfinite(predicted).any(axis=0)
        is_measured = ~np.isin(data.systems, data.unmeasured)
        unrated = np.array(data.systems)[~is_rated & is_measured]
        n_systems = len(data.systems)
        arena_ratings = np.where(
            np.array(data.systems) == data.reference, np.nan, data.arena_ratings
        )
        reasons = list(self.reasons.get(data.language, ()))
        if data.unmeasured:
            reasons.append(
                f"{len(data.unmeasured)} of {n_systems} judged systems left out, without a row in "
                f"the feature table: {', '.join(data.unmeasured)}"
            )
        if len(unrated) and is_rated.any():
            reasons.append(
                f"{len(unrated)} of {n_systems} systems have no prediction: {', '.join(unrated)}"
            )
        return Outcome(
            language=data.language,
            systems=data.systems,
            predicted=predicted,
            arena_ratings=np.tile(arena_ratings, (repeats, 1)),
            folds=np.nan_to_num(folds).astype(np.intp),
            standard_errors=errors if np.isfinite(errors).any() else None,
            reasons=tuple(reasons),
        )


def everything_left(data: LanguageData, held: Sequence[str], _: int) -> LanguageData:
    """Learn from all data but the held-out systems'."""
    return data.without_systems(held)


def leave_systems_out(
    languages: Sequence[LanguageData],
    surrogate: Surrogate,
    repeats: Repeats,
    training: Training = everything_left,
    folds: Sequence[Fold] | None = None,
) -> list[Outcome]:
    """Rate every system by a surrogate that has not seen it, fold by fold.

    Folds are alike in every language. Tournaments of the other folds are drawn again; ratings are
    moved to the arena's scale by these. ``training`` chooses the data to learn from.
    """
    tasks = []
    for fold in folds or system_folds(languages, repeats):
        for group in grouped(languages, surrogate):
            unfitted = repeats.reseeded(surrogate, str(fold.repeat), str(fold.number))
            # A worker gets what is read there: of many answers, that is a small part.
            read = [_read_in(data, unfitted, fold) for data in group]
            tasks.append(partial(_rate_fold, read, unfitted, fold, training))
    rated = HeldOutRatings.gathered(repeats.run(tasks))
    return [rated.outcome(data, repeats.times) for data in languages]


def _read_in(data: LanguageData, surrogate: Surrogate, fold: Fold) -> LanguageData:
    """Leave out answers to questions that the surrogate of a fold does not read."""
    # Where all questions are few enough to be read, those of a fold are, too.
    if not surrogate.unread_questions(data.X, data.tournaments.battles.questions):
        return data
    held = [system for system in data.systems if system in fold.systems]
    X = data.without_answers_of(held).X
    return data.without_answers_to(surrogate.unread_questions(X, data.judged_without(held)))


def grouped(languages: Sequence[LanguageData], surrogate: Surrogate) -> list[list[LanguageData]]:
    """Group the languages that a surrogate learns from together."""
    return [list(languages)] if surrogate.pooled else [[data] for data in languages]


def system_folds(languages: Sequence[LanguageData], repeats: Repeats) -> list[Fold]:
    """Split the systems into folds to hold out, at random.

    Of many draws it keeps the one that pairs systems paired least before.
    """
    n_draws = 100
    systems = systems_by_content(languages)
    n_systems = len(systems)
    if n_systems < FEWEST_SYSTEMS_TO_FOLD:
        raise UsageError(
            f"leaving systems out takes at least {FEWEST_SYSTEMS_TO_FOLD} judged systems, and "
            f"there are {n_systems}"
        )
    n_folds = fold_count(n_systems)
    times_together = np.zeros((n_systems, n_systems))

    def overlap(groups: Iterable[npt.NDArray[Any]]) -> float:
        return sum(float(times_together[group[:, None], group].sum()) for group in groups)

    folds = []
    for repeat in range(repeats.times):
        random = generator(repeats.seed, "validation folds", "systems", str(repeat))
        draws = []
        for _ in range(n_draws):
            draws.append(np.array_split(random.permutation(n_systems), n_folds))
        for number, group in enumerate(min(draws, key=overlap)):
            times_together[np.ix_(group, group)] += 1
            folds.append(Fold(repeat, number, sorted(np.array(systems, object)[group])))
    return folds


def systems_by_content(languages: Sequence[LanguageData]) -> list[str]:
    """Order all judged systems by their answers."""
    systems: set[str] = set()
    for data in languages:
        systems.update(data.systems)
    return by_content(systems, *(data.X for data in languages))


def fold_count(n_systems: int) -> int:
    """Return the number of folds, of at least two systems each."""
    for fewest, n_folds in ((15, 5), (8, 4), (5, 3)):
        if n_systems >= fewest:
            return n_folds
    return n_systems


def _rate_fold(
    languages: Sequence[LanguageData], surrogate: Surrogate, fold: Fold, training: Training
) -> Rating:
    parts = []
    rows = []
    origins: dict[str, float] = {}
    failures: dict[str, str] = {}
    for data in languages:
        held = [system for system in data.systems if system in fold.systems]
        if not held:
            # None of the fold is judged here: all is learned from, nobody is rated.
            parts.append(data)
            continue
        try:
            part = training(data, held, fold.repeat)
        except (UsageError, ConvergenceError) as error:
            failures[data.language] = str(error)
            continue
        parts.append(part)
        rows.append(data.rows(held))
        origins[data.language] = data.origin_of(part)
    if not rows:
        return pd.DataFrame(columns=HELD_OUT_COLUMNS), failures
    table, reasons = train_and_rate(surrogate, parts, pd.concat(rows), judged_questions(languages))
    shifts = [origins[language] for language in table["language"]]
    shifted = table.assign(rating=table["rating"] + shifts, repeat=fold.repeat, fold=fold.number)
    return shifted, {**failures, **reasons}


def train_and_rate(
    surrogate: Surrogate,
    parts: Sequence[LanguageData],
    X: pd.DataFrame,
    questions: Asked | None = None,
) -> Rating:
    """Return the table of ``Surrogate.predict``, and reasons by language."""
    if X.empty:
        return pd.DataFrame(columns=["language", "system", "rating"]), {}
    languages = sorted(X["language"].unique())
    try:
        if not parts:
            raise UsageError("no judgments are left to learn from")
        ratings = {part.language: part.tournaments for part in parts}
        fitted = surrogate.fit(pd.concat([part.X for part in parts]), ratings)
    except (UsageError, ConvergenceError) as error:
        keys = X[["language", "system"]].drop_duplicates()
        return keys.assign(rating=np.nan), dict.fromkeys(languages, str(error))
    failures = {name: fitted.failures_[name] for name in languages if name in fitted.failures_}
    return fitted.predict(X, questions), failures


def run_tasks(
    tasks: Sequence[partial[Any]], n_jobs: int, progress: Progress | None, stage: str
) -> list[Any]:
    """Run partial calls in processes, in order."""
    results = []
    for result in work(call, tasks, n_jobs):
        results.append(result)
        if progress is not None:
            progress(stage, len(results), len(tasks))
    return results


def derived_seed(seed: int, *keys: str) -> int:
    """Return a surrogate's seed for one purpose."""
    return int(seed_sequence(seed, "validation", *keys).generate_state(1)[0])
