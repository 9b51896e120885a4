"""Boards as board, read back."""

import csv
import io
import itertools
import re
from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from surrogate.board.tables import RATINGS
from surrogate.publish.exports import (
    ALL,
    OVERALL,
    export_text,
    exported_table,
    markdown_text,
)

PARTS = (OVERALL, ALL, "en")


def test_chooses_rows_in_the_order_of_the_board(board):
    assert list(exported_table(board)["system"]) == list(board.overall["system"])
    english = exported_table(board, "en")
    assert set(english["language"]) == {"en"}
    assert list(english) == list(RATINGS.names)
    assert {str(english[name].dtype) for name in ("rank", "rank_low", "tier")} == {"Int64"}
    assert len(exported_table(board, ALL)) == len(board.ratings)


def test_a_bound_that_is_infinite_is_shown(board):
    endless = replace(board, ratings=board.ratings.assign(high=float("inf")))
    assert "| ∞ |" in export_text(endless, "markdown", "en")
    assert "∞" in export_text(endless, "latex", "en")


@pytest.mark.parametrize("part", PARTS)
def test_csv_reads_back_equal_but_for_the_guard_of_formulas(tabled_hostile, part):
    table = exported_table(tabled_hostile, part)
    text = export_text(tabled_hostile, "csv", part)
    read = pd.DataFrame(list(csv.DictReader(io.StringIO(text, newline=""))))
    for name in table:
        if name in ("language", "system", "split", "note"):
            assert [text.lstrip("'") for text in read[name]] == [
                text.lstrip("'") for text in table[name]
            ]
        else:
            numbers = pd.to_numeric(read[name]).astype("float64")
            pd.testing.assert_series_equal(numbers, table[name].astype("float64"))


def rendered_cells(text):
    """Return the texts of a Markdown table's body, as a renderer shows them."""
    tokens = MarkdownIt("gfm-like", {"linkify": False}).enable("table").parse(text)
    cells = []
    for before, token in itertools.pairwise(tokens):
        if before.type == "td_open":
            kinds = {child.type for child in token.children}
            assert kinds <= {"text", "text_special"}
            cells.append("".join(child.content for child in token.children))
    return cells


@pytest.mark.parametrize("part", PARTS)
def test_markdown_shows_every_name_as_it_is(tabled_hostile, part):
    text = export_text(tabled_hostile, "markdown", part)
    columns = text.splitlines()[2].split(" | ")
    shown = rendered_cells(text)[columns.index("System") :: len(columns)]
    names = exported_table(tabled_hostile, part)["system"]
    assert shown == [name.replace("\r\n", "  ") for name in names]
    html = MarkdownIt("commonmark").enable("table").render(text)
    assert "<script" not in html
    assert "<a " not in html
    assert tabled_hostile.summary.signature in html.replace("&quot;", '"')


@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"])))
def test_markdown_texts_are_verbatim(text):
    (paragraph, *rest) = [
        token
        for token in MarkdownIt("commonmark").enable("strikethrough").parse(markdown_text(text))
        if token.type == "inline"
    ] or [None]
    assert not rest
    shown = "" if paragraph is None else "".join(part.content for part in paragraph.children)
    expected = "".join(" " if mark.isspace() else mark for mark in text).strip()
    assert shown == expected


@pytest.mark.parametrize("part", PARTS)
def test_latex_rows_have_as_many_cells_as_columns(tabled_hostile, part):
    lines = export_text(tabled_hostile, "latex", part).splitlines()
    for rule in (r"\toprule", r"\midrule", r"\bottomrule"):
        assert lines.count(rule) == 1
    rows = lines[lines.index(r"\midrule") + 1 : lines.index(r"\bottomrule")]
    assert len(rows) == len(exported_table(tabled_hostile, part))
    for row in rows:
        assert len(re.split(r"(?<!\\)&", row)) == lines[lines.index(r"\toprule") + 1].count("&") + 1
        assert not re.search(r"(?<!\\)[$#%_]", row)
