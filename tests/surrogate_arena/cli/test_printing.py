"""Texts of the terminal: what is cut, and where."""

from hypothesis import given
from hypothesis import strategies as st

from surrogate_arena.cli.printing import (
    INTERVAL,
    RANKS,
    WIDTH,
    shown_board,
    wrapped,
)

words = st.text("abc", min_size=1, max_size=12)
sentences = st.lists(words, min_size=1, max_size=30).map(lambda parts: " ".join(parts) + ".")


def test_a_long_text_ends_after_a_sentence():
    text = "One sentence is short. " + "Another one does not fit any more " * 9
    assert wrapped(text, most=2) == ["One sentence is short. …"]


def test_a_sentence_that_does_not_fit_is_cut():
    (line,) = wrapped("This sentence has no end " * 9, most=1)
    assert line.endswith(" …")
    assert line.startswith("This sentence has no end")


@given(st.lists(sentences, min_size=1, max_size=6), st.integers(1, 4))
def test_lines_hold_the_start_of_a_text(parts, most):
    text = " ".join(parts)
    lines = wrapped(text, most)
    assert len(lines) <= most
    assert max(map(len, lines)) <= WIDTH
    shown = " ".join(lines)
    if shown != text:
        assert text.startswith(shown.removesuffix(" …"))


def test_a_system_without_a_rank_shows_neither_rating_nor_interval(quick_board):
    first = quick_board.overall["system"].iloc[0]
    overall = quick_board.overall
    overall = overall.assign(rank=overall["rank"].mask(overall["system"] == first))
    rows, columns = shown_board(quick_board.ratings, overall)
    shown = rows.set_index("system")[["rating", INTERVAL]]
    assert list(shown.loc[first]) == ["–", "–"]
    assert not (shown.drop(first) == "–").any(axis=None)
    assert RANKS in columns


def test_systems_of_several_languages_stand_in_the_order_of_the_wins_beside_them(quick_board):
    rows, columns = shown_board(quick_board.ratings, quick_board.overall)
    assert columns[3] == "wins"
    wins = rows.loc[rows["rank"].notna(), "wins"].str.removesuffix("%").astype(float)
    assert wins.is_monotonic_decreasing
    assert wins.max() > 1
