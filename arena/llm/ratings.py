"""Ratings from 1 to 5 in the replies of LLMs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from arena.llm.replies import THOUGHTS, UnparsableError

RATINGS = (1, 2, 3, 4, 5)
SHOWN_AFTER = 10

_NUMBER = r"(?P<number>-?\d{1,9}(?:[.,]\d{1,9})?)"

RatingForm = Literal["brackets", "heading"]

_OWN_FORMAT: dict[RatingForm, re.Pattern[str]] = {
    "brackets": re.compile(rf"\[\[\s{{0,3}}{_NUMBER}\s{{0,3}}(?:/\s?5)?\]\]"),
    "heading": re.compile(
        rf"##\s{{0,3}}\**Rating\**\s{{0,3}}:\s{{0,3}}[*\[({{]{{0,4}}{_NUMBER}", re.IGNORECASE
    ),
}

# Near to it: "Rating: 4/5", "**Score**: 4"; or a reply that is nothing but a number.
_LABELED = re.compile(
    rf"\b(?:rating|score)\b\W{{0,6}}?(?:(?:is|of)\b\W{{0,6}}?)?{_NUMBER}", re.IGNORECASE
)
_BARE = re.compile(r"\s*[^\w-]{0,6}(?P<number>\d{1,9})(?:\s?/\s?5)?\W{0,6}")

# After a number: a range ("3-4"), or another scale ("4/10").
_RANGE_OR_SCALE = re.compile(
    r"\s?(?:[-‐–—~]\s?\d|/\s?(?!5\b)\d|out of (?!5\b|five\b))", re.IGNORECASE
)

# A reply may quote what it rates, between the lines of the prompt, and think aloud.
_QUOTED = re.compile(
    r"\[The Start of the (\w{1,20}) (\w{1,20})\].*?\[The End of the \1 \2\]", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Rating:
    """A rating found in a text.

    Attributes:
        value: From 1 to 5.
        place: Where its number stands in the text.
    """

    value: int
    place: int


def find_rating(text: str, form: RatingForm) -> Rating:
    """Find the last rating in the format that a prompt asks for, or else near to it.

    Args:
        text: The reply.
        form: ``brackets`` for ``[[4]]``, ``heading`` for ``##Rating: 4``.

    Raises:
        UnparsableError: If there is none, or the last one is no whole number from 1 to 5.
    """
    own = _QUOTED.sub(_blanks, THOUGHTS.sub(_blanks, text))
    found = list(_OWN_FORMAT[form].finditer(own)) or list(_LABELED.finditer(own))
    last = found[-1] if found else _BARE.fullmatch(own)
    if last is None:
        raise UnparsableError("the reply has no rating")
    number = last["number"]
    is_other = _RANGE_OR_SCALE.match(own, last.end("number")) is not None
    if is_other or not number.isdecimal() or int(number) not in RATINGS:
        shown = own[last.start("number") : last.end("number") + SHOWN_AFTER].strip()
        raise UnparsableError(f"the rating is {shown!r}; expected a whole number from 1 to 5")
    return Rating(int(number), last.start("number"))


def _blanks(match: re.Match[str]) -> str:
    """Return spaces in the place of a match, so that places after it stay what they are."""
    return " " * len(match[0])
