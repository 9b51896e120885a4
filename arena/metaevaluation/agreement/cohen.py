"""Cohen's kappa: two raters, each with habits of their own."""

from __future__ import annotations

import math

import numpy as np

from arena.errors import UsageError
from arena.metaevaluation.agreement.coefficients import (
    DEFAULT_RESAMPLING,
    NO_PAIRS,
    Coefficient,
    ItemSums,
    Resampling,
    estimate,
    quotient,
)
from arena.metaevaluation.agreement.ratings import FloatArray, Ratings
from arena.metaevaluation.agreement.weights import Weights, agreement_weights


def cohen_kappa(
    ratings: Ratings, weights: Weights = "identity", resampling: Resampling = DEFAULT_RESAMPLING
) -> Coefficient:
    """Return Cohen's kappa (1960; weighted: 1968) on the items that both raters rated.

    ``(p_a - p_e) / (1 - p_e)``, ``p_e = sum w_kl p_k q_l`` with the shares p and q of either rater.
    NaN where both chose one and the same category always. Items that one rater left out do not
    count (irrCAC counts them in the shares; without missing ratings both are the same).

    Raises:
        UsageError: If there are not two raters, or for unknown weights.
    """
    if ratings.raters != 2:
        raise UsageError(
            f"Cohen's kappa is for two raters, and here are {ratings.raters}; "
            "use Fleiss' kappa, AC1 or Krippendorff's alpha"
        )
    name = "Cohen's kappa" if weights == "identity" else f"Cohen's kappa ({weights})"
    matrix = agreement_weights(ratings, weights)
    size = len(ratings.categories)
    both = ratings.codes[(ratings.codes >= 0).all(axis=1)]
    if not len(both):
        return Coefficient(name, math.nan, reason=NO_PAIRS)
    parts = np.eye(size * size)[both[:, 0] * size + both[:, 1]]

    def kappa(sums: FloatArray) -> FloatArray:
        joint = sums.reshape(-1, size, size)
        joint = joint / joint.sum(axis=(1, 2), keepdims=True)
        agreement = np.einsum("bkl,kl->b", joint, matrix)
        chance = np.einsum("bk,kl,bl->b", joint.sum(axis=2), matrix, joint.sum(axis=1))
        return quotient(agreement - chance, 1 - chance)

    return estimate(name, ratings, ItemSums(parts, kappa), resampling)
