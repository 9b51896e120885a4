"""CSV that a spreadsheet does not run.

A cell that begins with ``=``, ``+``, ``-`` or ``@`` is a formula to spreadsheets (OWASP, "CSV
Injection"). Texts that begin so, after space or not, get one apostrophe in front; so do those that
begin with an apostrophe. Taking one apostrophe off again, as ``unguarded`` does, gives every text
back. Numbers are never touched.
"""

from __future__ import annotations

import csv
import io
import math

import pandas as pd

from surrogate.exports.board_rows import COUNTS, ExportedBoard

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
