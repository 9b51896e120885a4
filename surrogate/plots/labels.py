"""Names and captions as they can be drawn: verbatim, on lines that fit."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

LONGEST_NAME = 44
UNDRAWABLE = "\N{REPLACEMENT CHARACTER}"

_FULL_WIDTH = 1.8
_CAPITAL = 1.25
_WIDEST = frozenset("MWmw@%—…")
_WIDEST_WIDTH = 1.7
_BREAK_AFTER = frozenset(" |,")
_NO_GLYPH = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS = frozenset("\u200c\u200d")
"""Needed by Persian, Indic scripts and emoji."""


def drawable(text: str) -> str:
    """Replace what has no glyph or turns the direction of text: controls, marks of direction."""
    return "".join(
        UNDRAWABLE if unicodedata.category(mark) in _NO_GLYPH and mark not in _JOINERS else mark
        for mark in text
    )


def shortened(text: str, longest: int = LONGEST_NAME) -> str:
    """Cut a long text in its middle, for what tells names apart is often at the end."""
    if len(text) <= longest:
        return text
    head = (longest - 1) * 2 // 3
    return f"{text[:head]}…{text[head + 1 - longest :]}"


def shown_names(names: Iterable[str], longest: int = LONGEST_NAME) -> dict[str, str]:
    """Return how each name is drawn; those that would look the same are numbered."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in dict.fromkeys(names):
        short = shown = shortened(drawable(name), longest)
        number = 1
        while shown in taken:
            number += 1
            shown = f"{short} ({number})"
        found[name] = shown
        taken.add(shown)
    return found


def text_width(text: str) -> float:
    """Estimate the width of a text, as a multiple of that of a usual Latin letter."""
    return sum(map(_mark_width, text))


def _mark_width(mark: str) -> float:
    if unicodedata.east_asian_width(mark) in "WF":
        return _FULL_WIDTH
    if mark in _WIDEST:
        return _WIDEST_WIDTH
    return _CAPITAL if mark.isupper() else 1.0


def longest_width(names: Iterable[str]) -> float:
    """Return the ``text_width`` of the widest name; 0 for none."""
    return max(map(text_width, names), default=0.0)


def wrapped(text: str, width: float) -> list[str]:
    """Break a text into lines, after spaces, bars and commas where there are any.

    Args:
        text: Text without line breaks; the lines joined give it again.
        width: Longest line; see ``text_width``.
    """
    lines: list[str] = []
    line = ""
    used = 0.0
    for mark in text:
        if line and used + _mark_width(mark) > width:
            kept = _break(line)
            lines.append(line[:kept])
            line = line[kept:]
            used = text_width(line)
        line += mark
        used += _mark_width(mark)
    return [*lines, line]


def _break(line: str) -> int:
    """Return how much of a full line to keep; all of it where the last break is far back."""
    places = [place + 1 for place, mark in enumerate(line) if mark in _BREAK_AFTER]
    return places[-1] if places and places[-1] > len(line) // 3 else len(line)
