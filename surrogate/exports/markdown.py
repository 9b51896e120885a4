"""A board as a Markdown table, whatever the systems are called."""

from __future__ import annotations

import re
import unicodedata

from surrogate.exports.board_rows import ExportedBoard
from surrogate.exports.printed_cells import TEXTS, printed

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_SPECIAL = re.compile(
    r"[\\`*_\[\]#|~^$]"  # marks of inline Markdown, and of what GitHub adds
    r"|@(?=\w)|:(?=//)|(?<=www)\.(?=\S)"  # of links made without being asked
    r"|^[-+=]",  # of blocks
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"^(\d{1,9})([.)])")


def markdown_text(text: str) -> str:
    """Escape a text, so that Markdown shows it as it is, on one line, without links or HTML.

    Space around it is left out, control characters are replaced by U+FFFD.
    """
    plain = "".join(map(_printable, text)).strip()
    escaped = _SPECIAL.sub(lambda found: "\\" + found[0], plain)
    escaped = _NUMBERED.sub(r"\1\\\2", escaped)
    return "".join(_ENTITIES.get(mark, mark) for mark in escaped)


def markdown_table(board: ExportedBoard) -> str:
    """Return a board as a pipe table, with its title above and its signature below."""
    table = printed(board)
    lines = [
        f"**{markdown_text(board.title)}**",
        "",
        _row([name.capitalize() for name in table.headings]),
        _row([":--" if name in TEXTS else "--:" for name in table.columns]),
        *(_row([markdown_text(cell) for cell in row]) for row in table.rows),
        "",
        f"Judge: {markdown_text(board.judge)}.",
        f"Signature: {markdown_text(board.signature)}",
    ]
    return "\n".join(lines) + "\n"


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _printable(mark: str) -> str:
    if mark.isspace():
        return " "
    return "\N{REPLACEMENT CHARACTER}" if unicodedata.category(mark) in {"Cc", "Cs"} else mark
