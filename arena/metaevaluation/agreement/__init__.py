"""Agreement between raters, with intervals, for any number of raters and missing ratings."""

from arena.metaevaluation.agreement.chance_corrected import (
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    percent_agreement,
)
from arena.metaevaluation.agreement.coefficients import Coefficient, Resampling
from arena.metaevaluation.agreement.cohen import cohen_kappa
from arena.metaevaluation.agreement.krippendorff import krippendorff_alpha
from arena.metaevaluation.agreement.ratings import Ratings, code_ratings
from arena.metaevaluation.agreement.report import AgreementReport, agreement_report

__all__ = [
    "AgreementReport",
    "Coefficient",
    "Ratings",
    "Resampling",
    "agreement_report",
    "code_ratings",
    "cohen_kappa",
    "fleiss_kappa",
    "gwet_ac1",
    "gwet_ac2",
    "krippendorff_alpha",
    "percent_agreement",
]
