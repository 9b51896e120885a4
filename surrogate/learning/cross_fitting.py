"""Rating systems by surrogates that did not see them: the one k-fold over systems.

Boards, validations, importances, ablations and learning curves rest on it, so that they mean the
same by an unseen system: it is held out of the answers, of the judgments and of the scaling. How
well such ratings agree with the arena's is said in ``surrogate.learning.outcomes``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from joblib import delayed

from arena.data.errors import UsageError
from arena.data.seeds import by_content, generator, seed_sequence
from arena.data.types import Floats, Progress
from arena.rating.bradley_terry import ConvergenceError
from features.engine.workers import work
from surrogate.learning.languages import LanguageData, judged_questions
from surrogate.learning.outcomes import Outcome
from surrogate.learning.surrogate import FEWEST_SYSTEMS, Asked, Surrogate, reseeded

Rating = tuple[pd.DataFrame, dict[str, str]]
"""Ratings of a table's systems, and language to why there are none."""
Fold = tuple[int, int, list[str]]
"""Repeat, number of the fold and the systems it holds out, sorted."""
Training = Callable[[LanguageData, Sequence[str], int], LanguageData]
"""From a language, held-out systems and a repeat to what is learned from."""
Rated = Callable[[LanguageData, Sequence[str], int], pd.DataFrame]
"""Likewise to rows of features that are rated."""

FOLDS = {5: 3, 8: 4, 15: 5}
"""Fewest systems to how many folds they are split into: of two systems or more, to be compared."""
FEWEST_SYSTEMS_TO_FOLD = FEWEST_SYSTEMS + 2
STAGE = "surrogates"
DRAWS = 100
HELD_OUT_COLUMNS = ["repeat", "fold", "language", "system", "rating", "standard_error"]
NOTHING_LEFT = "no judgments are left to learn from"
UNMEASURED = "{} of {} judged systems left out, without a row in the feature table: {}"
UNRATED = "{} of {} systems have no prediction: {}"


@dataclass(frozen=True)
class Repeats:
    """How often surrogates are trained, from which seed, and by how many processes.

    Attributes:
        times: How often to split, draw or reseed (R).
        seed: The user's seed.
        n_jobs: Processes to use; -1 for all cores.
    """

    times: int
    seed: int
    n_jobs: int = 1
    progress: Progress | None = None

    def reseeded(self, surrogate: Surrogate, *keys: str) -> Surrogate:
        """Return an unfitted surrogate for one training, in one process."""
        return reseeded(surrogate, derived_seed(self.seed, *keys), n_jobs=1)

    def run(self, tasks: Sequence[Any]) -> list[Any]:
        """Run delayed calls; see ``run_tasks``."""
        return run_tasks(tasks, self.n_jobs, self.progress)


