"""How the settings of the grounding judge were found: without a label of any benchmark.

What a missing number and a missing name weigh against the coverage is learnt from real sentences
with the passages they cite (``cited_claims``). The threshold is where supported and unsupported
claims are told apart best among sentences built from passages of many languages
(``built_claims``), since real sentences cite more loosely than an answer should follow its
passages. In both, supported and unsupported claims weigh the same, and so do the unsupported kinds.

The defaults come from the arenas trec-rag25 and crowd-rag (cited) and nomiracl (built, all
questions of the 14 languages that put spaces between words), each with the seeds 0, 1 and 2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from arena.errors import UsageError
from surrogate.metaevaluation.grounding_judge import Grounding, GroundingSettings, ground
from surrogate.metaevaluation.known_claims import KnownClaim, KnownClaims

FloatArray = npt.NDArray[np.float64]

DIGITS = 2

_CANDIDATES = np.linspace(0.05, 0.95, 181)
_SMOOTHED_OVER = 9
_INVERSE_PENALTY = 10.0


def calibrate_grounding(
    cited: Sequence[KnownClaims], built: Sequence[KnownClaims]
) -> GroundingSettings:
    """Find the settings of the grounding judge.

    Args:
        cited: As ``cited_claims`` makes them, an entry an arena.
        built: As ``built_claims`` makes them, an entry an arena.

    Returns:
        Settings, rounded to two digits.

    Raises:
        UsageError: If either holds no supported or no unsupported claims, or coverage is no
            larger where claims are supported.
    """
    numbers, names = _penalties(cited)
    threshold = _threshold(built, GroundingSettings(numbers, names, 0.0))
    return GroundingSettings(round(numbers, DIGITS), round(names, DIGITS), round(threshold, DIGITS))


def balanced_weights(claims: Sequence[KnownClaim]) -> FloatArray:
    """Return weights that sum to 1: a half for supported claims, a half for the others.

    Kinds of unsupported claims share their half evenly.

    Raises:
        UsageError: If all claims are supported, or none is.
    """
    sizes = Counter(each.kind for each in claims if not each.is_supported)
    supported = len(claims) - sum(sizes.values())
    if not sizes or not supported:
        raise UsageError("there must be supported and unsupported claims to calibrate with")
    shares = [
        0.5 / supported if each.is_supported else 0.5 / len(sizes) / sizes[each.kind]
        for each in claims
    ]
    return np.array(shares, dtype=np.float64)


def _penalties(sets: Sequence[KnownClaims]) -> tuple[float, float]:
    """Fit a logistic regression; return what numbers and names weigh against the coverage."""
    from sklearn.linear_model import LogisticRegression

    claims, grounded = _grounded(sets)
    weights = balanced_weights(claims) * len(claims)
    rows = [(each.coverage, each.missing_numbers, each.missing_names) for each in grounded]
    fitted = LogisticRegression(C=_INVERSE_PENALTY).fit(rows, _labels(claims), weights)
    coverage, numbers, names = fitted.coef_[0]
    if coverage <= 0:
        raise UsageError("coverage does not tell supported from unsupported claims here")
    return float(max(-numbers / coverage, 0)), float(max(-names / coverage, 0))


def _threshold(sets: Sequence[KnownClaims], settings: GroundingSettings) -> float:
    """Return the score that tells claims apart best, on a smoothed curve."""
    claims, grounded = _grounded(sets)
    weights, labels = balanced_weights(claims), _labels(claims)
    scores = np.array([each.score(settings) for each in grounded])
    right = [float(weights[(scores >= each) == labels].sum()) for each in _CANDIDATES]
    smooth = np.convolve(right, np.full(_SMOOTHED_OVER, 1 / _SMOOTHED_OVER), mode="valid")
    return float(_CANDIDATES[_SMOOTHED_OVER // 2 + int(np.argmax(smooth))])


def _grounded(sets: Sequence[KnownClaims]) -> tuple[list[KnownClaim], list[Grounding]]:
    claims = [claim for each in sets for claim in each.claims]
    grounded = [
        found
        for each in sets
        for found in ground([known.claim for known in each.claims], each.passages)
    ]
    return claims, grounded


def _labels(claims: Sequence[KnownClaim]) -> npt.NDArray[np.bool_]:
    return np.array([each.is_supported for each in claims], dtype=bool)
