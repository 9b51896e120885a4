"""Systems held out of training, and surrogates of single tournaments rated on them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from joblib import delayed

from arena.data.errors import UsageError
from arena.data.types import Floats, Progress
from arena.statistics.bootstrap import generator, seed_sequence
from surrogate.learning.cross_fitting import (
    run_tasks,
)
from surrogate.learning.language_data import LanguageData
from surrogate.learning.surrogate import FEWEST_SYSTEMS, Surrogate, reseeded

DEFAULT_HOLDOUT_SIZE = 2


@dataclass(frozen=True)
class TournamentFit:
    """A surrogate trained on a single tournament of one language.

    Its ratings of judged systems, the tournament's coefficients and which were held out have shape
    (S,), shares of features (F,).
    """

    ratings: Floats
    shares: Floats
    coefficients: Floats
    is_held: npt.NDArray[np.bool_]

    @property
    def holdout_r2(self) -> float:
        """Return R² on the held-out systems."""
        return r2(self.coefficients[self.is_held], self.ratings[self.is_held])

    @property
    def train_r2(self) -> float:
        """Return R² on the systems trained on."""
        return r2(self.coefficients[~self.is_held], self.ratings[~self.is_held])


def choose_holdout(
    systems: Sequence[str], seed: int, size: int = DEFAULT_HOLDOUT_SIZE, *keys: str
) -> tuple[str, ...]:
    """Draw the held-out systems, sorted; none if fewer than three would stay."""
    if len(systems) < size + FEWEST_SYSTEMS:
        return ()
    drawn = generator(seed, "holdout", *keys).choice(len(systems), size, replace=False)
    return tuple(sorted(systems[index] for index in drawn))


def check_holdout(holdout: Sequence[str], judged: Sequence[str]) -> tuple[str, ...]:
    """Check the systems a user wants held out."""
    unknown = [system for system in holdout if system not in judged]
    if unknown:
        raise UsageError(
            f"cannot hold out {', '.join(unknown)}: not judged; "
            f"the judged systems are {', '.join(sorted(judged))}"
        )
    chosen = tuple(sorted(set(holdout)))
    if len(chosen) < len(holdout):
        raise UsageError("a held-out system is named twice")
    n_trained = len(set(judged) - set(chosen))
    if n_trained < FEWEST_SYSTEMS:
        raise UsageError(
            f"holding out {len(chosen)} systems leaves fewer than {FEWEST_SYSTEMS} to train on"
        )
    return chosen


def fit_tournament(
    languages: Sequence[LanguageData],
    surrogate: Surrogate,
    holdout: Sequence[str],
    index: int,
    seed: int,
) -> list[TournamentFit]:
    """Train on one tournament without held-out systems, and rate all.

    Lines 1 to 7 of Algorithm 1 of MIRAGE-Bench.
    """
    ratings = {data.language: data.tournaments.single(index) for data in languages}
    # One tournament has one row per system, whose features are those of its own questions.
    rows = "system" if surrogate.rows == "overall" else surrogate.rows
    untrained = reseeded(surrogate, seed, rows=rows, n_jobs=1)
    fitted = untrained.fit(
        pd.concat([data.without_answers_of(holdout).X for data in languages]), ratings
    )
    drawn = pd.concat([data.drawn(index) for data in languages])
    questions = {data.language: data.drawn_questions(index) for data in languages}
    predictions = fitted.predict(drawn, questions).set_index(["language", "system"])["rating"]
    importances = fitted.importances().set_index("language")["importance"]
    fits = []
    for data in languages:
        keys = [(data.language, name) for name in data.systems]
        shares = importances[importances.index == data.language].fillna(0.0)
        fits.append(
            TournamentFit(
                ratings=predictions.reindex(keys).to_numpy(np.float64),
                shares=shares.to_numpy(np.float64),
                coefficients=data.tournaments.coefficients[index],
                is_held=np.isin(data.systems, list(holdout)),
            )
        )
    return fits


def r2(coefficients: Floats, predicted: Floats) -> float:
    """Return R² of (H,); NaN with fewer than two systems, or equal ones."""
    smallest_spread = 1e-6  # logits; coefficients that are closer are equal
    is_known = np.isfinite(coefficients) & np.isfinite(predicted)
    if is_known.sum() < 2 or np.ptp(coefficients[is_known]) < smallest_spread:
        return float("nan")
    residuals = coefficients[is_known] - predicted[is_known]
    centered = coefficients[is_known] - coefficients[is_known].mean()
    return float(1 - residuals @ residuals / (centered @ centered))


def fit_tournaments(
    data: Sequence[LanguageData],
    surrogate: Surrogate,
    held_out: Sequence[Sequence[str]],
    n_jobs: int,
    progress: Progress | None,
) -> list[list[TournamentFit]]:
    """Train surrogates on single tournaments, in each language with held-out systems."""
    tournaments_per_task = 25
    stretches = []
    for index, part in enumerate(data):
        if surrogate.pooled or not held_out[index] or part.language in surrogate.failures_:
            continue
        n_tournaments = len(part.tournaments.draws)
        for start in range(0, n_tournaments, tournaments_per_task):
            stop = min(start + tournaments_per_task, n_tournaments)
            stretches.append((index, range(start, stop)))
    tasks = [
        delayed(_fit_stretch)(data[index], surrogate, held_out[index], stretch)
        for index, stretch in stretches
    ]
    fits: list[list[TournamentFit]] = [[] for _ in data]
    results = run_tasks(tasks, n_jobs, progress, "single tournaments")
    for (index, _), stretch_fits in zip(stretches, results, strict=True):
        fits[index].extend(stretch_fits)
    return fits


def _fit_stretch(
    data: LanguageData, surrogate: Surrogate, holdout: Sequence[str], stretch: range
) -> list[TournamentFit]:
    fits = []
    for index in stretch:
        keys = ("surrogate", data.language, "tournament", str(index))
        seed = int(seed_sequence(surrogate.seed, *keys).generate_state(1)[0])
        with suppress(UsageError):  # a tournament that rates fewer than three of the systems
            fits.extend(fit_tournament([data], surrogate, holdout, index, seed))
    return fits
