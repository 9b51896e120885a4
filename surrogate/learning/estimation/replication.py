"""Split-half: rate by the verdicts on half of the questions, compare with those on the other half.

What the verdicts of other questions say is the one truth that neither the rating nor the surrogate
has seen, not even the answers to them, so that ratings by both can be held against ratings by
either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from joblib import delayed

from arena.data.errors import UsageError
from arena.data.seeds import generator
from arena.data.types import Floats
from arena.rating.bradley_terry import ConvergenceError
from arena.rating.posterior import RatingPosterior
from arena.rating.tournaments import DECIMALS
from arena.statistics.bootstrap import percentile_interval
from arena.statistics.rank_agreement import kendall_tau, resampled_taus
from arena.statistics.significance import NORMAL_90
from surrogate.learning.cross_fitting import Repeats, leave_systems_out
from surrogate.learning.estimation.observations import Observation, observe
from surrogate.learning.estimation.ratings import (
    NOTHING_EXPECTED,
    expected_ratings,
    posterior_ratings,
)
from surrogate.learning.languages import FEW_TOURNAMENTS, LanguageData, others_of
from surrogate.learning.outcomes import Outcome, resampled_systems
from surrogate.learning.surrogate import Surrogate
from surrogate.learning.training import finite_means, training_ratings

FEWEST_QUESTIONS = 4
FEWEST_SYSTEMS = 3
REPLICATION_COLUMNS = [
    *("repeat", "language", "questions", "judgments", "systems"),
    *("tau", "tau_verdicts", "tau_surrogate", "inside"),
]


@dataclass(frozen=True)
class Replication:
    """How ratings from half of the questions agree with the verdicts on the other half.

    Attributes:
        rows: ``REPLICATION_COLUMNS``, one row a split and language: questions and judgments
            learned from; systems compared; Kendall tau-b with the ratings of the other half of
            ratings by both, by ``verdicts`` alone, and by surrogates that had not seen the system;
            and the share of the other half's ratings ``inside`` the 90% intervals of ratings by
            both, both errors counted.
        resampled: Language to the mean over splits of both first taus in each resample of the
            systems, the same in every language, shape (2, B).
    """

    rows: pd.DataFrame
    resampled: Mapping[str, Floats]

    def of(self, language: str) -> Replication:
        """Keep one language."""
        rows = self.rows[self.rows["language"] == language]
        kept = {name: taus for name, taus in self.resampled.items() if name == language}
        return Replication(rows, kept)

    @classmethod
    def of_all(cls, parts: Sequence[Replication]) -> Replication:
        """Put languages together."""
        rows = [part.rows for part in parts] or [pd.DataFrame(columns=REPLICATION_COLUMNS)]
        both = {name: taus for part in parts for name, taus in part.resampled.items()}
        return cls(pd.concat(rows, ignore_index=True), both)

    def summary(self) -> dict[str, float]:
        """Average over splits, then over languages, and bound by a bootstrap over systems.

        Splits share verdicts, so that how far they differ does not say how sure their mean is.

        Returns:
            ``tau`` and ``tau_verdicts``, the ``gain`` of the first over the second, and 95%
            intervals: ``tau_low, tau_high, gain_low, gain_high``; NaN where there is none.
        """
        own = self.rows[["language", "tau", "tau_verdicts"]].dropna()
        numbers = own.astype({"tau": float, "tau_verdicts": float})
        taus = numbers.groupby("language").mean().mean()
        taus = taus.reindex(["tau", "tau_verdicts"])
        stacked = np.array([self.resampled[name] for name in sorted(self.resampled)])
        means = finite_means(stacked) if len(stacked) else np.empty((2, 0))
        bounds = {"tau": means[0], "gain": means[0] - means[1]}
        found = {name: percentile_interval(values) for name, values in bounds.items()}
        return {
            **taus.to_dict(),
            "gain": float(taus["tau"] - taus["tau_verdicts"]),
            **{f"{name}_low": low for name, (low, _) in found.items()},
            **{f"{name}_high": high for name, (_, high) in found.items()},
        }


def replicate(
    languages: Sequence[LanguageData],
    surrogate: Surrogate,
    repeats: Repeats,
    questions: int | None = None,
    with_surrogate: bool = True,
) -> Replication:
    """Split the judged questions of every language in half, again and again.

    Args:
        languages: Those with published ratings, or fewer than four judged questions,
            are left out.
        surrogate: What rates together with the verdicts; it is not fitted in place.
        repeats: How often to split.
        questions: Judged questions to learn from a language, of the half; None for all of them.
        with_surrogate: Rate by the surrogate alone, too; costs five trainings a repeat for those
            that need no such ratings otherwise.
    """
    halves = [item for item in languages if len(_judged(item)) >= FEWEST_QUESTIONS]
    tasks = [
        delayed(_replicated)(
            halves,
            repeats.reseeded(surrogate, "replication", str(repeat)),
            repeats.seed,
            repeat,
            questions,
            with_surrogate or not surrogate.pooled,
        )
        for repeat in range(repeats.times if halves else 0)
    ]
    done = [pair for found in repeats.run(tasks) for pair in found]
    rows = pd.DataFrame([row for row, _ in done], columns=REPLICATION_COLUMNS)
    return Replication(rows, _resampled([rated for _, rated in done if rated is not None], repeats))


def _resampled(splits: Sequence[pd.DataFrame], repeats: Repeats) -> dict[str, Floats]:
    """Resample systems, the same in every split and language; see ``Replication``."""
    if not splits:
        return {}
    every = pd.concat(splits)
    random = generator(repeats.seed, "replication", "systems")
    times = resampled_systems(every["system"], every["truth"], random)
    found: dict[str, list[Floats]] = {}
    for rated in splits:
        own = times[list(rated["system"])].to_numpy()
        truth = rated["truth"].to_numpy()
        taus = [resampled_taus(rated[by].to_numpy(), truth, own) for by in ("both", "verdicts")]
        found.setdefault(rated["language"].iloc[0], []).append(np.array(taus))
    return {language: finite_means(np.array(taus)) for language, taus in found.items()}


def _judged(data: LanguageData) -> tuple[str, ...]:
    return () if data.judgments.empty else data.tournaments.battles.questions


def _replicated(
    languages: Sequence[LanguageData],
    surrogate: Surrogate,
    seed: int,
    repeat: int,
    questions: int | None,
    with_surrogate: bool,
) -> list[tuple[dict[str, object], pd.DataFrame | None]]:
    learned, others = [], []
    for data in languages:
        random = generator(seed, "replication", data.language, str(repeat))
        order = [_judged(data)[place] for place in random.permutation(len(_judged(data)))]
        half = len(order) // 2
        few = data.drawing(2 if surrogate.pooled else FEW_TOURNAMENTS)
        answered = data.X[~data.X["query_id"].isin(set(order[half:]))]
        learned.append(replace(few, X=answered).judged_on(order[:half][:questions]))
        others.append(few.judged_on(order[half:]))
    known = training_ratings({item.language: item.tournaments for item in learned})
    truth = observe(training_ratings({item.language: item.tournaments for item in others}))
    X = pd.concat([data.X[data.X["system"].isin(set(data.systems))] for data in learned])
    unseen = {}
    if with_surrogate:
        with suppress(UsageError, ConvergenceError):
            outcomes = leave_systems_out(learned, surrogate, Repeats(1, seed + repeat))
            unseen = {outcome.language: outcome for outcome in outcomes}
    expected = pd.concat([NOTHING_EXPECTED, *map(expected_ratings, unseen.values())])
    together: Mapping[str, RatingPosterior] = {}
    with suppress(UsageError, ConvergenceError):
        surrogate.fit(X, known)
        beside = others_of(learned)
        together = posterior_ratings(surrogate, known, expected, X, beside)
    alone = observe(known)
    found = []
    for item in learned:
        code = item.language
        row = {"repeat": repeat, "language": code, "questions": len(_judged(item))}
        row["judgments"] = len(item.judgments)
        scores, rated = _compared(together.get(code), alone[code], unseen.get(code), truth[code])
        found.append((row | scores, None if rated is None else rated.assign(language=code)))
    return found


def _compared(
    together: RatingPosterior | None, alone: Observation, unseen: Outcome | None, truth: Observation
) -> tuple[dict[str, object], pd.DataFrame | None]:
    """Hold the ratings of the systems that both halves judge against the other half's."""
    names = [name for name in truth.systems if name in alone.systems]
    if together is None or len(names) < FEWEST_SYSTEMS:
        return {"systems": len(names)}, None
    true = truth.among(names)
    both = [together.systems.index(name) for name in names]
    rating = together.ratings[both]
    error = np.sqrt(np.diag(together.covariance)[both] + np.diag(true.noise))
    away = rating - rating.mean() - (true.ratings - true.ratings.mean())
    # Equal records have equal ratings but for rounding errors, which are not to rank them.
    target = np.round(true.ratings, DECIMALS)
    verdicts = np.round(alone.among(names).ratings, DECIMALS)
    scores: dict[str, object] = {
        "systems": len(names),
        "tau": kendall_tau(rating, target),
        "tau_verdicts": kendall_tau(verdicts, target),
        "inside": float(np.mean(np.abs(away) <= NORMAL_90 * error)),
    }
    if unseen is not None:
        other = pd.Series(target, names).reindex(unseen.systems).to_numpy(np.float64)
        scores["tau_surrogate"] = replace(unseen, truth=other[None]).tau
    columns = {"system": names, "both": rating, "verdicts": verdicts, "truth": target}
    return scores, pd.DataFrame(columns)
