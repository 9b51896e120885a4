"""A board as CSV, JSON, Parquet, LaTeX and Markdown."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from arena.data.errors import UsageError
from arena.data.files import atomic_path
from arena.data.rows import plain_records
from surrogate.board.board import Board
from surrogate.board.ratings.table import BOARD_COLUMNS
from surrogate.publish.formats import decimal, percent, whole

OVERALL = "overall"
ALL = "all"

COUNTS = ("rank", "rank_low", "rank_high", "tier", "arena_rank", "languages", "answers")
"""Columns of whole numbers."""
_OVERALL_COLUMNS = (
    *("system", "rank", "mean_rank", "mean_rating", "languages", "coverage"),
    *("arena_rank", "arena_mean_rank"),
)
_PRINTED = (
    *("rank", "rank_low", "rank_high", "tier", "system", "rating", "low", "high"),
    *("verdict_share", "surrogate_rating", "arena_rating", "coverage"),
)


@dataclass(frozen=True)
class ExportedBoard:
    """What is exported.

    Attributes:
        table: Columns of ``board.csv`` or ``overall.csv``; ranks and counts are ``Int64``.
        language: A language code, ``overall`` or ``all``.
        arena: Name of the arena.
        judge: Whose judgments the board rests on.
        signature: Settings that reproduce the board.
        is_first: Whether nobody has judged.
    """

    table: pd.DataFrame
    language: str
    arena: str
    judge: str
    signature: str
    is_first: bool = False

    @property
    def title(self) -> str:
        """What the table shows, in a few words."""
        part = {OVERALL: "mean rank over languages", ALL: "every language"}
        judged = " (not judged)" if self.is_first else ""
        return f"Leaderboard of {self.arena}{judged}, {part.get(self.language, self.language)}"

    @property
    def printed_columns(self) -> Sequence[str]:
        """Columns that a printed table has room for; those without any value are left out."""
        first = ["language"] if self.language == ALL else []
        wanted = (
            ["rank", "system", "mean_rank", "mean_rating", "languages", "arena_rank"]
            if self.language == OVERALL
            else [*first, *_PRINTED]
        )
        present = self.table.notna().any()
        return [name for name in wanted if name in {"rank", "system"} or present.get(name, False)]


def exported_board(tables: Board, language: str = OVERALL) -> ExportedBoard:
    """Choose rows of a board.

    Args:
        tables: A board.
        language: A language code, ``overall`` for ranks over all languages, or ``all`` for the
            rows of every language.

    Raises:
        UsageError: If the board has no such language.
    """
    if language == OVERALL:
        table = tables.overall
    elif language == ALL:
        table = tables.ratings
    elif language in tables.languages:
        table = tables.ratings[tables.ratings["language"] == language]
    else:
        present = ", ".join([OVERALL, ALL, *tables.languages])
        raise UsageError(f"the board has no language {language!r}; use one of {present}")
    counts = {name: "Int64" for name in COUNTS if name in table}
    columns = _OVERALL_COLUMNS if language == OVERALL else BOARD_COLUMNS
    summary = tables.summary
    return ExportedBoard(
        table.astype(counts)[list(columns)].reset_index(drop=True),
        language,
        summary.arena,
        summary.judge,
        summary.signature,
        summary.is_first,
    )


APOSTROPHE = "'"

_TEXTS = ("language", "system", "split", "note")
_FORMULA_STARTS = frozenset("=+-@＝＋－＠" + APOSTROPHE)
_LINE_STARTS = frozenset("\t\r\n")


def csv_text(board: ExportedBoard) -> str:
    """Return a board as CSV with a header; missing values are empty cells."""
    table = board.table.copy()
    for name in _TEXTS:
        if name in table:
            table[name] = table[name].map(guarded)
    # The csv module leaves a lone carriage return unquoted, and then reads it as a line end.
    returns = any("\r" in text for name in _TEXTS if name in table for text in table[name])
    quoting = csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL
    return str(table.to_csv(index=False, lineterminator="\n", quoting=quoting))


def read_csv_text(text: str) -> pd.DataFrame:
    """Read what ``csv_text`` returned, with every text as it was."""
    table = pd.read_csv(io.StringIO(text), dtype="str", keep_default_na=False)
    for name in table:
        if name in _TEXTS:
            table[name] = table[name].map(unguarded)
        else:
            numbers = [float(cell) if cell else math.nan for cell in table[name]]
            table[name] = pd.Series(numbers, dtype="Int64" if name in COUNTS else "float64")
    return table


def guarded(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would run."""
    runs = text[:1] in _LINE_STARTS or text.lstrip()[:1] in _FORMULA_STARTS
    return APOSTROPHE + text if text and runs else text


def unguarded(text: str) -> str:
    """Take the apostrophe off again."""
    return text.removeprefix(APOSTROPHE)