@dataclass(frozen=True)
class HeldOutRatings:
    """Ratings of systems by surrogates that did not see them, several times over.

    Attributes:
        table: Columns ``repeat, fold, language, system, rating, standard_error``; NaN where there
            is none. Ratings of one repeat and fold are by one surrogate.
        reasons: Language to why ratings are missing, without duplicates.
    """

    table: pd.DataFrame
    reasons: Mapping[str, tuple[str, ...]]

    @classmethod
    def gathered(cls, ratings: Iterable[tuple[int, int, Rating]]) -> HeldOutRatings:
        """Put together the ratings of all repeats, each with the numbers of its repeat and fold."""
        tables = [pd.DataFrame(columns=HELD_OUT_COLUMNS)]
        reasons: dict[str, dict[str, None]] = {}
        for repeat, fold, (table, failures) in ratings:
            numbered = table.assign(repeat=repeat, fold=fold)
            tables.append(numbered.reindex(columns=HELD_OUT_COLUMNS))
            for language, reason in failures.items():
                reasons.setdefault(language, {})[reason] = None
        whole = pd.concat([table for table in tables if len(table)] or tables, ignore_index=True)
        return cls(whole, {language: tuple(items) for language, items in reasons.items()})

    def matrix(
        self, language: str, systems: Sequence[str], repeats: int, column: str = "rating"
    ) -> Floats:
        """Arrange a column of a language, shape (R, S); NaN where there is none."""
        own = self.table[self.table["language"] == language]
        wide = own.pivot(index="repeat", columns="system", values=column)
        arranged = wide.reindex(index=range(repeats), columns=list(systems))
        return np.asarray(arranged, dtype=np.float64)

    def outcome(self, data: LanguageData, repeats: int, r2: float | None = None) -> Outcome:
        """Hold ratings in R repeats against the arena's, with the protocol's R² if it has one."""
        arranged = partial(self.matrix, data.language, data.systems, repeats)
        predicted, errors = arranged(), arranged("standard_error")
        reasons = [*self.reasons.get(data.language, ())]
        if data.unmeasured:
            counts = len(data.unmeasured), len(data.systems)
            reasons.append(UNMEASURED.format(*counts, ", ".join(data.unmeasured)))
        is_rated = np.isfinite(predicted).any(axis=0)
        unrated = np.array(data.systems)[~is_rated & ~np.isin(data.systems, data.unmeasured)]
        if len(unrated) and is_rated.any():
            reasons.append(UNRATED.format(len(unrated), len(data.systems), ", ".join(unrated)))
        return Outcome(
            data.language,
            data.systems,
            predicted,
            np.tile(data.truth, (repeats, 1)),
            folds=np.nan_to_num(arranged("fold")).astype(np.intp),
            standard_errors=errors if np.isfinite(errors).any() else None,
            r2=r2,
            reasons=tuple(reasons),
        )


def everything_left(data: LanguageData, held: Sequence[str], _: int) -> LanguageData:
    """Learn from everything that is left without the held-out systems."""
    return data.without(held)


def leave_systems_out(
    languages: Sequence[LanguageData],
    surrogate: Surrogate,
    repeats: Repeats,
    training: Training = everything_left,
    folds: Sequence[Fold] | None = None,
) -> list[Outcome]:
    """Rate every system by a surrogate that has not seen it; see ``held_out_ratings``."""
    rated = held_out_ratings(languages, surrogate, repeats, training=training, folds=folds)
    return [rated.outcome(data, repeats.times) for data in languages]


def held_out_ratings(
    languages: Sequence[LanguageData],
    surrogate: Surrogate,
    repeats: Repeats,
    *,
    training: Training = everything_left,
    rated: Rated | None = None,
    folds: Sequence[Fold] | None = None,
) -> HeldOutRatings:
    """Rate what is held out, fold by fold.

    Folds are the same in every language; each is rated by a surrogate trained on the others, their
    tournaments drawn again without it. What it rates is moved to the arena's scale as a whole, by
    where the others lie on it.

    Args:
        languages: Whose systems are rated.
        surrogate: What to train.
        repeats: How often to split the systems.
        training: What may be learned from.
        rated: What is rated of the held-out systems; their answers to the judged questions if None.
        folds: What is held out; ``system_folds`` if None.

    Raises:
        UsageError: With fewer than five systems.
    """
    keys, tasks = [], []
    for repeat, number, fold in folds or system_folds(languages, repeats):
        for group in grouped(languages, surrogate):
            fresh = repeats.reseeded(surrogate, str(repeat), str(number))
            keys.append((repeat, number))
            tasks.append(delayed(_rate_fold)(group, fresh, fold, repeat, training, rated))
    done = repeats.run(tasks)
    return HeldOutRatings.gathered((*key, one) for key, one in zip(keys, done, strict=True))


def grouped(languages: Sequence[LanguageData], surrogate: Surrogate) -> list[list[LanguageData]]:
    """Put together the languages that a surrogate learns from together."""
    return [list(languages)] if surrogate.pooled else [[data] for data in languages]


