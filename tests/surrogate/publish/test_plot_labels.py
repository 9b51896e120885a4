"""Names and captions as they are drawn."""

from hypothesis import given
from hypothesis import strategies as st

from surrogate.publish.figures.figure import (
    LONGEST_NAME,
    drawable,
    longest_width,
    shortened,
    shown_names,
    text_width,
    wrapped,
)


@given(st.text(), st.floats(min_value=2, max_value=60))
def test_wrapped_lines_give_the_text_again_and_fit(text, width):
    lines = wrapped(text, width)
    assert "".join(lines) == text
    assert all(text_width(line) <= width + 1e-9 for line in lines)


def test_lines_break_after_bars_and_commas():
    assert wrapped("judge:a|features:b,c|seed:0", 16) == ["judge:a|", "features:b,c|", "seed:0"]


@given(st.lists(st.text(), unique=True))
def test_names_stay_apart_and_short(names):
    shown = shown_names(names)
    assert list(shown) == names
    assert len(set(shown.values())) == len(names)
    assert all(len(name) <= LONGEST_NAME + len(f" ({len(names)})") for name in shown.values())


def test_long_names_keep_their_end():
    assert shortened("a" * 50 + "-v2", 10) == "aaaaaa…-v2"
    assert shortened("short", 10) == "short"


def test_controls_and_marks_of_direction_are_replaced():
    assert drawable("a\nb\x00c\u202ed\ud800e") == "a�b�c�d�e"
    assert drawable("می\u200cخواهم نموذج 日本 ~$_<") == "می\u200cخواهم نموذج 日本 ~$_<"


def test_full_width_characters_are_wider():
    assert text_width("日本") > text_width("ab")
    assert longest_width([]) == 0
