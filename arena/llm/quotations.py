"""A reply's own words, told from its quotations of the prompt or of the text that it judges."""

from __future__ import annotations

import re
from collections.abc import Iterator

MOST_QUOTED = 1000
"""Characters of a quotation within a line."""
LONGEST_LABEL = 80
"""Characters before a quotation that may introduce it."""

_BLOCK_MARK = re.compile(r"\[The (Start|End) of ([^\]\n]{1,80})\]", re.IGNORECASE)
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
    """Return the matches that a text says, rather than quotes.

    Quotations stand between our prompts' delimiters, in a block quote, quotation marks or
    backticks, unless introduced as the writer's own (``My verdict is "…"``), or at the end of a
    finished line.
    """
    is_quoted = bytearray(len(text))
    for start, end in [*_blocks(text), *_quotations(text)]:
        is_quoted[start:end] = b"\1" * (end - start)
    own = []
    for match in pattern.finditer(text):
        if 0 in is_quoted[match.start() : match.end()]:
            own.append(match)
    return own


def _quotations(text: str) -> Iterator[tuple[int, int]]:
    for line in _LINE.finditer(text):
        if _BLOCK_QUOTE.match(line[0]):
            yield line.span()
            continue
        for pattern in (_IN_EQUAL_MARKS, _IN_PAIRED_MARKS):
            for quotation in pattern.finditer(line[0]):
                before = line[0][: quotation.start()]
                after = line[0][quotation.end() :]
                if not _is_own(before, after):
                    yield line.start() + quotation.start(), line.start() + quotation.end()


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    starts: dict[str, int] = {}
    for mark in _BLOCK_MARK.finditer(text):
        kind, name = mark[1].casefold(), mark[2].casefold()
        if kind == "start":
            starts.setdefault(name, mark.start())
        elif name in starts:
            yield starts.pop(name), mark.end()


def _is_own(before: str, after: str) -> bool:
    if _INTRODUCED.search(before[-LONGEST_LABEL:]):
        return True
    # MIRAGE-Bench's prompt shows verdicts in marks, and models repeat these: A is better. "[[A]]"
    return _NO_WORD.fullmatch(after) is not None and stands_alone(before)


def stands_alone(before: str) -> bool:
    """Return whether a statement of its own follows: after ``Verdict:``, not ``Fluency:``."""
    if _INTRODUCED.search(before[-LONGEST_LABEL:]):
        return True
    return _NO_WORD.fullmatch(before) is not None or _SENTENCE_END.search(before) is not None
