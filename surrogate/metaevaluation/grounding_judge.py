"""A judge of faithfulness without any model: what of a sentence stands in a passage?

A sentence is supported if ``coverage - numbers * N - names * M`` reaches a threshold, with

* the coverage: the share of its runs of five characters that its best passage holds, rare runs
  first, so that any script is read alike and endings of words count little;
* N: how many of its numbers no passage and no question holds;
* M: the share of its capitalised words, but the first, that none of them holds.

The settings are the same for all languages. They were found without a label of any benchmark; see
``surrogate.metaevaluation.grounding_calibration``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from arena.data.errors import UsageError
from features.measures.facts import numbers_in
from features.text.tokens import folded_words, words
from surrogate.metaevaluation.known_claims import KnownClaim, KnownClaims
from surrogate.metaevaluation.memerag.judges import Claim, Verdict, character_runs
from surrogate.metaevaluation.memerag.reading import NOT_SUPPORTED, SUPPORTED

RUN = 5
MOST_NUMBERS = 3


@dataclass(frozen=True)
class GroundingSettings:
    """What the verdict depends on.

    Attributes:
        numbers: Taken off the coverage for each number that is not held, three at most.
        names: Taken off if no name is held; in proportion if some are.
        threshold: What must be left for a sentence to be supported.
    """

    numbers: float
    names: float
    threshold: float


DEFAULT_SETTINGS = GroundingSettings(numbers=0.57, names=0.18, threshold=0.48)


@dataclass(frozen=True, slots=True)
class Grounding:
    """How a sentence is grounded.

    Attributes:
        coverage: Share of the sentence's runs of characters in its best passage, 0 to 1.
        missing_numbers: Numbers that neither a passage nor the question holds, 3 at most.
        missing_names: Share of its names that none of them holds, 0 to 1; 0 without names.
    """

    coverage: float
    missing_numbers: int
    missing_names: float

    def score(self, settings: GroundingSettings) -> float:
        """Return what is left of the coverage."""
        return (
            self.coverage
            - settings.numbers * self.missing_numbers
            - settings.names * self.missing_names
        )


@dataclass(frozen=True)
class GroundingJudge:
    """Judges by what stands in the passages.

    How rare a run of characters is, is counted among the passages of all claims of a language that
    are judged together, so a verdict may depend on them, a little.

    Attributes:
        settings: Weights and threshold, for all languages.
    """

    settings: GroundingSettings = DEFAULT_SETTINGS

    @property
    def name(self) -> str:
        """``grounding``."""
        return "grounding"

    @property
    def prompt(self) -> str:
        """The settings."""
        chosen = self.settings
        return (
            f"characters:{RUN}|numbers:{chosen.numbers}|names:{chosen.names}"
            f"|threshold:{chosen.threshold}"
        )

    def judge(self, claims: Sequence[Claim]) -> list[Verdict]:
        """Judge claims, those of a language together."""
        scores = (each.score(self.settings) for each in ground(claims))
        threshold = self.settings.threshold
        return [Verdict(SUPPORTED if each >= threshold else NOT_SUPPORTED) for each in scores]


def ground(
    claims: Sequence[Claim], passages: Mapping[str, Iterable[str]] | None = None
) -> list[Grounding]:
    """Measure claims, those of a language together, in their order.

    Args:
        claims: The claims.
        passages: Passages by language, among which it is counted how rare a run of characters is;
            those of the claims if left out.
    """
    known = _passages_by_language(claims) if passages is None else passages
    rarities = {language: Rarity(texts) for language, texts in known.items()}
    return [_grounding(claim, rarities[claim.language]) for claim in claims]


class Rarity:
    """How rare runs of characters are among passages.

    Args:
        passages: Texts; each distinct one counts once.
    """

    def __init__(self, passages: Iterable[str]) -> None:
        self._runs: dict[str, frozenset[str]] = {}
        self._holders: Counter[str] = Counter()
        for text in dict.fromkeys(passages):
            self._holders.update(self.runs(text))
        self._passages = len(self._runs)

    def runs(self, text: str) -> frozenset[str]:
        """Return the distinct runs of a text, kept for the next claim that shows it."""
        if text not in self._runs:
            self._runs[text] = frozenset(character_runs(text, RUN))
        return self._runs[text]

    def weight(self, run: str) -> float:
        """Return the inverse document frequency, as ``PassageIndex.weight`` does for words."""
        holders = self._holders[run]
        return math.log1p((self._passages - holders + 0.5) / (holders + 0.5))


def _passages_by_language(claims: Sequence[Claim]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for claim in claims:
        found.setdefault(claim.language, []).extend(claim.passages)
    return found


def _grounding(claim: Claim, rarity: Rarity) -> Grounding:
    return Grounding(_coverage(claim, rarity), _missing_numbers(claim), _missing_names(claim))


def _coverage(claim: Claim, rarity: Rarity) -> float:
    times = Counter(character_runs(claim.sentence, RUN))
    weights = {run: count * rarity.weight(run) for run, count in times.items()}
    total = math.fsum(weights.values())
    return max((_held(weights, rarity.runs(text)) / total for text in claim.passages), default=0.0)


def _held(weights: Mapping[str, float], runs: frozenset[str]) -> float:
    return math.fsum(weight for run, weight in weights.items() if run in runs)


def _missing_numbers(claim: Claim) -> int:
    said = set(numbers_in(claim.sentence))
    if not said:
        return 0
    held = {number for text in (claim.question, *claim.passages) for number in numbers_in(text)}
    return min(len(said - held), MOST_NUMBERS)


def _missing_names(claim: Claim) -> float:
    names = [
        word.casefold() for word in words(claim.sentence)[1:] if len(word) > 1 and word[0].isupper()
    ]
    if not names:
        return 0.0
    held = {word for text in (claim.question, *claim.passages) for word in folded_words(text)}
    return sum(name not in held for name in names) / len(names)


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
