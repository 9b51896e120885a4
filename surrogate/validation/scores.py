"""How well predicted ratings agree with an arena's, with intervals over systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.statistics.bootstrap import percentile_interval
from surrogate.learning.outcomes import Outcome, resample_outcomes
from surrogate.learning.training import finite_means

Floats = npt.NDArray[np.float64]

NOT_RATED = "fewer than three systems have a predicted and an arena rating"
ALIKE = "all systems have the same rating, predicted or the arena's"
NO_LANGUAGE = "no language has a defined score"
FEWEST_RATED = 3
AVERAGED = ("tau", "pairwise_accuracy", "r2")


def finite_mean(values: list[float]) -> float:
    """Return the mean of the finite values; NaN without any."""
    defined = [value for value in values if np.isfinite(value)]
    return float(np.mean(defined)) if defined else float("nan")


@dataclass(frozen=True)
class ValidationScores:
    """Agreement with the arena in one language, or over languages; NaN where it is not defined.

    Attributes:
        tau: Kendall tau-b of the systems held out together: 0 without signal.
        tau_low: Lower bound of its 95% bootstrap interval over systems.
        tau_high: Upper bound.
        pairwise_accuracy: Share of their pairs in the arena's order.
        r2: Coefficient of determination: 0 for the mean of the systems trained on.
        n_systems: Systems with a predicted and an arena rating.
        reason: Why a score is not defined, or systems are missing.
    """

    tau: float
    tau_low: float
    tau_high: float
    pairwise_accuracy: float
    r2: float
    n_systems: int
    reason: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return what JSON can hold: NaN as null."""
        return {
            name: None if isinstance(value, float) and not np.isfinite(value) else value
            for name, value in asdict(self).items()
        }


@dataclass(frozen=True)
class Validation:
    """How well a surrogate ranks the systems of an arena.

    Attributes:
        protocol: Name of the protocol.
        surrogate: Name of the surrogate.
        scores: Averages over languages, each with the same weight, undefined ones left out; the
            interval resamples the same systems in every language.
        per_language: Language code to its scores.
        outcomes: What was predicted, one a language.
        signature: Settings that reproduce it.
    """

    protocol: str
    surrogate: str
    scores: ValidationScores
    per_language: Mapping[str, ValidationScores]
    outcomes: tuple[Outcome, ...]
    signature: str

    def as_json(self) -> dict[str, Any]:
        """Return the scores for JSON."""
        languages = {name: item.as_json() for name, item in self.per_language.items()}
        return {
            "protocol": self.protocol,
            "surrogate": self.surrogate,
            **self.scores.as_json(),
            "per_language": languages,
            "signature": self.signature,
        }


MACRO = "macro"
"""Name of the average over languages in tables."""


def replicate_taus(outcomes: Sequence[Outcome], seed: int) -> dict[str, Floats]:
    """Return the bootstrap replicates behind the intervals of ``score_outcomes``.

    Replicates of two protocols' outcomes on the same systems and seed are of the same resamples,
    so that their differences are paired.

    Returns:
        Language code, and ``macro``, to mean tau of each resample of the systems, shape (B,).
    """
    taus = resample_outcomes(outcomes, seed)
    return {**taus, MACRO: finite_means(np.array(list(taus.values())))}


def score_outcomes(
    outcomes: Sequence[Outcome],
    seed: int,
    protocol: str = "",
    surrogate: str = "",
    signature: str = "",
) -> Validation:
    """Score what a protocol predicted."""
    taus = resample_outcomes(outcomes, seed)
    languages = {item.language: _language_scores(item, taus[item.language]) for item in outcomes}
    return Validation(
        protocol,
        surrogate,
        _macro(outcomes, languages, taus),
        languages,
        tuple(outcomes),
        signature,
    )


def _language_scores(outcome: Outcome, taus: Floats) -> ValidationScores:
    both = np.isfinite(outcome.predicted) & np.isfinite(outcome.truth)
    is_rated = both.sum(axis=1).max(initial=0) >= FEWEST_RATED
    tau = outcome.tau if is_rated else float("nan")
    low, high = percentile_interval(taus) if np.isfinite(tau) else (np.nan, np.nan)
    is_alike = np.isnan(tau) or not np.ptp(outcome.predicted[both])
    why = (ALIKE if is_rated else NOT_RATED,) if is_alike else ()
    return ValidationScores(
        tau=tau,
        tau_low=low,
        tau_high=high,
        pairwise_accuracy=outcome.pairwise_accuracy if is_rated else float("nan"),
        r2=outcome.explained,
        n_systems=len(_rated(outcome)),
        reason="; ".join(outcome.reasons or why) or None,
    )


def _rated(outcome: Outcome) -> list[str]:
    """Systems with a predicted and an arena rating, in one repeat at least."""
    rated = np.isfinite(outcome.predicted) & np.isfinite(outcome.truth)
    both = np.asarray(rated.any(axis=0))
    return [name for name, has in zip(outcome.systems, both, strict=True) if has]


def _macro(
    outcomes: Sequence[Outcome],
    languages: Mapping[str, ValidationScores],
    taus: Mapping[str, Floats],
) -> ValidationScores:
    defined = [name for name, item in languages.items() if np.isfinite(item.tau)]
    rated = {system for item in outcomes if item.language in defined for system in _rated(item)}
    low, high = float("nan"), float("nan")
    if defined:
        low, high = percentile_interval(finite_means(np.array([taus[name] for name in defined])))
    tau, pairwise_accuracy, r2 = [
        finite_mean([getattr(item, name) for item in languages.values()]) for name in AVERAGED
    ]
    reason = None if defined else NO_LANGUAGE
    return ValidationScores(tau, low, high, pairwise_accuracy, r2, len(rated), reason)


def named_scores(done: Validation) -> dict[str, ValidationScores]:
    """Scores of each language and, with several of them, of their average."""
    languages = dict(done.per_language)
    return languages | {MACRO: done.scores} if len(languages) > 1 else languages
