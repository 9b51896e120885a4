"""A judge of faithfulness without any model: what of a sentence stands in a passage?

A sentence is supported if ``coverage - numbers * N - names * M`` reaches a threshold, with

* the coverage: the share of its runs of five characters that its best passage holds, rare runs
  first, so that any script is read alike and endings of words count little;
* N: how many of its numbers no passage and no question holds;
* M: the share of its names, told by their capitals, that none of them holds.

The settings are the same for all languages. They were found without a label of any benchmark, on
claims made from arenas (``benchmarks/grounding_calibration.py``).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from features.measures.facts import names_in, numbers_in
from features.text.tokens import folded_words
from surrogate.metaevaluation.judges import RUN, Verdict, character_runs
from surrogate.metaevaluation.memerag.judges import Claim, support

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


DEFAULT_SETTINGS = GroundingSettings(numbers=0.57, names=0.2, threshold=0.48)


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
        scores = (grounding.score(self.settings) for grounding in ground(claims))
        threshold = self.settings.threshold
        return [support(score >= threshold) for score in scores]


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
    passages: dict[str, list[str]] = {}
    for claim in claims:
        passages.setdefault(claim.language, []).extend(claim.passages)
    return passages


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
    known = {number for text in (claim.question, *claim.passages) for number in numbers_in(text)}
    return min(len(said - known), MOST_NUMBERS)


def _missing_names(claim: Claim) -> float:
    names = names_in(claim.sentence)
    if not names:
        return 0.0
    known = {word for text in (claim.question, *claim.passages) for word in folded_words(text)}
    return sum(name not in known for name in names) / len(names)
