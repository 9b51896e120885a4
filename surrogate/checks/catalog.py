"""The one table of checks of answers: their names, classes and words; ``rules`` finds them."""

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
    """A check of answers.

    Attributes:
        name: Its name, such as ``other-language``.
        certainty: ``certain``: a bug, whatever else is said of the system; ``likely``: a reader
            decides; ``note``: a fact.
        one: What one answer does, as a clause.
        many: What several do.
        untold: Why it cannot be told of some answers; empty where it always can.
    """

    name: str
    certainty: CheckClass
    one: str
    many: str
    untold: str

    def clause(self, count: int) -> str:
        """Say what a number of answers do: ``7 are in another language``."""
        return f"{count:,} {self.one if count == 1 else self.many}"


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(files("surrogate.checks").joinpath(name).read_text(encoding="utf-8"))


def _checks() -> dict[str, Check]:
    checks = {}
    for name, row in _read("checks.toml").items():
        checks[name] = Check(name, row["class"], row["one"], row["many"], row["untold"])
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
    """Return the pattern of a kind of text that is no answer; see ``marks.toml``."""
    patterns = _read("marks.toml")[kind]
    return re.compile("|".join(patterns), re.IGNORECASE | re.MULTILINE)


@cache
def refusals() -> Mapping[str, Sequence[str]]:
    """Return the patterns of what refusals say, by language."""
    return MappingProxyType(_read("refusals.toml"))
