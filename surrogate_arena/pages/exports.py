"""A board as CSV and LaTeX."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from itertools import groupby

import pandas as pd

from arena.data.errors import UsageError, checked_choice
from arena.data.tables import guarded_csv
from arena.data.wording import did_you_mean, short_digest
from surrogate.board import tables
from surrogate.board.board import Board
from surrogate_arena.pages.formats import (
    MINUS,
    MISSING,
    decimal,
    interval,
    percent,
    rank_interval,
    whole,
)

OVERALL = "overall"
ALL = "all"
FORMATS = ("csv", "latex")
SHARES = ("coverage", "verdict_share")
SPANS = {"rank interval": ("rank_low", "rank_high"), "90% interval": ("low", "high")}
"""Columns of LaTeX that show two of a board's as one."""
PRINTED = ("rank", "rank interval", "system", "rating", "90% interval")
NAMED = ("rank", "system")
PRINTED_OVERALL = ("rank", "rank interval", "system", "mean_rank", "mean_rating", "arena_rank")
HEADINGS = {
    "rank_low": "rank from",
    "rank_high": "rank to",
    "low": "90% from",
    "high": "90% to",
    "arena_rank": "by verdicts",
}

LATEX_MARKS = {
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    "\0": "{}",
    MINUS: "$-$",
    MISSING: r"\textendash{}",
    "—": r"\textemdash{}",
    "∞": r"$\infty$",
    "…": r"\dots{}",
    # pdflatex sets these as they are.
    **dict(zip("‘’“”•€™", "‘’“”•€™", strict=True)),
}
"""How LaTeX writes characters that mean something else to it."""
FONT_SIZES = {r"\small": 4.4, r"\footnotesize": 3.9, r"\scriptsize": 3.5}
"""Sizes of a table's letters, the largest first, and the mean width of a character in points."""
_PRINTED_MARK = re.compile(r"\\[a-z]+\{\}|\$-\$|\\[^a-z]|\{\}")
"""What LaTeX prints as one character, or as none."""
LIGATURES = re.compile(r"--+|''+|,,+")
"""Marks that LaTeX would join into others."""
LAST_OF_LATIN = "\u017f"
"""pdflatex sets Latin letters up to here, but for some."""
NOT_IN_OT1 = frozenset("«»ÐÞðþĄąĐđĘęĦħĮįĸĿŀŉŊŋŦŧŲųſ")
"""Latin letters that pdflatex's default font encoding does not have."""
OTHER_SCRIPT = r"\otherscript"
DEFINITION = (
    rf"\providecommand{{{OTHER_SCRIPT}}}[2]{{\ifdefined\luatexversion#1\else"
    r"\ifdefined\XeTeXversion#1\else\texttt{#2}\fi\fi}% needs a font that has the script"
)
"""Sets a text of another script where the engine can, else its code points."""


def export_text(
    board: Board,
    form: str,
    language: str = OVERALL,
    columns: Sequence[str] = (),
    *,
    signature: bool = True,
) -> str:
    """Return a board (a language, ``overall`` or ``all``) as CSV or LaTeX.

    Missing values are empty cells of CSV. Where no columns are named, LaTeX prints those that there
    is room for and that have a value. It ends with the digest of the board's signature, which
    follows as a comment, unless left out.

    Raises:
        UsageError: For another format, a language or a column that the board lacks.
    """
    checked_choice(form, FORMATS, "format")
    checked_choice(language, [OVERALL, ALL, *board.languages], "language")
    table = board.overall if language == OVERALL else board.ratings
    if language in board.languages:
        table = table[table["language"] == language]
    for name in columns:
        if name not in table:
            hint = did_you_mean(name, table.columns) or f"use any of {', '.join(table)}"
            raise UsageError(f"the table has no column {name!r}; {hint}")
    if form == "csv":
        return guarded_csv(table[list(columns or table)])
    summary = board.summary
    printed = table[list(columns)] if columns else _printed(table, language)
    part = language
    if language == OVERALL:
        part = f"mean rank over {summary.parts}"
    elif language == ALL:
        part = f"every {summary.part}"
    remark = " (not judged)" if summary.is_first else ""
    title = f"Leaderboard of {summary.arena}{remark}, {part}"
    printed_signature = summary.signature if signature else ""
    return latex_table(printed, title, summary.judge, printed_signature)


def _printed(table: pd.DataFrame, language: str) -> pd.DataFrame:
    """Return the columns that a page has room for, without those that are all empty."""
    printed = pd.DataFrame(index=table.index)
    if language == ALL:
        printed["language"] = table["language"]
    for name in PRINTED_OVERALL if language == OVERALL else PRINTED:
        values = table[list(SPANS.get(name, [name]))]
        if name not in NAMED and values.isna().to_numpy().all():
            continue
        if name in SPANS:
            shown = rank_interval if name == "rank interval" else interval
            printed[name] = [shown(low, high) for low, high in values.itertuples(index=False)]
        else:
            printed[name] = values[name]
    return printed


