"""A board as CSV and LaTeX."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence

import pandas as pd

from arena.data.errors import UsageError, checked_choice
from arena.data.tables import guarded_csv
from arena.data.wording import did_you_mean, short_digest
from surrogate.board.board import Board
from surrogate.board.tables import OVERALL as OVERALL_RANKS
from surrogate.board.tables import RATINGS
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
KINDS = {**RATINGS.columns, **OVERALL_RANKS.columns}
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

UNPRINTABLE = "\N{REPLACEMENT CHARACTER}"
"""Stands for a control character."""
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
    UNPRINTABLE: "?",
}
"""How LaTeX writes characters that mean something else to it."""
LIGATURES = re.compile(r"--+|''+|,,+")
"""Marks that LaTeX would join into others."""


def export_text(
    board: Board,
    form: str,
    language: str = OVERALL,
    columns: Sequence[str] = (),
    *,
    signature: bool = True,
) -> str:
    """Return a board (a language, ``overall`` or ``all``) as CSV or LaTeX.

    By default CSV has all columns, and LaTeX those with a value that there is room for.

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
    printed = pd.DataFrame(index=table.index)
    if language == ALL:
        printed["language"] = table["language"]
    for name in PRINTED_OVERALL if language == OVERALL else PRINTED:
        values = table[list(SPANS.get(name, [name]))]
        if name not in NAMED and values.isna().to_numpy().all():
            continue
        if name == "rank interval":
            printed[name] = _rank_intervals(table)
        elif name in SPANS:
            printed[name] = [interval(low, high) for low, high in values.itertuples(index=False)]
        else:
            printed[name] = values[name]
    return printed


def _rank_intervals(table: pd.DataFrame) -> list[str]:
    """Show the ranks that each system may have, or its places where verdicts do not rank it."""
    shown = []
    for row in table.itertuples():
        if pd.isna(row.place):
            shown.append(rank_interval(row.rank_low, row.rank_high))
        else:
            shown.append(f"about {rank_interval(row.place_low, row.place_high)}")
    return shown


def latex_table(table: pd.DataFrame, title: str, judge: str, signature: str) -> str:
    """Return a LaTeX table (``booktabs``); names in other scripts need lualatex or xelatex."""
    headings = []
    for name in table:
        headings.append(latex_text(HEADINGS.get(name, name.replace("_", " ")).capitalize()))
    alignment = "".join("l" if KINDS.get(name) == "text" else "r" for name in table)
    lines = [
        r"\begin{table}",
        r"\centering\small\setlength{\tabcolsep}{3pt}",
        rf"\caption{{{latex_text(f'{title}. Judge: {judge}.')}}}",
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        rf"{' & '.join(headings)} \\",
        r"\midrule",
    ]
    for _, row in table.iterrows():
        cells = [_cell(name, value) for name, value in row.items()]
        lines.append(rf"{' & '.join(cells)} \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    if signature:
        lines.append(rf"\par\smallskip{{\tiny Signature {short_digest(signature)}}}")
    lines.append(r"\end{table}")
    if signature:
        lines.append(f"% {_one_line(signature)}")
    return "\n".join(lines) + "\n"


def latex_text(text: str) -> str:
    """Escape a text for LaTeX; line breaks become spaces."""
    composed = unicodedata.normalize("NFC", _one_line(text))
    separated = LIGATURES.sub(lambda match: "\0".join(match[0]), composed)
    escaped = "".join(LATEX_MARKS.get(mark, mark) for mark in separated)
    # At the start of a row these would be an option of the line break before it.
    return f"{{}}{escaped}" if escaped.startswith(("[", "*")) else escaped


def _one_line(text: str) -> str:
    marks: list[str] = []
    for mark in re.sub(r"\s", " ", text):
        is_control = unicodedata.category(mark) in {"Cc", "Cs"}
        marks.append(UNPRINTABLE if is_control else mark)
    return "".join(marks).strip()


def _cell(column: str, value: object) -> str:
    if isinstance(value, str):
        return latex_text(value)
    if not pd.isna(value) and value == math.inf:
        return r"$\infty$"
    kind = KINDS.get(column)
    if kind == "count":
        shown = whole(value)  # type: ignore[arg-type]
    elif kind == "share":
        shown = percent(value)  # type: ignore[arg-type]
    else:
        shown = decimal(value)  # type: ignore[arg-type]
    return latex_text(shown)
