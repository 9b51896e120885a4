"""The table of checks of answers, and the words and patterns that their rules look for."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal

CheckClass = Literal["certain", "likely", "note"]


@dataclass(frozen=True)
class Check:
    """A check of answers; ``certain`` faults are bugs.

    ``one`` and ``many`` are clauses of what answers do, ``unchecked`` is why some cannot be
    checked.
    """

    name: str
    certainty: CheckClass
    one: str
    many: str
    unchecked: str

    def clause(self, count: int) -> str:
        """Say what several answers do: ``7 are in another language``."""
        return f"{count:,} {self.one if count == 1 else self.many}"


@cache
def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(files("surrogate.checks").joinpath(name).read_text(encoding="utf-8"))


def _checks() -> dict[str, Check]:
    checks = {}
    for name, row in _read("checks.toml").items():
        checks[name] = Check(name, row["class"], row["one"], row["many"], row["unchecked"])
    return checks


CHECKS: Mapping[str, Check] = MappingProxyType(_checks())
"""Every check by name, in the order in which they are listed."""
FAULTS = tuple(name for name, check in CHECKS.items() if check.certainty != "note")
"""Names of the checks that find faults."""


def of_class(certainty: CheckClass) -> list[str]:
    """Return the names of a class of checks."""
    return [name for name, check in CHECKS.items() if check.certainty == certainty]


@cache
def marks(kind: str) -> re.Pattern[str]:
    """Return the pattern of texts that are no answer (``marks.toml``)."""
    alternatives = []
    words = []
    for pattern in _read("marks.toml")[kind]:
        if pattern.startswith(r"\b"):
            words.append(pattern.removeprefix(r"\b"))
        else:
            alternatives.append(pattern)
    if words:
        # Tried only where a word begins, not at every character.
        alternatives.append(rf"\b(?=\w)(?:{'|'.join(words)})")
    return re.compile("|".join(alternatives), re.IGNORECASE | re.MULTILINE)


@cache
def refusals() -> Mapping[str, Sequence[str]]:
    """Return the patterns of refusals, by language."""
    return MappingProxyType(_read("refusals.toml"))


@cache
def unfinished_words() -> Mapping[str, str]:
    """Return words with which no phrase ends, by language."""
    return MappingProxyType(_read("unfinished.toml"))