def latex_table(table: pd.DataFrame, title: str, judge: str, signature: str) -> str:
    """Return a LaTeX table (``booktabs``) that compiles under pdflatex, lualatex and xelatex.

    The signature appears below as a digest, and whole as a comment. Characters that pdflatex cannot
    set are there for the other two; pdflatex prints their code points.
    """
    headings = []
    for name in table:
        heading = HEADINGS.get(name, name.replace("_", " ")).capitalize()
        # Two lines: names of systems need the width.
        headings.append([latex_text(line) for line in heading.rsplit(" ", maxsplit=1)])
    caption = f"{title}. Judge: {judge}."
    captions = f"{{{latex_text(caption)}}}"
    if OTHER_SCRIPT in captions:  # a list of tables is read before the macro is there
        captions = f"[{{{latex_text(caption, is_plain=True)}}}]{captions}"
    body = [[_cell(name, value) for name, value in row.items()] for _, row in table.iterrows()]
    alignment = "".join("l" if name in tables.TEXTS else "r" for name in table)
    lines = [
        r"\begin{table}",
        rf"\centering{_font_size(headings, body)}\setlength{{\tabcolsep}}{{3pt}}",
        rf"\caption{captions}",
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        rf"{' & '.join(map(_stacked, headings, alignment))} \\",
        r"\midrule",
    ]
    for cells in body:
        lines.append(rf"{' & '.join(cells)} \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    if signature:
        lines.append(rf"\par\smallskip{{\tiny Signature {short_digest(signature)}}}")
    lines.append(r"\end{table}")
    if any(OTHER_SCRIPT in line for line in lines):
        lines = [DEFINITION, *lines]
    if signature:
        lines.append(f"% {_one_line(signature)}")
    return "\n".join(lines) + "\n"


def _stacked(lines: Sequence[str], side: str) -> str:
    """Set a heading of one or two lines flush with the left or right side of its column."""
    if len(lines) == 1:
        return lines[0]
    stacked = r"\\".join(lines)
    return rf"\shortstack[{side}]{{{stacked}}}"


def _font_size(headings: Sequence[Sequence[str]], body: Sequence[Sequence[str]]) -> str:
    """Return the largest size of letters at which a table is likely to fit the page of ``article``.

    Args:
        headings: LaTeX of each heading's lines.
        body: LaTeX of the cells, row by row.
    """
    text_width = 345.0
    between_columns = 6.0
    n_characters = 0
    for lines, *cells in zip(headings, *body, strict=True):
        n_characters += max(len(_PRINTED_MARK.sub(".", text)) for text in [*lines, *cells])
    for size, width_of_character in FONT_SIZES.items():
        if n_characters * width_of_character + len(headings) * between_columns <= text_width:
            return size
    return size


def latex_text(text: str, *, is_plain: bool = False) -> str:
    """Escape a text for LaTeX.

    Args:
        text: Any text; line breaks become spaces.
        is_plain: Whether to write code points alone of what pdflatex cannot set.
    """
    parts: list[str] = []
    composed = unicodedata.normalize("NFC", _one_line(text))
    for is_set, marks in groupby(composed, key=_is_set_by_pdflatex):
        if is_set:
            separated = LIGATURES.sub(lambda match: "\0".join(match[0]), "".join(marks))
            parts.extend(LATEX_MARKS.get(mark, mark) for mark in separated)
            continue
        script = "".join(marks)
        codes = " ".join(f"U+{ord(mark):04X}" for mark in script)
        parts.append(codes if is_plain else f"{OTHER_SCRIPT}{{{script}}}{{{codes}}}")
    escaped = "".join(parts)
    # At the start of a row these would be an option of the line break before it.
    return f"{{}}{escaped}" if escaped.startswith(("[", "*")) else escaped


def _is_set_by_pdflatex(mark: str) -> bool:
    is_latin = mark <= LAST_OF_LATIN and mark not in NOT_IN_OT1
    return mark.isascii() or mark in LATEX_MARKS or (is_latin and not "\x7f" <= mark <= "\xa0")


def _one_line(text: str) -> str:
    """Return a text with spaces for line breaks, and marks for characters that no engine sets."""
    marks: list[str] = []
    for mark in re.sub(r"\s", " ", text):
        is_control = unicodedata.category(mark) in {"Cc", "Cs"}
        marks.append("\N{REPLACEMENT CHARACTER}" if is_control else mark)
    return "".join(marks).strip()


def _cell(column: str, value: object) -> str:
    """Return a cell as LaTeX; numbers as in all other tables."""
    if isinstance(value, str):
        return latex_text(value)
    if not pd.isna(value) and value == math.inf:
        return r"$\infty$"
    if column in tables.COUNTS:
        shown = whole(value)  # type: ignore[arg-type]
    elif column in SHARES:
        shown = percent(value)  # type: ignore[arg-type]
    else:
        shown = decimal(value)  # type: ignore[arg-type]
    return latex_text(shown)
