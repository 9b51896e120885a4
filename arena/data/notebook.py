"""Tables as notebooks show them."""

from __future__ import annotations

from html import escape

import pandas as pd


def notebook_html(caption: str, summary: str, table: pd.DataFrame, footnote: str = "") -> str:
    """Show a table in a notebook, below a caption and sentences; all text is escaped."""
    html = table.to_html(index=False, na_rep="–", float_format="{:z.2f}".format, escape=True)
    last = f"<p><small>{escape(footnote)}</small></p>" if footnote else ""
    return f"<p><b>{escape(caption)}</b><br>{escape(summary)}</p>{html}{last}"
