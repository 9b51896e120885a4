"""Split-half: rate by the verdicts on half of the questions, compare with those on the other half.

What the verdicts of other questions say is the one truth that neither the rating nor the surrogate
has seen, so that ratings by both can be held against ratings by either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd
from joblib import delayed

from arena.data.errors import UsageError
from arena.data.seeds import generator
from arena.rating.bradley_terry import ConvergenceError
from arena.rating.tournaments import DECIMALS
from arena.statistics.rank_agreement import kendall_tau
from arena.statistics.significance import NORMAL_90
from surrogate.learning.cross_fitting import Repeats, leave_systems_out
from surrogate.learning.languages import FEW_TOURNAMENTS, LanguageData
from surrogate.learning.outcomes import Outcome
from surrogate.learning.posterior.observations import Observation, Posterior, observe
from surrogate.learning.posterior.ratings import expected_ratings, posterior_ratings
from surrogate.learning.surrogate import Surrogate
from surrogate.learning.training import training_ratings

Floats = npt.NDArray[np.float64]

FEWEST_QUESTIONS = 4
FEWEST_SYSTEMS = 3
REPLICATION_COLUMNS = [
    *("repeat", "language", "questions", "judgments", "systems"),
    *("tau", "tau_verdicts", "tau_surrogate", "inside"),
]


def replicate(
    languages: Sequence[LanguageData],
    surrogate: Surrogate,
    repeats: Repeats,
    questions: int | None = None,
    with_surrogate: bool = True,
) -> pd.DataFrame:
    """Split the judged questions of every language in half, again and again.

    Args:
        languages: Languages; those with published ratings, or fewer than four judged questions,
            are left out.
        surrogate: What rates together with the verdicts; it is not fitted in place.
        repeats: How often to split.
        questions: Judged questions to learn from a language, of the half; None for all of them.
        with_surrogate: Rate by the surrogate alone, too; costs five trainings a repeat for those
            that need no such ratings otherwise.

    Returns:
        ``REPLICATION_COLUMNS``, one row a repeat and language: questions and judgments learned
        from; systems compared; Kendall tau-b with the ratings of the other half of ratings by
        both, by ``verdicts`` alone, and by surrogates that had not seen the system; and the share
        of the other half's ratings ``inside`` the 90% intervals of ratings by both, both errors
        counted.
    """
    halves = [item for item in languages if len(_judged(item)) >= FEWEST_QUESTIONS]
    tasks = [
        delayed(_replicated)(
            halves,
            repeats.reseeded(surrogate, "replication", str(repeat), pooled=surrogate.pooled),
            repeats.seed,
            repeat,
            questions,
            with_surrogate or surrogate.learns_tournaments,
        )
        for repeat in range(repeats.times if halves else 0)
    ]
    rows = [row for done in repeats.run(tasks) for row in done]
    return pd.DataFrame(rows, columns=REPLICATION_COLUMNS)


def _judged(data: LanguageData) -> tuple[str, ...]:
    return () if data.judgments.empty else data.tournaments.battles.questions


def _replicated(
    languages: Sequence[LanguageData],
    surrogate: Surrogate,
    seed: int,
    repeat: int,
    questions: int | None,
    with_surrogate: bool,
) -> list[dict[str, object]]:
    learned, others = [], []
    for data in languages:
        random = generator(seed, "replication", data.language, str(repeat))
        order = [_judged(data)[place] for place in random.permutation(len(_judged(data)))]
        half = len(order) // 2
        few = data.drawing(FEW_TOURNAMENTS if surrogate.learns_tournaments else 2)
        learned.append(few.judged_on(order[:half][:questions]))
        others.append(few.judged_on(order[half:]))
    known = training_ratings({item.language: item.tournaments for item in learned})
    truth = observe(training_ratings({item.language: item.tournaments for item in others}))
    X = pd.concat([data.X[data.X["system"].isin(set(data.systems))] for data in languages])
    unseen = _unseen(learned, surrogate, seed, repeat) if with_surrogate else {}
    expected = pd.concat([NOTHING_EXPECTED, *map(expected_ratings, unseen.values())])
    try:
        surrogate.fit(X, known)
        together = posterior_ratings(surrogate, known, expected)
    except (UsageError, ConvergenceError):
        together = {}
    alone = observe(known)
    return [
        {
            "repeat": repeat,
            "language": item.language,
            "questions": len(_judged(item)),
            "judgments": len(item.judgments),
            **_compared(
                together.get(item.language),
                alone[item.language],
                unseen.get(item.language),
                truth[item.language],
            ),
        }
        for item in learned
    ]


NOTHING_EXPECTED = pd.DataFrame(columns=["language", "system", "rating", "standard_error"])


def _unseen(
    learned: Sequence[LanguageData], surrogate: Surrogate, seed: int, repeat: int
) -> dict[str, Outcome]:
    try:
        outcomes = leave_systems_out(learned, surrogate, Repeats(1, seed + repeat))
    except (UsageError, ConvergenceError):
        return {}
    return {outcome.language: outcome for outcome in outcomes}


def _compared(
    together: Posterior | None,
    alone: Observation,
    unseen: Outcome | None,
    truth: Observation,
) -> dict[str, object]:
    """Hold the ratings of the systems that both halves judge against the other half's."""
    names = [name for name in truth.systems if name in alone.systems]
    if together is None or len(names) < FEWEST_SYSTEMS:
        return {"systems": len(names)}
    true = truth.among(names)
    both = [together.systems.index(name) for name in true.systems]
    rating = together.ratings[both]
    error = np.sqrt(np.diag(together.covariance)[both] + np.diag(true.noise))
    away = rating - rating.mean() - (true.ratings - true.ratings.mean())
    # Equal records have equal ratings but for rounding errors, which are not to rank them.
    target = np.round(true.ratings, DECIMALS)
    return {
        "systems": len(names),
        "tau": kendall_tau(rating, target),
        "tau_verdicts": kendall_tau(np.round(alone.among(names).ratings, DECIMALS), target),
        "tau_surrogate": np.nan if unseen is None else _tau_of(unseen, true.systems, target),
        "inside": float(np.mean(np.abs(away) <= NORMAL_90 * error)),
    }


def _tau_of(unseen: Outcome, systems: Sequence[str], target: Floats) -> float:
    """Tau of ratings by surrogates that had not seen the system with other ratings of it."""
    truth = pd.Series(target, list(systems)).reindex(unseen.systems).to_numpy(np.float64)
    return replace(unseen, truth=truth[None]).tau
