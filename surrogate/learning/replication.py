"""Split half: compare ratings from half of the questions with the verdicts on the other half."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np
import pandas as pd

from arena.computing.codes import are_among
from arena.data.errors import UsageError
from arena.data.types import Floats
from arena.rating.bradley_terry import ConvergenceError
from arena.rating.posterior import RatingPosterior
from arena.rating.tournaments import DECIMALS
from arena.statistics.agreement import (
    difference_interval,
    kendall_tau,
    largest_tau,
    resampled_taus,
    tau_interval,
)
from arena.statistics.bootstrap import generator
from arena.statistics.significance import NORMAL_90, finite_means
from surrogate.learning.cross_fitting import Repeats, leave_systems_out
from surrogate.learning.language_data import FEW_TOURNAMENTS, LanguageData, others_of
from surrogate.learning.observations import Observation, observe
from surrogate.learning.outcomes import Outcome, resampled_systems
from surrogate.learning.ratings import (
    NOTHING_EXPECTED,
    expected_ratings,
    posterior_ratings,
)
from surrogate.learning.surrogate import Surrogate, joined
from surrogate.learning.training_data import TrainingRatings, training_ratings

FEWEST_QUESTIONS = 4
FEWEST_SYSTEMS = 3
REPLICATION_COLUMNS = [
    "repeat",
    "language",
    "questions",
    "judgments",
    "systems",
    "tau",
    "tau_verdicts",
    "tau_surrogate",
    "tau_limit",
    "inside",
]
SPLIT_COLUMNS = ["repeat", "language", "system", "combined", "verdicts", "other_half", "error"]


@dataclass(frozen=True)
class Replication:
    """Agreement of ratings from half of the questions with the verdicts on the other half.

    Attributes:
        rows: ``REPLICATION_COLUMNS`` by split and language: tau-b with the other half's ratings, by
            verdicts and surrogate, by ``verdicts``, and by surrogates that had not seen the system;
            the largest possible tau-b; the share of ratings ``inside`` 90% intervals.
        resampled: Language to the first two taus' mean over splits in B common resamples of
            systems, shape (2, B).
        ratings: ``SPLIT_COLUMNS`` by split, language and system rated in both halves: by verdicts
            and surrogate (``combined``), by ``verdicts``, in the ``other_half``; the standard
            ``error`` of the first less the last.
    """

    rows: pd.DataFrame
    resampled: Mapping[str, Floats]
    ratings: pd.DataFrame

    def of(self, language: str) -> Replication:
        """Keep one language."""
        rows = self.rows[self.rows["language"] == language]
        resampled = {name: taus for name, taus in self.resampled.items() if name == language}
        ratings = self.ratings[self.ratings["language"] == language]
        return Replication(rows, resampled, ratings)

    def summary(self) -> dict[str, float]:
        """Average over splits, then languages, with 95% intervals by a bootstrap over systems."""
        rows = self.rows[["language", "tau", "tau_verdicts"]].dropna()
        numbers = rows.astype({"tau": float, "tau_verdicts": float})
        means = numbers.groupby("language").mean().mean().reindex(["tau", "tau_verdicts"])
        tau, tau_verdicts = means.tolist()
        replicates = np.empty((2, 0))
        if self.resampled:
            taus = np.array([self.resampled[name] for name in sorted(self.resampled)])
            replicates = finite_means(taus)
        n_systems = int(self.rows["systems"].max()) if len(self.rows) else 0
        tau_low, tau_high = tau_interval(replicates[0], n_systems)
        gain_low, gain_high = difference_interval(replicates[0] - replicates[1], n_systems)
        return {
            "tau": tau,
            "tau_verdicts": tau_verdicts,
            "gain": tau - tau_verdicts,
            "tau_low": tau_low,
            "gain_low": gain_low,
            "tau_high": tau_high,
            "gain_high": gain_high,
        }


def replicate(
    languages: Sequence[LanguageData],
    surrogate: Surrogate,
    repeats: Repeats,
    questions: int | None = None,
    with_surrogate: bool = True,
) -> Replication:
    """Split every language's judged questions in half, repeatedly.

    Languages with published ratings, or fewer than four judged questions, are left out.
    ``questions`` limits those to learn from; ``with_surrogate`` also rates by the surrogate alone.
    """
    divisible = [data for data in languages if len(_judged_questions(data)) >= FEWEST_QUESTIONS]
    tasks = []
    with_surrogate = with_surrogate or not surrogate.pooled
    for repeat in range(repeats.times if divisible else 0):
        reseeded = repeats.reseeded(surrogate, "replication", str(repeat))
        halved = [_Halves.of(data, repeats.seed, repeat, questions) for data in divisible]
        if not with_surrogate:  # else surrogates of folds read further questions
            halved = [halves.read_by(reseeded) for halves in halved]
        task = partial(
            _replicate_once,
            halved=halved,
            surrogate=reseeded,
            seed=repeats.seed,
            repeat=repeat,
            with_surrogate=with_surrogate,
        )
        tasks.append(task)
    rows: list[dict[str, object]] = []
    comparisons: list[pd.DataFrame] = []
    for row, comparison in chain.from_iterable(repeats.run(tasks)):
        rows.append(row)
        if comparison is not None:
            comparisons.append(comparison)
    return Replication(
        rows=pd.DataFrame(rows, columns=REPLICATION_COLUMNS),
        resampled=_resampled_taus(comparisons, repeats.seed),
        ratings=joined(comparisons, SPLIT_COLUMNS),
    )


def _resampled_taus(comparisons: Sequence[pd.DataFrame], seed: int) -> dict[str, Floats]:
    if not comparisons:
        return {}
    pooled = pd.concat(comparisons)
    random = generator(seed, "replication", "systems")
    resamples = resampled_systems(pooled["system"], pooled["other_half"], random)
    taus: dict[str, list[Floats]] = {}
    for comparison in comparisons:
        times = resamples[list(comparison["system"])].to_numpy()
        other_half = comparison["other_half"].to_numpy()
        of_combined = resampled_taus(comparison["combined"].to_numpy(), other_half, times)
        of_verdicts = resampled_taus(comparison["verdicts"].to_numpy(), other_half, times)
        language = comparison["language"].iloc[0]
        taus.setdefault(language, []).append(np.array([of_combined, of_verdicts]))
    return {language: finite_means(np.array(splits)) for language, splits in taus.items()}


def _judged_questions(data: LanguageData) -> tuple[str, ...]:
    if data.judgments.empty:  # ratings are published
        return ()
    return data.tournaments.battles.questions


def _replicate_once(
    halved: Sequence[_Halves],
    surrogate: Surrogate,
    seed: int,
    repeat: int,
    with_surrogate: bool,
) -> list[tuple[dict[str, object], pd.DataFrame | None]]:
    n_tournaments = 2 if surrogate.pooled else FEW_TOURNAMENTS
    learned: list[LanguageData] = []
    held_out: list[LanguageData] = []
    for halves in halved:
        learned.append(halves.visible.drawing(n_tournaments).judged_on(halves.learned))
        held_out.append(halves.data.drawing(n_tournaments).judged_on(halves.held_out))
    unseen: dict[str, Outcome] = {}
    if with_surrogate:
        unseen = _unseen(learned, surrogate, Repeats(1, seed + repeat))
    posteriors = _posteriors(learned, surrogate, unseen)
    verdicts = observe(_ratings(learned))
    other_half = observe(_ratings(held_out))
    results: list[tuple[dict[str, object], pd.DataFrame | None]] = []
    for data in learned:
        language = data.language
        row: dict[str, object] = {
            "repeat": repeat,
            "language": language,
            "questions": len(_judged_questions(data)),
            "judgments": len(data.judgments),
        }
        comparison = _comparison(posteriors.get(language), verdicts[language], other_half[language])
        if comparison is None:
            row["systems"] = len(verdicts[language].among(other_half[language].systems).systems)
        else:
            row.update(_scores(comparison, unseen.get(language)))
            comparison["repeat"] = repeat
            comparison["language"] = language
        results.append((row, comparison))
    return results


def _ratings(languages: Sequence[LanguageData]) -> dict[str, TrainingRatings]:
    return training_ratings({data.language: data.tournaments for data in languages})


def _unseen(
    learned: Sequence[LanguageData], surrogate: Surrogate, repeats: Repeats
) -> dict[str, Outcome]:
    with suppress(UsageError, ConvergenceError):
        outcomes = leave_systems_out(learned, surrogate, repeats)
        return {outcome.language: outcome for outcome in outcomes}
    return {}


class _Halves(NamedTuple):
    """A language, the judged questions to learn from, and those whose verdicts are held out."""

    data: LanguageData
    learned: Sequence[str]
    held_out: Sequence[str]

    @classmethod
    def of(cls, data: LanguageData, seed: int, repeat: int, questions: int | None) -> _Halves:
        random = generator(seed, "replication", data.language, str(repeat))
        judged = _judged_questions(data)
        order = [judged[index] for index in random.permutation(len(judged))]
        middle = len(order) // 2
        return cls(data, order[:middle][:questions], order[middle:])

    @property
    def visible(self) -> LanguageData:
        # Neither answers to the other half nor other judges' verdicts on it are learned from.
        return replace(
            self.data,
            X=_without_questions(self.data.X, self.held_out),
            others=_without_questions(self.data.others, self.held_out),
        )

    def read_by(self, surrogate: Surrogate) -> _Halves:
        """Keep the answers that a surrogate reads."""
        unread = surrogate.unread_questions(self.visible.X, self.learned)
        return self._replace(data=self.data.without_answers_to({*unread, *self.held_out}))


def _without_questions(rows: pd.DataFrame, questions: Sequence[str]) -> pd.DataFrame:
    if rows.empty:
        return rows
    return rows[~are_among(rows["query_id"], questions)]


def _posteriors(
    learned: Sequence[LanguageData],
    surrogate: Surrogate,
    unseen: Mapping[str, Outcome],
) -> Mapping[str, RatingPosterior]:
    ratings = _ratings(learned)
    tables = [NOTHING_EXPECTED]
    tables.extend(expected_ratings(outcome) for outcome in unseen.values())
    X = pd.concat([data.X[data.X["system"].isin(set(data.systems))] for data in learned])
    with suppress(UsageError, ConvergenceError):
        surrogate.fit(X, ratings)
        expected = pd.concat(tables)
        posteriors = posterior_ratings(surrogate, ratings, expected, X, others_of(learned))
        return posteriors.by_language()
    return {}


def _comparison(
    posterior: RatingPosterior | None, verdicts: Observation, other_half: Observation
) -> pd.DataFrame | None:
    systems = [name for name in other_half.systems if name in verdicts.systems]
    if posterior is None or len(systems) < FEWEST_SYSTEMS:
        return None
    target = other_half.among(systems)
    indices = [posterior.systems.index(name) for name in systems]
    combined = posterior.ratings[indices]
    errors = np.sqrt(np.diag(posterior.covariance)[indices] + np.diag(target.noise))
    return pd.DataFrame(
        {
            "system": systems,
            "combined": combined,
            # Equal records have ratings that are equal but for rounding; these are ties.
            "verdicts": np.round(verdicts.among(systems).ratings, DECIMALS),
            "other_half": np.round(target.ratings, DECIMALS),
            "error": errors,
        }
    )


def _scores(comparison: pd.DataFrame, unseen: Outcome | None) -> dict[str, object]:
    combined = comparison["combined"].to_numpy()
    other_half = comparison["other_half"].to_numpy()
    # Ratings are differences: center both on the same systems before they are compared.
    residuals = combined - combined.mean() - (other_half - other_half.mean())
    scores: dict[str, object] = {
        "systems": len(comparison),
        "tau": kendall_tau(combined, other_half),
        "tau_verdicts": kendall_tau(comparison["verdicts"].to_numpy(), other_half),
        "tau_limit": largest_tau(other_half),
        "inside": float((np.abs(residuals) <= NORMAL_90 * comparison["error"]).mean()),
    }
    if unseen is not None:
        by_system = comparison.set_index("system")["other_half"]
        of_unseen = by_system.reindex(unseen.systems).to_numpy(np.float64)
        scores["tau_surrogate"] = replace(unseen, arena_ratings=of_unseen[None]).tau
    return scores
