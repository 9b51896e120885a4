"""A board as a LaTeX table (booktabs), whatever the systems are called."""

from __future__ import annotations

import re
import unicodedata

from surrogate.exports.board_rows import ExportedBoard
from surrogate.exports.printed_cells import TEXTS, printed

_ESCAPES = {
    **{mark: f"\\{mark}" for mark in "{}$&#_%"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "[": "{[}",  # after the end of a line it would open an option
    "−": r"\ensuremath{-}",
    "–": "{--}",
    "…": r"\ldots{}",
}

_LIGATURE = re.compile("-(?=-)|,(?=,)")
"""Marks that would become a dash or a quote with the next one."""

_HEADER = (
    "% Needs \\usepackage{booktabs}, \\usepackage[T1]{fontenc} and \\usepackage{textcomp};",
    "% names in other scripts need XeLaTeX or LuaLaTeX and a font that has them.",
)


def latex_text(text: str) -> str:
    """Escape a text, so that LaTeX prints it as it is, on one line."""
    escaped = "".join(_ESCAPES.get(mark, mark) for mark in map(_printable, text))
    return _LIGATURE.sub(r"\g<0>{}", escaped)


def latex_table(board: ExportedBoard) -> str:
    """Return a board as a table with its title as caption and its signature as note."""
    table = printed(board)
    alignment = "".join("l" if name in TEXTS else "r" for name in table.columns)
    lines = [
        *_HEADER,
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{latex_text(board.title)}. Judge: {latex_text(board.judge)}.}}",
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        _row([latex_text(name.capitalize()) for name in table.headings]),
        r"\midrule",
        *(_row([latex_text(cell) for cell in row]) for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\par\smallskip",
        rf"\parbox{{\linewidth}}{{\raggedright\tiny {_breakable(board.signature)}}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _breakable(signature: str) -> str:
    r"""Allow a break after each bar and comma."""
    parts = re.split(r"(?<=[|,])", signature)
    return r"\allowbreak{}".join(latex_text(part) for part in parts)


def _printable(mark: str) -> str:
    if mark.isspace():
        return " "
    hidden = unicodedata.category(mark) in {"Cc", "Cs", "Co", "Cn"}
    return "\N{REPLACEMENT CHARACTER}" if hidden else mark
