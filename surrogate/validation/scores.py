"""How well predicted ratings agree with an arena's, with intervals over systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import spearmanr
from sklearn.metrics import r2_score

from arena.statistics.bootstrap import percentile_interval
from arena.statistics.rank_agreement import kendall_tau
from surrogate.learning.cross_fitting import Outcome, resample_outcomes
from surrogate.learning.training import finite_means

Floats = npt.NDArray[np.float64]

NOT_RATED = "fewer than three systems have a predicted and an arena rating"
ALIKE = "all systems have the same rating, predicted or the arena's"
NO_LANGUAGE = "no language has a defined score"
FEWEST_RATED = 3


@dataclass(frozen=True)
class Scores:
    """Agreement of predicted with arena ratings; NaN where it is not defined.

    Attributes:
        tau: Kendall tau-b.
        spearman: Spearman rank correlation.
        pairwise_accuracy: Share of pairs of systems in the arena's order; a predicted tie counts
            half, pairs that the arena ties are left out.
        r2: Coefficient of determination.
    """

    tau: float
    spearman: float
    pairwise_accuracy: float
    r2: float


UNDEFINED = Scores(*[float("nan")] * 4)


def score(predicted: Floats, truth: Floats) -> Scores:
    """Compare ratings of S systems, both of shape (S,); systems that miss either are left out."""
    both = np.isfinite(predicted) & np.isfinite(truth)
    rated, true = predicted[both], truth[both]
    if len(rated) < FEWEST_RATED or np.ptp(true) == 0:
        return UNDEFINED
    constant = np.ptp(rated) == 0
    return Scores(
        tau=kendall_tau(rated, true),
        spearman=float("nan") if constant else float(spearmanr(rated, true).statistic),
        pairwise_accuracy=_pairwise_accuracy(rated, true),
        r2=float(r2_score(true, rated)),
    )


def _pairwise_accuracy(predicted: Floats, truth: Floats) -> float:
    first, second = np.triu_indices(len(truth), 1)
    order = np.sign(truth[first] - truth[second])
    agrees = (1 + order * np.sign(predicted[first] - predicted[second])) / 2
    return float(agrees[order != 0].mean())


def mean_scores(scores: list[Scores]) -> Scores:
    """Average each score where it is defined."""
    names = ("tau", "spearman", "pairwise_accuracy", "r2")
    return Scores(*[finite_mean([getattr(item, name) for item in scores]) for name in names])


def finite_mean(values: list[float]) -> float:
    """Return the mean of the finite values; NaN without any."""
    defined = [value for value in values if np.isfinite(value)]
    return float(np.mean(defined)) if defined else float("nan")


@dataclass(frozen=True)
class ValidationScores:
    """Agreement with the arena in one language, or over languages; NaN where it is not defined.

    Attributes:
        tau: Kendall tau-b, mean over repeats.
        tau_low: Lower bound of its 95% bootstrap interval over systems.
        tau_high: Upper bound.
        spearman: Spearman correlation.
        pairwise_accuracy: Share of pairs of systems in the arena's order.
        r2: Coefficient of determination; see the protocol.
        n_systems: Systems with a predicted and an arena rating.
        reason: Why a score is not defined, or systems are missing.
    """

    tau: float
    tau_low: float
    tau_high: float
    spearman: float
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
    mean = mean_scores(
        [score(*pair) for pair in zip(outcome.predicted, outcome.truth, strict=True)]
    )
    both = np.isfinite(outcome.predicted) & np.isfinite(outcome.truth)
    low, high = percentile_interval(taus) if np.isfinite(mean.tau) else (np.nan, np.nan)
    why = NOT_RATED if both.sum(axis=1).max(initial=0) < FEWEST_RATED else ALIKE
    reasons = outcome.reasons or (() if np.isfinite(mean.tau) else (why,))
    return ValidationScores(
        tau=mean.tau,
        tau_low=low,
        tau_high=high,
        spearman=mean.spearman,
        pairwise_accuracy=mean.pairwise_accuracy,
        r2=mean.r2 if outcome.r2 is None else outcome.r2,
        n_systems=len(_rated(outcome)),
        reason="; ".join(reasons) or None,
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
    means = [
        finite_mean([getattr(item, name) for item in languages.values()])
        for name in ("tau", "spearman", "pairwise_accuracy", "r2")
    ]
    tau, spearman, pairwise_accuracy, r2 = means
    return ValidationScores(
        tau,
        low,
        high,
        spearman,
        pairwise_accuracy,
        r2,
        len(rated),
        None if defined else NO_LANGUAGE,
    )


def named_scores(done: Validation) -> dict[str, ValidationScores]:
    """Scores of each language and, with several of them, of their average."""
    languages = dict(done.per_language)
    return languages | {MACRO: done.scores} if len(languages) > 1 else languages
