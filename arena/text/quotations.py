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
_INTRODUCED = re.compile(
    r"\b(?:verdict|rating|score|mark|label|judge?ment|decision|conclusion|choice)\b"
    r"\W{0,4}(?:(?:is|of|as)\b)?\W{0,4}\Z",
    re.IGNORECASE,
)
"""Words before a quotation mark that make what follows the writer's own."""
_REPORTED = re.compile(
    r"\b(?:say|said|claim|contain|state|read|write|written|wrote|quote|end|include|mention|tell|ask"
    r"|demand|instruct|assert|declare)(?:s|ed|ing|d)?\b",
    re.IGNORECASE,
)


def own_matches(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Return the matches of a pattern that the writer of a text says, rather than quotes.

    Quoted is what stands between the lines that our prompts put around texts, in a block quote,
    or in quotation marks or backticks with other words on the same line. A line that is in marks
    as a whole is the writer's own, and so is what is introduced as such (``My verdict is "…"``).
    Where nothing else is said, a match in marks that ends the text counts, too, unless the line
    reports what somebody says.
    """
    spans = _quoted_spans(text)
    matches = list(pattern.finditer(text))
    own = []
    for match in matches:
        if not any(start <= match.start() and match.end() <= end for start, end in spans):
            own.append(match)
    if own or not matches:
        return own
    last = matches[-1]
    is_last_word = _NO_WORD.fullmatch(text, last.end()) is not None
    is_alone = (last.start() - 1, last.end() + 1) in spans
    before = text[text.rfind("\n", 0, last.start()) + 1 : last.start()]
    is_reported = _REPORTED.search(before) is not None
    return [last] if is_last_word and is_alone and not is_reported else []


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
                is_whole_line = _NO_WORD.fullmatch(before) and _NO_WORD.fullmatch(after)
                if is_whole_line or _INTRODUCED.search(before):
                    continue
                start = line.start() + quotation.start()
                spans.append((start, start + len(quotation[0])))
    return spans
