"""Forecasts of a run's verdicts and of its ranking's quality, before the first call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtr

from arena.data.types import Floats
from arena.rating.pairs import Pairs
from arena.rating.posterior import RatingPosterior
from arena.statistics.bootstrap import generator

DRAWS = 200
GAIN_CALLS = (8.0, 16.0)
GAINS = (1.0, 1.3)
"""How many verdicts on random pairs an adaptive one is worth for tau, by the verdicts for each
system. By replay (benchmarks/README.md, "Judging plans"), adaptive pairs are no better than random
ones up to 8 calls a system."""
MOST_PAIRS = 2_000
"""Pairs of systems that are looked at; a sample where there are more."""


@dataclass(frozen=True)
class Forecast:
    """Verdicts that a run is likely to need, and the quality of the ranking that it gives.

    Calls are fewer where answers are alike: identical ones are ties, and a prompt is asked once.

    Attributes:
        verdicts: Verdicts of this run, of all judges: the median over likely ratings.
        low: Verdicts that nine in ten such runs take at least.
        high: Verdicts that nine in ten such runs take at most.
        tau: Expected Kendall tau with the ranking that any number of verdicts would give; mean over
            languages, NaN without verdicts of the judge that ranks.
        by_judge: The verdicts of each judge.
    """

    verdicts: int
    low: int
    high: int
    tau: float
    by_judge: Mapping[str, int]

    def __str__(self) -> str:
        span = "" if self.low == self.high else f" ({self.low:,} to {self.high:,})"
        text = f"{self.verdicts:,} verdicts{span} are expected"
        if len(self.by_judge) > 1:
            shares = [f"{n_verdicts:,} by {judge}" for judge, n_verdicts in self.by_judge.items()]
            text += f", {' and '.join(shares)}"
        if np.isnan(self.tau):
            return text
        return (
            f"{text}, and with them a Kendall tau of {self.tau:.2f} with the ranking by any number "
            "of verdicts"
        )


@dataclass(frozen=True)
class Course:
    """Course of a language's ranking: misordered share (D, N) after verdicts (N,).

    D are sets of likely ratings.
    """

    n_verdicts: Floats
    misordered: Floats
    n_systems: int

    def needed(self, until: float) -> Floats:
        """Return the adaptive verdicts that settle the ranking, shape (D,)."""
        is_settled = self.misordered <= until
        first = is_settled.argmax(axis=1)
        # Random verdicts that an adaptive one is worth. With it a run stops after 294 calls on
        # rakuda and 139 on mt-bench-ko-en (mean), where 300 and 155 follow.
        settling_gain = 2.0
        n_needed = self.n_verdicts[first] / settling_gain
        return np.asarray(np.where(is_settled.any(axis=1), n_needed, self.n_verdicts[-1]))

    def tau(self, n_verdicts: Floats) -> float:
        """Return the expected tau after as many adaptive verdicts, (D,)."""
        n_random = n_verdicts * np.interp(n_verdicts / self.n_systems, GAIN_CALLS, GAINS)
        misordered = [
            np.interp(n, self.n_verdicts, shares)
            for n, shares in zip(n_random, self.misordered, strict=True)
        ]
        return float(1.0 - 2.0 * np.mean(misordered))


def course(posterior: RatingPosterior, n_open: int, seed: int) -> Course:
    """Draw likely ratings, and how well verdicts would tell their order.

    n verdicts over all pairs of S systems give each rating the information n i 2 / (S - 1), where i
    is the mean p (1 - p) of a verdict. ``n_open`` can still be had.
    """
    n_systems = len(posterior.systems)
    random = generator(seed, "forecast")
    pairs = _sampled_pairs(n_systems, random)
    deviations = posterior.draws(random, DRAWS) - posterior.ratings
    noise = random.standard_normal(deviations.shape)
    noise -= noise.mean(axis=1, keepdims=True)
    win_rates = expit(pairs.differences(posterior.ratings + deviations))
    information = (win_rates * (1.0 - win_rates)).mean(axis=1)
    n_steps = 60
    n_verdicts = np.unique(np.round(np.geomspace(1.0, max(n_open, 1), n_steps)))
    share_now = _misordered(pairs, posterior.ratings, posterior.covariance)
    misordered = [np.full(DRAWS, share_now)]
    for n in n_verdicts:
        # Variances of ratings by n verdicts alone, shape (D,).
        variances = (n_systems - 1) / (2.0 * n * information)
        # One variance for all draws, so that one update serves them.
        variance = (n_systems - 1) / (2.0 * n * information.mean())
        measured = deviations + np.sqrt(variances)[:, None] * noise
        misordered.append(_misordered_after(posterior, pairs, measured, variance))
    return Course(np.concatenate([[0.0], n_verdicts]), np.array(misordered).T, n_systems)


def _misordered_after(
    posterior: RatingPosterior, pairs: Pairs, measured: Floats, variance: float
) -> Floats:
    """Update by deviations measured with one variance, (D, S) to (D,)."""
    total = posterior.covariance + variance * np.eye(len(posterior.systems))
    weights = np.linalg.solve(total, posterior.covariance)
    estimates = posterior.ratings + measured @ weights
    covariance = posterior.covariance - posterior.covariance @ weights
    return _misordered(pairs, estimates, covariance)


def _sampled_pairs(n_systems: int, random: np.random.Generator) -> Pairs:
    first, second = np.triu_indices(n_systems, k=1)
    if len(first) > MOST_PAIRS:
        sample = random.choice(len(first), MOST_PAIRS, replace=False)
        first, second = first[sample], second[sample]
    return Pairs(first, second, n_systems)


def forecast_adaptive(
    courses: Mapping[str, Course],
    until: float,
    n_pairs: int,
    calls_a_pair: float,
    judges: Sequence[str],
) -> Forecast:
    """Forecast adaptive judging to a misordered share of ``until``."""
    needed = np.array([path.needed(until) for path in courses.values()])
    totals = needed.sum(axis=0)
    # Where the budget is too small, each language gets the share that it needs.
    shares = np.minimum(1.0, n_pairs / np.maximum(totals, 1.0))
    taus = [
        path.tau(shares * of_language)
        for path, of_language in zip(courses.values(), needed, strict=True)
    ]
    n_calls = calls_a_pair * len(judges)
    low, median, high = np.quantile(shares * totals, (0.1, 0.5, 0.9)) * n_calls
    return Forecast(
        verdicts=round(median),
        low=round(low),
        high=round(high),
        tau=float(np.mean(taus)),
        by_judge=dict.fromkeys(judges, round(median) // len(judges)),
    )


def _misordered(pairs: Pairs, ratings: Floats, covariance: Floats) -> Floats:
    """Return the expected share of misordered pairs, (..., S) to (...)."""
    least_variance = 1e-12
    errors = np.sqrt(np.maximum(pairs.spreads(covariance), least_variance))
    probabilities = ndtr(-np.abs(pairs.differences(ratings)) / errors)
    return np.asarray(probabilities.mean(axis=-1))
