"""The usual coefficients of one set of ratings, side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from arena.metaevaluation.agreement.chance_corrected import (
    fleiss_kappa,
    gwet_ac1,
    percent_agreement,
)
from arena.metaevaluation.agreement.coefficients import DEFAULT_RESAMPLING, Coefficient, Resampling
from arena.metaevaluation.agreement.krippendorff import krippendorff_alpha
from arena.metaevaluation.agreement.ratings import Ratings


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
    ratings: Ratings, resampling: Resampling = DEFAULT_RESAMPLING
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
