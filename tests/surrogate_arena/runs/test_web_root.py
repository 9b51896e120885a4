"""The folder for a web server: whole, clean, and without what is not to be published."""

import re
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pandas as pd
import pytest
from leaks import contents, leaks, marked, private_texts

from arena import DataError, UsageError, read_arena, write_arena
from surrogate_arena.runs.config import read_configuration
from surrogate_arena.runs.run import bring_up_to_date

TWO = """
[site]
title = "Bots & <others>"
description = "Who answers best?"
license = "CC BY 4.0"
home = "https://example.org"
address = "https://boards.example.org"
{further}
[boards.second]
arena = "arena"
publish = true
site = {{ title = "The <second>", description = "Of all." }}
[boards.first]
arena = "arena"
publish = true
"""
WITHOUT_QUESTIONS = """
[site]
questions = 0
[boards.a]
arena = "arena"
publish = true
"""


class Links(HTMLParser):
    """Links and identifiers of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.ids = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        if tag in ("a", "link") and not found["href"].startswith("data:"):
            self.links.append(found["href"])
        if "id" in found:
            self.ids.add(found["id"])


def made(configure, text):
    boards = configure(text)
    report = bring_up_to_date(boards, boards.out)
    assert report.failing == []
    return boards.out / "_site"


@pytest.fixture(scope="module")
def root(tiny_arena, configure_in, tmp_path_factory):
    """The pages of two boards, made on a day of 2023, to read only."""
    folder = tmp_path_factory.mktemp("root")
    write_arena(tiny_arena, folder / "arena", ".jsonl")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        return made(partial(configure_in, folder), TWO.format(further=""))


def test_the_root_holds_pages_and_the_feed_and_every_link_leads_somewhere(root):
    names = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    assert {"index.html", "feed.xml", "first/index.html", "second/history.html"} <= names
    for name in names - {"feed.xml"}:
        assert name.endswith((".html", "/site.json", "/board.json", "/preview.png"))
    pages = {path.resolve(): Links(path.read_text("utf-8")) for path in root.rglob("*.html")}
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                assert link == "https://example.org"
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.is_file(), link
            assert target.is_relative_to(root.resolve())
            if parts.fragment and not parts.fragment.startswith(("language=", "a=")):
                assert parts.fragment in pages[target].ids


def test_every_page_of_a_run_states_what_the_operator_says(root):
    for path in root.rglob("*.html"):
        text = path.read_text("utf-8")
        footer = text.split("<footer>")[1]
        assert "License: CC BY 4.0" in footer
        assert "2023-11-14" in footer
        assert '<a href="https://example.org">example.org</a>' in footer
        if path.parent != root:
            assert "<bdi>Bots &amp; &lt;others&gt;</bdi></a>" in text
    front = (root / "index.html").read_text("utf-8")
    assert re.findall(r"<h2><a href=\"([^\"]+)\">([^<]+)</a>", front) == [
        ("second/index.html", "The &lt;second&gt;"),
        ("first/index.html", "first"),
    ]
    for text in ("<h1>Bots &amp; &lt;others&gt;</h1>", "Who answers best?", "Of all."):
        assert text in front


def test_hidden_questions_and_answers_are_in_no_byte_of_the_root(place, tiny_arena, configure):
    """Not in a page, the feed, a file or a name; nor of a system that copies another."""
    arena = marked(tiny_arena)
    original = arena.answers[arena.answers["system"] == arena.info.systems[0]]
    copied = pd.concat([arena.answers, original.assign(system="copycat")], ignore_index=True)
    info = arena.info.model_copy(update={"systems": (*arena.info.systems, "copycat")})
    arena = replace(arena, info=info, answers=copied)
    write_arena(arena, place / "arena", ".jsonl")
    texts = private_texts(read_arena(place / "arena"))
    # A board's own setting goes before that of all.
    own = 'site = {{ questions = 0, title = "The <second>", description = "Of all." }}'
    root = made(configure, re.sub(r"site = .*", own, TWO).format(further="questions = 3"))
    assert {name.split("/")[0] for name in leaks(root, texts)} == {"first"}
    assert any(b"copycat" in content for _, content in contents(root / "second"))


def test_a_failure_quotes_nothing_of_the_arena(configure, tiny_arena, place):
    write_arena(marked(tiny_arena), place / "arena", ".jsonl")
    texts = private_texts(read_arena(place / "arena"))
    root = made(configure, WITHOUT_QUESTIONS)
    assert leaks(root, texts) == {}
    with (place / "arena" / "answers.jsonl").open("a", encoding="utf-8") as stream:
        stream.write('{"language": "zsecret", "query_id": "zsecret", "answer": "zsecret"}\n')
    boards = read_configuration(place / "boards.toml")
    report = bring_up_to_date(boards, boards.out)
    assert any("zsecret" in outcome.error for outcome in report.boards)
    assert leaks(root, ["zsecret", str(place), *texts]) == {}
    assert "could not be brought up to date" in (root / "index.html").read_text("utf-8")


@pytest.mark.parametrize("folder", [".", "boards", "arena"])
def test_what_is_private_is_not_put_into_the_root(configure, place, run, capsys, folder):
    configure("[boards.a]\narena = 'arena'\n")
    assert run("run", place / "boards.toml", "--site", place / folder) == 2
    assert "a web server would serve" in capsys.readouterr().err
    assert not (place / "boards").exists()


@pytest.mark.parametrize("folder", ["a", "a/board", ".feature-cache", "old"])
def test_the_root_is_in_no_folder_of_a_board(configure, place, folder):
    boards = configure("[boards.a]\narena = 'arena'\n")
    boards.out.mkdir()
    # A board that the configuration had once.
    (boards.out / "manifest.json").write_text('{"boards": {"old": {}}}')
    with pytest.raises(UsageError, match="must not serve"):
        bring_up_to_date(boards, boards.out, site=boards.out / folder)
    assert [path.name for path in boards.out.iterdir()] == ["manifest.json"]
    bring_up_to_date(boards, boards.out, site=boards.out / "other", check=True)


def test_no_board_has_the_name_of_a_file_that_run_writes(root, configure):
    names = {path.name for folder in (root, root.parent) for path in folder.iterdir()}
    files = {name for name in names if "." in name[1:]}
    assert {"manifest.json", "feed.xml", "index.html"} <= files
    for name in files:
        with pytest.raises(DataError, match="cannot name a board"):
            configure(f"[boards.'{name}']\narena = 'arena'\n")


@pytest.mark.slow
def test_the_root_is_where_it_is_asked_for(configure, place, run, capsys):
    configure("[boards.a]\narena = 'arena'\npublish = true\n")
    (place / "web").mkdir()
    (place / "web" / "CNAME").write_text("boards.example.org")
    assert run("run", place / "boards.toml", "--jobs", 1, "--site", place / "web") == 0
    assert f"Pages: {place / 'web' / 'index.html'}" in capsys.readouterr().out
    assert {path.name for path in (place / "web").iterdir()} == {
        *("CNAME", "a", "feed.xml", "index.html"),
    }


def test_a_folder_that_is_no_site_is_not_replaced(configure, place):
    (place / "web" / "a").mkdir(parents=True)
    (place / "web" / "a" / "thesis.tex").write_text("mine")
    boards = configure("[boards.a]\narena = 'arena'\npublish = true\n")
    (outcome,) = bring_up_to_date(boards, boards.out, site=place / "web").boards
    assert "holds no site" in outcome.error
    assert (place / "web" / "a" / "thesis.tex").read_text() == "mine"


@pytest.mark.slow
def test_pages_that_are_not_published_any_more_are_removed(configure):
    root = made(configure, TWO.format(further=""))
    (root / "second" / "own.txt").write_text("mine")
    made(configure, "[boards.third]\narena = 'arena'\npublish = true\n")
    assert not (root / "first").exists()
    assert (root / "second" / "own.txt").read_text() == "mine"
    front = (root / "index.html").read_text("utf-8")
    assert "third" in front
    assert "second/index.html" not in front


def test_a_file_that_the_root_needs_is_refused(configure, place):
    boards = configure("[boards.a]\narena = 'arena'\n")
    with pytest.raises(UsageError, match="the output folder"):
        bring_up_to_date(boards, place / "web" / "out", site=place / "web")
