"""Agreement of predicted ratings with an arena's, with errors over systems and questions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pandas as pd

from arena.data.errors import UsageError
from arena.data.types import Floats
from arena.rating.tournaments import fit_coefficients
from arena.statistics.agreement import Agreement, resampled_taus, tau_interval
from arena.statistics.bootstrap import bootstrap_weights, generator
from arena.statistics.significance import finite_means
from surrogate.learning.language_data import LanguageData
from surrogate.learning.outcomes import RESAMPLES, Outcome, resample_outcomes, system_draws

Over = Literal["systems", "questions", "both"]
"""What is drawn again for errors: the systems, the questions of the arena's ratings, or both."""
MACRO = "macro"
"""Name of the average over languages."""
NOT_RATED = "fewer than three systems have a predicted and an arena rating"
ALIKE = "all systems have the same rating, predicted or the arena's"
NO_LANGUAGE = "no language has a defined score"
AVERAGED = ["tau", "pairwise_accuracy", "r2", "coverage"]
SCORES = [
    "language",
    "tau",
    "standard_error",
    "tau_low",
    "tau_high",
    "split_error",
    "pairwise_accuracy",
    "r2",
    "coverage",
    "systems",
    "reason",
]


@dataclass(frozen=True)
class Contender:
    """A way of rating systems, such as a surrogate, with an outcome by language.

    ``drawn`` has its ratings in B resamples of the questions by language, shape (B, S); surrogates
    are not trained again.
    """

    outcomes: Sequence[Outcome]
    drawn: Mapping[str, Floats] = field(default_factory=dict)


def question_draws(languages: Sequence[LanguageData], seed: int) -> pd.DataFrame:
    """Resample the judged questions; those with one id, such as translations, together."""
    published = [data.language for data in languages if data.judgments.empty]
    if published:
        raise UsageError(
            f"{', '.join(published)}: only ratings are published, without questions to resample"
        )
    ids = sorted({name for data in languages for name in data.tournaments.battles.questions})
    random = generator(seed, "validation resamples", "questions")
    return pd.DataFrame(bootstrap_weights(len(ids), RESAMPLES, random), columns=ids)


def drawn_ratings(data: LanguageData, draws: pd.DataFrame) -> Floats:
    """Rate the systems of a language in resamples of its questions, shape (B, S)."""
    battles = data.tournaments.battles
    own_draws = draws[list(battles.questions)].to_numpy()
    ratings, _ = fit_coefficients(battles, own_draws, data.settings.ridge)
    return ratings


def replicate_taus(
    contender: Contender, seed: int, over: Over, arena_ratings: Mapping[str, Floats]
) -> dict[str, Floats]:
    """Return tau in each resample of systems, questions or both, by language, shape (B,).

    The same systems and seed have the same resamples.
    """
    if over == "systems":
        return resample_outcomes(contender.outcomes, seed)
    taus = {}
    times = system_draws(contender.outcomes, seed)
    for outcome in contender.outcomes:
        repeats = len(outcome.predicted)
        ratings = arena_ratings[outcome.language]
        is_compared = np.isfinite(outcome.arena_ratings[0])
        targets = np.tile(np.where(is_compared, ratings, np.nan), (1, repeats))
        predicted = outcome.predicted.reshape(1, -1)
        if outcome.language in contender.drawn:
            drawn = np.tile(contender.drawn[outcome.language], (1, repeats))
            predicted = np.where(np.isfinite(predicted), drawn, np.nan)
        weights = np.ones_like(targets)
        if over == "both":
            own_times = times[list(outcome.systems)].to_numpy(np.float64)
            targets, predicted = targets[: len(own_times)], predicted[: len(own_times)]
            weights = np.tile(own_times, (1, repeats))
        taus[outcome.language] = resampled_taus(predicted, targets, weights, outcome.groups)
    return taus


