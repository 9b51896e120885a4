"""A board as CSV, as LaTeX, and as a leaderboard of TREC."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from arena.data.errors import UsageError, checked_choice
from arena.data.tables import guarded_csv
from arena.data.wording import did_you_mean, first_of
from features.engine.extraction import FEATURE_KEY
from surrogate.board.board import Board
from surrogate.board.tables import DECIMALS, RATINGS
from surrogate.board.tables import OVERALL as OVERALL_RANKS
from surrogate_arena.cli.shown_numbers import MINUS, decimal, percent, place, whole
from surrogate_arena.pages.formats import interval

OVERALL = "overall"
ALL = "all"
FORMATS = ("csv", "latex", "trec")
KINDS = {**RATINGS.columns, **OVERALL_RANKS.columns}
SPANS = {"rank interval": ("rank_low", "rank_high"), "90% interval": ("low", "high")}
"""Columns of LaTeX that show two of a board's as one."""
PRINTED = ("rank", "rank interval", "system", "rating", "90% interval")
NAMED = ("rank", "system")
MEASURES = ("rating", "wins")
"""Columns that a leaderboard of TREC has by default."""
PRINTED_OVERALL = ("rank", "rank interval", "system", "wins", "mean_rating", "arena_rank")
HEADINGS = {
    "rank_low": "rank from",
    "rank_high": "rank to",
    "low": "90% from",
    "high": "90% to",
    "arena_rank": "by verdicts",
}

SYMBOLS = {MINUS: "$-$", "∞": r"$\infty$", "<": "$<$", ">": "$>$"}
"""How LaTeX writes what pandas leaves as it is; outside formulas, ``<`` prints as ``¡``."""


def export_text(
    board: Board,
    form: str,
    language: str = OVERALL,
    columns: Sequence[str] = (),
    *,
    signature: bool = True,
) -> str:
    """Return a board (a language, ``overall`` or ``all``) as CSV, LaTeX or lines of TREC.

    By default CSV has all columns, LaTeX those with a value that there is room for, and TREC
    ``MEASURES``.

    Raises:
        UsageError: For another format, a language or a column that the board lacks.
    """
    checked_choice(form, FORMATS, "format")
    checked_choice(language, [OVERALL, ALL, *board.languages], "language")
    table = board.overall if language == OVERALL and form != "trec" else board.ratings
    if language in board.languages:
        table = table[table["language"] == language]
    for name in columns:
        if name not in table:
            hint = did_you_mean(name, table.columns) or f"use any of {', '.join(table)}"
            raise UsageError(f"the table has no column {name!r}; {hint}")
    if form == "trec":
        return _trec_lines(board, table, columns or MEASURES)
    if form == "csv":
        return guarded_csv(table[list(columns or table)])
    summary = board.summary
    printed = table[list(columns)] if columns else _printed(table, language)
    part = language
    if language == OVERALL:
        part = f"over {summary.parts}"
    elif language == ALL:
        part = f"every {summary.part}"
    title = f"Leaderboard of {summary.arena}, {part}. Judge: {summary.judge}."
    comments = [title, summary.signature] if signature else [title]
    return latex_table(printed, comments)


def _trec_lines(board: Board, ratings: pd.DataFrame, columns: Sequence[str]) -> str:
    """Return ``run, topic, measure, value`` in lines: for each answer, and ``all`` a system's.

    A system has one rating in a language, and so one value for all its questions there.
    """
    rated = ratings.dropna(subset=list(columns))
    answered = board.features[FEATURE_KEY].merge(rated[["language", "system", *columns]])
    if answered.duplicated(["system", "query_id"]).any():
        raise UsageError("questions of several languages have the same ids; name one (--language)")
    means = answered.groupby("system", sort=False)[list(columns)].mean().reset_index()
    rows = pd.concat([answered, means.assign(query_id=ALL)]).melt(
        ["system", "query_id"], list(columns), "measure"
    )
    names = [*rows["system"].unique(), *rows["query_id"].unique()]
    spaced = [name for name in names if len(name.split()) != 1]
    if spaced:
        raise UsageError(f"names in a file of TREC have no spaces; rename {first_of(spaced)}")
    text: str = rows.round(DECIMALS).to_csv(sep="\t", header=False, index=False)
    return text


def _printed(table: pd.DataFrame, language: str) -> pd.DataFrame:
    printed = pd.DataFrame(index=table.index)
    if language == ALL:
        printed["language"] = table["language"]
    for name in PRINTED_OVERALL if language == OVERALL else PRINTED:
        values = table[list(SPANS.get(name, [name]))]
        if name not in NAMED and values.isna().to_numpy().all():
            continue
        if name == "rank interval":
            printed[name] = [place(row) for row in table.to_dict("records")]
        elif name in SPANS:
            printed[name] = [interval(low, high) for low, high in values.itertuples(index=False)]
        else:
            printed[name] = values[name]
    return printed


def latex_table(table: pd.DataFrame, comments: Sequence[str] = ()) -> str:
    """Return a table as LaTeX's ``tabular`` (``booktabs``), below lines of comments.

    Names in other scripts need lualatex or xelatex.
    """
    alignment = "".join("l" if KINDS.get(name) == "text" else "r" for name in table)
    shown = {}
    for name in table:
        heading = HEADINGS.get(name, name.replace("_", " ")).capitalize()
        shown[heading] = [_cell(name, value) for value in table[name]]
    tabular = pd.DataFrame(shown).to_latex(index=False, escape=True, column_format=alignment)
    for symbol, written in SYMBOLS.items():
        tabular = tabular.replace(symbol, written)
    lines = [f"% {_in_one_line(comment)}\n" for comment in comments]
    return "".join([*lines, tabular])


def _in_one_line(text: str) -> str:
    # A line break would end a comment, or a row.
    return " ".join(text.split())


def _cell(column: str, value: object) -> str:
    if isinstance(value, str):
        return _in_one_line(value)
    if not pd.isna(value) and value == math.inf:
        return "∞"
    kind = KINDS.get(column)
    if kind == "count":
        return whole(value)  # type: ignore[arg-type]
    if kind == "share":
        return percent(value)  # type: ignore[arg-type]
    return decimal(value)  # type: ignore[arg-type]
