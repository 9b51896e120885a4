"""A board as CSV and LaTeX."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence

import pandas as pd

from arena.data.errors import UsageError, checked_choice
from arena.data.wording import did_you_mean, guarded_csv
from surrogate.board import tables
from surrogate.board.board import Board
from surrogate.publish.formats import decimal, percent, short_digest, whole

OVERALL = "overall"
ALL = "all"
FORMATS = ("csv", "latex")
SHARES = ("coverage", "verdict_share")
PRINTED = ("rank", "rank_low", "rank_high", "system", "rating", "low", "high")
NAMED = ("rank", "system")
PRINTED_OVERALL = ("rank", "system", "mean_rank", "mean_rating", "arena_rank")
HEADINGS = {
    "rank_low": "rank from",
    "rank_high": "rank to",
    "low": "90% from",
    "high": "90% to",
    "arena_rank": "rank by verdicts alone",
}


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
    table, summary = board.overall if language == OVERALL else board.ratings, board.summary
    if language in board.languages:
        table = table[table["language"] == language]
    for name in columns:
        if name not in table:
            hint = did_you_mean(name, table.columns) or f"use any of {', '.join(table)}"
            raise UsageError(f"the table has no column {name!r}; {hint}")
    if form == "csv":
        return guarded_csv(table[list(columns or table)])
    wanted = PRINTED_OVERALL if language == OVERALL else PRINTED
    kept = [name for name in wanted if name in NAMED or table[name].notna().any()]
    printed = table[list(columns) or ["language"] * (language == ALL) + kept]
    over = {OVERALL: f"mean rank over {summary.parts}", ALL: f"every {summary.part}"}
    part = over.get(language, language)
    judged = " (not judged)" if summary.is_first else ""
    title = f"Leaderboard of {summary.arena}{judged}, {part}"
    return latex_table(printed, title, summary.judge, summary.signature * signature)


def latex_table(table: pd.DataFrame, title: str, judge: str, signature: str) -> str:
    """Return a LaTeX table (``booktabs``); a signature stands below as a digest and a comment."""
    headings = [HEADINGS.get(name, name.replace("_", " ")).capitalize() for name in table]
    cells = {name: [_cell(name, value) for value in table[name]] for name in table}
    shown = pd.DataFrame(cells).set_axis(headings, axis=1)
    style = shown.style.hide(axis="index").format(escape="latex")
    style = style.format_index(escape="latex", axis=1)
    columns = "".join("l" if name in tables.TEXTS else "r" for name in table)
    caption = _latex_text(f"{title}. Judge: {judge}.")
    looks = {"hrules": True, "position_float": "centering"}
    text = str(style.to_latex(column_format=columns, caption=caption, **looks))
    if not signature:
        return text
    below = rf"\par\smallskip{{\tiny Signature {short_digest(signature)}}}"
    text = text.replace(r"\end{table}", f"{below}\n\\end{{table}}")
    return f"{text}% {_one_line(signature)}\n"


def _latex_text(text: str) -> str:
    """Escape a text as pandas escapes cells."""
    cell = pd.DataFrame([[_one_line(text)]]).style.hide(axis="index").hide(axis="columns")
    row = str(cell.format(escape="latex").to_latex()).splitlines()[1]
    return row.removesuffix(r"\\").strip()


def _one_line(text: str) -> str:
    plain = re.sub(r"\s", " ", text)
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(mark) in {"Cc", "Cs"} else mark
        for mark in plain
    ).strip()


def _cell(column: str, value: object) -> str:
    if isinstance(value, str):
        return _one_line(value)
    if column in tables.COUNTS:
        return whole(value)  # type: ignore[arg-type]
    if value == math.inf:
        return "∞"
    return percent(value) if column in SHARES else decimal(value)  # type: ignore[arg-type]
