"""Agreement of raters: Gwet's AC1 and AC2, Cohen's and Fleiss' kappa, Krippendorff's alpha."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from arena.data.errors import UsageError, checked_choice
from arena.statistics.raters import (
    DEFAULT_RESAMPLING,
    NO_PAIRS,
    Coefficient,
    FloatArray,
    ItemSums,
    RatedItems,
    Resampling,
    Weights,
    agreement_weights,
    estimate,
    quotient,
)


def percent_agreement(
    ratings: RatedItems, weights: Weights = "identity", resampling: Resampling = DEFAULT_RESAMPLING
) -> Coefficient:
    """Return the share of pairs of ratings of an item that agree, averaged over items.

    It is 1 where only one category was chosen; NaN without an item that has two ratings.

    Raises:
        UsageError: For unknown weights.
    """
    parts = _parts(ratings, agreement_weights(ratings, weights))
    sums = ItemSums(parts, lambda sums: _agreement(sums)[0])
    return estimate("percent agreement", ratings, sums, resampling)


def gwet_ac1(ratings: RatedItems, resampling: Resampling = DEFAULT_RESAMPLING) -> Coefficient:
    """Return Gwet's AC1: ``(p_a - p_e) / (1 - p_e)``, ``p_e = sum pi (1 - pi) / (q - 1)``.

    NaN where there is only one category to choose from (irrCAC gives 1 there). Where more were
    declared and all chose the same one, it is 1: ``p_e`` is 0.
    """
    return _gwet("Gwet's AC1", ratings, "identity", resampling)


def gwet_ac2(
    ratings: RatedItems, weights: Weights = "ordinal", resampling: Resampling = DEFAULT_RESAMPLING
) -> Coefficient:
    """Return Gwet's AC2: AC1 with weights, ``p_e = sum w / (q (q - 1)) * sum pi (1 - pi)``.

    Raises:
        UsageError: For unknown weights.
    """
    return _gwet(f"Gwet's AC2 ({weights})", ratings, weights, resampling)


def fleiss_kappa(
    ratings: RatedItems, weights: Weights = "identity", resampling: Resampling = DEFAULT_RESAMPLING
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


def _gwet(name: str, ratings: RatedItems, weights: Weights, resampling: Resampling) -> Coefficient:
    matrix = agreement_weights(ratings, weights)
    categories = len(ratings.categories)
    pairs = categories * (categories - 1)
    scale = float(matrix.sum()) / pairs if pairs else np.nan

    def coefficient(sums: FloatArray) -> FloatArray:
        agreement, shares = _agreement(sums)
        chance = scale * (shares * (1 - shares)).sum(axis=1)
        return quotient(agreement - chance, 1 - chance)

    return estimate(name, ratings, ItemSums(_parts(ratings, matrix), coefficient), resampling)


def _parts(ratings: RatedItems, weights: FloatArray) -> FloatArray:
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


def cohen_kappa(
    ratings: RatedItems, weights: Weights = "identity", resampling: Resampling = DEFAULT_RESAMPLING
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
        return kappa_of_tables(sums.reshape(-1, size, size), matrix)

    return estimate(name, ratings, ItemSums(parts, kappa), resampling)


def kappa_of_tables(tables: FloatArray, weights: FloatArray) -> FloatArray:
    """Return Cohen's kappa of tables that count what two raters said of the same items.

    Args:
        tables: Items by the category of either rater, shape (N, K, K).
        weights: Weight of each pair of categories, shape (K, K); the identity for plain kappa.

    Returns:
        Shape (N,); NaN without items, or where agreement by chance is certain.
    """
    totals = tables.sum(axis=(1, 2))
    joint = tables / np.where(totals > 0, totals, np.nan)[:, None, None]
    agreement = np.einsum("bkl,kl->b", joint, weights)
    chance = np.einsum("bk,kl,bl->b", joint.sum(axis=2), weights, joint.sum(axis=1))
    return quotient(agreement - chance, 1 - chance)


Level = Literal["nominal", "ordinal", "interval"]
LEVELS: tuple[Level, ...] = get_args(Level)


def krippendorff_alpha(
    ratings: RatedItems, level: Level = "nominal", resampling: Resampling = DEFAULT_RESAMPLING
) -> Coefficient:
    """Return Krippendorff's alpha: ``1 - D_o / D_e``.

    Items with fewer than two ratings do not count. ``interval`` takes categories that are numbers
    as such, and numbers texts 1, 2, 3, … in their order. NaN where the items with pairs hold one
    category only: ``D_e`` is 0 (the package krippendorff refuses such data, irrCAC gives NaN).

    Raises:
        UsageError: For an unknown level.
    """
    checked_choice(level, LEVELS, "level")
    size = len(ratings.categories)
    values = ratings.values

    def alpha(sums: FloatArray) -> FloatArray:
        seen = sums.reshape(-1, size, size)
        totals = seen.sum(axis=2)
        distances = _distances(totals, values, level)
        observed = (seen * distances).sum(axis=(1, 2))
        # The diagonal of the chance table does not matter: a category is at no distance of itself.
        by_chance = totals[:, :, None] * totals[:, None, :]
        expected = (by_chance * distances).sum(axis=(1, 2))
        return 1 - quotient((totals.sum(axis=1) - 1) * observed, expected)

    return estimate(
        f"Krippendorff's alpha ({level})",
        ratings,
        ItemSums(_coincidences(ratings), alpha),
        resampling,
    )


def _coincidences(ratings: RatedItems) -> FloatArray:
    """Return the pairs of categories in each item, shape (items, categories squared)."""
    counts = ratings.counts.astype(np.float64)
    pairs = counts[:, :, None] * counts[:, None, :]
    places = np.arange(counts.shape[1])
    pairs[:, places, places] -= counts
    others = np.maximum(ratings.given - 1, 1).astype(np.float64)
    shares: FloatArray = pairs / others[:, None, None]
    return shares.reshape(len(counts), len(places) ** 2)


def _distances(totals: FloatArray, values: FloatArray, level: Level) -> FloatArray:
    """Return squared distances of categories, shape (replicates or 1, categories, categories)."""
    if level == "nominal":
        return 1 - np.eye(len(values))[None]
    # Ordinal: a category lies in the middle of its ratings, all ratings put in order.
    places = values[None] if level == "interval" else totals.cumsum(axis=1) - totals / 2
    return np.asarray((places[:, :, None] - places[:, None, :]) ** 2, dtype=np.float64)


@dataclass(frozen=True)
class AgreementReport:
    """Agreement on one set of ratings.

    Attributes:
        items: Items, those without ratings among them.
        items_with_pairs: Items with two ratings or more, on which agreement rests.
        raters: Most ratings an item could have.
        categories: Labels that were given.
        coefficients: ``ac1``, ``fleiss_kappa``, ``krippendorff_alpha``, ``percent_agreement``.
    """

    items: int
    items_with_pairs: int
    raters: int
    categories: tuple[str, ...]
    coefficients: Mapping[str, Coefficient]

    def as_json(self) -> dict[str, object]:
        """Return plain values for JSON: numbers, ends of intervals, and reasons where none."""
        plain: dict[str, object] = {
            "items": self.items,
            "items_with_pairs": self.items_with_pairs,
            "raters": self.raters,
            "categories": list(self.categories),
        }
        for name, found in self.coefficients.items():
            plain[name] = _number(found.value)
            plain[f"{name}_low"] = _number(found.low)
            plain[f"{name}_high"] = _number(found.high)
        plain["reasons"] = {
            name: found.reason for name, found in self.coefficients.items() if found.reason
        }
        return plain


def agreement_report(
    ratings: RatedItems, resampling: Resampling = DEFAULT_RESAMPLING
) -> AgreementReport:
    """Compute AC1, Fleiss' kappa, Krippendorff's alpha (nominal) and percent agreement."""
    return AgreementReport(
        items=ratings.items,
        items_with_pairs=ratings.items_with_pairs,
        raters=ratings.raters,
        categories=tuple(str(category) for category in ratings.categories),
        coefficients={
            "ac1": gwet_ac1(ratings, resampling),
            "fleiss_kappa": fleiss_kappa(ratings, resampling=resampling),
            "krippendorff_alpha": krippendorff_alpha(ratings, resampling=resampling),
            "percent_agreement": percent_agreement(ratings, resampling=resampling),
        },
    )


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
