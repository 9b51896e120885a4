"""Scores of a judge on pairs of which people or the data say which answer is better."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import pandas as pd

from arena.data.types import Floats
from arena.statistics.bootstrap import generator, resampled_sums
from arena.statistics.significance import degrees_of_freedom
from surrogate_arena.papers.share_intervals import share_interval
from surrogate_arena.studies.scores import spread

Ratios: TypeAlias = tuple[tuple[str, str], ...]
"""Columns of counts: numerators and denominators."""
_RATIOS: Mapping[str, Ratios] = MappingProxyType(
    {
        "consistent_accuracy": (("right_twice", "in_both_orders"),),
        "accuracy": (("credit", "asked"),),
        "flip_rate": (("flipped", "judged_twice"),),
        "share_a": (("a_of_better_a", "better_a"), ("a_of_better_b", "better_b")),
        "share_longer": (
            ("longer_of_better_longer", "better_longer"),
            ("longer_of_better_shorter", "better_shorter"),
        ),
        "tie_share": (("ties", "judged"),),
    }
)
"""Each score as the mean of ratios of counts; a judge without a preference has a mean of one half
in ``share_a`` and ``share_longer``, however good it is."""
SCORES: tuple[str, ...] = tuple(_RATIOS)


@dataclass(frozen=True)
class Estimate:
    """A score of ``n`` pairs, verdicts or pairs of systems, with its 95% interval over questions.

    All are NaN where the score is not defined; so is the error of a single question.
    """

    value: float
    standard_error: float
    low: float
    high: float
    n: int


def score_pairs(
    verdicts: pd.DataFrame, replicates: int = 1000, seed: int = 0
) -> dict[str, Estimate]:
    """Score the verdicts of one judge on pairs with a known better answer.

    ``consistent_accuracy`` is the share of pairs asked in both orders in which the better answer
    wins twice (Xu et al., 2025), ``accuracy`` of single verdicts; a tie counts half, a failure is
    wrong. ``flip_rate`` is of pairs with two verdicts. ``share_a`` and ``share_longer`` are of
    decided verdicts, with equal weight for pairs whose better answer is on side A (or longer) and
    others.

    Args:
        verdicts: Columns ``question``, ``pair`` (the same in both orders), ``better_on_a``,
            ``winner`` (None after a failure) and ``longer_on_a`` (1, -1, or 0 for equal lengths).
        replicates: Resamples of the questions.
        seed: Seed of the resamples.
    """
    counts = _counts_by_question(verdicts)
    n_replicates = replicates if len(counts) > 1 else 0
    random = generator(seed, "pair accuracy")
    sums = pd.DataFrame(resampled_sums(counts, n_replicates, random), columns=counts.columns)
    return {name: _estimate(ratios, counts, sums) for name, ratios in _RATIOS.items()}


def _estimate(ratios: Ratios, counts: pd.DataFrame, resampled: pd.DataFrame) -> Estimate:
    totals = counts.sum().to_frame().T
    value = float(_mean_ratio(totals, ratios)[0])
    sizes = counts[[denominator for _, denominator in ratios]].to_numpy()
    # A question whose pairs or verdicts do not enter the score says nothing of it.
    enters = sizes.any(axis=1)
    residuals = np.zeros(len(counts))
    for ratio in ratios:
        numerator, denominator = counts[list(ratio)].to_numpy().T
        residuals += (numerator - _mean_ratio(totals, (ratio,)) * denominator) / denominator.sum()
    degrees = degrees_of_freedom(residuals[enters])
    replicates = _mean_ratio(resampled, ratios)
    return estimate_of(value, replicates, int(sizes.sum()), int(enters.sum()), degrees)


def estimate_of(
    value: float, replicates: Floats, n: int, n_questions: int, degrees: float
) -> Estimate:
    """Return a value with the standard error of its finite replicates, and its interval."""
    error = spread(replicates)
    low, high = share_interval(value, error, n_questions, degrees)
    return Estimate(value, error, low, high, n)


def _mean_ratio(counts: pd.DataFrame, ratios: Ratios) -> Floats:
    """Average ratios of columns, shape (rows,); NaN where a denominator is 0."""
    shares = []
    for numerator, denominator in ratios:
        totals = counts[denominator].to_numpy(dtype=np.float64)
        shares.append(counts[numerator].to_numpy() / np.where(totals > 0, totals, np.nan))
    return np.asarray(np.mean(shares, axis=0))


def _counts_by_question(verdicts: pd.DataFrame) -> pd.DataFrame:
    winner = verdicts["winner"]
    better_on_a = verdicts["better_on_a"].astype(bool)
    is_tie = winner == "tie"
    is_decided = winner.isin(["a", "b"])
    picks_a = winner == "a"
    is_right = is_decided & (picks_a == better_on_a)
    side_of_longer = verdicts["longer_on_a"]
    is_unlike = is_decided & (side_of_longer != 0)
    picks_longer = is_unlike & (picks_a == (side_of_longer > 0))
    is_better_longer = better_on_a == (side_of_longer > 0)
    marks = pd.DataFrame(
        {
            "question": verdicts["question"],
            "pair": verdicts["pair"],
            "asked": 1,
            "judged": winner.notna(),
            "right": is_right,
            "wrong": is_decided & ~is_right,
            "ties": is_tie,
            "credit": is_right + 0.5 * is_tie,
            "better_a": is_decided & better_on_a,
            "a_of_better_a": picks_a & better_on_a,
            "better_b": is_decided & ~better_on_a,
            "a_of_better_b": picks_a & ~better_on_a,
            "better_longer": is_unlike & is_better_longer,
            "longer_of_better_longer": picks_longer & is_better_longer,
            "better_shorter": is_unlike & ~is_better_longer,
            "longer_of_better_shorter": picks_longer & ~is_better_longer,
        }
    )
    pairs = marks.groupby(["question", "pair"]).sum()
    pairs["in_both_orders"] = pairs["asked"] == 2
    pairs["right_twice"] = pairs["in_both_orders"] & (pairs["right"] == 2)
    pairs["judged_twice"] = pairs["in_both_orders"] & (pairs["judged"] == 2)
    pairs["flipped"] = (pairs["right"] == 1) & (pairs["wrong"] == 1)
    return pairs.groupby("question").sum().astype(np.float64)
