"""Texts of the terminal: what is cut, and where."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surrogate_arena.cli.printing import (
    INTERVAL,
    WIDTH,
    print_table,
    shown_board,
    with_spans,
    wrapped,
)

words = st.text("abc", min_size=1, max_size=12)


@given(st.lists(words, min_size=1, max_size=90))
def test_no_sentence_is_cut(parts):
    text = " ".join(parts)
    lines = wrapped(text)
    assert max(map(len, lines)) <= WIDTH
    assert " ".join(lines) == text


def test_a_system_without_a_rank_shows_neither_wins_nor_interval(quick_board):
    first = quick_board.overall["system"].iloc[0]
    overall = quick_board.overall
    overall = overall.assign(rank=overall["rank"].mask(overall["system"] == first))
    rows, _ = shown_board(quick_board.ratings, overall)
    shown = rows.set_index("system")[["place", "wins", INTERVAL]]
    assert list(shown.loc[first]) == ["–", "–", "–"]
    assert not (shown.drop(first) == "–").any(axis=None)


def test_a_printed_board_shows_what_its_table_has(quick_board):
    rows, columns = shown_board(quick_board.ratings, quick_board.overall)
    assert columns == ["place", "system", "wins", INTERVAL]
    overall = quick_board.overall
    shares = rows["wins"].str.removesuffix("%").astype(float)
    assert shares.tolist() == pytest.approx((100 * overall["wins"]).tolist(), abs=0.51)
    lows = rows[INTERVAL].str.partition(" to ")[0].astype(float)
    assert lows.tolist() == pytest.approx((100 * overall["wins_low"]).tolist(), abs=0.51)
    for place, low, high in zip(
        rows["place"], overall["rank_low"], overall["rank_high"], strict=True
    ):
        assert place == (str(low) if low == high else f"{low}–{high}")


def test_a_language_without_ranks_says_nothing_of_overall_places(quick_board):
    elsewhere = quick_board.ratings.assign(language="xx", rank=pd.NA, note="no verdicts here")
    ratings = pd.concat([quick_board.ratings, elsewhere], ignore_index=True)
    rows, _ = shown_board(ratings, quick_board.overall)
    assert not rows["note"].str.contains("no verdicts").any()


def test_no_p_value_is_shown_as_zero():
    table = pd.DataFrame({"p": [1e-9, 0.0321, np.nan]})
    assert with_spans(table)["p"].fillna("").tolist() == ["<0.001", "0.032", ""]


def test_columns_stand_below_each_other_in_any_script(capsys):
    names = ["日本語の長い名前です", "[red]x[/red] :smile:"]
    table = pd.DataFrame({"システム": names, "90% interval": ["1", "20"]})
    print_table("", table, width=30)
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        "                           90%",
        "システム              interval",
        "──────────────────────────────",
        "日本語の長い名前です         1",
        "[red]x[/red] :smile:        20",
    ]


@pytest.mark.parametrize("width", [1, 5, 9])
def test_words_break_where_a_terminal_is_narrow(width, capsys):
    print_table("", pd.DataFrame({"system": ["ab c"], "none": [""], "wins": [0.5]}), width=width)
    assert max(map(len, capsys.readouterr().out.splitlines())) <= max(width, 7)
