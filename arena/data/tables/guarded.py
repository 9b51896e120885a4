"""CSV for people: no text in it is run by a spreadsheet."""

from __future__ import annotations

import pandas as pd

FORMULA_STARTS = frozenset("=+-@＝＋－＠'\t\r\n")
"""How cells begin that spreadsheets run, or that ``guarded`` made."""


def guarded(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would run as a formula."""
    runs = text[:1] in FORMULA_STARTS or text.lstrip()[:1] in FORMULA_STARTS
    return f"'{text}" if text and runs else text


def unguarded(text: str) -> str:
    """Take the apostrophe off again."""
    return text.removeprefix("'")


def guarded_csv(table: pd.DataFrame) -> str:
    """Return a table as CSV for people: no text in it is run by a spreadsheet."""
    texts = table.select_dtypes(["object", "string"])
    safe = {
        name: texts[name].map(lambda cell: guarded(cell) if isinstance(cell, str) else cell)
        for name in texts
    }
    return str(table.assign(**safe).to_csv(index=False, lineterminator="\n"))
