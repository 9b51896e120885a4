"""Difference of a candidate's and a baseline's ratings, and a gate's conclusion from it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy.special import expit, stdtrit

from arena.statistics.significance import NORMAL_90
from surrogate_arena.gating.sequential_test import (
    EVEN,
    MARGIN,
    Difference,
    NotWorseTest,
    SequentialTest,
)


@dataclass(frozen=True)
class GateRates:
    """A gate's permitted errors, and what it lets pass.

    Attributes:
        error: Probability of a wrong statement: ``better`` or ``worse`` of an equal system,
            ``same`` of one beyond the margin.
        margin: Difference of a win rate from one half that matters.
        power: Probability of finding such a difference.
        cheaper: Whether to pass what costs less and is at most the margin worse.
        once: Whether the arena's verdicts are looked at this once.
        allow: Check to the number of answers that may have a new fault, None for any; by default 0
            of a certain fault, any of a likely one.
    """

    error: float = 0.05
    margin: float = MARGIN
    power: float = 0.8
    cheaper: bool = False
    once: bool = False
    allow: Mapping[str, int | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.test().scores_needed(self.margin, 1.0, self.power)

    def test(self, share: float = 1.0) -> SequentialTest:
        """Return the test of verdicts, with a share of the error."""
        test = NotWorseTest if self.cheaper else SequentialTest
        return test(share * self.error, self.margin)


@dataclass(frozen=True)
class RatingDifference:
    """A candidate's rating less a baseline's by a board's surrogate, in logits.

    Attributes:
        difference: Verdict; None for the ``reason``.
        reason: Why there is no verdict.
        languages: Columns ``language, rating, baseline_rating, standard_error`` (of the
            difference).
        rating: Mean difference over languages; NaN without any.
        low: Lower bound.
        high: Upper bound; infinite if perhaps better than every judged system.
        error: Probability of a difference outside the bounds.
    """

    difference: Difference | None
    reason: str
    languages: pd.DataFrame
    rating: float
    low: float
    high: float
    error: float

    @property
    def win_rate(self) -> float:
        """Expected win rate against the baseline."""
        return float(expit(self.rating))


def rating_difference(
    candidate: pd.DataFrame,
    baseline: pd.DataFrame,
    rates: GateRates,
    error: float,
    freedom: float = math.inf,
) -> RatingDifference:
    """Compare the ratings of two systems.

    Errors of the two are taken as independent, those of one system in several languages as the
    same. ``freedom`` are degrees of freedom of Student's t.
    """
    columns = ["language", "rating", "high", "standard_error"]
    both = candidate[columns].merge(baseline[columns], on="language", suffixes=("", "_baseline"))
    both = both.dropna(subset=["rating", "rating_baseline"], ignore_index=True)
    languages = pd.DataFrame(
        {
            "language": both["language"],
            "rating": both["rating"],
            "baseline_rating": both["rating_baseline"],
            "standard_error": np.hypot(both["standard_error"], both["standard_error_baseline"]),
        }
    )
    difference = float((both["rating"] - both["rating_baseline"]).mean())
    standard_error = float(languages["standard_error"].mean(skipna=False))
    unit = standard_error * NORMAL_90 / float(stdtrit(freedom, 0.95))
    half_width = float(stdtrit(freedom, 1 - error / 2)) * unit
    low = difference - half_width
    high = difference + half_width
    # The surrogate has seen nothing as good as the candidate.
    if np.isinf(both["high"]).any():
        high = np.inf
    # That two systems are the same takes two one-sided tests, each at the whole level.
    one_sided = float(stdtrit(freedom, 1 - error)) * unit
    win_rates = (float(expit(difference - one_sided)), float(expit(difference + one_sided)))
    verdict = _verdict((low, high), win_rates, rates)
    reason = ""
    if verdict is None:
        reason = "the interval of the difference is too wide"
        if not np.isfinite(standard_error):
            reason = "a rating has no interval"
    return RatingDifference(verdict, reason, languages, difference, low, high, error)


def _verdict(
    bounds: tuple[float, float], win_rates: tuple[float, float], rates: GateRates
) -> Difference | None:
    low, high = bounds
    smallest, largest = win_rates
    if rates.cheaper and smallest > EVEN - rates.margin:
        return "not worse"
    if rates.cheaper:
        return "worse" if high < np.inf and largest < EVEN - rates.margin else None
    if low > 0:
        return "better"
    if high < 0:
        return "worse"
    is_same = high < np.inf and max(largest - EVEN, EVEN - smallest) < rates.margin
    return "same" if is_same else None
