"""What a reply says itself, and what it merely quotes: of the prompt, of the text it judges."""

from __future__ import annotations

import re

MOST_QUOTED = 1000
"""Characters of a quotation within a line, or line by line of a longer one."""

_BLOCK = re.compile(
    r"\[The Start of ([^\]\n]{1,80})\].*?\[The End of \1\]", re.DOTALL | re.IGNORECASE
)
_LINE = re.compile(r"[^\n]+")
_BLOCK_QUOTE = re.compile(r"[ \t]{0,3}>")
# A mark opens a quotation where no word stands before it, and closes one where none follows: an
# apostrophe or a sign for inches does neither.
_SPANS = tuple(
    re.compile(
        rf"(?<![^\s(\[{{:;,=—–-]){opening}(?=\S)[^\n{opening}{closing}]{{1,{MOST_QUOTED}}}?"
        rf"(?<=\S){closing}(?!\w)"
    )
    for opening, closing in (('"', '"'), ("'", "'"), ("`", "`"))
) + tuple(
    re.compile(rf"{opening}[^\n{opening}{closing}]{{1,{MOST_QUOTED}}}{closing}")
    for opening, closing in (("“", "”"), ("„", "“”"), ("«", "»"), ("‘", "’"), ("「", "」"))
    if len(closing) == 1
)
_NO_WORD = re.compile(r"[\W_]*")


def own_matches(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Return the matches of a pattern that the writer of a text says, rather than quotes.

    Quoted is what stands between the lines that our prompts put around texts, in a block quote,
    or in quotation marks or backticks with other words on the same line. A line that is in marks
    as a whole is the writer's own.
    """
    spans = _quoted_spans(text)
    return [
        match
        for match in pattern.finditer(text)
        if not any(start <= match.start() and match.end() <= end for start, end in spans)
    ]


def _quoted_spans(text: str) -> list[tuple[int, int]]:
    """Return the first and last positions of what is quoted."""
    spans = [match.span() for match in _BLOCK.finditer(text)]
    for line in _LINE.finditer(text):
        if _BLOCK_QUOTE.match(line[0]):
            spans.append(line.span())
            continue
        for pattern in _SPANS:
            for quotation in pattern.finditer(line[0]):
                before, after = line[0][: quotation.start()], line[0][quotation.end() :]
                if _NO_WORD.fullmatch(before) and _NO_WORD.fullmatch(after):
                    continue
                start = line.start() + quotation.start()
                spans.append((start, start + len(quotation[0])))
    return spans
