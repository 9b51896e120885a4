"""Answers are shown as a chat shows them, and nothing in them becomes HTML of the page."""

import json
import re
import tomllib
from importlib.resources import files

import pytest
from faulty_versions import good, other, support_arena
from hostile_pages import HOSTILE, IN_PAGES

from arena.judging import choose_pairs, make_ballot
from surrogate_arena.pages.answer_markup import markup
from surrogate_arena.pages.pages import ballot_page

TAGS = re.compile(r"<(/?[a-zA-Z][^\s>/]*)")
WRITTEN = {
    *("p", "br", "strong", "em", "s", "code", "pre", "a", "hr", "ol", "ul", "li", "blockquote"),
    *("table", "thead", "tbody", "tr", "th", "td", "h1", "h2", "h3", "h4", "h5", "h6"),
}


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**Save** it.", "<strong>Save</strong>"),
        ("- open\n- save", "<li>open</li>"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "<td>2</td>"),
        ("```py\nx < 1\n```", "x &lt; 1"),
        ("two\nlines", "two<br />"),
        ("Open it [1].", "[1]"),
    ],
)
def test_markdown_is_shown(text, html):
    assert html in markup(text)


@pytest.mark.parametrize(
    "text",
    [
        HOSTILE,
        *IN_PAGES,
        "[x](javascript:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "![x](https://example.org/seen.png)",
        "<a href='javascript:alert(1)'>x</a>",
        '[x](https://example.org "\\" onmouseover=alert(1) x=\\"")',
        "```\n</code></pre><script>alert(1)</script>\n```",
        '<https://example.org/" onclick=alert(1)>',
    ],
)
def test_html_of_an_answer_stays_text(text):
    html = markup(text)
    assert {name.strip("/").lower() for name in TAGS.findall(html)} <= WRITTEN
    for tag in re.findall(r"<[^>]*>", html):
        attributes = set(re.findall(r'\s([\w-]+)="', tag))
        assert attributes <= {"href", "target", "rel", "title", "class", "start"}
    assert not re.search(r'href="(?!https?:|#|mailto:)', html)


def test_links_open_beside_the_page():
    assert 'target="_blank" rel="noopener noreferrer"' in markup("[x](https://example.org)")


@pytest.mark.parametrize(
    ("languages", "title", "language"),
    [
        (["de"], "Welche Antwort ist besser?", "de"),
        (["en"], "Which answer is better?", "en"),
        (["en", "de"], "Which answer is better?", "en"),
    ],
)
def test_the_page_is_in_the_language_of_its_questions(languages, title, language):
    arena = support_arena({"v4": good, "v5": other}).select(languages)
    page = ballot_page(make_ballot(arena, choose_pairs(arena, 2, 1), most=4))
    assert f"<h1>{title}</h1>" in page
    assert f'<html lang="{language}">' in page
    assert "built-in method" not in page  # a word named as a method of a mapping
    data = json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page)[1])
    assert data["pairs"][0]["a"].startswith("<p>")


def test_every_language_has_every_word_with_its_gaps():
    text = files("surrogate_arena.pages").joinpath("vote_words.toml").read_text(encoding="utf-8")
    words = tomllib.loads(text)
    gaps = {
        language: {name: word.count("{}") for name, word in rows.items()}
        for language, rows in words.items()
    }
    assert all(counts == gaps["en"] for counts in gaps.values())
