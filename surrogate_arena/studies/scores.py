"""How well predicted ratings agree with an arena's, with intervals over systems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from arena.data.types import Floats
from arena.statistics.agreement import tau_interval
from surrogate.learning.outcomes import Outcome, resample_outcomes
from surrogate.learning.training import finite_means

MACRO = "macro"
"""Name of the average over languages."""
NOT_RATED = "fewer than three systems have a predicted and an arena rating"
ALIKE = "all systems have the same rating, predicted or the arena's"
NO_LANGUAGE = "no language has a defined score"
AVERAGED = ["tau", "pairwise_accuracy", "r2", "coverage"]
SCORES = [
    "language",
    "tau",
    "tau_low",
    "tau_high",
    "pairwise_accuracy",
    "r2",
    "coverage",
    "systems",
    "reason",
]


def replicate_taus(outcomes: Sequence[Outcome], seed: int) -> dict[str, Floats]:
    """Return the mean tau of each resample of the systems, by language and ``macro``, shape (B,).

    Those of two protocols on the same systems and seed are of the same resamples, so that their
    differences are paired.
    """
    taus = resample_outcomes(outcomes, seed)
    return {**taus, MACRO: finite_means(np.array(list(taus.values())))}


def outcome_scores(outcomes: Sequence[Outcome], seed: int) -> pd.DataFrame:
    """Score what surrogates predicted of systems they have not seen.

    Returns:
        Columns ``SCORES``, one row per language and ``macro``: Kendall tau-b of the systems held
        out together with its 95% bootstrap interval over systems; share of their pairs in the
        arena's order; R² (0 for the mean of the systems trained on); share of ratings inside the
        predictions' 90% intervals. NaN where a score is not defined, with the reason.
    """
    taus = resample_outcomes(outcomes, seed)
    rated = {outcome.language: _rated(outcome) for outcome in outcomes}
    rows = [
        _row(outcome, taus[outcome.language], len(rated[outcome.language])) for outcome in outcomes
    ]
    table = pd.DataFrame(rows, columns=SCORES)
    defined = table.loc[np.isfinite(table["tau"].astype(float)), "language"]
    systems = {system for name in defined for system in rated[name]}
    low, high = np.nan, np.nan
    if len(defined):
        mean_taus = finite_means(np.array([taus[name] for name in defined]))
        low, high = tau_interval(mean_taus, len(systems))
    macro = {
        "language": MACRO,
        **table[AVERAGED].astype(float).replace([np.inf, -np.inf], np.nan).mean(),
        "tau_low": low,
        "tau_high": high,
        "systems": len(systems),
        "reason": "" if len(defined) else NO_LANGUAGE,
    }
    return pd.DataFrame([*rows, macro], columns=SCORES)


def _row(outcome: Outcome, taus: Floats, systems: int) -> dict[str, object]:
    has_both = np.isfinite(outcome.predicted) & np.isfinite(outcome.arena_ratings)
    is_rated = has_both.sum(axis=1).max(initial=0) >= 3
    tau = outcome.tau if is_rated else float("nan")
    low, high = tau_interval(taus, systems) if np.isfinite(tau) else (np.nan, np.nan)
    is_alike = np.isnan(tau) or not np.ptp(outcome.predicted[has_both])
    why = (ALIKE if is_rated else NOT_RATED,) if is_alike else ()
    # Errors name the language, which the row names already.
    reasons = [text.removeprefix(f"{outcome.language}: ") for text in outcome.reasons or why]
    return {
        "language": outcome.language,
        "tau": tau,
        "tau_low": low,
        "tau_high": high,
        "pairwise_accuracy": outcome.pairwise_accuracy if is_rated else float("nan"),
        "r2": outcome.explained,
        "coverage": outcome.coverage,
        "systems": systems,
        "reason": "; ".join(dict.fromkeys(reasons)),
    }


def _rated(outcome: Outcome) -> list[str]:
    has_both = np.isfinite(outcome.predicted) & np.isfinite(outcome.arena_ratings)
    return [outcome.systems[place] for place in np.flatnonzero(has_both.any(axis=0))]
