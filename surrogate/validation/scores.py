"""How well predicted ratings agree with an arena's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import spearmanr
from sklearn.metrics import r2_score

from arena.statistics.rank_agreement import kendall_tau

Floats = npt.NDArray[np.float64]

FEWEST_SYSTEMS = 3


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
    if len(rated) < FEWEST_SYSTEMS or np.ptp(true) == 0:
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


def finite_means(values: Floats) -> Floats:
    """Return the means of the finite values of each column, shape (N, B) to (B,); NaN without."""
    present = np.isfinite(values)
    totals, held = np.where(present, values, 0.0).sum(axis=0), present.sum(axis=0)
    return np.asarray(np.divide(totals, held, out=np.full(held.shape, np.nan), where=held > 0))
