"""The value that a reply states, of several: one rule for verdicts, ratings and orders."""

from __future__ import annotations

import re
from collections.abc import Callable

from arena.llm.quotations import own_matches, stands_alone
from arena.llm.replies import UnparsableError

OPENING = r"\\{0,2}[\[［【]\s{0,3}\\{0,2}[\[［【]"
CLOSING = r"\\{0,2}[\]］】]\s{0,3}\\{0,2}[\]］】]"
"""Double brackets around a value, as prompts ask for them and as models write them."""
INSIDE = r"[\s\"'“”*`\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]{0,5}"
"""Marks between these brackets and the value: quotation marks, emphasis, directions of writing."""

_REST_OF_LINE = re.compile(r"[^\w\n]*(?:\n|\Z)")
_IN_ASIDE = re.compile(r"[(（][^()（）]*\w[^()（）]*\Z")


def stated_match(
    pattern: re.Pattern[str],
    text: str,
    value: Callable[[re.Match[str]], str],
    name: str,
    *,
    form: str = "",
    is_cut: bool | None = None,
) -> re.Match[str]:
    """Return the match that states a reply's result: the last that ends its line.

    Quotations, lines with several values and remarks in parentheses do not count. A value alone on
    its line must not differ from a later one that is not. Without a line that counts, all matches
    must agree, and the reply be whole.

    Raises:
        UnparsableError: If there is none, or it is unclear which one counts.
    """
    matches = own_matches(pattern, text)
    if not matches:
        why = f"the reply was cut off before its {name}" if is_cut else f"the reply has no {name}"
        expected = f"; expected {form}" if form else ""
        raise UnparsableError(why + expected)
    values_of_line: dict[int, set[str]] = {}
    for match in matches:
        values_of_line.setdefault(_line_start(text, match), set()).add(value(match))
    last = last_alone = None
    for match in matches:
        start = _line_start(text, match)
        if len(values_of_line[start]) > 1 or not _REST_OF_LINE.match(text, match.end()):
            continue
        before = text[start : match.start()]
        if stands_alone(before):
            last = last_alone = match
        elif not _IN_ASIDE.search(before):
            last = match
    if last is None and is_cut:
        raise UnparsableError(f"the reply was cut off while it still weighed its {name}")
    counted = matches if last is None else [last, last_alone or last]
    if len({value(match) for match in counted}) > 1:
        raise UnparsableError(f"the reply does not say which of several is its {name}")
    return last or matches[-1]


def _line_start(text: str, match: re.Match[str]) -> int:
    return text.rfind("\n", 0, match.start()) + 1
