"""Does a text end as a finished text does?"""

from __future__ import annotations

import regex

from features.sentences import LIST_MARKER

# What may follow the mark that ends a sentence: quotes, brackets, emphasis, emoji, format marks.
_TRAILING = regex.compile(r"[\p{Pf}\p{Pi}\p{Pe}\p{So}\p{Sk}\p{Cf}\p{M}\s\"'“”„»«*_~`]*+", regex.V1)
_TERMINAL = regex.compile(r"[\p{Sentence_Terminal}…‥⋯]", regex.V1)
_LETTER = regex.compile(r"\p{L}")
_WITHOUT_FULL_STOPS = regex.compile(r"[\p{Thai}\p{Lao}]")
_FENCE = "```"


def writes_full_stops(text: str) -> bool:
    """Return whether the script of the last letter marks where sentences end: Thai does not."""
    last = _LETTER.search(text[::-1])
    return last is None or _WITHOUT_FULL_STOPS.match(last[0]) is None


def breaks_off(text: str) -> bool:
    """Return whether a text ends without the mark that ends a sentence.

    Quotes, brackets, emphasis and emoji may follow the mark. A closed code block and the row of a
    table are complete. The last item of a list is held to the items before it: where none of them
    ends in a mark, it need not either.

    Args:
        text: A text with at least one character that is no white space.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    last = lines[-1].strip()
    if text.count(_FENCE) % 2:
        return True
    if last.startswith(_FENCE) or (last.startswith("|") and last.endswith("|") and len(last) > 1):
        return False
    if is_terminated(last):
        return len(lines) > 1 and _is_bare_marker(last)
    items = [line for line in lines[:-1] if LIST_MARKER.match(line)]
    return not (LIST_MARKER.match(lines[-1]) and items) or any(map(is_terminated, items))


def is_terminated(text: str) -> bool:
    """Return whether a text ends in a full stop, question mark or the like of any script."""
    backwards = text[::-1]
    start = _TRAILING.match(backwards).end()
    return _TERMINAL.match(backwards, start) is not None


def _is_bare_marker(line: str) -> bool:
    """Return whether a line is the number of a list's item and nothing else: ``3.``."""
    marker = LIST_MARKER.match(f"{line} ")
    return marker is not None and not line[marker.end() :].strip()
