"""Texts for people: counts with their nouns, whose a name may be, cells of spreadsheets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass
MOST_LISTED = 12
"""Names that messages list."""
MOST_COMPARED = 200
"""Characters of a name, and names, that a misspelt one is compared with."""


def count_of(number: int, noun: str, plural: str | None = None) -> str:
    """Show a count with its noun, such as ``1 system`` or ``1,200 systems``."""
    return f"{number:,.0f} {noun if number == 1 else plural or noun + 's'}"


def first_of(names: Sequence[str], most: int = MOST_LISTED) -> str:
    """List names with commas between, the first ones where there are many."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def repeated(names: Iterable[str]) -> list[str]:
    """Return the names that stand several times, sorted."""
    return sorted(name for name, count in Counter(names).items() if count > 1)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the question ``did you mean 'x'?`` where a known name is close, in any case."""
    names = list(islice(known, MOST_COMPARED))
    folded = {text.casefold()[:MOST_COMPARED]: text for text in reversed(names)}
    close = get_close_matches(name.casefold()[:MOST_COMPARED], folded, n=1)
    return f"did you mean {folded[close[0]]!r}?" if close else ""