def system_folds(languages: Sequence[LanguageData], repeats: Repeats) -> list[Fold]:
    """Split the systems into folds to hold out, at random; see ``FOLDS``.

    Of some draws it takes the one that holds out together whom the repeats before did least often,
    so that five repeats compare nearly all pairs of a dozen systems.

    Raises:
        UsageError: With fewer than five systems.
    """
    systems = systems_by_content(languages)
    if len(systems) < FEWEST_SYSTEMS_TO_FOLD:
        raise UsageError(
            f"{len(systems)} judged systems are too few to leave some out: "
            f"at least {FEWEST_SYSTEMS_TO_FOLD} are needed"
        )
    folds, together = [], np.zeros((len(systems), len(systems)))
    for repeat in range(repeats.times):
        random = generator(repeats.seed, "validation folds", "systems", str(repeat))
        drawn = [
            np.array_split(random.permutation(len(systems)), fold_count(len(systems)))
            for _ in range(DRAWS)
        ]
        chosen = min(
            drawn, key=lambda groups: sum(float(together[np.ix_(own, own)].sum()) for own in groups)
        )
        for number, places in enumerate(chosen):
            together[np.ix_(places, places)] += 1
            folds.append((repeat, number, sorted(systems[place] for place in places)))
    return folds


def systems_by_content(languages: Sequence[LanguageData]) -> list[str]:
    """Order the judged systems of all languages by their answers; see ``by_content``."""
    systems = {system for data in languages for system in data.systems}
    return by_content(systems, pd.concat([data.X for data in languages]))


def fold_count(systems: int) -> int:
    """Return how many folds so many systems are split into."""
    return max([count for fewest, count in FOLDS.items() if systems >= fewest], default=systems)


def _rate_fold(
    languages: Sequence[LanguageData],
    surrogate: Surrogate,
    fold: Sequence[str],
    repeat: int,
    training: Training,
    rated: Rated | None,
) -> Rating:
    parts, rows, origins = [], [], dict[str, float]()
    failures: dict[str, str] = {}
    for data in languages:
        held = [system for system in data.systems if system in fold]
        try:
            part = training(data, held, repeat) if held else data
        except (UsageError, ConvergenceError) as error:
            failures[data.language] = str(error)
            continue
        parts.append(part)
        if held:
            rows.append(data.rows(held) if rated is None else rated(data, held, repeat))
            origins[data.language] = data.origin_of(part)
    if not rows:
        return pd.DataFrame(columns=["language", "system", "rating"]), failures
    table, reasons = train_and_rate(surrogate, parts, pd.concat(rows), judged_questions(languages))
    moved = table["rating"] + table["language"].map(origins).astype(np.float64)
    return table.assign(rating=moved), failures | reasons


def train_and_rate(
    surrogate: Surrogate,
    parts: Sequence[LanguageData],
    X: pd.DataFrame,
    questions: Asked | None = None,
) -> Rating:
    """Train a surrogate on some languages and rate the systems of a table.

    Args:
        surrogate: What to train.
        parts: Languages to train on.
        X: Features of the answers to rate.
        questions: See ``Surrogate.predict``.

    Returns:
        What ``Surrogate.predict`` gives, without ratings where nothing could be learned, and
        nothing of a table without rows; and language to why.
    """
    if X.empty:
        return pd.DataFrame(columns=["language", "system", "rating"]), {}
    languages = sorted(X["language"].unique())
    try:
        if not parts:
            raise UsageError(NOTHING_LEFT)
        ratings = {part.language: part.tournaments for part in parts}
        fitted = surrogate.fit(pd.concat([part.X for part in parts]), ratings)
    except (UsageError, ConvergenceError) as error:
        keys = X[["language", "system"]].drop_duplicates()
        return keys.assign(rating=np.nan), dict.fromkeys(languages, str(error))
    failures = {name: fitted.failures_[name] for name in languages if name in fitted.failures_}
    return fitted.predict(X, questions), failures


def run_tasks(tasks: Sequence[Any], n_jobs: int, progress: Progress | None) -> list[Any]:
    """Run ``joblib.delayed`` calls in processes; results come in the order of the calls."""
    results = []
    for result in work(_call, tasks, n_jobs):
        results.append(result)
        if progress is not None:
            progress(STAGE, len(results), len(tasks))
    return results


def _call(task: tuple[Callable[..., object], Iterable[Any], Mapping[str, Any]]) -> object:
    function, arguments, keywords = task
    return function(*arguments, **keywords)


def derived_seed(seed: int, *keys: str) -> int:
    """Return a surrogate's seed for one purpose."""
    return int(seed_sequence(seed, "validation", *keys).generate_state(1)[0])
