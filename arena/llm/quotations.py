"""Tell a reply's own words from its quotations of the prompt or of the text that it judges."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

MOST_QUOTED = 1000
"""Characters of a quotation within a line."""
LONGEST_LABEL = 80
"""Characters before a quotation that may introduce it."""

_BLOCK_START = re.compile(r"\[The Start of ([^\]\n]{1,80})\]", re.IGNORECASE)
_BLOCK_END = re.compile(r"\[The End of ([^\]\n]{1,80})\]", re.IGNORECASE)
_LINE = re.compile(r"[^\n]+")
_BLOCK_QUOTE = re.compile(r"[ \t]{0,3}>")
# A mark opens a quotation where no word precedes it, and closes one where none follows: an
# apostrophe or a sign for inches does neither.
_IN_EQUAL_MARKS = re.compile(
    rf"(?<![^\s(\[{{:;,=—–-])([\"'`])(?=\S)[^\n]{{1,{MOST_QUOTED}}}?(?<=\S)\1(?!\w)"
)
_IN_PAIRED_MARKS = re.compile(rf"[“„«‘「『][^\n“”„«»‘’「」『』]{{1,{MOST_QUOTED}}}[”“»’」』]")
_NO_WORD = re.compile(r"[\W_]*")
_SENTENCE_END = re.compile(r"[.!?。！？][\W_]*\Z")
_INTRODUCED = re.compile(
    r"(?:\b(?:verdict|rating|score|mark|label|judge?ment|decision|conclusion|choice|overall|final|total)\b"
    r"\W{0,4}(?:(?:is|of|as)\b)?|\bI (?:choose|pick|prefer|select)\b)\W{0,4}\Z",
    re.IGNORECASE,
)
"""Words that introduce what follows as the writer's own result."""


def own_matches(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Return the matches of a pattern that the writer of a text says, rather than quotes.

    A match is quoted between the lines that our prompts put around texts, in a block quote, or in
    quotation marks or backticks with other words on the same line, unless it is introduced as the
    writer's own (``My verdict is "…"``), or ends a line whose sentences before have ended.
    """
    quoted = _merged(_quoted_spans(text))
    starts = [start for start, _ in quoted]
    own = []
    for match in pattern.finditer(text):
        # The last quotation that begins at the match or before it.
        index = bisect_right(starts, match.start()) - 1
        if index < 0 or match.end() > quoted[index][1]:
            own.append(match)
    return own


def _quoted_spans(text: str) -> list[tuple[int, int]]:
    spans = _blocks(text)
    for line in _LINE.finditer(text):
        if _BLOCK_QUOTE.match(line[0]):
            spans.append(line.span())
            continue
        for pattern in (_IN_EQUAL_MARKS, _IN_PAIRED_MARKS):
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
    if _INTRODUCED.search(before[-LONGEST_LABEL:]):
        return True
    # MIRAGE-Bench's prompt shows verdicts in marks, and models repeat these: A is better. "[[A]]"
    return _NO_WORD.fullmatch(after) is not None and stands_alone(before)


def stands_alone(before: str) -> bool:
    """Return whether what follows a text on its line is a statement of its own.

    It is the first words of the line, or comes after a finished sentence or a label such as
    ``Final verdict:``; not after a label of anything else, as in ``Fluency: [[2]]``.
    """
    if _INTRODUCED.search(before[-LONGEST_LABEL:]):
        return True
    return _NO_WORD.fullmatch(before) is not None or _SENTENCE_END.search(before) is not None


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merge spans that overlap, in order, so that a match is looked up in logarithmic time."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