def json_text(board: ExportedBoard) -> str:
    """Return a board as JSON: what it is, and its rows; missing and infinite values are null."""
    content = {
        "arena": board.arena,
        "judge": board.judge,
        "language": board.language,
        "signature": board.signature,
        "rows": plain_records(board.table.replace(math.inf, math.nan)),
    }
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write_parquet(board: ExportedBoard, path: Path | str) -> None:
    """Write a board atomically; its arena, judge and signature are in the file's metadata.

    Args:
        board: What to write.
        path: Target; its folder must exist.

    Raises:
        UsageError: If the folder does not exist.
    """
    table = pa.Table.from_pandas(board.table, preserve_index=False)
    about = {
        name: str(getattr(board, name)) for name in ("arena", "judge", "language", "signature")
    }
    named = table.replace_schema_metadata({**(table.schema.metadata or {}), **about})
    with atomic_path(Path(path)) as temporary:
        pq.write_table(named, temporary)


TEXTS = frozenset({"language", "system"})

_HEADINGS = {
    "rank_low": "rank from",
    "rank_high": "rank to",
    "low": "90% from",
    "high": "90% to",
    "verdict_share": "own verdicts",
    "surrogate_rating": "surrogate alone",
    "arena_rating": "verdicts alone",
    "arena_rank": "rank by verdicts alone",
}
_SHARES = frozenset({"coverage", "verdict_share"})


@dataclass(frozen=True)
class PrintedTable:
    """A table of texts.

    Attributes:
        columns: Names of the columns in the board.
        headings: What stands above them.
        rows: Cells; a dash where a value is missing.
    """

    columns: Sequence[str]
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]


def printed(board: ExportedBoard) -> PrintedTable:
    """Return the columns of a board that a printed table has room for, two decimals each."""
    columns = board.printed_columns
    cells = [[_shown(name, value) for value in board.table[name]] for name in columns]
    headings = [_HEADINGS.get(name, name.replace("_", " ")) for name in columns]
    return PrintedTable(columns, headings, list(zip(*cells, strict=True)))


def _shown(column: str, value: object) -> str:
    if isinstance(value, str):
        return value
    if column in COUNTS:
        return whole(value)  # type: ignore[arg-type]
    if value == math.inf:
        return "∞"
    return percent(value) if column in _SHARES else decimal(value)  # type: ignore[arg-type]


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
    "∞": r"\ensuremath{\infty}",
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


_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_SPECIAL = re.compile(
    r"[\\`*_\[\]#|~^$]"  # marks of inline Markdown, and of what GitHub adds
    r"|@(?=\w)|:(?=//)|(?<=www)\.(?=\S)"  # of links made without being asked
    r"|^[-+=]",  # of blocks
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")


def markdown_text(text: str) -> str:
    """Escape a text, so that Markdown shows it as it is, on one line, without links or HTML.

    Space around it is left out, control characters are replaced by U+FFFD.
    """
    plain = "".join(map(_markdown_mark, text)).strip()
    escaped = _SPECIAL.sub(lambda found: "\\" + found[0], plain)
    escaped = _NUMBERED.sub(r"\1\\\2", escaped)
    return "".join(_ENTITIES.get(mark, mark) for mark in escaped)


def markdown_table(board: ExportedBoard) -> str:
    """Return a board as a pipe table, with its title above and its signature below."""
    table = printed(board)
    lines = [
        f"**{markdown_text(board.title)}**",
        "",
        _markdown_row([name.capitalize() for name in table.headings]),
        _markdown_row([":--" if name in TEXTS else "--:" for name in table.columns]),
        *(_markdown_row([markdown_text(cell) for cell in row]) for row in table.rows),
        "",
        f"Judge: {markdown_text(board.judge)}.",
        f"Signature: {markdown_text(board.signature)}",
    ]
    return "\n".join(lines) + "\n"


def _markdown_row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_mark(mark: str) -> str:
    if mark.isspace():
        return " "
    return "\N{REPLACEMENT CHARACTER}" if unicodedata.category(mark) in {"Cc", "Cs"} else mark


EXPORT_FORMATS: Mapping[str, tuple[str, Callable[[ExportedBoard], str] | None]] = {
    "csv": (".csv", csv_text),
    "json": (".json", json_text),
    "markdown": (".md", markdown_table),
    "latex": (".tex", latex_table),
    "parquet": (".parquet", None),
}
"""Format to the suffix of its files and its text; Parquet is no text."""


def write_export(board: ExportedBoard, format_name: str, folder: Path, name: str) -> None:
    """Write a board in one of ``EXPORT_FORMATS`` to a folder."""
    suffix, text_of = EXPORT_FORMATS[format_name]
    path = folder / f"{name}{suffix}"
    if text_of is None:
        write_parquet(board, path)
    else:
        path.write_text(text_of(board), encoding="utf-8", newline="")
