"""The table of checks of answers, and the words and patterns that their rules look for."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from features.text.tokens import TEXTS_CACHED

CheckClass = Literal["certain", "likely", "note"]


class Check(NamedTuple):
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


@lru_cache(maxsize=TEXTS_CACHED)  # many answers are the same
def find_mark(kind: str, text: str) -> re.Match[str] | None:
    """Return the first sign in a text, perhaps in lower case, that it is no answer."""
    lowered = text.lower()
    matches = [pattern.search(lowered) for pattern in _marks(kind)]
    matches += [pattern.search(text) for pattern in _marks(f"{kind}_cased")]
    return min(filter(None, matches), key=re.Match.start, default=None)


@cache
def _marks(kind: str) -> list[re.Pattern[str]]:
    """Return a kind's patterns (``marks.toml``), of which some have to be in a text's case.

    One by one: ``re`` quickly finds the character that opens one of them.
    """
    patterns = _read("marks.toml").get(kind, [])
    # These are tried together, only where a text, a line or a word begins.
    for anchor, place in ((r"\A", r"\A"), ("^", "^"), (r"\b", r"\b(?=\w)")):
        anchored = [one.removeprefix(anchor) for one in patterns if one.startswith(anchor)]
        patterns = [one for one in patterns if not one.startswith(anchor)]
        if anchored:
            patterns.append(f"{place}(?:{'|'.join(anchored)})")
    return [re.compile(pattern, re.MULTILINE) for pattern in patterns]


@cache
def refusals() -> Mapping[str, Sequence[str]]:
    """Return the patterns of refusals, by language."""
    return MappingProxyType(_read("refusals.toml"))


@cache
def unfinished_words() -> Mapping[str, str]:
    """Return words with which no phrase ends, by language."""
    return MappingProxyType(_read("unfinished.toml"))