def outcome_scores(
    outcomes: Sequence[Outcome],
    seed: int,
    over: Over = "systems",
    taus: Mapping[str, Floats] | None = None,
) -> pd.DataFrame:
    """Score what was predicted of systems.

    Returns:
        ``SCORES`` by language and ``macro``: Kendall tau-b of systems held out together with its
        bootstrap standard error and 95% interval; its error by few splits (jackknife); share of
        pairs in the arena's order; R² (0 for the training mean); share of ratings inside 90%
        intervals. NaN has a reason.
    """
    if taus is None:
        taus = resample_outcomes(outcomes, seed)
    rated = {outcome.language: _rated(outcome) for outcome in outcomes}
    rows = []
    for outcome in outcomes:
        language = outcome.language
        rows.append(_row(outcome, taus[language], len(rated[language]), over))
    table = pd.DataFrame(rows, columns=SCORES)
    defined = table.loc[np.isfinite(table["tau"].astype(float)), "language"]
    systems = {system for name in defined for system in rated[name]}
    macro: dict[str, object] = dict.fromkeys(SCORES, np.nan)
    macro |= table[AVERAGED].astype(float).replace([np.inf, -np.inf], np.nan).mean().to_dict()
    if len(defined):
        mean_taus = finite_means(np.array([taus[name] for name in defined]))
        macro |= _errors(float(table["tau"].mean()), mean_taus, len(systems), over)
        left_out = [_without_each_split(item) for item in outcomes if item.language in set(defined)]
        macro["split_error"] = jackknife_error(np.mean(left_out, axis=0))
    macro |= {"language": MACRO, "systems": len(systems)}
    macro["reason"] = "" if len(defined) else NO_LANGUAGE
    return pd.DataFrame([*rows, macro], columns=SCORES)


def _row(outcome: Outcome, taus: Floats, systems: int, over: Over) -> dict[str, object]:
    has_both = np.isfinite(outcome.predicted) & np.isfinite(outcome.arena_ratings)
    is_rated = has_both.sum(axis=1).max(initial=0) >= 3
    tau = outcome.tau if is_rated else float("nan")
    is_alike = np.isnan(tau) or not np.ptp(outcome.predicted[has_both])
    why = (ALIKE if is_rated else NOT_RATED,) if is_alike else ()
    # Errors name the language, which the row names already.
    reasons = [text.removeprefix(f"{outcome.language}: ") for text in outcome.reasons or why]
    return {
        "language": outcome.language,
        "tau": tau,
        **_errors(tau, taus, systems, over),
        "split_error": jackknife_error(_without_each_split(outcome)),
        "pairwise_accuracy": outcome.pairwise_accuracy if is_rated else float("nan"),
        "r2": outcome.explained,
        "coverage": outcome.coverage,
        "systems": systems,
        "reason": "; ".join(dict.fromkeys(reasons)),
    }


def _errors(tau: float, taus: Floats, systems: int, over: Over) -> dict[str, float]:
    if np.isnan(tau):
        return dict.fromkeys(["standard_error", "tau_low", "tau_high"], np.nan)
    low, high = tau_interval(taus, systems)
    if over != "systems":
        # Resampled questions make the arena's ratings noisier than they are.
        low, high = Agreement(tau, taus).interval
    return {"standard_error": spread(taus), "tau_low": low, "tau_high": high}


def spread(replicates: Floats) -> float:
    """Return the standard deviation of finite replicates; NaN of fewer than two."""
    defined = replicates[np.isfinite(replicates)]
    return float(defined.std(ddof=1)) if len(defined) > 1 else float("nan")


def _without_each_split(outcome: Outcome) -> Floats:
    """Return tau without each of R splits of the systems, shape (R,)."""
    repeats, n_systems = outcome.predicted.shape
    kept = np.repeat(1.0 - np.eye(repeats), n_systems, axis=1)
    return resampled_taus(
        outcome.predicted.ravel(), outcome.arena_ratings.ravel(), kept, outcome.groups
    )


def jackknife_error(left_out: Floats) -> float:
    """Return a mean's standard error, from its values without each part."""
    n_parts = len(left_out)
    if n_parts < 2:
        return float("nan")
    return float(np.sqrt((n_parts - 1) * left_out.var()))


def needed_repeats(table: pd.DataFrame, repeats: int) -> int:
    """Return how many splits bring their error of mean tau to 0.01, at most 100."""
    wanted_error, most_repeats = 0.01, 100
    largest = float(table.loc[table["language"] == MACRO, "split_error"].fillna(0).max())
    # The error of a mean falls with the root of their number.
    return min(math.ceil(repeats * (largest / wanted_error) ** 2), most_repeats)


def _rated(outcome: Outcome) -> list[str]:
    has_both = np.isfinite(outcome.predicted) & np.isfinite(outcome.arena_ratings)
    return [outcome.systems[place] for place in np.flatnonzero(has_both.any(axis=0))]
