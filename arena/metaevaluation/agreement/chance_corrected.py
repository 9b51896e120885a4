"""Percent agreement, Gwet's AC1 and AC2, and Fleiss' kappa.

Gwet (2008), Computing inter-rater reliability and its variance in the presence of high agreement;
Fleiss (1971), Measuring nominal scale agreement among many raters; with missing ratings as in Gwet,
Handbook of Inter-Rater Reliability (4th ed.), chapters 2 and 3. The weighted agreement p_a is
averaged over the items with two ratings or more; the share pi_k of a category is averaged over
the items with a rating.
"""

from __future__ import annotations

import numpy as np

from arena.metaevaluation.agreement.coefficients import (
    DEFAULT_RESAMPLING,
    Coefficient,
    ItemSums,
    Resampling,
    estimate,
    quotient,
)
from arena.metaevaluation.agreement.ratings import FloatArray, Ratings
from arena.metaevaluation.agreement.weights import Weights, agreement_weights


def percent_agreement(
    ratings: Ratings, weights: Weights = "identity", resampling: Resampling = DEFAULT_RESAMPLING
) -> Coefficient:
    """Return the share of pairs of ratings of an item that agree, averaged over items.

    It is 1 where only one category was chosen; NaN without an item that has two ratings.

    Raises:
        UsageError: For unknown weights.
    """
    parts = _parts(ratings, agreement_weights(ratings, weights))
    sums = ItemSums(parts, lambda sums: _agreement(sums)[0])
    return estimate("percent agreement", ratings, sums, resampling)


def gwet_ac1(ratings: Ratings, resampling: Resampling = DEFAULT_RESAMPLING) -> Coefficient:
    """Return Gwet's AC1: ``(p_a - p_e) / (1 - p_e)``, ``p_e = sum pi (1 - pi) / (q - 1)``.

    NaN where there is only one category to choose from (irrCAC gives 1 there). Where more were
    declared and all chose the same one, it is 1: ``p_e`` is 0.
    """
    return _gwet("Gwet's AC1", ratings, "identity", resampling)


def gwet_ac2(
    ratings: Ratings, weights: Weights = "ordinal", resampling: Resampling = DEFAULT_RESAMPLING
) -> Coefficient:
    """Return Gwet's AC2: AC1 with weights, ``p_e = sum w / (q (q - 1)) * sum pi (1 - pi)``.

    Raises:
        UsageError: For unknown weights.
    """
    return _gwet(f"Gwet's AC2 ({weights})", ratings, weights, resampling)


def fleiss_kappa(
    ratings: Ratings, weights: Weights = "identity", resampling: Resampling = DEFAULT_RESAMPLING
) -> Coefficient:
    """Return Fleiss' kappa: ``(p_a - p_e) / (1 - p_e)``, ``p_e = sum w_kl pi_k pi_l``.

    NaN where only one category was chosen: ``p_e`` is 1 (0 / 0, NaN in irrCAC too).

    Raises:
        UsageError: For unknown weights.
    """
    matrix = agreement_weights(ratings, weights)

    def kappa(sums: FloatArray) -> FloatArray:
        agreement, shares = _agreement(sums)
        chance = np.einsum("bk,kl,bl->b", shares, matrix, shares)
        return quotient(agreement - chance, 1 - chance)

    return estimate("Fleiss' kappa", ratings, ItemSums(_parts(ratings, matrix), kappa), resampling)


def _gwet(name: str, ratings: Ratings, weights: Weights, resampling: Resampling) -> Coefficient:
    matrix = agreement_weights(ratings, weights)
    categories = len(ratings.categories)
    pairs = categories * (categories - 1)
    scale = float(matrix.sum()) / pairs if pairs else np.nan

    def coefficient(sums: FloatArray) -> FloatArray:
        agreement, shares = _agreement(sums)
        chance = scale * (shares * (1 - shares)).sum(axis=1)
        return quotient(agreement - chance, 1 - chance)

    return estimate(name, ratings, ItemSums(_parts(ratings, matrix), coefficient), resampling)


def _parts(ratings: Ratings, weights: FloatArray) -> FloatArray:
    """Return, of each item: its agreement, whether it has pairs or ratings, its shares.

    Returns:
        Shape (items, 3 + categories).
    """
    counts = ratings.counts.astype(np.float64)
    given = ratings.given.astype(np.float64)
    agreeing = (counts * (counts @ weights - 1)).sum(axis=1)
    paired = given >= 2
    agreement = np.where(paired, agreeing / np.maximum(given * (given - 1), 1), 0.0)
    shares = counts / np.maximum(given, 1)[:, None]
    return np.column_stack([agreement, paired, given >= 1, shares])


def _agreement(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean agreement, shape (replicates,), and the shares of the categories."""
    return quotient(sums[:, 0], sums[:, 1]), quotient(
        sums[:, 3:], np.broadcast_to(sums[:, 2:3], sums[:, 3:].shape)
    )
