"""An answer as a reader sees it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from arena.text.reader import _markdown, as_read, rendered, shows_nothing, visible

TAGS = "".join(chr(0xE0000 + ord(letter)) for letter in "hidden")


def test_nobody_reads_thoughts_and_invisible_characters():
    output = f"<think>It opened in 1889.</think>The tow\u200ber{TAGS} is tall."
    assert visible(output) == "The tower is tall."
    assert as_read(output) == "The tower is tall."


def test_invisible_characters_hide_no_thoughts():
    assert visible("<th\u200bink>secret</think>answer") == "answer"


def test_joiners_that_shape_words_stay():
    persian = "می\u200cروم"
    assert visible(persian) == persian


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\u200b\n",
        "&nbsp;",
        "<p></p>",
        "<!-- none -->",
        "<br/>",
        "```python\n\n```",
        "...",
        "**  **",
    ],
)
def test_a_page_shows_nothing(text):
    assert shows_nothing(text)


@pytest.mark.parametrize("text", ["5", "👍", "∞", "[1]", "/\\\n--", "€"])
def test_a_page_shows_something(text):
    assert not shows_nothing(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# On a **bold** word and `code`", "# On a **bold** word and `code`"),
        ("short [1](https://e.org/The-winning-answer)", "short 1"),
        ('see [here](https://e.org "The winning answer")', "see here"),
        ("![The winning answer](https://e.org/a.png) seen", "seen"),
        ("cited [1].\n\n[2]: https://e.org/The-winning-answer", "cited [1]."),
        ("at https://e.org/The-winning-answer today", "at   today"),
        ("in <b>tags</b> &amp; all <!-- The winning answer -->", "in tags & all"),
        ("<div>\na block <!-- The winning answer -->\n</div>", "a block"),
        ("1. one\n2. two\n\n> said", "1. one\n2. two\n> said"),
        ("| a | b |\n|---|---|\n| c | d |", "a\nb\nc\nd"),
        ("日本語です。https://e.org/答え", "日本語です。 答え"),
        ("plain [1] text, 2 < 3", "plain [1] text, 2 < 3"),
    ],
)
def test_a_page_shows_words_lists_and_emphasis_and_no_addresses(text, words):
    assert " ".join(rendered(text).split()) == " ".join(words.split())


@pytest.mark.parametrize("mark", ["[", "![[", "[a](", "*a ", "`", "> ", "<!--", "| a ", "  - a\n"])
def test_texts_of_marks_are_read(mark):
    assert isinstance(rendered(mark * 2_000), str)


@given(st.text(alphabet=st.sampled_from("_*\\`[]()!<>&;:.- \nabé²"), max_size=30))
def test_marks_are_those_of_the_parser_as_it_comes(text):
    parser = MarkdownIt("commonmark").enable("table")
    assert _markdown(may_link=True).render(text) == parser.render(text)
