"""Simulated systems: how often each makes which error, in which language."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from arena.data.errors import UsageError


@dataclass(frozen=True)
class ErrorRates:
    """How often a system makes each error, from 0 to 1.

    Attributes:
        wrong_language: Answers written in another language: English, or in place of English
            one of the others.
        missing_citation: Stated facts without a citation.
        wrong_citation: Stated facts that cite a passage that is not relevant, or none there is.
        unsupported_addition: Answers with a sentence that no passage supports.
        omission: Facts left out.
        truncation: Answers that end in the middle of their last sentence.
    """

    wrong_language: float = 0.0
    missing_citation: float = 0.0
    wrong_citation: float = 0.0
    unsupported_addition: float = 0.0
    omission: float = 0.0
    truncation: float = 0.0


ERRORS = tuple(rate.name for rate in fields(ErrorRates))
"""The names of the errors."""


@dataclass(frozen=True)
class SystemProfile(ErrorRates):
    """A simulated system: its error rates in English and what becomes of them elsewhere.

    Attributes:
        name: Name of the system.
        elsewhere: What all rates are multiplied by in languages other than English.
        by_language: What they are multiplied by instead in the languages named here.
        reasons: Whether ``##Reason:`` comes before ``##Answer:``.
        is_extractive: Whether facts are stated in the words of the passages.

    Raises:
        UsageError: For a rate outside 0 to 1, rates of citations that sum to more than 1, a
            negative factor or an empty name.
    """

    name: str = field(kw_only=True)
    elsewhere: float = field(default=1.0, kw_only=True)
    by_language: Mapping[str, float] = field(default_factory=dict, kw_only=True)
    reasons: bool = field(default=True, kw_only=True)
    is_extractive: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise UsageError("name of a system is empty; give it one such as 'sim-small'")
        factors = {f"by_language[{code!r}]": value for code, value in self.by_language.items()}
        for factor, value in {"elsewhere": self.elsewhere, **factors}.items():
            if not 0 <= value < math.inf:
                raise UsageError(f"{self.name}: {factor} = {value:g} is no factor; use 0 or more")
        _check_rates({error: getattr(self, error) for error in ERRORS}, self.name, "the rate")

    def rates(self, language: str) -> ErrorRates:
        """Return the error rates in a language.

        Raises:
            UsageError: If the factor takes a rate above 1.
        """
        elsewhere = 1.0 if language == "en" else self.elsewhere
        factor = self.by_language.get(language, elsewhere)
        rates = {error: factor * getattr(self, error) for error in ERRORS}
        _check_rates(rates, f"{self.name} in {language}", f"the rate or its factor {factor:g}")
        return ErrorRates(**rates)


def _check_rates(rates: Mapping[str, float], owner: str, lower: str) -> None:
    for error, rate in rates.items():
        if not 0 <= rate <= 1:
            raise UsageError(
                f"{owner}: {error} = {rate:g} is outside 0 to 1; change {lower} to fit"
            )
    citations = rates["missing_citation"] + rates["wrong_citation"]
    if citations > 1:
        raise UsageError(
            f"{owner}: missing_citation + wrong_citation = {citations:g} is above 1, and no "
            f"citation is both; change {lower} to fit"
        )


DEFAULT_SYSTEMS = (
    SystemProfile(
        name="sim-atlas-large",
        wrong_language=0.00,
        missing_citation=0.01,
        wrong_citation=0.02,
        unsupported_addition=0.03,
        omission=0.03,
        truncation=0.00,
        elsewhere=1.2,
    ),
    SystemProfile(
        name="sim-fjord-multilingual",
        wrong_language=0.01,
        missing_citation=0.02,
        wrong_citation=0.03,
        unsupported_addition=0.06,
        omission=0.05,
        truncation=0.01,
        elsewhere=0.8,
        by_language={"hi": 0.4, "ja": 1.6},
    ),
    SystemProfile(
        name="sim-borealis-70",
        wrong_language=0.01,
        missing_citation=0.04,
        wrong_citation=0.04,
        unsupported_addition=0.08,
        omission=0.08,
        truncation=0.02,
        elsewhere=1.5,
    ),
    SystemProfile(
        name="sim-cedar-pro",
        wrong_language=0.01,
        missing_citation=0.25,
        wrong_citation=0.04,
        unsupported_addition=0.10,
        omission=0.06,
        truncation=0.02,
        elsewhere=1.3,
        by_language={"sw": 2.5},
        reasons=False,
    ),
    SystemProfile(
        name="sim-ember-medium",
        wrong_language=0.03,
        missing_citation=0.06,
        wrong_citation=0.08,
        unsupported_addition=0.15,
        omission=0.14,
        truncation=0.04,
        by_language={"ar": 0.6, "hi": 0.6},
        is_extractive=True,
    ),
    SystemProfile(
        name="sim-delta-chat",
        wrong_language=0.02,
        missing_citation=0.10,
        wrong_citation=0.15,
        unsupported_addition=0.40,
        omission=0.05,
        truncation=0.03,
        elsewhere=1.2,
    ),
    SystemProfile(
        name="sim-cedar-mini",
        wrong_language=0.03,
        missing_citation=0.08,
        wrong_citation=0.12,
        unsupported_addition=0.12,
        omission=0.30,
        truncation=0.05,
        elsewhere=1.3,
        by_language={"es": 0.9},
    ),
    SystemProfile(
        name="sim-atlas-small",
        wrong_language=0.06,
        missing_citation=0.12,
        wrong_citation=0.14,
        unsupported_addition=0.25,
        omission=0.24,
        truncation=0.08,
        elsewhere=1.6,
    ),
    SystemProfile(
        name="sim-grove-base",
        wrong_language=0.05,
        missing_citation=0.60,
        wrong_citation=0.10,
        unsupported_addition=0.20,
        omission=0.28,
        truncation=0.06,
        elsewhere=1.4,
        reasons=False,
    ),
    SystemProfile(
        name="sim-borealis-8",
        wrong_language=0.10,
        missing_citation=0.15,
        wrong_citation=0.25,
        unsupported_addition=0.30,
        omission=0.35,
        truncation=0.15,
        elsewhere=1.3,
        by_language={"hi": 2.0, "sw": 2.0},
    ),
    SystemProfile(
        name="sim-iris-instruct",
        wrong_language=0.04,
        missing_citation=0.20,
        wrong_citation=0.30,
        unsupported_addition=0.35,
        omission=0.42,
        truncation=0.30,
        by_language={"ja": 0.5},
        is_extractive=True,
    ),
    SystemProfile(
        name="sim-harbor-tiny",
        wrong_language=0.15,
        missing_citation=0.30,
        wrong_citation=0.30,
        unsupported_addition=0.45,
        omission=0.45,
        truncation=0.30,
        elsewhere=1.4,
    ),
)
"""Twelve systems; what their rates mean for quality says ``expected_utility``."""
