"""Simulated systems: how often each makes which error, in which language."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib.resources import files

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

    Raises:
        UsageError: For a rate outside 0 to 1, or rates of citations that sum to more than 1.
    """

    wrong_language: float = 0.0
    missing_citation: float = 0.0
    wrong_citation: float = 0.0
    unsupported_addition: float = 0.0
    omission: float = 0.0
    truncation: float = 0.0

    def __post_init__(self) -> None:
        rates = {error: getattr(self, error) for error in ERRORS}
        rates["missing_citation + wrong_citation"] = self.missing_citation + self.wrong_citation
        for error, rate in rates.items():
            if not 0 <= rate <= 1:
                raise UsageError(f"{error} = {rate:g} is outside 0 to 1; change rate or factor")


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
    """

    name: str = field(kw_only=True)
    elsewhere: float = field(default=1.0, kw_only=True)
    by_language: Mapping[str, float] = field(default_factory=dict, kw_only=True)
    reasons: bool = field(default=True, kw_only=True)
    is_extractive: bool = field(default=False, kw_only=True)

    def rates(self, language: str) -> ErrorRates:
        """Return the error rates in a language; one above 1 is a UsageError."""
        elsewhere = 1.0 if language == "en" else self.elsewhere
        factor = self.by_language.get(language, elsewhere)
        return ErrorRates(**{error: factor * getattr(self, error) for error in ERRORS})


DEFAULT_SYSTEMS = tuple(
    SystemProfile(**profile)
    for profile in json.loads((files("arena.simulation") / "systems.json").read_text("utf-8"))
)
"""Twelve systems; what their rates mean for quality says ``expected_utility``."""
