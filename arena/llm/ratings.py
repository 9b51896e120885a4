"""Ratings from 1 to 5 in the replies of models."""

from __future__ import annotations

import re
from typing import Literal

from arena.llm.quotations import own_matches
from arena.llm.replies import UnparsableError
from arena.llm.statements import CLOSING, INSIDE, OPENING, stated_match
from arena.text.thoughts import answer_start

RATINGS = (1, 2, 3, 4, 5)

RatingForm = Literal["brackets", "heading"]

_NUMBER = r"(?P<number>[-−]?\d{1,9}(?:[.,]\d{1,9})?)"
_FORMATS = {
    "brackets": re.compile(
        rf"{OPENING}{INSIDE}{_NUMBER}{INSIDE}(?:/\s?5)?{CLOSING}(?:\s?/\s?5\b)?"
    ),
    "heading": re.compile(
        rf"##\s{{0,3}}\**Rating\**\s{{0,3}}:\s{{0,3}}[*\[({{]{{0,4}}{_NUMBER}(?:\s?/\s?5\b)?",
        re.IGNORECASE,
    ),
}
# Near to it: "Rating: 4/5", "**Score**: 4"; or a reply that is nothing but a number.
_LABELED = re.compile(
    rf"\b(?:rating|score|mark)\b\W{{0,6}}?(?:is\b\W{{0,6}}?)?{_NUMBER}(?:\s?/\s?5\b)?"
    r"(?!\s(?:mistake|error)s?\b)",
    re.IGNORECASE,
)
_BARE = re.compile(rf"[^\w−-]{{0,6}}{_NUMBER}(?:\s?/\s?5)?\W{{0,6}}")
_OTHER_SCALE = re.compile(
    r"[½¼¾⅓⅔]|[^\n]{0,20}\bscale\b|[ \t]?[-‐–—−~][ \t]?\d|[ \t]?(?:%|percent\b)"
    r"|[\])}*］】]{0,4}[ \t]{0,2}(?:(?:or|to) [\[*]{0,4}\d|(?:/|out of|of) ?(?:(?!5\b)\d|ten\b))",
    re.IGNORECASE,
)
"""After a number: a range (``3-4``), or what may be another scale (``4/10``, ``40 %``)."""
_ZEROS = re.compile(r"[.,]0+\Z")


def find_rating(text: str, form: RatingForm, is_cut: bool | None = None) -> tuple[int, int]:
    """Find a reply's rating (``[[4]]``, ``##Rating: 4``), and its place."""
    start = answer_start(text, is_cut)
    # Blanks take the place of thoughts, so that places in the text stay what they are.
    answer = " " * start + text[start:]
    if _BARE.fullmatch(answer.strip()):
        pattern = _BARE
    elif own_matches(_FORMATS[form], answer):
        pattern = _FORMATS[form]
    else:
        pattern = _LABELED
    match = stated_match(pattern, answer, _value, "rating", is_cut=is_cut)
    number = _value(match)
    is_other_scale = _OTHER_SCALE.match(answer, match.end("number")) is not None
    if is_other_scale or not number.isdecimal() or int(number) not in RATINGS:
        shown = answer[match.start("number") : match.end("number") + 10].strip().strip("[]")
        raise UnparsableError(f"the rating is {shown!r}; expected a whole number from 1 to 5")
    return int(number), match.start("number")


def _value(match: re.Match[str]) -> str:
    return _ZEROS.sub("", match["number"])
