"""Tell a reply's own words from its quotations of the prompt or of the text that it judges."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

MOST_QUOTED = 1000
"""Characters of a quotation within a line, or line by line of a longer one."""
LONGEST_LABEL = 80
"""Characters before a quotation that may hold a label such as ``Final verdict:``."""
LONGEST_ENDING = 40
"""Characters that may follow a quotation that ends a reply."""

_BLOCK_START = re.compile(r"\[The Start of ([^\]\n]{1,80})\]", re.IGNORECASE)
_BLOCK_END = re.compile(r"\[The End of ([^\]\n]{1,80})\]", re.IGNORECASE)
_LINE = re.compile(r"[^\n]+")
_BLOCK_QUOTE = re.compile(r"[ \t]{0,3}>")
# A mark opens a quotation where no word precedes it, and closes one where none follows: an
# apostrophe or a sign for inches does neither.
_SPANS = tuple(
    re.compile(
        rf"(?<![^\s(\[{{:;,=—–-]){mark}(?=\S)[^\n{mark}]{{1,{MOST_QUOTED}}}?(?<=\S){mark}(?!\w)"
    )
    for mark in ('"', "'", "`")
) + tuple(
    re.compile(rf"{opening}[^\n{opening}{closing}]{{1,{MOST_QUOTED}}}[{closing}]")
    for opening, closing in (
        ("“", "”"),
        ("„", "“”"),
        ("«", "»"),
        ("‘", "’"),
        ("「", "」"),
        ("『", "』"),
    )
)
_NO_WORD = re.compile(r"[\W_]*")
_LABEL = re.compile(
    r"[\W_]*(?:(?:so|thus|therefore|hence|my|the|final|overall|is|be|would|as|own)\b[\W_]*){0,6}"
    r"(?:(?:verdict|judge?ment|decision|choice|conclusion|answer|output|winner|result)\b[\W_]*)?"
    r"(?:(?:is|be|as)\b[\W_]*)?",
    re.IGNORECASE,
)
"""A line that holds nothing else before a quotation makes it the writer's own."""
_INTRODUCED = re.compile(
    r"(?:\b(?:verdict|rating|score|mark|label|judge?ment|decision|conclusion|choice)\b"
    r"\W{0,4}(?:(?:is|of|as)\b)?|\bI (?:choose|pick|prefer|select)\b)\W{0,4}\Z",
    re.IGNORECASE,
)
"""Words before a quotation mark that make the quotation the writer's own."""
_REPORTED = re.compile(
    r"\b(?:say|said|claim|contain|state|read|write|written|wrote|quote|end|include|mention|tell|ask"
    r"|demand|instruct|assert|declare)(?:s|ed|ing|d)?\b",
    re.IGNORECASE,
)


def own_matches(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Return the matches of a pattern that the writer of a text says, rather than quotes.

    A match is quoted between the lines that our prompts put around texts, in a block quote, or in
    quotation marks or backticks with other words on the same line. A line that is in marks as a
    whole, or after a label, is the writer's own, and so is a quotation that is introduced as such
    (``My verdict is "…"``). If all matches are quoted, one in marks at the end of the text counts,
    unless its line reports what somebody says, and so does a block quote of nothing else, below a
    label (``## Final verdict``).
    """
    spans = _quoted_spans(text)
    matches = list(pattern.finditer(text))
    quoted = _merged(spans)
    starts = [start for start, _ in quoted]
    own = []
    for match in matches:
        # The last quotation that begins at the match or before it.
        index = bisect_right(starts, match.start()) - 1
        if index < 0 or match.end() > quoted[index][1]:
            own.append(match)
    if own or not matches:
        return own
    last = matches[-1]
    rest = text[last.end() :].rstrip()
    is_at_end = len(rest) <= LONGEST_ENDING and "\n" not in rest
    is_in_marks = (last.start() - 1, last.end() + 1) in spans
    before = text[text.rfind("\n", 0, last.start()) + 1 : last.start()]
    is_reported = _REPORTED.search(before) is not None
    is_in_marks = is_in_marks or _is_set_off(text, last)
    return [last] if is_at_end and is_in_marks and not is_reported else []


def _is_set_off(text: str, match: re.Match[str]) -> bool:
    """Return whether a match is the one line of a block quote, below nothing or a label."""
    *lines_before, before = text[: match.start()].split("\n")
    after = text[match.end() :].partition("\n")[0]
    if not (_BLOCK_QUOTE.match(before) and _NO_WORD.fullmatch(before + after)):
        return False
    filled = [line for line in lines_before if line.strip()]
    return not filled or _is_label(filled[-1])


def _is_label(line: str) -> bool:
    """Return whether a line says nothing but that a verdict follows."""
    has_words = _NO_WORD.fullmatch(line) is None
    return has_words and len(line) <= LONGEST_LABEL and _LABEL.fullmatch(line) is not None


def _quoted_spans(text: str) -> list[tuple[int, int]]:
    """Return the first and last positions of quotations."""
    spans = _blocks(text)
    for line in _LINE.finditer(text):
        if _BLOCK_QUOTE.match(line[0]):
            spans.append(line.span())
            continue
        for pattern in _SPANS:
            for quotation in pattern.finditer(line[0]):
                before = line[0][: quotation.start()]
                after = line[0][quotation.end() :]
                if not _is_own(before, after):
                    start = line.start() + quotation.start()
                    spans.append((start, start + len(quotation[0])))
    return spans


def _blocks(text: str) -> list[tuple[int, int]]:
    """Return the spans between the lines that our prompts put around texts.

    The name in both lines, with its code, must be the same. All ends are found first, since a
    search from every start would take quadratic time.
    """
    ends_of: dict[str, list[re.Match[str]]] = {}
    for end in _BLOCK_END.finditer(text):
        ends_of.setdefault(end[1].casefold(), []).append(end)
    spans: list[tuple[int, int]] = []
    for start in _BLOCK_START.finditer(text):
        if spans and start.start() < spans[-1][1]:
            continue
        ends = ends_of.get(start[1].casefold(), [])
        index = bisect_left(ends, start.end(), key=lambda end: end.start())
        if index < len(ends):
            spans.append((start.start(), ends[index].end()))
    return spans


def _is_own(before: str, after: str) -> bool:
    """Return whether a quotation is the writer's own, by the rest of its line."""
    if _INTRODUCED.search(before[-LONGEST_LABEL:]):
        return True
    if not _NO_WORD.fullmatch(after):
        return False
    if _NO_WORD.fullmatch(before):
        return True
    return len(before) <= LONGEST_LABEL and _LABEL.fullmatch(before) is not None


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merge spans that overlap, in order, so that a match is looked up in logarithmic time."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
