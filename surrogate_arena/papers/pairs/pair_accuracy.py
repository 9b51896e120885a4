"""How often a judge picks the better of two answers, where people or the data say which it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import pandas as pd

from arena.data.types import Floats
from arena.statistics.bootstrap import generator, percentile_interval, resampled_sums
from arena.statistics.significance import wilson_interval

_RATIOS: Mapping[str, tuple[tuple[str, str], ...]] = MappingProxyType(
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
"""Names of the scores of ``score_pairs``."""
COUNTS = (
    "asked",
    "judged",
    "ties",
    "credit",
    "better_a",
    "a_of_better_a",
    "better_b",
    "a_of_better_b",
    "better_longer",
    "longer_of_better_longer",
    "better_shorter",
    "longer_of_better_shorter",
    "in_both_orders",
    "right_twice",
    "judged_twice",
    "flipped",
)
"""What is counted by question."""


@dataclass(frozen=True)
class Estimate:
    """A score with its uncertainty over questions; all NaN where it is not defined.

    Attributes:
        value: The score.
        standard_error: By bootstrap over questions; NaN with a single question.
        low: Lower bound of the 95% interval.
        high: Upper bound.
        n: Number of pairs or verdicts (or pairs of systems) that it is computed from.
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

    ``consistent_accuracy`` is the share of pairs, of those asked in both orders, in which the
    judge picks the better answer twice (Xu et al., 2025, ContextualJudgeBench). ``accuracy`` is
    that of single verdicts; a tie counts one half. A verdict that failed is wrong in both.
    ``flip_rate`` is the share of pairs with two verdicts in which the other answer wins in the
    other order. ``share_a`` and ``share_longer`` are the shares of decided verdicts for side A and
    for the longer answer, with equal weight for the pairs in which these are the better and the
    worse ones: a judge that goes by quality alone has one half.

    Args:
        verdicts: One row per pair and order that the judge was asked about. Columns ``question``
            (drawn by the bootstrap), ``pair`` (the same in both orders), ``better_on_a`` (is the
            better answer on side A?), ``winner`` (``a``, ``b``, ``tie``; None after a failure) and
            ``longer_on_a`` (1 if the answer on side A is the longer one, -1 if the other; else 0).
        replicates: Number of resamples of the questions.
        seed: Seed of the resamples, which all judges of the same questions share.

    Returns:
        An estimate for each of ``SCORES``. Where a share is 0 or 1, which no resample changes, its
        interval is Wilson's with the questions as trials.
    """
    return scores_of_counts(_counts_by_question(verdicts), replicates, seed)


def scores_of_counts(
    counts: pd.DataFrame, replicates: int = 1000, seed: int = 0
) -> dict[str, Estimate]:
    """Compute the scores of counts by question, whatever the order of their columns."""
    # Draws go to questions in the order of their counts, read from the first column on.
    counts = counts[list(COUNTS)]
    totals = counts.sum()
    n_questions = len(counts)
    n_replicates = replicates if n_questions > 1 else 0
    random = generator(seed, "pair accuracy")
    sums = pd.DataFrame(resampled_sums(counts, n_replicates, random), columns=COUNTS)
    estimates = {}
    for name, ratios in _RATIOS.items():
        value = float(_mean_ratio(totals.to_frame().T, ratios)[0])
        resampled = _mean_ratio(sums, ratios)
        n = int(sum(totals[denominator] for _, denominator in ratios))
        estimate = estimate_of(value, resampled[np.isfinite(resampled)], n)
        estimates[name] = _with_wilson_interval(estimate, n_questions)
    return estimates


def _with_wilson_interval(estimate: Estimate, n_questions: int) -> Estimate:
    if estimate.value not in (0.0, 1.0):
        return estimate
    (low,), (high,) = wilson_interval([estimate.value * n_questions], [n_questions])
    return replace(estimate, low=float(low), high=float(high))


def estimate_of(value: float, replicates: Floats, n: int) -> Estimate:
    """Return a value with the standard error and the 95% interval of its finite replicates."""
    if not np.isfinite(value):
        return Estimate(value=np.nan, standard_error=np.nan, low=np.nan, high=np.nan, n=n)
    low, high = percentile_interval(replicates)
    standard_error = float(replicates.std(ddof=1)) if len(replicates) > 1 else np.nan
    return Estimate(value, standard_error, low, high, n)


def _mean_ratio(counts: pd.DataFrame, ratios: tuple[tuple[str, str], ...]) -> Floats:
    """Average ratios of columns, shape (rows,); NaN where a denominator is 0."""
    shares = []
    for numerator, denominator in ratios:
        totals = counts[denominator].to_numpy(dtype=np.float64)
        shares.append(counts[numerator].to_numpy() / np.where(totals > 0, totals, np.nan))
    return np.asarray(np.mean(shares, axis=0))


def _counts_by_question(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Count verdicts and pairs, one row per question, sorted; columns are those of ``_RATIOS``."""
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
    by_verdict = pd.DataFrame(
        {
            "question": verdicts["question"],
            "asked": 1,
            "judged": winner.notna(),
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
    by_verdict = by_verdict.groupby("question").sum()
    return by_verdict.join(_pair_counts(verdicts, is_right, is_decided)).astype(np.float64)


def _pair_counts(
    verdicts: pd.DataFrame, is_right: pd.Series, is_decided: pd.Series
) -> pd.DataFrame:
    """Count the pairs asked in both orders, and what came of them, by question."""
    marks = pd.DataFrame(
        {
            "question": verdicts["question"],
            "pair": verdicts["pair"],
            "asked": 1,
            "judged": verdicts["winner"].notna(),
            "right": is_right,
            "wrong": is_decided & ~is_right,
        }
    )
    pairs = marks.groupby(["question", "pair"]).sum()
    in_both_orders = pairs["asked"] == 2
    counts = pd.DataFrame(
        {
            "in_both_orders": in_both_orders,
            "right_twice": in_both_orders & (pairs["right"] == 2),
            "judged_twice": in_both_orders & (pairs["judged"] == 2),
            "flipped": (pairs["right"] == 1) & (pairs["wrong"] == 1),
        }
    )
    return counts.groupby("question").sum()
