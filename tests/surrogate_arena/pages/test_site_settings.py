"""What an operator states is on every page; what is hidden is in no byte of the site."""

import datetime
from dataclasses import replace

import pytest
from altered_boards import of_arena
from leaks import leaks, marked, private_texts

from arena import UsageError, write_arena
from arena.quality.judge_report import DecisiveVerdict, FirstPlace
from surrogate_arena.pages.site import write_site
from surrogate_arena.pages.site_settings import SiteSettings

STATED = {
    "title": "Support <bots>",
    "description": "How our bots & theirs answer.",
    "license": "CC BY 4.0",
    "home": "https://example.org/bots",
    "date": "2026-11-27",
}


def texts_of_pages(site):
    return {path.name: path.read_text("utf-8") for path in site.rglob("*.html")}


@pytest.mark.slow
def test_every_page_states_title_license_date_and_the_way_back(board, small_arena, tmp_path):
    site = write_site(board, tmp_path / "site", small_arena, parent="All <bots>", **STATED).parent
    pages = {path: path.read_text("utf-8") for path in site.rglob("*.html")}
    assert len(pages) > 5
    for path, text in pages.items():
        if path.name == "embed.html":
            continue  # a few rows in a page of others, and a link to the board
        root = "../" * len(path.relative_to(site).parent.parts)
        footer = text.split("<footer>")[1]
        assert "Support &lt;bots&gt;</title>" in text
        assert "License: CC BY 4.0" in footer
        assert "2026-11-27" in footer
        assert '<a href="https://example.org/bots">example.org</a>' in footer
        assert f'href="{root}../index.html"><bdi>All &lt;bots&gt;</bdi></a>' in text
        assert ("How our bots &amp; theirs answer." in text) == (path.name == "index.html")


def test_a_site_alone_states_nothing_that_nobody_said(site):
    for text in texts_of_pages(site).values():
        assert "License" not in text
        assert 'class="parent"' not in text


@pytest.mark.parametrize(
    ("option", "fault"),
    [
        ({"home": "javascript:alert(1)"}, "`home`.*begin it with https://"),
        ({"date": "yesterday"}, "`date` is 'yesterday'"),
        ({"questions": -1}, "`questions`"),
        ({"licence": "MIT"}, "did you mean 'license'?"),
    ],
)
def test_what_cannot_be_used_is_named(board, tmp_path, option, fault):
    with pytest.raises(UsageError, match=fault):
        write_site(board, tmp_path / "site", **option)
    assert not (tmp_path / "site").exists()


def test_options_lie_over_settings(board, tmp_path):
    settings = SiteSettings(title="one", license="MIT", date=datetime.date(2026, 1, 2))
    text = write_site(board, tmp_path / "site", settings=settings, title="two").read_text("utf-8")
    assert "<bdi>two</bdi>" in text
    assert "MIT" in text
    assert "2026-01-02" in text


@pytest.mark.slow
def test_without_questions_no_byte_of_the_site_is_of_a_question_or_an_answer(
    board, small_arena, tmp_path
):
    arena = marked(small_arena)
    told = of_arena(board, arena)
    texts = private_texts(arena)
    shown = write_site(told, tmp_path / "shown", arena).parent
    # The search finds what is published: both pages of pairs, with ids, questions and answers.
    assert {"pairs/en.html", "pairs/sw.html"} <= set(leaks(shown, texts))
    hidden = write_site(told, tmp_path / "hidden", arena, questions=0).parent
    assert leaks(hidden, texts) == {}
    page = (hidden / "pairs" / "en.html").read_text("utf-8")
    assert "Questions and answers are not published." in page
    assert 'id="pairs-table"' in page
    for path in hidden.rglob("*.html"):
        visible = path.read_text("utf-8").partition("<main")[2].partition("<script")[0]
        assert "side by side" not in visible.replace("Judges side by side", "")
        assert "their answers" not in visible
        assert "all answers are" not in visible
    assert "data-answers" not in (hidden / "index.html").read_text("utf-8")
    assert "data-answers" in (shown / "index.html").read_text("utf-8")


def test_verdicts_that_hold_up_first_place_name_questions_only_where_these_are_shown(
    tiny_board, tiny_arena, tmp_path
):
    first, second = tiny_board.systems[:2]
    verdict = DecisiveVerdict(query_id="zq-held-up", system_a=first, system_b=second, winner="a")
    record = FirstPlace(
        language="en",
        judge="m",
        first=first,
        successor=second,
        dropped=1,
        verdicts=9,
        decisive=(verdict,),
    )
    report = tiny_board.judge_report.model_copy(update={"first_places": (record,)})
    told = replace(tiny_board, judge_report=report)
    shown = write_site(told, tmp_path / "shown", tiny_arena).parent
    assert set(leaks(shown, ["zq-held-up"])) == {"judge.html"}
    hidden = write_site(told, tmp_path / "hidden", tiny_arena, questions=0).parent
    assert leaks(hidden, ["zq-held-up"]) == {}


def test_publish_takes_the_same_settings(tiny_board, tiny_arena, tmp_path, run, capsys):
    write_arena(tiny_arena, tmp_path / "arena")
    saved = tiny_board.save(tmp_path / "board", tmp_path / "arena")
    options = [item for name, value in STATED.items() for item in ("--config", f"{name}={value}")]
    out = tmp_path / "site"
    command = ["publish", tmp_path / "board", "--out", out]
    assert run(*command, *options, "--config", "questions=0") == 0
    write_site(saved, tmp_path / "again", tiny_arena, questions=0, **STATED)
    for path in out.rglob("*.html"):
        assert path.read_bytes() == (tmp_path / "again" / path.relative_to(out)).read_bytes()
    assert run(*command, "--config", "home=ftp://x") == 2
    assert "--config: home" in capsys.readouterr().err
