"""A board as CSV, LaTeX and Markdown."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from arena.data.errors import checked_choice
from arena.data.wording import guarded_csv
from surrogate.board import tables
from surrogate.board.board import Board
from surrogate.publish.formats import decimal, percent, whole

OVERALL = "overall"
ALL = "all"
EXPORT_SUFFIXES = {"csv": ".csv", "markdown": ".md", "latex": ".tex"}
"""Format to the suffix of its files."""
COUNTS = ("rank", "rank_low", "rank_high", "tier", "arena_rank", "languages", "answers")
"""Columns of whole numbers."""
TEXTS = ("language", "system", "split", "note")
SHARES = ("coverage", "verdict_share")
OVERALL_COLUMNS = (
    *("system", "rank", "mean_rank", "mean_rating", "languages", "coverage"),
    *("arena_rank", "arena_mean_rank"),
)
PRINTED = (
    *("rank", "rank_low", "rank_high", "tier", "system", "rating", "low", "high"),
    *("verdict_share", "surrogate_rating", "arena_rating", "coverage"),
)
PRINTED_OVERALL = ("rank", "system", "mean_rank", "mean_rating", "languages", "arena_rank")
HEADINGS = {
    "rank_low": "rank from",
    "rank_high": "rank to",
    "low": "90% from",
    "high": "90% to",
    "verdict_share": "own verdicts",
    "surrogate_rating": "surrogate alone",
    "arena_rating": "verdicts alone",
    "arena_rank": "rank by verdicts alone",
}
MARKDOWN_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
MARKDOWN_SPECIAL = re.compile(
    r"[\\`*_\[\]#|~^$]"  # marks of inline Markdown, and of what GitHub adds
    r"|@(?=\w)|:(?=//)|(?<=www)\.(?=\S)"  # of links made without being asked
    r"|^[-+=]",  # of blocks
    re.IGNORECASE,
)
MARKDOWN_NUMBERED = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")


@dataclass(frozen=True)
class ExportedBoard:
    """What is exported.

    Attributes:
        board: The board.
        table: Columns of ``board.csv`` or ``overall.csv``; ranks and counts are ``Int64``.
        language: A language code, ``overall`` or ``all``.
        printed: Columns of Markdown and LaTeX.
        signature: Settings that reproduce the board; empty to leave it out.
    """

    board: Board
    table: pd.DataFrame
    language: str
    printed: Sequence[str]
    signature: str

    @property
    def title(self) -> str:
        """What the table shows, in a few words."""
        summary = self.board.summary
        part = {OVERALL: "mean rank over languages", ALL: "every language"}
        judged = " (not judged)" if summary.is_first else ""
        return f"Leaderboard of {summary.arena}{judged}, {part.get(self.language, self.language)}"

    def shown(self) -> pd.DataFrame:
        """Return the printed columns as texts, two decimals each, under their headings."""
        return pd.DataFrame(
            {
                HEADINGS.get(name, name.replace("_", " ")).capitalize(): [
                    _cell(name, value) for value in self.table[name]
                ]
                for name in self.printed
            }
        )


def exported_board(
    board: Board, language: str = OVERALL, columns: Sequence[str] = (), signature: bool = True
) -> ExportedBoard:
    """Choose rows (of a language, ``overall`` or ``all``) and columns of a board.

    By default all columns, of which Markdown and LaTeX print those that there is room for and that
    have a value; all but CSV hold the board's signature, unless it is to be left out.

    Raises:
        UsageError: If the board has no such language or column.
    """
    checked_choice(language, [OVERALL, ALL, *board.languages], "language")
    table = board.overall if language == OVERALL else board.ratings
    if language in board.languages:
        table = table[table["language"] == language]
    every = list(OVERALL_COLUMNS if language == OVERALL else tables.RATINGS.names)
    for name in columns:
        checked_choice(name, every, "columns")
    table = table[list(columns) or every].reset_index(drop=True)
    table = table.astype({name: "Int64" for name in COUNTS if name in table})
    wanted = PRINTED_OVERALL if language == OVERALL else PRINTED
    present = table.notna().any()
    printed = [name for name in wanted if name in {"rank", "system"} or present.get(name, False)]
    shown = list(columns) or [*(["language"] if language == ALL else []), *printed]
    return ExportedBoard(board, table, language, shown, board.summary.signature * signature)


def export_text(board: ExportedBoard, form: str) -> str:
    """Return a board as CSV (missing values are empty cells), Markdown or LaTeX.

    Raises:
        UsageError: For another format.
    """
    checked_choice(form, list(EXPORT_SUFFIXES), "format")
    if form == "csv":
        return guarded_csv(board.table)
    return latex_table(board) if form == "latex" else markdown_table(board)


def latex_table(board: ExportedBoard) -> str:
    """Return a board as a LaTeX table (``booktabs``), its signature below in small print."""
    style = board.shown().style.hide(axis="index").format(escape="latex")
    style = style.format_index(escape="latex", axis=1)
    columns = "".join("l" if name in TEXTS else "r" for name in board.printed)
    title = f"{board.title}. Judge: {board.board.summary.judge}."
    caption = _latex_text(title)
    looks = {"hrules": True, "position_float": "centering"}
    text = str(style.to_latex(column_format=columns, caption=caption, **looks))
    if board.signature:
        note = _latex_text(re.sub(r"([|,])", r"\1 ", board.signature))
        below = rf"\par\smallskip\parbox{{\linewidth}}{{\raggedright\tiny {note}}}"
        text = text.replace(r"\end{table}", f"{below}\n\\end{{table}}")
    return text


def _latex_text(text: str) -> str:
    """Escape a text as pandas escapes cells."""
    cell = pd.DataFrame([[_one_line(text)]]).style.hide(axis="index").hide(axis="columns")
    row = str(cell.format(escape="latex").to_latex()).splitlines()[1]
    return row.removesuffix(r"\\").strip()


def markdown_table(board: ExportedBoard) -> str:
    """Return a board as a pipe table, with its title above and its signature below."""
    shown = board.shown()
    sides = [":--" if name in TEXTS else "--:" for name in board.printed]
    rows = [list(shown.columns), *shown.itertuples(index=False, name=None)]
    lines = [f"| {' | '.join(markdown_text(str(cell)) for cell in row)} |" for row in rows]
    lines.insert(1, f"| {' | '.join(sides)} |")
    below = [f"Judge: {markdown_text(board.board.summary.judge)}."]
    below += [f"Signature: {markdown_text(board.signature)}"] if board.signature else []
    return "\n".join([f"**{markdown_text(board.title)}**", "", *lines, "", *below]) + "\n"


def markdown_text(text: str) -> str:
    """Escape a text, so that Markdown shows it as it is, on one line, without links or HTML.

    Space around it is left out, control characters are replaced by U+FFFD.
    """
    escaped = MARKDOWN_SPECIAL.sub(lambda found: "\\" + found[0], _one_line(text))
    escaped = MARKDOWN_NUMBERED.sub(r"\1\\\2", escaped)
    return "".join(MARKDOWN_ENTITIES.get(mark, mark) for mark in escaped)


def _one_line(text: str) -> str:
    plain = re.sub(r"\s", " ", text)
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(mark) in {"Cc", "Cs"} else mark
        for mark in plain
    ).strip()


def _cell(column: str, value: object) -> str:
    if isinstance(value, str):
        return _one_line(value)
    if column in COUNTS:
        return whole(value)  # type: ignore[arg-type]
    if value == math.inf:
        return "∞"
    return percent(value) if column in SHARES else decimal(value)  # type: ignore[arg-type]
