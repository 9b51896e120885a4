"""Boards as board, read back."""

import csv
import io
import re
from dataclasses import replace

import pandas as pd
import pytest

from arena.data.errors import UsageError
from arena.data.tables import guarded_csv
from surrogate_arena.pages.exports import ALL, OVERALL, export_text

PARTS = (OVERALL, ALL, "en")


def rows_of(board, part):
    table = board.overall if part == OVERALL else board.ratings
    return table[table["language"] == part] if part == "en" else table


def test_a_bound_that_is_infinite_is_shown(board):
    endless = replace(board, ratings=board.ratings.assign(high=float("inf")))
    assert r"$\infty$" in export_text(endless, "latex", "en")


@pytest.mark.parametrize("part", PARTS)
def test_csv_reads_back_equal_but_for_the_guard_of_formulas(tabled_hostile, part):
    table = rows_of(tabled_hostile, part).reset_index(drop=True)
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


def test_the_guard_does_not_depend_on_how_a_column_holds_its_texts():
    texts = ["=cmd", "'=cmd", " +1", "safe", "", None, "=cmd"]
    table = pd.DataFrame({"text": texts, "number": range(len(texts))})
    guarded = guarded_csv(table.astype({"text": "str"}))
    assert guarded == guarded_csv(table.astype({"text": object}))
    assert guarded.splitlines()[1:4] == ["'=cmd,0", "''=cmd,1", "' +1,2"]


def test_latex_states_the_signature_in_a_comment(board):
    text, signature = export_text(board, "latex", "en"), board.summary.signature
    title, comment, table = text.split("\n", 2)
    assert title.startswith("% Leaderboard of ")
    assert comment == f"% {signature}"
    assert signature not in table
    bare = export_text(board, "latex", "en", ["rank", "coverage"], signature=False)
    assert "Rank & Coverage" in bare
    assert signature not in bare


def test_latex_shows_bounds_as_one_cell_each(board):
    text = export_text(board, "latex", "en")
    assert r"Rank & Rank interval & System & Rating & 90\% interval" in text
    row = board.ratings[board.ratings["language"] == "en"].iloc[0]
    low, high = row["rank_low"], row["rank_high"]
    bounds = f"[{row['low']:.2f}, {row['high']:.2f}]".replace("-", "$-$")
    shown_ranks = f"{low}" if low == high else f"{low}–{high}"
    assert f"{row['rank']} & {shown_ranks} & " in text
    assert f" & {bounds}" in text


@pytest.mark.parametrize("part", PARTS)
def test_latex_rows_have_as_many_cells_as_columns(tabled_hostile, part):
    lines = export_text(tabled_hostile, "latex", part).splitlines()
    for rule in (r"\toprule", r"\midrule", r"\bottomrule"):
        assert lines.count(rule) == 1
    rows = lines[lines.index(r"\midrule") + 1 : lines.index(r"\bottomrule")]
    assert len(rows) == len(rows_of(tabled_hostile, part))
    for row in rows:
        assert len(re.split(r"(?<!\\)&", row)) == lines[lines.index(r"\toprule") + 1].count("&") + 1
        assert not re.search(r"(?<!\\)[$#%_]", re.sub(r"\$[-<>]\$", "", row))


def lines_of_trec(text):
    lines = [line.split("\t") for line in text.splitlines()]
    return {(run, topic, measure): float(value) for run, topic, measure, value in lines}


def test_a_leaderboard_of_trec_has_each_topic_and_all(board):
    language = board.languages[0]
    values = lines_of_trec(export_text(board, "trec", language, ["rating"]))
    ratings = board.table(language).set_index("system")["rating"].dropna()
    topics = board.features.query("language == @language")[["system", "query_id"]]
    keys = {(row.system, row.query_id) for row in topics.itertuples() if row.system in ratings}
    assert {(run, topic) for run, topic, _ in values} == keys | {
        (run, ALL) for run in ratings.index
    }
    assert values == {key: ratings[key[0]] for key in values}


def test_a_leaderboard_of_trec_has_no_names_with_spaces(board):
    spaced = board.ratings["system"].replace(board.systems[0], "my run")
    renamed = board.features["system"].replace(board.systems[0], "my run")
    changed = replace(
        board,
        ratings=board.ratings.assign(system=spaced),
        features=board.features.assign(system=renamed),
    )
    with pytest.raises(UsageError, match="rename my run"):
        export_text(changed, "trec", "en")
