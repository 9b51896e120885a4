"""What messages of all stages say alike: counts with their nouns, and which name may be meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

MOST_COMPARED = 200
"""Characters of a name, and names, that a misspelt one is compared with."""


def count_of(number: int, noun: str, plural: str | None = None) -> str:
    """Show a count with its noun, such as ``1 system`` or ``1,200 systems``.

    Args:
        number: The count.
        noun: What is counted, in the singular.
        plural: The same of several; by default the noun and an s.
    """
    return f"{number:,.0f} {noun if number == 1 else plural or noun + 's'}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the question ``did you mean 'x'?`` where a known name is close, in any case.

    Args:
        name: A name that is not known.
        known: The names that are.
    """
    names = list(islice(known, MOST_COMPARED))
    folded = {text.casefold()[:MOST_COMPARED]: text for text in reversed(names)}
    close = get_close_matches(name.casefold()[:MOST_COMPARED], folded, n=1)
    return f"did you mean {folded[close[0]]!r}?" if close else ""
