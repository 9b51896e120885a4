"""Find the settings of the grounding judge, on claims of known support: no label is needed.

The penalties come from sentences that cite passages (trec-rag25, crowd-rag), the threshold from
sentences built of passages (nomiracl, all languages that put spaces between words).

Run:  python benchmarks/grounding_calibration.py [--shared FOLDER]
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from known_claims import KnownClaim, KnownClaims, built_claims, cited_claims

from arena import UsageError, read_arena
from surrogate.metaevaluation.memerag.grounding import (
    DEFAULT_SETTINGS,
    Grounding,
    GroundingSettings,
    ground,
)

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
    """Return the score that separates claims best, on a smoothed curve."""
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


def calibrate_on_arenas(folder: Path) -> GroundingSettings:
    """Find the settings on all questions of three shared arenas, each with three seeds."""
    seeds = (0, 1, 2)
    cited = [
        cited_claims(arena, seed)
        for arena in (read_arena(folder / name) for name in ("trec-rag25", "crowd-rag"))
        for seed in seeds
    ]
    passages = read_arena(folder / "nomiracl")
    built = [built_claims(passages, len(passages.queries), seed) for seed in seeds]
    return calibrate_grounding(cited, built)


def main() -> None:
    """Print the settings that the shared arenas give, and the defaults."""
    parser = argparse.ArgumentParser(description=__doc__)
    shared = Path(__file__).parents[2] / "shared" / "data" / "arenas"
    parser.add_argument("--shared", type=Path, default=shared, help="folder of the arenas")
    folder = parser.parse_args().shared
    print("found:  ", calibrate_on_arenas(folder))
    print("default:", DEFAULT_SETTINGS)


if __name__ == "__main__":
    main()
